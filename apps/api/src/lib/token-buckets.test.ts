import { expect, it } from 'vitest';
import { TokenBuckets } from './token-buckets.ts';

function buckets(size: number, perMinute: number, maxKeys = 10) {
  const clock = { ms: 0 };
  return { clock, limit: new TokenBuckets({ size, perMinute, maxKeys, now: () => clock.ms }) };
}

it('gives what is there, then says when there will be more', () => {
  const { clock, limit } = buckets(3, 60);
  expect([1, 1, 1, 1].map((tokens) => limit.take('a', tokens))).toEqual([0, 0, 0, 1]);
  expect(limit.take('b', 1)).toBe(0);
  clock.ms = 999;
  expect(limit.take('a', 1)).toBe(1);
  clock.ms = 1_000;
  expect([limit.take('a', 1), limit.take('a', 2)]).toEqual([0, 2]);
  clock.ms = 3_600_000;
  expect([limit.take('a', 3), limit.take('a', 1)]).toEqual([0, 1]);
});

it('lets through what is dearer than a full bucket, when it is full', () => {
  const { clock, limit } = buckets(10, 60);
  expect([limit.take('a', 500), limit.take('a', 1)]).toEqual([0, 1]);
  clock.ms = 9_000;
  expect(limit.take('a', 500)).toBe(1);
});

it('looks without taking', () => {
  const { limit } = buckets(2, 60);
  expect([limit.wait('a', 2), limit.wait('a', 2), limit.take('a', 2), limit.wait('a', 1)]).toEqual([0, 0, 0, 1]);
});

it('keeps no more buckets than it may, and forgets the one that was used longest ago', () => {
  const { limit } = buckets(1, 1, 3);
  for (const key of ['a', 'b', 'c']) limit.take(key, 1);
  expect(limit.take('a', 1)).toBeGreaterThan(0);
  limit.take('d', 1);
  expect(limit.keys).toBe(3);
  expect([limit.wait('a', 1) > 0, limit.wait('b', 1)]).toEqual([true, 0]);
});
