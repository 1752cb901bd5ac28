import * as fc from 'fast-check';

/** Names and ids that there are, so that requests get beyond "there is no such thing". */
export interface Known {
  readonly names: readonly string[];
  readonly ids: readonly string[];
}

/** Texts that have broken somebody's server. */
const CROOKED = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  'x\udfff',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '../../etc/passwd',
  "'; DROP TABLE execution; --",
  '%00%ff%',
  '${7*7}{{7*7}}',
  'line\r\nX-Injected: yes',
  '\u202eabc\u2066',
  'e\u0301'.repeat(40),
  '👩‍👩‍👧‍👦',
  '<script>alert(1)</script>',
  '9007199254740993',
  '1e400',
  '-0',
  'null',
  'true',
  'NaN',
  '{"a":1}',
  'a'.repeat(65),
  'a'.repeat(129),
  'a/b/c',
  'default/',
  '/x',
  '* * * * *',
  '0 0 31 2 *',
  'Europe/Berlin',
  'least(metric("q"))',
  'a'.repeat(5_000),
  '('.repeat(600),
];

const NUMBERS = [
  0,
  1,
  -1,
  2,
  60,
  201,
  1e6,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 + 2,
  1e100,
  1.5,
  -0.1,
  5e-324,
];

export function text({ names, ids }: Known): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...names) },
    { weight: 2, arbitrary: fc.constantFrom(...ids) },
    { weight: 4, arbitrary: fc.constantFrom(...CROOKED) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
    { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }) },
  );
}

export function id({ ids }: Known): fc.Arbitrary<string> {
  const made = fc
    .tuple(
      fc.constantFrom('ex', 'de', 'ev', 'wk', 'wf', 'wv', 'dp', 'sd', 'pr', 'tk', 'se', 'jt', 'wc', 'au', 'zz', ''),
      fc.oneof(
        fc.constantFrom(
          '0',
          '1',
          '2147483647',
          '2147483648',
          '9'.repeat(40),
          `${'0'.repeat(32)}-1`,
          `${'f'.repeat(32)}-9999999999`,
        ),
        fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 }),
      ),
    )
    .map(([kind, raw]) => `${kind}_${raw}`);
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    { weight: 3, arbitrary: made },
    { weight: 1, arbitrary: fc.constantFrom(...CROOKED) },
  );
}

export const number: fc.Arbitrary<number> = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 50 }) },
  { weight: 2, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);

export const moment: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '2026-11-30T12:00:00Z',
    '2026-02-30T12:00:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:60Z',
    '9999-12-31T23:59:59.999999999-23:59',
    '2026-11-30',
    '+275760-09-13T00:00:00.001Z',
  ),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);

/** Any JSON, with keys that are names of an object's own parts elsewhere, and with more levels than are taken. */
export function json(known: Known): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(text(known), number, fc.boolean(), fc.constant(null));
  const key = fc.constantFrom(
    'a',
    'region',
    '__proto__',
    'constructor',
    'prototype',
    '',
    '\0',
    '\ud800',
    'x'.repeat(300),
    '0',
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }),
      // Made of entries: `__proto__` is a key like any other then.
      fc.array(fc.tuple(key, tie('tree')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    ),
  }));
  return fc.oneof({ weight: 9, arbitrary: tree }, { weight: 1, arbitrary: fc.integer({ min: 55, max: 90 }).map(deep) });
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
}
