import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parsePolicyText } from '../src/policy/parse/parse.ts';
import { parseRoutingInputHeader } from '../src/routing-input/routing-input.ts';
import { sameJson } from './same-json.ts';

// Where the reference does something accidental, and what Muster does instead (rulings 8, 9, 16, 21).

interface Quirk {
  readonly id: string;
  readonly area: string;
  readonly quirks: readonly string[];
  readonly kind?: 'routing' | 'affinity' | 'requests';
  readonly text?: string;
  readonly headers?: readonly string[];
  readonly expected: { readonly spec?: unknown; readonly value?: unknown };
}

const QUIRKS = readFileSync(new URL('vectors/quirks.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Quirk => JSON.parse(line));
const STAGES = { routing: 'ROUTING', affinity: 'AFFINITY', requests: 'REQUESTS' } as const;

function quirksOf(area: string, name: string): Quirk[] {
  return QUIRKS.filter((quirk) => quirk.area === area && quirk.quirks.includes(name));
}

function compile(quirk: Quirk): ReturnType<typeof parsePolicyText> {
  return parsePolicyText(quirk.text ?? '', STAGES[quirk.kind ?? 'routing']);
}

describe('texts', () => {
  it.each([
    'affinity-dict-repeated-key',
    'affinity-dict-stringifies',
    'affinity-entry-silently-dropped',
    'any-receiver',
    'infinite-constant',
    'keyword-ignored',
    'newline-in-key',
    'repeated-keyword',
    'weight-text-or-boolean',
  ])('%s: refused', (name) => {
    const quirks = quirksOf('extraction', name);
    expect(quirks.length).toBeGreaterThan(0);
    expect(quirks.filter((quirk) => compile(quirk).ok).map((quirk) => quirk.text)).toEqual([]);
  });

  it.each([
    ['affinity-silently-dropped', '{}'],
    ['requests-silently-dropped', 'ResourceRequest()'],
  ])('%s: refused, but for one that says nothing', (name, empty) => {
    const quirks = quirksOf('extraction', name);
    expect(quirks.some((quirk) => quirk.text === empty)).toBe(true);
    for (const quirk of quirks) {
      const result = compile(quirk);
      expect(result.ok ? result.spec : 'refused', quirk.text).toEqual(quirk.text === empty ? {} : 'refused');
    }
  });

  it.each(['negative-literal-refused', 'positive-sign-refused'])('%s: accepted as a comparison value', (name) => {
    const quirks = quirksOf('extraction', name);
    expect(quirks.length).toBeGreaterThan(0);
    for (const quirk of quirks) {
      const [, sign, digits] = /([-+])(\d+)/.exec(quirk.text ?? '') ?? [];
      const value = sign === '-' ? -Number(digits) : Number(digits);
      const result = compile(quirk);
      expect(JSON.stringify(result.ok && result.spec), quirk.text).toContain(`"value":${value}`);
    }
  });

  it.each(['null-comparison-in-when', 'big-integer'])('%s: as the reference, numbers being doubles', (name) => {
    const quirks = quirksOf('extraction', name);
    expect(quirks.length).toBeGreaterThan(0);
    for (const quirk of quirks) {
      const result = compile(quirk);
      expect(result.ok && sameJson(result.spec, quirk.expected.spec), quirk.text).toBe(true);
    }
  });
});

describe('headers', () => {
  it('are all decided by the rulings', () => {
    const wanted = new Map([
      ['duplicate-json-keys', 'JSON_DUPLICATE_KEY'],
      ['huge-integer', 'JSON_NUMBER_TOO_LARGE'],
      ['integer-beyond-2^53', null],
      ['length-measured-on-re-encoding', null],
      ['lone-surrogate', 'TEXT_NOT_UNICODE'],
      ['nan-or-infinity-token', 'JSON_SYNTAX'],
      ['overflowing-number', 'JSON_NUMBER_TOO_LARGE'],
      ['very-deep-json', 'JSON_TOO_DEEP'],
    ]);
    for (const quirk of QUIRKS.filter((one) => one.area === 'header')) {
      const result = parseRoutingInputHeader(quirk.headers ?? []);
      expect(result.accept ? null : result.issue.code, quirk.id).toBe(wanted.get(quirk.quirks[0] ?? ''));
    }
  });
});
