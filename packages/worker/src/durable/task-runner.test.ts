import { describe, expect, test } from 'vitest';
import { FakeClock } from '../testing/fake-clock.ts';
import { backoffMs, taskRules } from './task-options.ts';
import { runTask, type TaskContext } from './task-runner.ts';

function run(fn: (task: TaskContext) => unknown, options: Parameters<typeof taskRules>[0] = {}) {
  const clock = new FakeClock();
  const controller = new AbortController();
  const parts = {
    name: 'work',
    attemptKey: 'ex_1:0',
    rules: taskRules(options),
    signal: controller.signal,
    clock,
    random: () => 0.5,
  };
  return { outcome: runTask(fn, parts), clock, controller };
}

describe('tries', () => {
  test('are as many as wanted, with waits that grow, and the last failure counts', async () => {
    const tried: string[] = [];
    const { outcome, clock } = run(
      ({ attempt, attemptKey }) => {
        tried.push(`${attemptKey} ${attempt}`);
        throw new Error(`try ${attempt}`);
      },
      { retries: 3, backoff: { firstMs: 100, factor: 3, maxMs: 500 } },
    );
    const waits: number[] = [];
    for (let n = 0; n < 3; n += 1) waits.push(await clock.next());
    expect(await outcome).toMatchObject({ error: { type: 'Error', message: 'try 4' } });
    expect(waits).toEqual([100, 300, 500]);
    expect(tried).toEqual(['ex_1:0 1', 'ex_1:0 2', 'ex_1:0 3', 'ex_1:0 4']);
  });

  test('end with the first success', async () => {
    const { outcome, clock } = run(
      ({ attempt }) => {
        if (attempt < 2) throw new Error('not yet');
        return attempt;
      },
      { retries: 5 },
    );
    await clock.next();
    expect(await outcome).toEqual({ result: 2 });
  });

  test('end with an error that says that it is final', async () => {
    let tries = 0;
    const { outcome } = run(
      () => {
        tries += 1;
        throw Object.assign(new Error('no such account'), { retryable: false });
      },
      { retries: 5 },
    );
    expect(await outcome).toMatchObject({ error: { message: 'no such account', retryable: false } });
    expect(tries).toBe(1);
  });

  test('end with an abort, also in the middle of a wait', async () => {
    let tries = 0;
    const { outcome, controller, clock } = run(
      () => {
        tries += 1;
        throw new Error('not yet');
      },
      { retries: 5 },
    );
    await expect.poll(() => clock.pending).toBe(1);
    controller.abort(new Error('cancelled'));
    expect(await outcome).toMatchObject({ error: { message: 'not yet' } });
    expect(tries).toBe(1);
    expect(clock.pending).toBe(0);
  });
});

describe('a timeout', () => {
  test('fires the signal of that try and is a failure like any other', async () => {
    const signals: AbortSignal[] = [];
    const { outcome, clock } = run(
      ({ signal, attempt }) => {
        signals.push(signal);
        return attempt === 1 ? new Promise(() => undefined) : 'quick';
      },
      { retries: 1, timeout: 250, backoff: 10 },
    );
    expect(await clock.next()).toBe(250);
    expect(await clock.next()).toBe(10);
    expect(await outcome).toEqual({ result: 'quick' });
    expect(signals.map((signal) => signal.aborted)).toEqual([true, false]);
    expect(clock.pending).toBe(0);
  });

  test('of the last try says how long it had', async () => {
    const { outcome, clock } = run(() => new Promise(() => undefined), { timeout: 250 });
    await clock.next();
    expect(await outcome).toMatchObject({
      error: { type: 'TaskTimeoutError', message: 'The task "work" did not finish within 250 ms.' },
    });
  });
});

test('waits spread by the jitter around the plain wait', () => {
  const rules = taskRules({ backoff: { firstMs: 1_000, jitter: 0.2 } });
  expect([0, 0.5, 1].map((random) => backoffMs(rules, 3, random))).toEqual([3_200, 4_000, 4_800]);
  expect(backoffMs(taskRules({ backoff: 1_000 }), 30, 0.5)).toBe(60_000);
});
