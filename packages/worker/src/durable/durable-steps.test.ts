import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type ExecutionContext, RetryableError } from '../execution-context.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { startWorker } from '../testing/start-worker.ts';
import type { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { workflow } from '../workflow.ts';

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

/** A worker with one workflow, `test/flow`. */
async function start(
  handler: (context: ExecutionContext, input: never) => unknown,
  options: Partial<WorkerOptions> = {},
): Promise<void> {
  worker = await startWorker(server, {
    workflows: [workflow({ namespace: 'test', name: 'flow' }, handler)],
    ...options,
  });
}

const ended = (count = 1) => expect.poll(() => server.items('ends').length).toBe(count);
const lastEnd = () => server.items('ends').at(-1);

describe('tasks', () => {
  test('run once; a handler that is run again is given what they resulted in', async () => {
    const ran: string[] = [];
    await start(async (context) => {
      const a = await context.task('a', () => {
        ran.push('a');
        return { at: new Date(0), none: undefined };
      });
      const b = await context.task('b', ({ attemptKey, attempt }) => {
        ran.push('b');
        return [attemptKey, attempt, context.attemptKey];
      });
      return [a, b, await context.task('nothing', () => undefined)];
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    const output = [{ at: '1970-01-01T00:00:00.000Z' }, ['ex_1:1', 1, 'ex_1:1'], null];
    expect(lastEnd()).toMatchObject({ state: 'COMPLETED', output });
    expect(server.items('steps')).toEqual([
      { id: 'ex_1', generation: 1, position: 0, kind: 'TASK', name: 'a', done: true, order: 0, result: output[0] },
      { id: 'ex_1', generation: 1, position: 1, kind: 'TASK', name: 'b', done: true, order: 1, result: output[1] },
      { id: 'ex_1', generation: 1, position: 2, kind: 'TASK', name: 'nothing', done: true, order: 2, result: null },
    ]);
    server.assign(['ex_1'], 'test/flow', { generation: 2 });
    await ended(2);
    expect(lastEnd()).toMatchObject({ generation: 2, state: 'COMPLETED', output });
    expect(ran).toEqual(['a', 'b']);
    expect(server.items('steps')).toHaveLength(3);
  });

  test('beside each other keep their identity, whichever ends first', async () => {
    const ran: string[] = [];
    const gates = new Map<string, () => void>();
    await start((context) =>
      Promise.all(
        ['x', 'y', 'z'].map((name) =>
          context.task('same name', async () => {
            ran.push(name);
            await new Promise<void>((resolve) => gates.set(name, resolve));
            return name;
          }),
        ),
      ),
    );
    server.assign(['ex_1'], 'test/flow');
    await expect.poll(() => gates.size).toBe(3);
    for (const [index, name] of ['z', 'x'].entries()) {
      gates.get(name)?.();
      await expect.poll(() => server.items('steps').length).toBe(index + 1);
    }
    expect(server.items('steps').map((step) => [step['position'], step['result']])).toEqual([
      [2, 'z'],
      [0, 'x'],
    ]);
    // Another attempt, while y is still at work in this one.
    server.assign(['ex_1'], 'test/flow', { generation: 3 });
    await expect.poll(() => ran).toEqual(['x', 'y', 'z', 'y']);
    gates.get('y')?.();
    await expect.poll(() => server.items('ends').at(-1)).toMatchObject({ generation: 3, output: ['x', 'y', 'z'] });
  });

  test('of chains beside each other are replayed in the order in which their results came', async () => {
    const ran: string[] = [];
    const gates = new Map<string, () => void>();
    await start(async (context) => {
      const results = await Promise.all(
        ['x', 'y'].map(async (item) => {
          const first = await context.task('first', async () => {
            await new Promise<void>((resolve) => gates.set(item, resolve));
            return item;
          });
          return await context.task('second', () => {
            ran.push(first);
            return `${first}!`;
          });
        }),
      );
      await context.pause('look');
      return results;
    });
    server.assign(['ex_1'], 'test/flow');
    await expect.poll(() => gates.size).toBe(2);
    // y is quicker: its second task is made at position 2, that of x at position 3.
    gates.get('y')?.();
    await expect.poll(() => server.items('steps').length).toBe(2);
    gates.get('x')?.();
    await expect.poll(() => server.items('suspends').length).toBe(1);
    expect(server.items('steps').map((step) => [step['position'], step['result']])).toEqual([
      [1, 'y'],
      [2, 'y!'],
      [0, 'x'],
      [3, 'x!'],
      [4, undefined],
    ]);
    server.wake('ex_1', 'test/flow', 2, 4, { result: 'seen' });
    await ended();
    expect(lastEnd()).toMatchObject({ output: ['x!', 'y!'] });
    expect(ran).toEqual(['y', 'x']);
  });

  test('what failed for the last time is recorded, and thrown again by name and message', async () => {
    let runs = 0;
    const seen: unknown[] = [];
    await start(async (context) => {
      try {
        await context.task('charge', () => {
          runs += 1;
          throw new RangeError('too much');
        });
      } catch (error) {
        seen.push([(error as Error).name, (error as Error).message, error instanceof RangeError]);
      }
      return 'caught';
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    server.assign(['ex_1'], 'test/flow', { generation: 2 });
    await ended(2);
    expect(seen).toEqual([
      ['RangeError', 'too much', false],
      ['RangeError', 'too much', false],
    ]);
    expect(runs).toBe(1);
    expect(server.items('steps')).toMatchObject([
      { position: 0, done: true, error: { type: 'RangeError', message: 'too much', retryable: false } },
    ]);
  });

  test('a retryable failure that the handler lets through is left to the next attempt', async () => {
    let runs = 0;
    await start((context) =>
      context.task('fetch', () => {
        runs += 1;
        if (runs < 2) throw new RetryableError('busy');
        return 'fetched';
      }),
    );
    server.assign(['ex_1'], 'test/flow', { claim: { attempt: 1, maxAttempts: 3 } });
    await ended();
    expect(lastEnd()).toMatchObject({ state: 'FAILED', error: { type: 'RetryableError', retryable: true } });
    expect(server.items('steps')).toEqual([]);
    server.assign(['ex_1'], 'test/flow', { generation: 3, claim: { attempt: 3, maxAttempts: 3 } });
    await ended(2);
    expect(lastEnd()).toMatchObject({ state: 'COMPLETED', output: 'fetched' });
  });

  test('also where the handler waits for the others first', async () => {
    const ran: string[] = [];
    await start(async (context) => {
      const settled = await Promise.allSettled([
        context.task('fails', () => {
          ran.push('fails');
          if (ran.length < 3) throw new RetryableError('busy');
          return 'at last';
        }),
        context.task('slow', async () => {
          ran.push('slow');
          await new Promise((resolve) => setTimeout(resolve, 30));
        }),
      ]);
      const failed = settled.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      return 'done';
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(server.items('steps')).toMatchObject([{ position: 1, name: 'slow', result: null }]);
    server.assign(['ex_1'], 'test/flow', { generation: 3, claim: { attempt: 2 } });
    await ended(2);
    expect(lastEnd()).toMatchObject({ state: 'COMPLETED', output: 'done' });
    expect(ran).toEqual(['fails', 'slow', 'fails']);
  });

  test('a retryable failure that the handler catches is recorded before anything that follows', async () => {
    await start(async (context) => {
      const first = context.task('first', () => {
        throw new RetryableError('busy');
      });
      await first.catch(() => undefined);
      return await context.task('instead', () => 'something else');
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(server.items('steps')).toMatchObject([
      { position: 0, order: 0, error: { type: 'RetryableError', message: 'busy' } },
      { position: 1, order: 1, result: 'something else' },
    ]);
  });

  test.each<[string, () => unknown, RegExp]>([
    ['a value that is not JSON', () => 1n, /is not JSON: .*BigInt/],
    ['more than 1 MiB', () => 'x'.repeat(1024 * 1024), /at most 1048576 \(1 MiB\) are recorded/],
  ])('%s is a failure of the task', async (_, fn, message) => {
    await start((context) => context.task('big', fn));
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({
      state: 'FAILED',
      error: { type: 'ResultError', message: expect.stringMatching(message) },
    });
  });

  test('a result that the server cannot store is recorded as a failure instead', async () => {
    server.behaviour.item = (list, item) =>
      list === 'steps' && item['error'] === undefined ? { code: 'BAD_INPUT', message: 'a NUL character' } : undefined;
    await start((context) => context.task('odd', () => '\u0000').catch((error: Error) => error.message));
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({ output: 'The result of TASK "odd" cannot be recorded: a NUL character' });
    expect(server.items('steps').at(-1)).toMatchObject({ error: { type: 'ResultError' } });
  });

  test('beyond the limits of an execution it fails, and says so', async () => {
    server.behaviour.item = (list) =>
      list === 'steps' ? { code: 'TOO_LARGE', message: 'an execution has at most 10000 steps' } : undefined;
    await start(async (context) => {
      await context.task('one more', () => 1).catch(() => undefined);
      return 'not reached';
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({
      state: 'FAILED',
      error: { type: 'TooManyStepsError', message: expect.stringContaining('at most 10000 steps'), retryable: false },
    });
  });
});

describe('time and randomness', () => {
  test('are the same in every replay', async () => {
    await start(async (context) => {
      const before = await context.now();
      const rolled = await context.random();
      return [before, rolled, await context.now()];
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    const output = lastEnd()?.['output'];
    expect(output).toEqual([expect.any(Number), expect.any(Number), expect.any(Number)]);
    server.assign(['ex_1'], 'test/flow', { generation: 2 });
    await ended(2);
    expect(lastEnd()?.['output']).toEqual(server.items('ends')[0]?.['output']);
  });
});

describe('a handler that does something else the second time', () => {
  test.each([
    ['another name', async (context: ExecutionContext) => await context.task('b', () => 1), 'TASK "b"'],
    ['another kind', async (context: ExecutionContext) => await context.now(), 'NOW "now"'],
  ])('%s fails, wherever it is caught, and says where', async (_, second, found) => {
    let first = true;
    await start(async (context) => {
      if (first) await context.task('a', () => 1);
      else await second(context).catch(() => 'hidden');
      first = false;
      return null;
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    server.assign(['ex_1'], 'test/flow', { generation: 2 });
    await ended(2);
    expect(lastEnd()).toMatchObject({
      state: 'FAILED',
      error: {
        type: 'NonDeterminismError',
        message: expect.stringContaining(
          `At position 0 TASK "a" is recorded, but this time the handler came with ${found}`,
        ),
        retryable: false,
      },
    });
  });

  test('also where it ends without a call that it made before', async () => {
    let first = true;
    await start(async (context) => {
      await context.task('a', () => 1);
      if (first) await context.task('b', () => 1);
      first = false;
      return null;
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    server.assign(['ex_1'], 'test/flow', { generation: 2 });
    await ended(2);
    expect(lastEnd()).toMatchObject({
      error: {
        type: 'NonDeterminismError',
        message: expect.stringContaining('At position 1 TASK "b" is recorded, but this time the handler ended'),
      },
    });
  });
});

describe('wrong usage', () => {
  test.each<[string, (context: ExecutionContext) => unknown, RegExp]>([
    ['an empty name', (context) => context.task('', () => 1), /ctx\.task takes a name of 1 to 200 characters/],
    ['no function', (context) => context.task('x', 5 as never), /task "x" needs a function; it was given a number/],
    ['retries', (context) => context.task('x', () => 1, { retries: -1 }), /retries must be a number from 0 to 100/],
    ['half a retry', (context) => context.task('x', () => 1, { retries: 1.5 }), /retries must be a whole number/],
    ['a timeout', (context) => context.task('x', () => 1, { timeout: 0 }), /timeout must be a number from 1/],
    [
      'a back-off',
      (context) => context.task('x', () => 1, { backoff: { factor: 0 } }),
      /backoff\.factor must be a number from 1/,
    ],
    ['a sleep', (context) => context.sleep(Number.NaN), /ctx\.sleep takes milliseconds from 0/],
    [
      'a ref',
      (context) => context.call('a/b/c', null),
      /takes a workflow, or its "namespace\/name"; it was given "a\/b\/c"/,
    ],
    ['an input', (context) => context.call('a/b', 1n), /the input of ctx\.call is not JSON/],
    [
      'routing input',
      (context) => context.call('a/b', null, { routingInput: { 'canary.key': 'canary-value' } }),
      /^(?!.*canary).*routing input/i,
    ],
    ['attemptKey outside', (context) => context.attemptKey, /inside of the function of a task only/],
    [
      'a durable call inside of a task',
      (context) => context.task('outer', () => context.sleep(1)),
      /ctx\.sleep cannot be used inside of the task "outer"/,
    ],
  ])('%s is refused clearly', async (_, use, message) => {
    await start(async (context) => await use(context));
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({ state: 'FAILED', error: { message: expect.stringMatching(message) } });
  });
});
