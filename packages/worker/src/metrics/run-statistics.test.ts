import { beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../outcome.ts';
import { crashType } from '../runners/runner-crashed.ts';
import { type RunOutcome, RunStatistics, runOutcomeOf } from './run-statistics.ts';

let now = 0;
let statistics: RunStatistics;

beforeEach(() => {
  now = 1_000_000;
  statistics = new RunStatistics(() => now);
});

function ended(count: number, outcome: RunOutcome, durationMs = 1): void {
  for (let i = 0; i < count; i += 1) statistics.ended(outcome, durationMs);
}

test('there is nothing before the first outcome', () => {
  expect(statistics.read()).toEqual({});
});

describe('failure_rate, crash_rate', () => {
  test('are the shares of failed and crashed, and of crashed', () => {
    ended(6, 'completed');
    ended(2, 'failed');
    ended(2, 'crashed');
    expect(statistics.read()).toMatchObject({
      'flux.failure_rate': 0.4,
      'flux.crash_rate': 0.2,
      'flux.executions_per_minute': 10,
    });
  });

  test('have four decimals, and a timeout is a failure but no crash', () => {
    ended(2, 'completed');
    ended(1, 'timed out');
    expect(statistics.read()).toMatchObject({ 'flux.failure_rate': 0.3333, 'flux.crash_rate': 0 });
  });

  test('look at the last 128 outcomes, however old they are', () => {
    ended(128, 'crashed');
    now += 86_400_000;
    expect(statistics.read()['flux.crash_rate']).toBe(1);
    ended(64, 'completed');
    expect(statistics.read()['flux.crash_rate']).toBe(0.5);
    ended(64, 'completed');
    expect(statistics.read()['flux.crash_rate']).toBe(0);
  });
});

describe('executions_per_minute', () => {
  test('counts every kind of outcome for 60 s, and is 0 after that', () => {
    ended(1, 'completed');
    ended(1, 'crashed');
    now += 60_000;
    ended(1, 'timed out');
    expect(statistics.read()['flux.executions_per_minute']).toBe(3);
    now += 1;
    expect(statistics.read()['flux.executions_per_minute']).toBe(1);
    now += 90_000;
    expect(statistics.read()['flux.executions_per_minute']).toBe(0);
  });

  test('counts to 4,096', () => {
    ended(4_097, 'completed');
    expect(statistics.read()['flux.executions_per_minute']).toBe(4_096);
  });
});

describe('execution_duration_p95_seconds', () => {
  test('is the value at ⌊0.95·(n−1)⌋', () => {
    for (const seconds of shuffled(100)) statistics.ended(seconds % 2 === 0 ? 'completed' : 'failed', seconds * 1_000);
    expect(statistics.read()['flux.execution_duration_p95_seconds']).toBe(94);
  });

  test('does not know of crashes and timeouts', () => {
    ended(1, 'crashed', 5_000);
    ended(1, 'timed out', 5_000);
    expect(statistics.read()).not.toHaveProperty(['flux.execution_duration_p95_seconds']);
    ended(1, 'completed', 1_234.56);
    expect(statistics.read()['flux.execution_duration_p95_seconds']).toBe(1.2346);
  });

  test('forgets what is older than 128 runs', () => {
    ended(1, 'completed', 60_000);
    ended(120, 'completed', 1_000);
    ended(7, 'completed', 2_000);
    expect(statistics.read()['flux.execution_duration_p95_seconds']).toBe(2);
    ended(1, 'completed', 1_000);
    expect(statistics.read()['flux.execution_duration_p95_seconds']).toBe(1);
    ended(8, 'completed', 3_000);
    expect(statistics.read()['flux.execution_duration_p95_seconds']).toBe(3);
  });
});

describe('startup_overhead_seconds', () => {
  test('is the upper median of the gaps', () => {
    for (const ms of [200, 900, 100]) statistics.firstCheckpoint(ms);
    expect(statistics.read()).toEqual({ 'flux.startup_overhead_seconds': 0.2 });
    statistics.firstCheckpoint(1_000);
    expect(statistics.read()['flux.startup_overhead_seconds']).toBe(0.9);
  });

  test('looks at the last 128', () => {
    for (let i = 0; i < 128; i += 1) statistics.firstCheckpoint(9_000);
    for (let i = 0; i < 65; i += 1) statistics.firstCheckpoint(12.34567);
    expect(statistics.read()['flux.startup_overhead_seconds']).toBe(0.0123);
  });
});

describe('what the end of a run counts as', () => {
  const failed = (type: string): Outcome => ({
    kind: 'end',
    end: { state: 'FAILED', error: { type, message: '', retryable: false } },
  });
  const completed: Outcome = { kind: 'end', end: { state: 'COMPLETED', output: null } };
  const cancelled: Outcome = { kind: 'end', end: { state: 'CANCELLED' } };
  const released: Outcome = { kind: 'release', reason: 'worker stopping' };

  test.each([
    ['a value', completed, undefined, 'completed'],
    ['a value although it was cancelled', completed, 'cancelled', 'completed'],
    ['an error', failed('RangeError'), undefined, 'failed'],
    ['an error of its own called TimeoutError', failed('TimeoutError'), undefined, 'failed'],
    ['its limit', failed('TimeoutError'), 'timed out', 'timed out'],
    ['the death of its process', failed(crashType), undefined, 'crashed'],
    ['a cancel', cancelled, 'cancelled', undefined],
    ['the loss of its claim', failed('AbortError'), 'lost', undefined],
    ['the stop of the worker', released, 'stopping', undefined],
    ['the take-over by another process', { kind: 'nothing' }, 'replaced', undefined],
  ] as const)('%s', (_, outcome, cause, expected) => {
    expect(runOutcomeOf(outcome, cause)).toBe(expected);
  });
});

/** 0 to count − 1, not in order. */
function shuffled(count: number): number[] {
  return Array.from({ length: count }, (_, i) => (i * 37) % count);
}
