import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionContext } from '../execution-context.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { startWorker } from '../testing/start-worker.ts';
import type { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { type Workflow, workflow } from '../workflow.ts';

let server: ProtocolServer;
let worker: Worker | undefined;

beforeEach(async () => {
  server = new ProtocolServer();
  await server.start();
});

afterEach(async () => {
  await worker?.stop();
  await server.stop();
});

const flow = (name: string, handler: (context: ExecutionContext, input: never) => unknown): Workflow =>
  workflow({ namespace: 'test', name }, handler);

async function start(workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}): Promise<void> {
  worker = await startWorker(server, { workflows, ...options });
}

const ended = (count = 1) => expect.poll(() => server.items('ends').length, { timeout: 5_000 }).toBe(count);
const suspended = (count = 1) => expect.poll(() => server.items('suspends').length, { timeout: 5_000 }).toBe(count);
const lastEnd = () => server.items('ends').at(-1);

describe('pause', () => {
  test('lets go of the claim, frees the slot, and goes on with the input of the resume', async () => {
    const ran: string[] = [];
    const waits = flow('waits', async (context) => {
      try {
        await context.task('before', () => ran.push('before'));
        const input = await context.pause<{ approved: boolean }>('approval');
        return [input.approved, context.generation];
      } finally {
        ran.push(`left by ${context.generation}`);
      }
    });
    await start([waits, flow('other', () => 'done')], { capacity: 1 });
    server.assign(['ex_1'], 'test/waits');
    await suspended();
    expect(server.items('steps').at(-1)).toEqual({
      id: 'ex_1',
      generation: 1,
      position: 1,
      kind: 'RESUME',
      name: 'approval',
      done: false,
    });
    expect(server.items('suspends')).toEqual([{ id: 'ex_1', generation: 1, positions: [1] }]);
    // The slot is free, and nothing is reported of what was let go.
    server.assign(['ex_2'], 'test/other');
    await ended();
    expect(lastEnd()).toMatchObject({ id: 'ex_2', output: 'done' });
    server.wake('ex_1', 'test/waits', 2, 1, { result: { approved: true } });
    await ended(2);
    expect(lastEnd()).toMatchObject({ id: 'ex_1', generation: 2, output: [true, 2] });
    expect(ran).toEqual(['before', 'left by 2']);
  });

  test('a drain does not wait for it', async () => {
    await start([flow('waits', (context) => context.pause('for ever'))]);
    server.assign(['ex_1'], 'test/waits');
    await suspended();
    await worker?.drain();
    expect(server.items('ends')).toEqual([]);
    expect(server.items('releases')).toEqual([]);
  });

  test('several waits are told together, and the first that is over lets it go on', async () => {
    await start([
      flow('waits', (context) => Promise.race([context.pause('a'), context.pause('b'), context.sleep(1e9)])),
    ]);
    server.assign(['ex_1'], 'test/waits');
    await suspended();
    expect(server.items('suspends')).toMatchObject([{ positions: [0, 1, 2] }]);
    server.wake('ex_1', 'test/waits', 2, 1, { result: 'b came' });
    await ended();
    expect(lastEnd()).toMatchObject({ output: 'b came' });
  });

  test('does not let go while a task is at work', async () => {
    let finish: () => void = () => undefined;
    const both = flow('both', (context) =>
      Promise.all([
        context.pause('a'),
        context.task('work', () => new Promise<void>((resolve) => void (finish = resolve))),
      ]),
    );
    await start([both]);
    server.assign(['ex_1'], 'test/both');
    await expect.poll(() => server.items('steps').length).toBe(1);
    expect(server.items('suspends')).toEqual([]);
    finish();
    await suspended();
    expect(server.items('steps')).toMatchObject([{ kind: 'RESUME' }, { kind: 'TASK', done: true }]);
  });

  test('a suspension that is refused because the execution is cancelled ends as the cancel says', async () => {
    const left: string[] = [];
    server.behaviour.item = (list) => (list === 'suspends' ? { code: 'CONFLICT', message: 'CANCELLING' } : undefined);
    const waits = flow('waits', async (context) => {
      try {
        return await context.pause('approval');
      } finally {
        left.push('cleaned up');
      }
    });
    await start([waits]);
    server.assign(['ex_1'], 'test/waits');
    await suspended();
    server.push({ cancels: [{ id: 'ex_1', generation: 1 }] });
    await ended();
    expect(lastEnd()).toEqual({ id: 'ex_1', generation: 1, state: 'CANCELLED' });
    expect(left).toEqual(['cleaned up']);
  });

  test('a newer assignment that overtakes the answer to the suspension shows that it was taken', async () => {
    const left: number[] = [];
    let answer: () => void = () => undefined;
    server.behaviour.report = async (list) => {
      if (list === 'suspends') await new Promise<void>((resolve) => void (answer = resolve));
      return undefined;
    };
    const waits = flow('waits', async (context) => {
      try {
        return await context.pause('approval');
      } finally {
        left.push(context.generation);
      }
    });
    await start([waits], { capacity: 1 });
    server.assign(['ex_1'], 'test/waits');
    await suspended();
    server.wake('ex_1', 'test/waits', 2, 0, { result: 'yes' });
    await ended();
    answer();
    expect(lastEnd()).toMatchObject({ generation: 2, state: 'COMPLETED', output: 'yes' });
    expect(left).toEqual([2]);
    expect(server.items('releases')).toEqual([]);
  });
});

describe('sleep', () => {
  test('a short one is waited for here and completed', async () => {
    await start([flow('naps', async (context) => await context.sleep(20))]);
    server.assign(['ex_1'], 'test/naps');
    await ended();
    expect(server.items('steps')).toEqual([
      { id: 'ex_1', generation: 1, position: 0, kind: 'TIMER', name: 'sleep', done: false, delayMs: 20 },
      { id: 'ex_1', generation: 1, position: 0, kind: 'TIMER', name: 'sleep', done: true, order: 0, result: null },
    ]);
    expect(server.items('suspends')).toEqual([]);
  });

  test('a long one frees the slot until the server says that it is over', async () => {
    await start([flow('sleeps', async (context) => [await context.sleep(31_000), 'awake'])]);
    server.assign(['ex_1'], 'test/sleeps');
    await suspended();
    expect(server.items('steps')).toMatchObject([{ kind: 'TIMER', done: false, delayMs: 31_000 }]);
    server.wake('ex_1', 'test/sleeps', 2, 0, { result: null });
    await ended();
    expect(lastEnd()).toMatchObject({ output: [null, 'awake'] });
  });

  test('one that a lost worker began is waited for only as long as is left of it', async () => {
    server.steps.set('ex_1', [
      { position: 0, kind: 'TIMER', name: 'sleep', done: false, remainingMs: 5, result: null, error: null },
    ]);
    await start([flow('sleeps', (context) => context.sleep(1e9))]);
    server.assign(['ex_1'], 'test/sleeps', { generation: 3 });
    await ended();
    expect(server.items('steps')).toMatchObject([{ position: 0, kind: 'TIMER', done: true }]);
  });

  test('where the line is can be set', async () => {
    await start([flow('sleeps', (context) => context.sleep(40))], { longSleepMs: 30 });
    server.assign(['ex_1'], 'test/sleeps');
    await suspended();
    expect(server.items('steps')).toHaveLength(1);
  });
});

describe('call', () => {
  const parent = flow('parent', async (context, input: number[]) => {
    const children = input.map((n) => context.call<number>('test/child', { n }));
    return await Promise.all(children);
  });

  test('starts children and waits for them without a slot', async () => {
    await start([parent]);
    server.assign(['ex_1'], 'test/parent', { claim: { input: [1, 2] } });
    await suspended();
    expect(server.items('calls')).toEqual(
      [0, 1].map((position) => ({
        id: 'ex_1',
        generation: 1,
        position,
        name: 'test/child',
        workflow: 'test/child',
        input: { n: position + 1 },
      })),
    );
    expect(server.items('suspends')).toMatchObject([{ positions: [0, 1] }]);
    server.wake('ex_1', 'test/parent', 2, 1, { result: 20 }, { input: [1, 2] });
    await suspended(2);
    expect(server.items('suspends').at(-1)).toMatchObject({ generation: 2, positions: [0] });
    server.wake('ex_1', 'test/parent', 3, 0, { result: 10 }, { input: [1, 2] });
    await ended();
    expect(lastEnd()).toMatchObject({ output: [10, 20] });
    expect(server.items('calls')).toHaveLength(2);
  });

  test('a child that failed throws by name and message', async () => {
    const asks = flow('asks', (context) =>
      context.call('test/child', null).catch((error: Error) => `${error.name}: ${error.message}`),
    );
    await start([asks]);
    server.assign(['ex_1'], 'test/asks');
    await suspended();
    const error = { type: 'ParkTimeoutError', message: 'nobody was there', stack: null, retryable: false };
    server.wake('ex_1', 'test/asks', 2, 0, { error });
    await ended();
    expect(lastEnd()).toMatchObject({ output: 'ParkTimeoutError: nobody was there' });
  });

  test('one that cannot be made is recorded as failed, and the same in a replay', async () => {
    server.behaviour.item = (list) =>
      list === 'calls' ? { code: 'BAD_INPUT', message: 'there is no workflow test/none' } : undefined;
    const asks = flow('asks', (context) =>
      context.call('test/none', null).catch((error: Error) => `${error.name}: ${error.message}`),
    );
    await start([asks]);
    server.assign(['ex_1'], 'test/asks');
    await ended();
    server.behaviour.item = () => undefined;
    server.assign(['ex_1'], 'test/asks', { generation: 2 });
    await ended(2);
    expect(lastEnd()).toMatchObject({
      output: 'CallError: test/none cannot be called: there is no workflow test/none',
    });
    expect(server.items('calls')).toHaveLength(1);
  });

  test('what the server completed after the claim was taken is not seen before the next claim', async () => {
    server.steps.set('ex_1', [
      { position: 0, kind: 'CALL', name: 'test/child', done: true, result: 1, error: null, generation: 3, order: null },
    ]);
    await start([parent]);
    server.assign(['ex_1'], 'test/parent', { generation: 2, claim: { input: [1] } });
    await suspended();
    expect(server.items('suspends')).toEqual([{ id: 'ex_1', generation: 2, positions: [0] }]);
    server.assign(['ex_1'], 'test/parent', { generation: 3, claim: { input: [1] } });
    await ended();
    expect(lastEnd()).toMatchObject({ generation: 3, output: [1] });
  });

  test('routing input goes into the call and nowhere else', async () => {
    const asks = flow('asks', async (context) => {
      const options = { routingInput: { cohort: 'canary-7f3a' }, version: 3, priority: 5, transient: true };
      context.log('calling');
      return await context.call('test/child', { n: 1 }, options).catch((error: Error) => error.message);
    });
    await start([asks, flow('child', () => 'never here')]);
    server.assign(['ex_1'], 'test/asks');
    await suspended();
    expect(server.items('calls')).toMatchObject([
      { workflow: 'test/child', routingInput: { cohort: 'canary-7f3a' }, version: 3, priority: 5 },
    ]);
    const rest = server.reports.filter((report) => report.list !== 'calls');
    expect(JSON.stringify([rest, server.heartbeats])).not.toContain('canary-7f3a');
  });
});

describe('a transient call', () => {
  const child = flow('child', async (context, input: { n: number }) => {
    const doubled = await context.task('double', () => input.n * 2);
    context.log('doubled');
    return [doubled, context.executionId];
  });
  const parent = flow('parent', (context) => context.call(child, { n: 4 } as never, { transient: true }));

  test('runs right here and records its result only', async () => {
    await start([parent, child], { capacity: 1 });
    server.assign(['ex_1'], 'test/parent');
    await ended();
    expect(lastEnd()).toMatchObject({ output: [8, 'ex_1:0'] });
    expect(server.items('calls')).toEqual([]);
    expect(server.items('steps')).toMatchObject([
      { position: 0, kind: 'CALL', name: 'test/child', done: true, result: [8, 'ex_1:0'] },
    ]);
    expect(server.items('events')).toMatchObject([{ id: 'ex_1', type: 'log', data: { message: 'doubled' } }]);
  });

  test('is dispatched where the worker option says so, or the worker does not have the workflow', async () => {
    await start([parent, child], { transientCalls: false });
    server.assign(['ex_1'], 'test/parent');
    await suspended();
    await worker?.stop();
    await start([parent]);
    server.assign(['ex_2'], 'test/parent');
    await suspended(2);
    expect(server.items('calls')).toMatchObject([{ id: 'ex_1' }, { id: 'ex_2' }]);
  });

  test.each<[string, (context: ExecutionContext) => unknown, RegExp]>([
    ['pause', (context) => context.pause('x'), /test\/wants cannot pause; call it without transient/],
    ['sleep long', (context) => context.sleep(60_000), /cannot sleep longer than 30000 ms/],
    ['call elsewhere', (context) => context.call('test/far', null), /can only call workflows that its worker runs/],
  ])('that wants to %s fails with what would be right', async (_, handler, message) => {
    const wants = flow('wants', handler);
    const asks = flow('asks', (context) => context.call(wants, null as never, { transient: true }));
    await start([asks, wants]);
    server.assign(['ex_1'], 'test/asks');
    await ended();
    expect(lastEnd()).toMatchObject({ state: 'FAILED', error: { message: expect.stringMatching(message) } });
    expect(server.items('steps')).toMatchObject([{ kind: 'CALL', error: { message: expect.stringMatching(message) } }]);
  });
});

describe('aborts', () => {
  test('a cancel fires the signal of a task, and what waits is told why', async () => {
    const told: unknown[] = [];
    const waits = flow('waits', async (context) => {
      const task = context.task('work', ({ signal }) => {
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        });
      });
      const settled = await Promise.allSettled([task, context.sleep(20_000)]);
      for (const one of settled) told.push(one.status === 'rejected' && (one.reason as Error).name);
      await context.task('more', () => told.push('not run'));
    });
    await start([waits]);
    server.assign(['ex_1'], 'test/waits');
    await expect.poll(() => server.items('steps').length).toBe(1);
    server.push({ cancels: [{ id: 'ex_1', generation: 1 }] });
    await ended();
    expect(lastEnd()).toEqual({ id: 'ex_1', generation: 1, state: 'CANCELLED' });
    expect(told).toEqual(['AbortError', 'AbortError']);
    expect(server.items('steps')).toHaveLength(1);
  });

  test('a task that finishes while the worker stops is recorded before the execution is given back', async () => {
    let working = false;
    const works = flow('works', async (context) => {
      await context.task('work', async ({ signal }) => {
        working = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'saved';
      });
      return await context.task('not begun', () => 1);
    });
    await start([works]);
    server.assign(['ex_1'], 'test/works');
    await expect.poll(() => working).toBe(true);
    await worker?.stop();
    expect(server.items('steps')).toMatchObject([{ position: 0, result: 'saved' }]);
    expect(server.items('releases')).toMatchObject([{ id: 'ex_1', reason: 'worker stopping' }]);
  });

  test('a step that is refused because the claim is over aborts the handler', async () => {
    let signal: AbortSignal | undefined;
    server.behaviour.item = (list) => (list === 'steps' ? { code: 'CONFLICT', message: 'over' } : undefined);
    server.behaviour.stepPage = () => ({ code: 'CONFLICT', message: 'over' });
    const works = flow('works', async (context) => {
      signal = context.signal;
      await context.task('work', () => 1);
      return 'not reached';
    });
    await start([works], { capacity: 1 });
    server.assign(['ex_1'], 'test/works');
    await expect.poll(() => signal?.aborted).toBe(true);
    server.behaviour.item = () => undefined;
    server.assign(['ex_2'], 'test/works');
    await expect.poll(() => server.items('ends').some((end) => end.id === 'ex_2')).toBe(true);
  });
});

describe('a long history', () => {
  test('comes in pages', async () => {
    let ran = 0;
    const many = flow('many', async (context) => {
      let sum = 0;
      for (let n = 0; n < 25; n += 1) {
        sum += await context.task(`add ${n}`, () => {
          ran += 1;
          return n;
        });
      }
      return sum;
    });
    await start([many]);
    server.pageSize = 4;
    server.assign(['ex_1'], 'test/many');
    await ended();
    server.assign(['ex_1'], 'test/many', { generation: 2 });
    await ended(2);
    expect(lastEnd()).toMatchObject({ generation: 2, output: 300 });
    expect(ran).toBe(25);
    expect(server.log.filter((operation) => operation === 'WorkerSteps')).toHaveLength(6);
  });

  test('of a claim that is over while it is read is forgotten', async () => {
    server.steps.set(
      'ex_1',
      [0, 1, 2].map((position) => ({ position, kind: 'NOW', name: 'now', done: true, result: 1, error: null })),
    );
    server.pageSize = 1;
    server.behaviour.stepPage = () => ({ code: 'CONFLICT', message: 'over' });
    await start([flow('waits', (context) => context.now())]);
    server.assign(['ex_1'], 'test/waits', { generation: 2 });
    await expect.poll(() => server.log.includes('WorkerSteps')).toBe(true);
    await worker?.drain();
    expect(server.items('ends')).toEqual([]);
  });
});
