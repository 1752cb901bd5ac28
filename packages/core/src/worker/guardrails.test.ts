import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  checkCapacity,
  checkLabels,
  checkMetrics,
  checkParkTtl,
  checkPriority,
  mergeMetadata,
  withoutReserved,
} from './guardrails.ts';
import { isName, isSlug, parseWorkflowRef } from './names.ts';

const labels = (entries: Record<string, string>): { key: string; value: string }[] =>
  Object.entries(entries).map(([key, value]) => ({ key, value }));
const codes = (entries: Record<string, string>, reserved: 'refuse' | 'allow' = 'refuse'): string[] =>
  checkLabels(labels(entries), 'labels', reserved).issues.map((issue) => `${issue.path} ${issue.code}`);
const numbers = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, i]));

describe('labels', () => {
  it('have keys of one shape and values of bounded length', () => {
    expect(codes({ region: 'eu', 'cache.llama-3_8b': '', Z9: 'x'.repeat(256) })).toEqual([]);
    for (const key of ['', '.a', 'a.', 'a b', 'ä', '__proto__', '-'])
      expect(codes({ [key]: 'x' })).toEqual(['labels.0.key NAME_SHAPE']);
    expect(codes({ ['k'.repeat(129)]: 'x' })).toEqual(['labels.0.key NAME_TOO_LONG']);
    expect(codes({ k: 'x'.repeat(257) })).toEqual(['labels.0.value TEXT_TOO_LONG']);
    expect(codes({ k: '😀'.repeat(256) })).toEqual([]);
    expect(codes({ k: 'nul \u0000' })).toEqual(['labels.0.value TEXT_ILLEGAL']);
  });

  it('may not be asserted under flux. by a worker', () => {
    expect(codes({ 'flux.service.gpu': 'true' })).toEqual(['labels.0.key LABEL_RESERVED']);
    expect(codes({ 'flux.x': 'true' }, 'allow')).toEqual([]);
    expect(codes({ fluxx: 'true' })).toEqual([]);
  });

  it('are at most 64', () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v']));
    expect(codes(many)).toEqual(['labels TOO_MANY_LABELS']);
  });
});

describe('metrics', () => {
  it('are taken or dropped whole', () => {
    expect(checkMetrics({ a: 1, b: -0.5 })).toEqual(
      new Map([
        ['a', 1],
        ['b', -0.5],
      ]),
    );
    expect(checkMetrics({})).toEqual(new Map());
    const wrong = [
      null,
      [],
      'x',
      7,
      { '': 1 },
      { ['k'.repeat(65)]: 1 },
      { a: '1' },
      { a: true },
      { a: null },
      { a: Number.NaN },
      { a: Number.POSITIVE_INFINITY },
      { a: 1, b: {} },
      { 'a\u0000': 1 },
    ];
    for (const payload of wrong) expect(typeof checkMetrics(payload)).toBe('string');
  });

  it('are at most 64, of which a provider gives 32', () => {
    expect(checkMetrics(numbers(64))).toBeInstanceOf(Map);
    expect(checkMetrics(numbers(65))).toBe('at most 64 metrics, not 65');
    expect(checkMetrics(numbers(33), 32)).toBe('at most 32 metrics, not 33');
  });

  it('keep keys such as __proto__ as just keys', () => {
    expect(checkMetrics(JSON.parse('{"__proto__": 3}'))).toEqual(new Map([['__proto__', 3]]));
  });

  it('of a provider lose what is reserved', () => {
    expect(
      withoutReserved(
        new Map([
          ['flux.slots_free', 99],
          ['queue', 1],
        ]),
      ),
    ).toEqual(new Map([['queue', 1]]));
  });

  it('never throw', () => {
    fc.assert(fc.property(fc.anything(), (payload) => ['string', 'object'].includes(typeof checkMetrics(payload))));
  });
});

describe('metadata', () => {
  const merge = (patch: unknown, replace = false, current: [string, string | number][] = [['tier', 'gold']]) =>
    mergeMetadata(new Map(current), patch, replace, 'metadata');

  it('is a union, or a swap', () => {
    expect(merge({ cost: 5, ok: true }).value).toEqual(
      new Map<string, string | number>([
        ['tier', 'gold'],
        ['cost', 5],
        ['ok', 'true'],
      ]),
    );
    expect(merge({ cost: 5 }, true).value).toEqual(new Map([['cost', 5]]));
    expect(merge({}, true)).toEqual({ value: new Map(), issues: [] });
  });

  it('names the key that is wrong', () => {
    const wrong: [unknown, string][] = [
      [{ 'bad key': 1 }, 'metadata.bad key'],
      [{ ['k'.repeat(65)]: 1 }, `metadata.${'k'.repeat(65)}`],
      [{ a: 'x'.repeat(257) }, 'metadata.a'],
      [{ a: Number.NaN }, 'metadata.a'],
      [{ a: null }, 'metadata.a'],
      [{ a: { b: 1 } }, 'metadata.a'],
      [[], 'metadata'],
      [null, 'metadata'],
    ];
    for (const [patch, path] of wrong) expect(merge(patch).issues.map((issue) => issue.path)).toEqual([path]);
  });

  it('counts after the merge', () => {
    expect(merge(numbers(63)).issues).toEqual([]);
    expect(merge(numbers(64)).issues.map((issue) => issue.code)).toEqual(['TOO_MUCH_METADATA']);
    expect(merge(numbers(64), true).issues).toEqual([]);
  });
});

describe('names and numbers', () => {
  it('have the shapes of the contract', () => {
    expect(['w-7', 'a', 'A.b_c-9'].every((name) => isName(name, 128))).toBe(true);
    expect(['', '-a', 'a-', 'a b', 'ü', 'a\n'].some((name) => isName(name, 128))).toBe(false);
    expect(isSlug('my-app-2')).toBe(true);
    expect(['My', 'a.b', '-a', '', 'a'.repeat(65)].some(isSlug)).toBe(false);
    expect(parseWorkflowRef('media/transcode')).toEqual({ namespace: 'media', name: 'transcode' });
    expect(parseWorkflowRef('transcode')).toEqual({ namespace: 'default', name: 'transcode' });
    for (const ref of ['', '/', 'a/', '/b', 'a/b/c', 'a b/c']) expect(parseWorkflowRef(ref)).toBeNull();
  });

  it('refuse what would overflow the database, with the limit in the message', () => {
    for (const bad of [2 ** 31, -(2 ** 31), Number.NaN, 1.5, 1001])
      expect(checkPriority(bad, 'priority')[0]?.message).toContain('from -1000 to 1000');
    expect(checkPriority(-1000, 'priority')).toEqual([]);
    expect(checkCapacity(null, 'capacity')).toEqual([]);
    expect(checkCapacity(0, 'capacity')).toHaveLength(1);
    expect(checkParkTtl(0, 'parkTtlSeconds')).toEqual([]);
    expect(checkParkTtl(2 ** 31, 'parkTtlSeconds')).toHaveLength(1);
  });
});
