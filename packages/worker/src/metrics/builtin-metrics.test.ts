import { expect, test } from 'vitest';
import { BuiltinMetrics, type MetricsSource } from './builtin-metrics.ts';

const source: MetricsSource = {
  running: 0,
  capacity: null,
  cpuTimes: { busy: 0, total: 0 },
  memoryAvailableBytes: 0,
  loadAverage: null,
  loopLagSeconds: null,
  loopLagP95Seconds: null,
  warmModules: null,
};

test('what has no data yet is left out', () => {
  expect(new BuiltinMetrics().read(source)).toEqual({
    'flux.running_executions': 0,
    'flux.memory_available_bytes': 0,
  });
});

test('free slots never go below zero', () => {
  const metrics = new BuiltinMetrics();
  expect(metrics.read({ ...source, running: 1, capacity: 4 })['flux.slots_free']).toBe(3);
  expect(metrics.read({ ...source, running: 5, capacity: 4 })['flux.slots_free']).toBe(0);
});

test('memory is floored to 16 MiB, load has two decimals, loop lag four', () => {
  const metrics = new BuiltinMetrics().read({
    ...source,
    memoryAvailableBytes: 3 * 16 * 1024 * 1024 + 5,
    loadAverage: 1.23456,
    loopLagSeconds: 0.123456,
    loopLagP95Seconds: 0.98765,
    warmModules: 3,
  });
  expect(metrics).toMatchObject({
    'flux.memory_available_bytes': 3 * 16 * 1024 * 1024,
    'flux.load_avg_1m': 1.23,
    'flux.loop_lag_seconds': 0.1235,
    'flux.loop_lag_p95_seconds': 0.9877,
    'flux.warm_modules': 3,
  });
});

test('cpu is seeded by the first sample and smoothed by 0.3 after it, one decimal', () => {
  const metrics = new BuiltinMetrics();
  const cpu = (busy: number, total: number): number | undefined =>
    metrics.read({ ...source, cpuTimes: { busy, total } })['flux.cpu_percent'];
  expect(cpu(1_000, 10_000)).toBeUndefined();
  expect(cpu(1_050, 10_100)).toBe(50);
  expect(cpu(1_150, 10_200)).toBe(65);
  expect(cpu(1_150, 10_200)).toBe(65);
  expect(cpu(1_150, 10_300)).toBe(45.5);
});
