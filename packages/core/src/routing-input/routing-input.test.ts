import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { utf8Length } from '../lib/text.ts';
import {
  checkRoutingInput,
  parseRoutingInputHeader,
  parseRoutingInputPairs,
  type RoutingInputResult,
} from './routing-input.ts';
import { parseStrictJson } from './strict-json.ts';

const CANARY = 'canary-7f3a';

function outcome(result: RoutingInputResult): unknown {
  return result.accept ? result.value : result.issue.code;
}

function header(text: string): unknown {
  return outcome(parseRoutingInputHeader([text]));
}

/** `levels` objects inside each other, the innermost empty. */
function nested(levels: number): JsonObject {
  return levels <= 1 ? {} : { a: nested(levels - 1) };
}

describe('the header', () => {
  it('is absent, or one JSON object', () => {
    expect(outcome(parseRoutingInputHeader(null))).toBeNull();
    expect(outcome(parseRoutingInputHeader([]))).toBeNull();
    expect(header(' {} ')).toBeNull();
    expect(header('{"a": {"b": [] }}')).toBe('VALUE_INVALID');
    expect(header('\t{"a":{"b":null},"c":1E-2,"d":"\\ud83d\\ude80"}\n')).toEqual({ a: { b: null }, c: 0.01, d: '🚀' });
    expect(header('{"__proto__":{"x":1}}')).toEqual(JSON.parse('{"__proto__":{"x":1}}'));
  });

  it.each([
    ['', 'JSON_SYNTAX'],
    ['null', 'NOT_AN_OBJECT'],
    ['[1]', 'NOT_AN_OBJECT'],
    ['"x"', 'NOT_AN_OBJECT'],
    ['{"a":1,"a":2}', 'JSON_DUPLICATE_KEY'],
    ['{"a":{"b":1,"\\u0062":2}}', 'JSON_DUPLICATE_KEY'],
    ['{"a":1e999}', 'JSON_NUMBER_TOO_LARGE'],
    ['{"a":NaN}', 'JSON_SYNTAX'],
    ['{"a":-Infinity}', 'JSON_SYNTAX'],
    ['{"a":"\\ud800"}', 'TEXT_NOT_UNICODE'],
    ['{"\\udc00":1}', 'TEXT_NOT_UNICODE'],
    ['{"a":"\n"}', 'JSON_SYNTAX'],
    ['{"a":"\\x41"}', 'JSON_SYNTAX'],
    ['{"a":01}', 'JSON_SYNTAX'],
    ['{"a":1}\u00a0', 'JSON_SYNTAX'],
    ['\ufeff{"a":1}', 'JSON_SYNTAX'],
    ['{"a":1,}', 'JSON_SYNTAX'],
    ['{"a.b":1}', 'KEY_DOTTED'],
    ['{"a":{"":1}}', 'KEY_EMPTY'],
    ['['.repeat(4_000), 'JSON_TOO_DEEP'],
  ])('refuses %s', (text, code) => {
    expect(header(text)).toBe(code);
  });

  it('must come once', () => {
    expect(outcome(parseRoutingInputHeader(['{"a":1}', '{"a":1}']))).toBe('REPEATED');
  });

  it('has at most 4,096 bytes, raw and as compact JSON', () => {
    const ofBytes = (bytes: number): string => `{"a":"${'é'.repeat((bytes - 8) / 2)}"}`;
    expect(utf8Length(ofBytes(4096))).toBe(4096);
    expect(header(ofBytes(4096))).toHaveProperty('a');
    expect(header(ofBytes(4098))).toBe('TOO_LONG');
    expect(header(`${' '.repeat(4096)}{}`)).toBe('TOO_LONG');
    const numbers = `{${Array.from({ length: 64 }, (_, index) => `"${'k'.repeat(45)}${index + 10}":1e20`).join(',')}}`;
    expect(utf8Length(numbers)).toBeLessThanOrEqual(4096);
    expect(header(numbers)).toBe('TOO_LONG');
  });

  it('has at most 64 keys on 8 levels', () => {
    const keys = (count: number): JsonObject =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index]));
    expect(outcome(checkRoutingInput({ a: keys(63) }))).toHaveProperty('a');
    expect(outcome(checkRoutingInput({ a: keys(64) }))).toBe('TOO_MANY_KEYS');
    expect(outcome(checkRoutingInput(nested(8)))).toEqual(nested(8));
    expect(outcome(checkRoutingInput(nested(9)))).toBe('TOO_DEEP');
  });

  it('never repeats a key or a value in an issue', () => {
    for (const text of [
      `{"${CANARY}":1,"${CANARY}":2}`,
      `{"${CANARY}.x":1}`,
      `{"a":["${CANARY}"]}`,
      `{"a":"${CANARY}`,
      CANARY,
      `"${CANARY}"`,
      `{"a":"${CANARY}\\ud800"}`,
      JSON.stringify({ a: CANARY.repeat(500) }),
    ]) {
      const result = parseRoutingInputHeader([text]);
      expect(result.accept).toBe(false);
      expect(JSON.stringify(result)).not.toContain('canary');
    }
    expect(JSON.stringify(parseRoutingInputPairs([CANARY]))).not.toContain('canary');
    expect(JSON.stringify(parseRoutingInputPairs([`${CANARY}=1`, `${CANARY}=2`]))).not.toContain('canary');
  });
});

describe('a JSON value', () => {
  it('is none where absent, null or empty', () => {
    for (const value of [undefined, null, {}, Object.create(null)])
      expect(outcome(checkRoutingInput(value))).toBeNull();
  });

  it('takes any JSON object within the limits, and gives an equal copy', () => {
    const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constant(null),
        fc.boolean(),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((found) => (found === 0 ? 0 : found)),
        fc.string({ maxLength: 8 }),
        tie('object'),
      ),
      object: fc.dictionary(fc.stringMatching(/^[a-z_]{1,9}$/), tie('value'), { maxKeys: 3 }),
    })).object;
    fc.assert(
      fc.property(json, (value) => {
        const result = checkRoutingInput(value);
        expect(result.accept ? (result.value ?? {}) : value).toEqual(value);
        expect(outcome(parseRoutingInputHeader([JSON.stringify(value)]))).toEqual(outcome(result));
      }),
    );
  });

  it('never throws, whatever it is', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(outcome(checkRoutingInput(cyclic))).toBe('TOO_DEEP');
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withTypedArray: true,
      withNullPrototype: true,
    });
    fc.assert(fc.property(anything, (value) => typeof checkRoutingInput(value).accept === 'boolean'));
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => typeof parseRoutingInputHeader([text]).accept === 'boolean'),
    );
  });
});

describe('pairs of a command line', () => {
  it('are split at the first "=", values are texts', () => {
    expect(outcome(parseRoutingInputPairs(['a=1=2', 'b=']))).toEqual({ a: '1=2', b: '' });
    expect(outcome(parseRoutingInputPairs([]))).toBeNull();
  });

  it.each([[['a']], [['=1']], [['a=1', 'a=2']], [['a.b=1']]])('refuses %j', (pairs) => {
    expect(parseRoutingInputPairs(pairs).accept).toBe(false);
  });
});

describe('parseStrictJson', () => {
  it('agrees with JSON.parse wherever it accepts, and accepts all that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        const result = parseStrictJson(text);
        expect(result.ok ? result.value : result.fault).toEqual(result.ok ? JSON.parse(text) : 'TOO_DEEP');
      }),
    );
  });

  it('accepts nothing that JSON.parse refuses', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
      '\u00a0',
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), (tokens) => {
        const text = tokens.join('');
        if (!parseStrictJson(text).ok) return;
        expect(() => JSON.parse(text)).not.toThrow();
      }),
      { numRuns: 2000 },
    );
  });
});
