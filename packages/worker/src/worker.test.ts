import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionContext } from './execution-context.ts';
import { RetryableError } from './execution-context.ts';
import { ProtocolServer } from './testing/protocol-server.ts';
import { Worker } from './worker.ts';
import type { WorkerOptions } from './worker-options.ts';
import { type Workflow, workflow } from './workflow.ts';

let server: ProtocolServer;
const started: Worker[] = [];

beforeEach(async () => {
  server = new ProtocolServer();
  await server.start();
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
  await server.stop();
});

function start(workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}) {
  const logged: string[] = [];
  const worker = new Worker({
    server: server.url,
    name: 'w-1',
    role: 'worker',
    workflows,
    signals: false,
    graceSeconds: 0.1,
    log: (level, message) => logged.push(`${level}: ${message}`),
    ...options,
  });
  started.push(worker);
  const ended = worker.run();
  ended.catch(() => undefined);
  return { worker, ended, logged };
}

/** A workflow whose runs are ended by hand, or by their abort. */
function manual(name = 'manual') {
  const runs: { readonly context: ExecutionContext; finish: (value: unknown) => void }[] = [];
  const flow = workflow<unknown, unknown>(
    { namespace: 'test', name },
    (context) =>
      new Promise((resolve, reject) => {
        runs.push({ context, finish: resolve });
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
      }),
  );
  return { flow, runs };
}

const echo = workflow<unknown, unknown>({ namespace: 'test', name: 'echo' }, (_, input) => input);

describe('on duty', () => {
  test('registers workflows, then itself, then listens, then beats', async () => {
    const flow = workflow<unknown, unknown>(
      {
        namespace: 'test',
        name: 'full',
        description: 'Everything',
        routing: 'score(least(load()))',
        affinity: { zone: 'eu' },
        requests: 'ResourceRequest(cpu=2, memory="8Gi", packages=["torch>=2"])',
        timeoutSeconds: 9,
        maxAttempts: 5,
      },
      () => 1,
    );
    const { worker } = start([flow, echo], { labels: { region: 'eu' }, capacity: 4, version: '1.2.3' });
    await worker.ready;
    await expect.poll(() => server.heartbeats.length).toBe(1);
    expect(server.log.slice(0, 5)).toEqual([
      'RegisterWorkflow',
      'RegisterWorkflow',
      'WorkerRegister',
      'WorkerInbox',
      'WorkerHeartbeat',
    ]);
    expect(server.workflows[0]).toEqual({
      namespace: 'test',
      name: 'full',
      description: 'Everything',
      routing: 'score(least(load()))',
      affinity: '{"zone": "eu"}',
      requests: { cpu: 2, memory: null, memoryText: '8Gi', disk: null, gpu: null, packages: ['torch>=2'] },
      runner: null,
      maxAttempts: 5,
      timeoutSeconds: 9,
    });
    expect(server.registrations[0]).toMatchObject({
      name: 'w-1',
      instanceId: worker.instanceId,
      role: 'worker',
      version: '1.2.3',
      labels: [{ key: 'region', value: 'eu' }],
      capacity: 4,
      runners: ['inprocess'],
      workflows: ['test/full', 'test/echo'],
      resources: { cpuTotal: expect.any(Number), memoryTotal: expect.any(Number), gpus: [] },
    });
    expect(server.inboxes[0]).toEqual({ worker: 'w-1', instanceId: worker.instanceId });
  });

  test('runs what it is assigned and reports the output', async () => {
    const { worker } = start([echo]);
    await worker.ready;
    server.assign(['ex_1'], 'test/echo', { generation: 7, claim: { input: { text: 'hi' } } });
    await expect
      .poll(() => server.items('ends'))
      .toEqual([{ id: 'ex_1', generation: 7, state: 'COMPLETED', output: { text: 'hi' } }]);
    expect(server.items('claims')).toEqual([{ id: 'ex_1', generation: 7, started: true, again: false }]);
  });

  test('a handler is told who and what it is', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual', {
      generation: 3,
      claim: { input: 5, attempt: 2, maxAttempts: 4, version: 8 },
    });
    await expect.poll(() => runs.length).toBe(1);
    expect(runs[0]?.context).toMatchObject({
      executionId: 'ex_1',
      workflow: 'test/manual',
      version: 8,
      attempt: 2,
      maxAttempts: 4,
      generation: 3,
      input: 5,
    });
  });

  test('events reach the server before the end, in order', async () => {
    const chatty = workflow<unknown, unknown>({ namespace: 'test', name: 'chatty' }, (context) => {
      context.log('started', { step: 1 });
      context.progress(0.5, 'half');
      context.event('custom', [1]);
      return 'done';
    });
    const { worker } = start([chatty]);
    await worker.ready;
    server.assign(['ex_1'], 'test/chatty');
    await expect.poll(() => server.items('ends').length).toBe(1);
    expect(server.reports.map((report) => report.list)).toEqual(['claims', 'events', 'ends']);
    expect(server.items('events').map(({ type, data }) => ({ type, data }))).toEqual([
      { type: 'log', data: { message: 'started', step: 1 } },
      { type: 'progress', data: { fraction: 0.5, message: 'half' } },
      { type: 'custom', data: [1] },
    ]);
  });

  test('a refused claim is not run', async () => {
    const { flow, runs } = manual();
    server.behaviour.item = (list, item) =>
      list === 'claims' && item.id === 'ex_1' ? { code: 'CONFLICT' } : undefined;
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1', 'ex_2'], 'test/manual');
    await expect.poll(() => runs.map((run) => run.context.executionId)).toEqual(['ex_2']);
  });

  test('what has no handler, or no free slot, is given back with the reason', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow], { capacity: 1 });
    await worker.ready;
    server.assign(['ex_1'], 'test/other');
    server.assign(['ex_2', 'ex_3'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    await expect
      .poll(() => server.items('releases'))
      .toEqual([
        { id: 'ex_1', generation: 1, reason: 'no handler for test/other' },
        { id: 'ex_3', generation: 1, reason: 'busy' },
      ]);
  });

  test('an output that the server cannot read fails the execution', async () => {
    server.behaviour.item = (list, item) =>
      list === 'ends' && item['state'] === 'COMPLETED'
        ? { code: 'BAD_INPUT', message: 'deeper than 64 levels' }
        : undefined;
    const { worker } = start([echo]);
    await worker.ready;
    server.assign(['ex_1'], 'test/echo');
    await expect
      .poll(() => server.items('ends').at(-1))
      .toMatchObject({
        state: 'FAILED',
        error: { type: 'OutputError', message: 'The server refused the output: deeper than 64 levels' },
      });
  });

  test('a worker without workflows does not offer to take any', async () => {
    const { worker } = start([]);
    await worker.ready;
    expect(server.registrations[0]?.['workflows']).toEqual(['muster/none']);
  });

  test('heartbeats carry checks, metrics and claims, at the interval of the server', async () => {
    const { flow, runs } = manual();
    server.heartbeatSeconds = 0.02;
    const { worker } = start([flow], {
      capacity: 3,
      checks: {
        disk: () => true,
        model: () => ({ healthy: false, message: 'not loaded' }),
        net: () => Promise.reject(new Error('down')),
      },
      metricsProvider: () => ({ 'queue.depth': 4, 'flux.slots_free': 99 }),
    });
    await worker.ready;
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    await expect
      .poll(() => server.heartbeats.at(-1))
      .toMatchObject({
        worker: 'w-1',
        instanceId: worker.instanceId,
        healthy: false,
        checks: [
          { name: 'disk', healthy: true, message: null },
          { name: 'model', healthy: false, message: 'not loaded' },
          { name: 'net', healthy: false, message: 'down' },
          { name: 'event-loop', healthy: true, message: null },
        ],
        metrics: { 'queue.depth': 4, 'flux.slots_free': 2, 'flux.running_executions': 1 },
        draining: false,
        claims: [{ id: 'ex_1', generation: 1 }],
      });
  });
});

describe('aborts', () => {
  test('a handler that runs too long fails with TimeoutError', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual', { claim: { timeoutSeconds: 0.02 } });
    await expect
      .poll(() => server.items('ends')[0])
      .toMatchObject({ state: 'FAILED', error: { type: 'TimeoutError' } });
    expect(runs[0]?.context.signal.reason).toMatchObject({ name: 'TimeoutError' });
  });

  test('also one that does not listen to its signal', async () => {
    const deaf = workflow<unknown, unknown>({ namespace: 'test', name: 'deaf' }, () => new Promise(() => undefined));
    const { worker, logged } = start([deaf], { graceSeconds: 0.01 });
    await worker.ready;
    server.assign(['ex_1'], 'test/deaf', { claim: { timeoutSeconds: 0.01 } });
    await expect
      .poll(() => server.items('ends')[0])
      .toMatchObject({ state: 'FAILED', error: { type: 'TimeoutError' } });
    expect(logged).toContain('warn: A handler ignores its abort signal and is left behind.');
  });

  test('a cancelled execution ends as CANCELLED, a cancel of an older generation does nothing', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1', 'ex_2'], 'test/manual', { generation: 4 });
    await expect.poll(() => runs.length).toBe(2);
    server.push({
      cancels: [
        { id: 'ex_1', generation: 4 },
        { id: 'ex_2', generation: 3 },
      ],
    });
    await expect.poll(() => server.items('ends')).toEqual([{ id: 'ex_1', generation: 4, state: 'CANCELLED' }]);
    expect(runs[1]?.context.signal.aborted).toBe(false);
  });

  test('what is cancelled before its claim is answered is never run', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.behaviour.report = (list) => {
      if (list === 'claims') server.push({ cancels: [{ id: 'ex_1', generation: 1 }] });
      return undefined;
    };
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => server.items('ends')).toEqual([{ id: 'ex_1', generation: 1, state: 'CANCELLED' }]);
    expect(runs).toHaveLength(0);
  });

  test('a lost claim aborts its handler, frees its slot, and its late end is still sent', async () => {
    const { flow, runs } = manual();
    server.heartbeatSeconds = 0.02;
    const { worker } = start([flow], { capacity: 1 });
    await worker.ready;
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    server.behaviour.heartbeat = (input) =>
      (input['claims'] as { id: string }[]).some((claim) => claim.id === 'ex_1') ? { lost: ['ex_1'] } : {};
    await expect.poll(() => runs[0]?.context.signal.aborted).toBe(true);
    await expect.poll(() => server.items('ends')).toMatchObject([{ id: 'ex_1', generation: 1, state: 'FAILED' }]);
    server.assign(['ex_2'], 'test/manual');
    await expect.poll(() => runs.length).toBe(2);
    expect(server.heartbeats.at(-1)?.['claims']).not.toContainEqual({ id: 'ex_1', generation: 1 });
  });

  test('a late answer about an older claim does not touch the newer one', async () => {
    const { flow, runs } = manual();
    server.heartbeatSeconds = 0.02;
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual', { generation: 1 });
    await expect.poll(() => runs.length).toBe(1);
    let told = false;
    server.behaviour.heartbeat = (input) => {
      if (told || !(input['claims'] as { id: string }[]).some((claim) => claim.id === 'ex_1')) return {};
      told = true;
      server.assign(['ex_1'], 'test/manual', { generation: 3 });
      return { lost: ['ex_1'] };
    };
    await expect.poll(() => runs.length).toBe(2);
    expect(runs[0]?.context.signal.aborted).toBe(true);
    expect(runs[1]?.context.signal.aborted).toBe(false);
    runs[1]?.finish('new');
    await expect.poll(() => server.items('ends').at(-1)).toMatchObject({ generation: 3, output: 'new' });
  });

  test('a newer generation of what it runs replaces the older claim', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow]);
    await worker.ready;
    server.assign(['ex_1'], 'test/manual', { generation: 1 });
    await expect.poll(() => runs.length).toBe(1);
    server.assign(['ex_1'], 'test/manual', { generation: 3 });
    await expect.poll(() => runs.length).toBe(2);
    expect(runs[0]?.context.signal.aborted).toBe(true);
    expect(runs[1]?.context.signal.aborted).toBe(false);
    runs[1]?.finish('new');
    await expect.poll(() => server.items('ends').at(-1)).toMatchObject({ generation: 3, output: 'new' });
  });

  test('without an acknowledged heartbeat for too long all handlers are aborted and given back', async () => {
    const { flow, runs } = manual();
    const { worker } = start([flow], { silenceSeconds: 0.15 });
    await worker.ready;
    server.assign(['ex_1'], 'test/manual');
    await expect.poll(() => runs.length).toBe(1);
    await expect.poll(() => runs[0]?.context.signal.aborted).toBe(true);
    await expect
      .poll(() => server.items('releases'))
      .toEqual([{ id: 'ex_1', generation: 1, reason: 'no acknowledged heartbeat' }]);
    expect(worker.state).toBe('RUNNING');
  });
});

test('a thrown error is the failure; one that says so may be tried again', async () => {
  const failing = workflow<{ retry: boolean }, never>({ namespace: 'test', name: 'failing' }, (_, input) => {
    throw input.retry ? new RetryableError('later') : new TypeError('never');
  });
  const { worker } = start([failing]);
  await worker.ready;
  server.assign(['ex_1'], 'test/failing', { claim: { input: { retry: false } } });
  server.assign(['ex_2'], 'test/failing', { claim: { input: { retry: true } } });
  await expect.poll(() => server.items('ends').length).toBe(2);
  expect(server.items('ends')).toMatchObject([
    {
      state: 'FAILED',
      error: { type: 'TypeError', message: 'never', stack: expect.stringContaining('never'), retryable: false },
    },
    { state: 'FAILED', error: { type: 'RetryableError', message: 'later', retryable: true } },
  ]);
});

describe('many at once', () => {
  test('claims and ends go in batches, one of each kind under way', async () => {
    const { worker } = start([echo]);
    await worker.ready;
    const open: Record<string, number> = { claims: 0, ends: 0 };
    let most = 0;
    server.behaviour.report = async (list) => {
      open[list] = (open[list] ?? 0) + 1;
      most = Math.max(most, open[list] ?? 0);
      await new Promise((resolve) => setImmediate(resolve));
      open[list] = (open[list] ?? 0) - 1;
      return undefined;
    };
    server.assign(
      Array.from({ length: 1_000 }, (_, index) => `ex_${index}`),
      'test/echo',
    );
    await expect.poll(() => server.items('ends').length).toBe(1_000);
    expect(most).toBe(1);
    expect(new Set(server.items('ends').map((end) => end.id)).size).toBe(1_000);
    expect(Math.max(...server.reports.map((report) => report.items.length))).toBe(200);
    expect(server.reports.length).toBeLessThan(60);
  });
});
