import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type MetricsProvider, ProvidedMetrics } from './metrics-provider.ts';

let metrics: ProvidedMetrics;
let warnings: string[];
let firsts: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
  warnings = [];
  firsts = 0;
});

afterEach(() => {
  metrics.stop();
  vi.useRealTimers();
});

function make(provider: MetricsProvider | string, intervalMs = 10_000): ProvidedMetrics {
  metrics = new ProvidedMetrics({
    provider,
    intervalMs,
    log: (level, message) => warnings.push(`${level}: ${message}`),
    onFirst: () => {
      firsts += 1;
    },
  });
  return metrics;
}

const values = () => Object.fromEntries(metrics.values);

describe('the calls', () => {
  test('come at the start and at every interval, not in between', async () => {
    let calls = 0;
    await make(() => ({ calls: ++calls })).start();
    expect(values()).toEqual({ calls: 1 });
    await vi.advanceTimersByTimeAsync(9_999);
    expect(calls).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(values()).toEqual({ calls: 2 });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(values()).toEqual({ calls: 5 });
    expect([firsts, warnings]).toEqual([1, []]);
  });

  test('end with the worker', async () => {
    let calls = 0;
    await make(() => ({ calls: ++calls })).start();
    metrics.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(calls).toBe(1);
  });

  test('may be asynchronous', async () => {
    await make(async () => {
      await Promise.resolve();
      return { depth: 3 };
    }).start();
    expect(values()).toEqual({ depth: 3 });
  });

  test.each([
    [200, 1_000],
    [3_000, 3_000],
    [60_000, 5_000],
  ])('at an interval of %d ms may take %d ms', async (intervalMs, timeoutMs) => {
    void make(() => new Promise(() => undefined), intervalMs).start();
    await vi.advanceTimersByTimeAsync(timeoutMs - 1);
    expect(warnings).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(warnings).toEqual([
      `warn: The metrics provider failed, its last values stay: no metrics within ${timeoutMs / 1_000} s`,
    ]);
  });

  test('that never end do not pile up', async () => {
    let calls = 0;
    void make(() => {
      calls += 1;
      return new Promise(() => undefined);
    }).start();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(calls).toBe(3);
    expect(warnings).toHaveLength(1);
  });

  test('that come too late are not used, and the next one is', async () => {
    const answers: ((value: Record<string, number>) => void)[] = [];
    void make(() => new Promise((resolve) => answers.push(resolve))).start();
    await vi.advanceTimersByTimeAsync(6_000);
    answers[0]?.({ depth: 1 });
    await vi.advanceTimersByTimeAsync(1);
    expect(values()).toEqual({});
    await vi.advanceTimersByTimeAsync(4_000);
    answers[1]?.({ depth: 2 });
    await vi.advanceTimersByTimeAsync(1);
    expect(values()).toEqual({ depth: 2 });
  });
});

describe('what it gives', () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i]));

  test.each([
    ['32 metrics', many(32), 32],
    ['a key of 64 characters', { ['k'.repeat(64)]: 1 }, 1],
    ['nothing', {}, 0],
    ['numbers of any size', { a: -1e308, b: 0, c: 5e-324 }, 3],
  ])('%s is taken', async (_, given, count) => {
    await make(() => given).start();
    expect(metrics.values.size).toBe(count);
    expect(warnings).toEqual([]);
  });

  test('keys under flux. are stripped', async () => {
    await make(() => ({ 'flux.slots_free': 99, 'flux.anything': 1, fluxus: 2, depth: 3 })).start();
    expect(values()).toEqual({ fluxus: 2, depth: 3 });
  });

  test.each<[string, unknown]>([
    ['33 metrics', many(33)],
    ['a key of 65 characters', { good: 2, ['k'.repeat(65)]: 1 }],
    ['an empty key', { good: 2, '': 1 }],
    ['NaN', { good: 2, bad: Number.NaN }],
    ['infinity', { good: 2, bad: Number.POSITIVE_INFINITY }],
    ['a number as text', { good: 2, bad: '1' }],
    ['a boolean', { good: 2, bad: true }],
    ['null for a number', { good: 2, bad: null }],
    ['a big integer', { good: 2, bad: 1n }],
    ['a list', [1, 2]],
    ['a text', 'depth 3'],
    ['nothing at all', undefined],
    ['null', null],
  ])('%s is dropped whole, with one warning, and the last values stay', async (_, garbage) => {
    let given: unknown = { depth: 1 };
    await make(() => given as Record<string, number>).start();
    given = garbage;
    await vi.advanceTimersByTimeAsync(30_000);
    expect(values()).toEqual({ depth: 1 });
    expect(warnings).toHaveLength(1);
    given = { depth: 2 };
    await vi.advanceTimersByTimeAsync(10_000);
    expect(values()).toEqual({ depth: 2 });
    given = garbage;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(warnings).toHaveLength(2);
  });

  test('a provider that throws, or rejects, keeps its last values', async () => {
    let next = (): Record<string, number> | Promise<Record<string, number>> => ({ depth: 1 });
    await make(() => next()).start();
    next = () => {
      throw new Error('no sensor');
    };
    await vi.advanceTimersByTimeAsync(10_000);
    next = () => Promise.reject(new Error('still none'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(values()).toEqual({ depth: 1 });
    expect(warnings).toEqual(['warn: The metrics provider failed, its last values stay: no sensor']);
  });
});

describe('module:export', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-provider-'));
    writeFileSync(
      join(dir, 'metrics.mjs'),
      'export const collect = async () => ({ depth: 7 });\nexport const other = 1;\n',
    );
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  test.each(['path', 'url'])('a %s is loaded', async (how) => {
    const path = join(dir, 'metrics.mjs');
    await make(`${how === 'url' ? `file://${path}` : path}:collect`).start();
    expect(values()).toEqual({ depth: 7 });
  });

  test.each([
    ['missing.mjs:collect', 'missing.mjs'],
    ['metrics.mjs:nothing', 'exports no function nothing'],
    ['metrics.mjs:other', 'exports no function other'],
    ['metrics.mjs:', 'does not name a function: module:export'],
  ])('%s switches it off with a warning', async (text, message) => {
    await make(join(dir, text)).start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(values()).toEqual({});
    expect(warnings).toEqual([expect.stringContaining('warn: The metrics provider is switched off:')]);
    expect(warnings[0]).toContain(message);
  });
});
