import { expect, it } from 'vitest';
import { DispatchFigures } from './figures.ts';

it('counts the last minute and nothing older', () => {
  let now = 0;
  const figures = new DispatchFigures(
    () => now,
    () => 0,
  );
  for (let i = 1; i <= 100; i += 1) figures.recordAssigned(i);
  figures.recordDecision(40, true);
  figures.recordEnd('COMPLETED', 30);
  figures.recordEnd('FAILED');
  now = 10_000;
  expect(figures.read()).toEqual({
    dispatchedPerSecond: 10,
    completedPerSecond: 3,
    failedPerSecond: 0.1,
    degradedDecisionsPerMinute: 1,
    dispatchLatencyMs: { p50: 50, p95: 95, p99: 99 },
    decisionUs: { p50: 40, p95: 40, p99: 40 },
  });
  now = 61_000;
  expect(figures.read()).toMatchObject({
    dispatchedPerSecond: 0,
    dispatchLatencyMs: { p50: null, p95: null, p99: null },
  });
});

it('stays bounded whatever the load', () => {
  const figures = new DispatchFigures(() => 0, Math.random);
  for (let i = 0; i < 10_000; i += 1) figures.recordAssigned(i % 100);
  expect(figures.read().dispatchLatencyMs.p50).toBeGreaterThan(20);
});
