import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionContext } from './execution-context.ts';
import { ProtocolServer } from './testing/protocol-server.ts';
import { Worker } from './worker.ts';
import type { WorkerOptions } from './worker-options.ts';
import { type Workflow, workflow } from './workflow.ts';

let server: ProtocolServer;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  server = new ProtocolServer();
  await server.start();
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  await server.stop();
});

function start(workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}) {
  const worker = new Worker({
    server: server.url,
    name: 'w-1',
    role: 'worker',
    workflows,
    signals: false,
    graceSeconds: 0.1,
    log: () => undefined,
    ...options,
  });
  cleanups.push(() => worker.stop());
  const ended = worker.run();
  ended.catch(() => undefined);
  return { worker, ended };
}

function manual() {
  const runs: { readonly context: ExecutionContext; finish: (value: unknown) => void }[] = [];
  const flow = workflow<unknown, unknown>(
    { namespace: 'test', name: 'manual' },
    (context) =>
      new Promise((resolve, reject) => {
        runs.push({ context, finish: resolve });
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
      }),
  );
  return { flow, runs };
}

describe('after a broken connection', () => {
  test('it comes back as the same instance, keeps running, and delivers what ended meanwhile', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1', 'ex_2'], 'test/manual', { generation: 5 });
    await expect.poll(() => runs.length).toBe(2);
    await server.stop();
    runs[0]?.finish('while away');
    expect(server.items('ends')).toEqual([]);
    server.standing = ['ex_1', 'ex_2'].map((id) => ({ id, generation: 5, workflow: 'test/manual' }));
    await server.start();
    await expect
      .poll(() => server.items('ends'))
      .toMatchObject([{ id: 'ex_1', generation: 5, state: 'COMPLETED', output: 'while away' }]);
    expect(server.registrations.map((input) => input['instanceId'])).toEqual([worker.instanceId, worker.instanceId]);
    expect(server.workflows).toHaveLength(1);
    expect(runs).toHaveLength(2);
    expect(runs[1]?.context.signal.aborted).toBe(false);
    expect(server.items('claims')).toHaveLength(2);
    await expect.poll(() => server.heartbeats.at(-1)?.['claims']).toContainEqual({ id: 'ex_2', generation: 5 });
  });

  test('a claim whose answer was lost is asked for again', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.behaviour.report = () => {
      server.cut();
      return new Promise(() => undefined);
    };
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => server.items('claims').length).toBe(1);
    server.behaviour.report = () => undefined;
    await expect.poll(() => runs.length).toBe(1);
    expect(server.items('claims')).toEqual([
      { id: 'ex_1', generation: 1, started: true, again: false },
      { id: 'ex_1', generation: 1, started: true, again: true },
    ]);
  });

  test('what the server says it holds, and it does not know, is claimed again', async () => {
    const { flow, runs } = manual();
    server.claims.set('ex_9', {
      workflow: 'test/manual',
      version: 1,
      input: null,
      attempt: 1,
      maxAttempts: 3,
      timeoutSeconds: null,
      token: 'msx_test',
    });
    server.standing = [{ id: 'ex_9', generation: 2, workflow: 'test/manual' }];
    start([flow]);
    await expect.poll(() => runs.length).toBe(1);
    expect(server.items('claims')).toEqual([{ id: 'ex_9', generation: 2, started: true, again: true }]);
  });

  test('a server that is not there yet is waited for', async () => {
    await server.stop();
    const { worker } = start([manual().flow]);
    await server.start();
    await worker.ready;
    expect(worker.state).toBe('RUNNING');
  });
});

describe('refusals', () => {
  test('NOT_FOUND at a heartbeat: registers again on the same connection', async () => {
    server.heartbeatSeconds = 0.02;
    const { worker } = start([manual().flow]);
    await worker.ready;
    server.behaviour.heartbeat = () => {
      server.behaviour.heartbeat = () => ({});
      return { code: 'NOT_FOUND' };
    };
    await expect.poll(() => server.registrations.length).toBe(2);
    expect(worker.state).toBe('RUNNING');
  });

  test.each(['inbox', 'heartbeat', 'registration'] as const)(
    'replaced, as said by the %s: aborts, reports nothing, stops',
    async (by) => {
      server.heartbeatSeconds = 0.02;
      const { flow, runs } = manual();
      const { worker, ended } = start([flow]);
      await worker.ready;
      server.assign(['ex_1'], 'test/manual');
      await expect.poll(() => runs.length).toBe(1);
      if (by === 'inbox') server.push({ replaced: true });
      if (by === 'heartbeat') server.behaviour.heartbeat = () => ({ code: 'CONFLICT', message: 'replaced' });
      if (by === 'registration') {
        server.behaviour.register = () => ({ code: 'CONFLICT', message: 'replaced' });
        server.behaviour.heartbeat = () => ({ code: 'NOT_FOUND' });
      }
      expect(await ended).toBe('replaced');
      expect(worker.state).toBe('STOPPED');
      expect(runs[0]?.context.signal.aborted).toBe(true);
      expect(server.items('ends')).toEqual([]);
      expect(server.leaves).toEqual([]);
    },
  );

  test.each(['BAD_INPUT', 'FORBIDDEN', 'UNAUTHENTICATED'])('%s at the registration fails it', async (code) => {
    server.behaviour.register = () => ({ code, message: 'no' });
    const { worker, ended } = start([manual().flow]);
    await expect(ended).rejects.toMatchObject({ code, message: 'no' });
    await expect(worker.ready).rejects.toMatchObject({ code });
    expect(worker.state).toBe('FAILED');
  });

  test('a policy that the server refuses fails it before it registers', async () => {
    server.behaviour.registerWorkflow = () => ({ code: 'POLICY_INVALID', message: 'score of what?' });
    const { ended } = start([manual().flow]);
    await expect(ended).rejects.toMatchObject({ code: 'POLICY_INVALID' });
    expect(server.registrations).toEqual([]);
  });

  test('a worker that may not register what others have registered in the same words runs it', async () => {
    server.behaviour.registerWorkflow = () => ({ code: 'FORBIDDEN', extensions: { registered: true } });
    const { worker } = start([manual().flow]);
    await worker.ready;
    expect(worker.state).toBe('RUNNING');
  });

  test('a worker that may not register a workflow that says something else fails, and says who has to do what', async () => {
    server.behaviour.registerWorkflow = () => ({ code: 'FORBIDDEN', extensions: { registered: false } });
    const { ended } = start([manual().flow]);
    await expect(ended).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('registers: test:manual'),
    });
    expect(server.registrations).toEqual([]);
  });

  test('resource requests that cannot be read are refused before anything is sent', () => {
    const flow = workflow<unknown, unknown>({ name: 'x', requests: 'ResourceRequest(cpu=' }, () => 1);
    expect(() => new Worker({ workflows: [flow] })).toThrow(expect.objectContaining({ code: 'POLICY_INVALID' }));
  });
});

describe('the end', () => {
  test('drain: takes nothing new, finishes what runs, says goodbye', async () => {
    const { flow, runs } = manual();
    const { worker, ended } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    const drained = worker.drain();
    expect(worker.state).toBe('DRAINING');
    await expect.poll(() => server.heartbeats.at(-1)?.['draining']).toBe(true);
    server.assign(['ex_2'], 'test/manual');
    await expect.poll(() => server.items('releases')).toEqual([{ id: 'ex_2', generation: 1, reason: 'draining' }]);
    runs[0]?.finish('done');
    await drained;
    expect(await ended).toBe('drained');
    expect(worker.state).toBe('STOPPED');
    expect(server.log.at(-1)).toBe('WorkerLeave');
    expect(server.items('ends')).toMatchObject([{ id: 'ex_1', output: 'done' }]);
  });

  test('the server can ask for it', async () => {
    const { ended, worker } = start([manual().flow]);
    await worker.ready;
    server.push({ drain: true });
    expect(await ended).toBe('drained');
    expect(server.leaves).toEqual([{ worker: 'w-1', instanceId: worker.instanceId }]);
  });

  test('stop: aborts what runs, gives it back, says goodbye', async () => {
    const { flow, runs } = manual();
    const { worker, ended } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    await worker.stop();
    expect(await ended).toBe('stopped');
    expect(server.items('releases')).toEqual([{ id: 'ex_1', generation: 1, reason: 'worker stopping' }]);
    expect(server.log.at(-1)).toBe('WorkerLeave');
  });

  test('stop does not wait for a server that is away', async () => {
    const { flow, runs } = manual();
    const { worker, ended } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    await server.stop();
    await worker.stop();
    expect(await ended).toBe('stopped');
  });

  test('a worker runs once', async () => {
    const { worker, ended } = start([manual().flow]);
    await worker.stop();
    await ended;
    await expect(worker.run()).rejects.toThrow('runs once');
  });

  test('SIGTERM drains, a second one stops', async () => {
    const program = `
      import { Worker, workflow } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
      const slow = workflow({ namespace: 'test', name: 'slow' }, (ctx) => new Promise((_, reject) => {
        ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason));
        console.log('running');
      }));
      console.log(await new Worker({ server: ${JSON.stringify(server.url)}, name: 'w-2', role: 'worker', workflows: [slow], log: () => undefined }).run());
    `;
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    cleanups.push(() => child.kill('SIGKILL'));
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    await expect.poll(() => server.inboxes.length).toBe(1);
    server.assign(['ex_1'], 'test/slow');
    expect((await lines.next()).value).toBe('running');
    child.kill('SIGTERM');
    await expect.poll(() => server.heartbeats.at(-1)?.['draining']).toBe(true);
    child.kill('SIGTERM');
    expect((await lines.next()).value).toBe('stopped');
    expect(server.items('releases')).toEqual([{ id: 'ex_1', generation: 1, reason: 'worker stopping' }]);
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });
});
