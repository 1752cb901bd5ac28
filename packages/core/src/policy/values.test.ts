import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  labelEquals,
  metadataMatches,
  parseSelector,
  readNumber,
  readPath,
  scoreCompare,
  whenInputEquals,
  type WorkerValue,
} from './values.ts';
import type { ComparisonOperator } from './spec.ts';

const OPERATORS: ComparisonOperator[] = ['==', '!=', '<', '<=', '>', '>='];

describe('what is a number (ruling 1)', () => {
  test.each([
    ['3', 3],
    ['3.0', 3],
    ['007', 7],
    ['1e3', 1000],
    [' 7 ', 7],
    ['-5', -5],
    ['+5', 5],
    ['.5', 0.5],
    ['5.', 5],
    [12.5, 12.5],
  ])('%j is', (value, number) => {
    expect(readNumber(value)).toBe(number);
  });

  test.each([
    '',
    ' ',
    '0x10',
    '1_000',
    'NaN',
    'Infinity',
    '٣',
    '1e999',
    '3 4',
    '1e',
    '--1',
    '\t7',
    '7\n',
    true,
    null,
    [],
    {},
    Number.NaN,
    Number.POSITIVE_INFINITY,
  ])('%j is not (G4)', (value) => {
    expect(readNumber(value)).toBeNull();
  });

  test('a hostile text is read in linear time', () => {
    expect(readNumber(`${'1'.repeat(200_000)}x`)).toBeNull();
    expect(readNumber(`${' '.repeat(200_000)}x`)).toBeNull();
  });
});

describe('scoreCompare', () => {
  test.each<[WorkerValue, ComparisonOperator, string | number | boolean, boolean]>([
    ['3', '==', 3, true],
    ['3.0', '==', '3', true],
    ['007', '==', '7', true],
    ['1e3', '==', 1000, true],
    ['8', '>', 10, false],
    ['10', '>', '9', true],
    ['1.10', '<', '1.9', true],
    ['', '==', 0, false],
    ['', '<', 1, false],
    ['nan', '==', 'nan', true],
    ['inf', '<', 5, false],
    ['b', '>', 'a', false],
    ['v1.10', '!=', '1.10', true],
    [5, '==', '5.0', true],
  ])('%j %s %j is %j', (left, op, right, expected) => {
    expect(scoreCompare(left, op, right)).toBe(expected);
  });

  test('booleans are the texts true and false, never numbers (ruling 3, G3)', () => {
    expect(scoreCompare('true', '==', true)).toBe(true);
    expect(scoreCompare('True', '==', true)).toBe(false);
    expect(scoreCompare(1, '==', true)).toBe(false);
    expect(scoreCompare('1', '==', true)).toBe(false);
    expect(scoreCompare('true', '>=', true)).toBe(false);
  });

  test('a missing value, null and composites make every operator false (ruling 5)', () => {
    for (const op of OPERATORS) {
      expect(scoreCompare(undefined, op, 'x')).toBe(false);
      expect(scoreCompare('x', op, null)).toBe(false);
      expect(scoreCompare('x', op, undefined)).toBe(false);
      expect(scoreCompare('1,7', op, [1, 7])).toBe(false);
      expect(scoreCompare('[object Object]', op, {})).toBe(false);
    }
  });

  test('integers written as text compare exactly, also beyond a double (ruling 2)', () => {
    expect(scoreCompare('9007199254740993', '==', '9007199254740992')).toBe(false);
    expect(scoreCompare('9007199254740993', '>', '9007199254740992')).toBe(true);
    expect(scoreCompare(5, '<', '1'.repeat(400))).toBe(true);
    expect(scoreCompare(`-${'9'.repeat(400)}`, '<', 5)).toBe(true);
    // JSON numbers are doubles: beyond 2^53 they are not exact, and a text beyond a double is no number beside them.
    expect(scoreCompare(2 ** 60, '<', '1'.repeat(400))).toBe(false);
    expect(scoreCompare('1'.repeat(513), '==', '1'.repeat(513))).toBe(true);
    expect(scoreCompare('1'.repeat(513), '<=', '1'.repeat(513))).toBe(false);
  });

  test('is consistent: one of < == > for numbers, == excludes !=', () => {
    const scalar = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer().map(String), fc.string());
    fc.assert(
      fc.property(scalar, scalar, (a, b) => {
        expect(scoreCompare(a, '!=', b)).toBe(!scoreCompare(a, '==', b));
        const orders = (['<', '==', '>'] as const).filter((op) => scoreCompare(a, op, b)).length;
        if (readNumber(a) !== null && readNumber(b) !== null) expect(orders).toBe(1);
        expect(scoreCompare(a, '<=', b)).toBe(
          scoreCompare(a, '<', b) || (scoreCompare(a, '>=', b) && scoreCompare(a, '==', b)),
        );
      }),
    );
  });
});

describe('require', () => {
  test('labels are exact text; != holds where the label is missing or the reference is no scalar (ruling 5)', () => {
    expect(labelEquals('03', '==', 3)).toBe(false);
    expect(labelEquals('3', '==', 3)).toBe(true);
    expect(labelEquals('3', '==', 3.0)).toBe(true);
    expect(labelEquals('true', '==', true)).toBe(true);
    expect(labelEquals(undefined, '==', 'x')).toBe(false);
    expect(labelEquals(undefined, '!=', 'x')).toBe(true);
    for (const reference of [null, [], {}]) {
      expect(labelEquals('null', '==', reference)).toBe(false);
      expect(labelEquals('null', '!=', reference)).toBe(true);
    }
  });

  test('metadata compares as in scoring, but != holds unless present and equal', () => {
    expect(metadataMatches(5, '==', '5.0')).toBe(true);
    expect(metadataMatches(undefined, '!=', 1)).toBe(true);
    expect(metadataMatches(undefined, '>=', 1)).toBe(false);
    expect(metadataMatches(0.9, '>=', 0.8)).toBe(true);
    expect(metadataMatches('x', '!=', null)).toBe(true);
    expect(metadataMatches('x', '==', null)).toBe(false);
    expect(metadataMatches('true', '==', true)).toBe(true);
  });
});

test('when(input) compares JSON values as they are (ruling 4)', () => {
  expect(whenInputEquals('1', 1)).toBe(false);
  expect(whenInputEquals('true', true)).toBe(false);
  expect(whenInputEquals(1, true)).toBe(false);
  expect(whenInputEquals(1, 1.0)).toBe(true);
  expect(whenInputEquals(null, null)).toBe(true);
  expect(whenInputEquals([], null)).toBe(false);
});

test('paths descend through objects and own properties only', () => {
  const root = { a: { b: 1, '': 2 }, list: [{ x: 1 }] };
  expect(readPath(root, ['a', 'b'])).toBe(1);
  expect(readPath(root, ['a', ''])).toBe(2);
  expect(readPath(root, ['list', '0'])).toBeUndefined();
  expect(readPath(root, ['constructor'])).toBeUndefined();
  expect(readPath(root, ['a', 'b', 'c'])).toBeUndefined();
  expect(readPath(undefined, ['a'])).toBeUndefined();
  expect(readPath(JSON.parse('{"__proto__":{"x":1}}'), ['__proto__', 'x'])).toBe(1);
});

test('selectors are taken apart at the first colon', () => {
  expect(parseSelector('label:a:b')).toEqual({ kind: 'label', key: 'a:b' });
  expect(parseSelector('load')).toEqual({ kind: 'load', key: '' });
  expect(parseSelector('quantum:x')).toBeNull();
  expect(parseSelector(':x')).toBeNull();
});
