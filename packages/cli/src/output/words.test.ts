import { expect, test } from 'vitest';
import { ago, bytes, loadOf, percent, shortNumber, shortValue } from './words.ts';

test('ages in the largest unit that says enough', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  const before = (seconds: number): string => ago(new Date(now - seconds * 1_000).toISOString(), now);
  expect([0, 89, 90, 3_600, 86_400, 172_800].map(before)).toEqual(['0 s', '89 s', '2 min', '60 min', '24 h', '2 d']);
  expect(before(-5)).toBe('0 s');
});

test('numbers short enough for a cell', () => {
  expect([0, 3, -12, 0.5, 1 / 3, 123.456, 1e12, 0.00001].map(shortNumber)).toEqual([
    '0',
    '3',
    '-12',
    '0.5',
    '0.3333',
    '123.5',
    '1.00e+12',
    '1.00e-5',
  ]);
});

test('values, bytes, shares and loads', () => {
  expect([null, 'eu', 1.5, true, { a: 1 }].map((value) => shortValue(value))).toEqual([
    '–',
    'eu',
    '1.5',
    'true',
    '{"a":1}',
  ]);
  expect(shortValue('x'.repeat(30), 10)).toBe('xxxxxxxxx…');
  expect([null, 512, 16 * 1024 ** 2, 15.5 * 1024 ** 3].map((value) => bytes(value))).toEqual([
    null,
    '512 B',
    '16 MiB',
    '15.5 GiB',
  ]);
  expect([null, 0, 0.104, 1].map((value) => percent(value))).toEqual(['–', '0 %', '10 %', '100 %']);
  expect([loadOf(3, 4), loadOf(3, null)]).toEqual(['3 of 4', '3']);
});
