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

const ended = (count = 1) => expect.poll(() => server.items('ends').length).toBe(count);
const suspended = (count = 1) => expect.poll(() => server.items('suspends').length).toBe(count);
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
    const rounds = flow('rounds', async (context) => {
      for (let n = 0; n < 5; n += 1) await context.now();
    });
    await start([waits, rounds], { capacity: 1 });
    server.assign(['ex_1'], 'test/waits');
    await suspended();
    server.wake('ex_1', 'test/waits', 2, 0, { result: 'yes' });
    await ended();
    // When the answer comes at last, the generation it was for is over.
    server.behaviour.item = (list) => (list === 'suspends' ? { code: 'CONFLICT' } : undefined);
    server.behaviour.stepPage = () => ({ code: 'CONFLICT' });
    answer();
    expect(lastEnd()).toMatchObject({ generation: 2, state: 'COMPLETED', output: 'yes' });
    server.assign(['ex_2'], 'test/rounds');
    await ended(2);
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
