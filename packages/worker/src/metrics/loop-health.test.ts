import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LoopHealth } from './loop-health.ts';

let now = 0;
let changes: boolean[] = [];
let health: LoopHealth;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  now = 5_000;
  changes = [];
});

afterEach(() => {
  health.stop();
  vi.useRealTimers();
});

function start(thresholdSeconds: number): void {
  health = new LoopHealth({ thresholdSeconds, onChange: () => changes.push(health.healthy), now: () => now });
  health.start();
}

/** The loop is looked at again, so many milliseconds late. */
function look(lateMs: number): void {
  now += 100 + lateMs;
  vi.advanceTimersByTime(100);
}

/** The loop runs for so many milliseconds. */
function run(ms: number): void {
  for (let passed = 0; passed < ms; passed += 100) look(0);
}

test('one stand-still of the threshold makes it unhealthy, at once', () => {
  start(1);
  run(1_000);
  look(999);
  expect(changes).toEqual([]);
  look(1_000);
  expect([changes, health.blockedSeconds]).toEqual([[false], 1]);
});

test('it is healthy again when it has run for five seconds', () => {
  start(1);
  look(2_000);
  run(4_900);
  expect(health.healthy).toBe(false);
  run(100);
  expect(changes).toEqual([false, true]);
});

test('another stand-still starts the five seconds anew, and is told of no second time', () => {
  start(1);
  look(2_000);
  run(4_000);
  look(3_000);
  run(4_900);
  expect([changes, health.blockedSeconds]).toEqual([[false], 3]);
  run(100);
  expect(changes).toEqual([false, true]);
});

test('short ones do nothing, however many', () => {
  start(1);
  for (let i = 0; i < 50; i += 1) look(900);
  expect(changes).toEqual([]);
});

test('with a threshold of 0 it is never unhealthy', () => {
  start(0);
  for (let i = 0; i < 5; i += 1) look(10_000);
  expect(changes).toEqual([]);
});
