import { expect, it } from 'vitest';
import { listOf, sharesOf } from './shares.ts';

const healthy = (role: string) => role === 'alive';

it('the share of a dead variant goes to the others by their weights', () => {
  const shares = sharesOf(
    [
      { weight: 80, targetRoles: [] },
      { weight: 10, targetRoles: ['gone'] },
      { weight: 10, targetRoles: ['gone', 'alive'] },
    ],
    healthy,
  );
  expect(shares.map((share) => share.dead)).toEqual([false, true, false]);
  expect(shares.map((share) => share.configured)).toEqual([0.8, 0.1, 0.1]);
  expect(shares[0]?.effective).toBeCloseTo(80 / 90);
  expect(shares[1]?.effective).toBe(0);
  expect(shares[2]?.effective).toBeCloseTo(10 / 90);
});

it('nothing is picked where everything is dead, weighs nothing, or is no weight', () => {
  for (const variants of [
    [{ weight: 5, targetRoles: ['gone'] }],
    [{ weight: 0, targetRoles: [] }],
    [{ weight: null, targetRoles: [] }],
  ]) {
    expect(sharesOf(variants, healthy).map((share) => share.effective)).toEqual([0]);
  }
});

it('names are listed as in a sentence', () => {
  expect([[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map((names) => listOf(names))).toEqual([
    '',
    'a',
    'a and b',
    'a, b and c',
  ]);
});
