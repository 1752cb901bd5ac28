import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LoopLag } from './loop-lag.ts';

let now = 0;
let changes: boolean[] = [];
let lag: LoopLag;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 5_000;
  changes = [];
});

afterEach(() => {
  lag.stop();
  vi.useRealTimers();
});

function start(thresholdSeconds: number): void {
  lag = new LoopLag({ thresholdSeconds, onChange: () => changes.push(lag.healthy), now: () => now });
  lag.start();
}

/** The next probe comes so many milliseconds late. */
function probe(lateMs: number): void {
  now += 1_000 + lateMs;
  vi.advanceTimersByTime(1_000);
}

test('says nothing before its first probe', () => {
  start(1);
  expect([lag.seconds, lag.p95Seconds]).toEqual([null, null]);
});

test('99 lags of 0.01 s and one of 2 s: the last is 2, 95 % are within 0.01', () => {
  start(0);
  for (let i = 0; i < 99; i += 1) probe(10);
  probe(2_000);
  expect([lag.seconds, lag.p95Seconds]).toEqual([2, 0.01]);
});

test('the p95 is that of the last 128 probes', () => {
  start(0);
  for (let i = 0; i < 128; i += 1) probe(500);
  for (let i = 0; i < 120; i += 1) probe(10);
  expect(lag.p95Seconds).toBe(0.5);
  probe(10);
  expect(lag.p95Seconds).toBe(0.01);
});

test('early probes are no lag', () => {
  start(1);
  probe(-20);
  expect(lag.seconds).toBe(0);
});

describe('health', () => {
  test('turns at the third late probe in a row, and back at the third punctual one', () => {
    start(1);
    for (const late of [1_000, 1_500]) probe(late);
    expect(lag.healthy).toBe(true);
    probe(1_000);
    expect(changes).toEqual([false]);
    for (const late of [0, 999]) probe(late);
    expect(lag.healthy).toBe(false);
    probe(0);
    expect(changes).toEqual([false, true]);
  });

  test('is not touched by late probes with a punctual one between them', () => {
    start(1);
    for (const late of [1_900, 1_900, 0, 1_900, 1_900, 999, 1_000]) probe(late);
    expect(changes).toEqual([]);
  });

  test('does not come back while late probes go on between punctual ones', () => {
    start(1);
    for (const late of [1_000, 1_000, 1_000, 0, 0, 1_000, 0, 0, 1_000]) probe(late);
    expect(changes).toEqual([false]);
  });

  test('turns at once after a stand-still in which three probes were due', () => {
    start(1);
    probe(2_900);
    expect(changes).toEqual([]);
    probe(0);
    probe(3_000);
    expect(changes).toEqual([false]);
  });

  test('stays with a threshold of 0', () => {
    start(0);
    for (let i = 0; i < 5; i += 1) probe(10_000);
    expect(changes).toEqual([]);
  });
});
