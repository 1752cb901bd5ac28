import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LoopLag } from './loop-lag.ts';

let now = 0;
let lag: LoopLag;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 5_000;
  lag = new LoopLag(() => now);
  lag.start();
});

afterEach(() => {
  lag.stop();
  vi.useRealTimers();
});

/** The next probe comes so many milliseconds late. */
function probe(lateMs: number): void {
  now += 1_000 + lateMs;
  vi.advanceTimersByTime(1_000);
}

test('says nothing before its first probe', () => {
  expect([lag.seconds, lag.p95Seconds]).toEqual([null, null]);
});

test('99 lags of 0.01 s and one of 2 s: the last is 2, 95 % are within 0.01', () => {
  for (let i = 0; i < 99; i += 1) probe(10);
  probe(2_000);
  expect([lag.seconds, lag.p95Seconds]).toEqual([2, 0.01]);
});

test('the p95 is that of the last 128 probes', () => {
  for (let i = 0; i < 128; i += 1) probe(500);
  for (let i = 0; i < 120; i += 1) probe(10);
  expect(lag.p95Seconds).toBe(0.5);
  probe(10);
  expect(lag.p95Seconds).toBe(0.01);
});

test('early probes are no lag', () => {
  probe(-20);
  expect(lag.seconds).toBe(0);
});
