import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareCodePoints } from './code-point-order.ts';

function byCodePoints(a: string, b: string): number {
  const left = Array.from(a, (c) => c.codePointAt(0) ?? 0);
  const right = Array.from(b, (c) => c.codePointAt(0) ?? 0);
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(left.length - right.length);
}

test('upper case before lower case, astral characters after the last of the basic plane (G5)', () => {
  expect(['𝒳', 'ﬀ', 'é', 'a', 'Z'].sort(compareCodePoints)).toEqual(['Z', 'a', 'é', 'ﬀ', '𝒳']);
});

test('agrees with comparing code points one by one', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(fc.property(text, text, (a, b) => Math.sign(compareCodePoints(a, b)) === byCodePoints(a, b)));
});
