import { expect, test } from 'vitest';
import { reconnectDelay } from './reconnect-delay.ts';

test('the first wait lies anywhere within two seconds', () => {
  expect(reconnectDelay(0, () => 0)).toBe(0);
  expect(reconnectDelay(0, () => 0.5)).toBe(1_000);
  expect(reconnectDelay(0, () => 0.999)).toBeLessThan(2_000);
});

test('later waits double, keep at least half, and never pass thirty seconds', () => {
  expect([1, 2, 3, 4].map((attempt) => reconnectDelay(attempt, () => 0))).toEqual([1_000, 2_000, 4_000, 8_000]);
  expect([1, 2, 3, 4].map((attempt) => reconnectDelay(attempt, () => 1))).toEqual([2_000, 4_000, 8_000, 16_000]);
  expect(reconnectDelay(5, () => 1)).toBe(30_000);
  expect(reconnectDelay(8, () => 1, 5_000)).toBe(5_000);
  expect(reconnectDelay(5_000, () => 0)).toBe(15_000);
});
