import { expect, test } from 'vitest';
import { stringEnd } from './string-end.ts';

test.each([
  String.raw`""`,
  String.raw`'a"b'`,
  String.raw`"a\"b"`,
  String.raw`r"\""`,
  `"a\\\nb"`,
  `"a\\\r\nb"`,
  `'''a'b''c\n"""'''`,
  `rb'\\x'`,
  `f"{a}"`,
  `f"{{}}{a}}}"`,
  `f"{a["k"]}"`,
  `f"{f"{f"{1}"}"}"`,
  `f'{x!r:>{10}}'`,
  `f"{x:%H:%M}"`,
  `f"{':'}{d['}']}"`,
  `f"{a[1:2]}{(lambda x: x)(1)}"`,
  `f"\\N{DASH}{x}"`,
  `rf"\\{x}"`,
  `f'''{\nx # '''\n}'''`,
  `t"{x:{y}}"`,
])('a string ends where Python says: %s', (literal) => {
  expect(stringEnd(`x = ${literal} + "more"`, 4)).toBe(4 + literal.length);
});

test.each([`"a`, `"a\nb"`, `'''a''`, `f"{a`, `f"{'a}"`, `f"a\n"`, `"a\\"`])(
  'one that is never closed: %j',
  (literal) => {
    expect(stringEnd(literal, 0)).toBeNull();
  },
);

test('no string starts at a name', () => {
  expect(stringEnd('buffer', 0)).toBeNull();
});
