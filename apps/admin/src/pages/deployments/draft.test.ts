import { describe, expect, it } from 'vitest';
import { changesOf, type DraftVariant, evenSplit, newVariant, problemsOf, readWeight, toInput } from './draft.ts';

const variant = (label: string, weight: string, more: Partial<DraftVariant> = {}): DraftVariant => ({
  key: label,
  label,
  flowId: 'a/b',
  versionId: null,
  weight,
  targetRoles: [],
  labels: [],
  ...more,
});

describe('weights', () => {
  it.each([
    ['0', 0],
    [' 7 ', 7],
    ['1000000', 1_000_000],
    ['1000001', null],
    ['-1', null],
    ['1.5', null],
    ['', null],
    ['1e3', null],
  ])('%j reads as %j', (typed, weight) => {
    expect(readWeight(typed)).toBe(weight);
  });

  it('are split evenly without losing any', () => {
    const weights = (...typed: string[]) =>
      evenSplit(typed.map((weight, i) => variant(`v${i}`, weight))).map((each) => each.weight);
    expect(weights('100', '0', '0')).toEqual(['34', '33', '33']);
    expect(weights('90', '10')).toEqual(['50', '50']);
    expect(weights('2', '0', '0')).toEqual(['1', '1', '1']);
    expect(weights('0', '0')).toEqual(['50', '50']);
    expect(weights()).toEqual([]);
  });
});

describe('problems', () => {
  it('stand at their fields, all at once', () => {
    expect(
      Object.keys(problemsOf([variant('a', '-1'), variant('a ', '5'), variant(' ', 'x', { flowId: '' })])),
    ).toEqual(['variants.0.weight', 'variants.1.label', 'variants.2.weight', 'variants.2.label', 'variants.2.flowId']);
  });

  it('name what was typed and what would be right', () => {
    expect(problemsOf([variant('a', '-1')])['variants.0.weight']).toBe(
      'Weight must be a whole number from 0 to 1,000,000. It was -1.',
    );
  });

  it('are none in what can be saved, which is sent without blanks around labels', () => {
    const variants = [variant(' a ', ' 90 '), variant('b', '0')];
    expect(problemsOf(variants)).toEqual({});
    expect(toInput(variants).map(({ label, weight }) => [label, weight])).toEqual([
      ['a', 90],
      ['b', 0],
    ]);
  });

  it('hold a deployment that could never pick anything', () => {
    expect(problemsOf([variant('a', '0')])).toHaveProperty('variants');
    expect(problemsOf([])).toHaveProperty('variants');
  });
});

it('the review names every change, and none that was taken back', () => {
  const saved = { module: '', description: '', variants: [variant('a', '90'), variant('b', '10')] };
  const name = (id: string | null) => id ?? 'latest';
  expect(changesOf(saved, saved, name)).toEqual([]);
  const draft = { ...saved, variants: [variant('a', '70', { targetRoles: ['gpu'] }), newVariant(saved.variants, 'k')] };
  expect(
    changesOf(saved, draft, name).map(({ subject, what, from, to }) => `${subject} ${what}: ${from} → ${to}`),
  ).toEqual([
    'a weight: 90 → 70',
    'a roles: any → gpu',
    'variant-3 variant: none → weight 0, roles any',
    'b variant: weight 10 → removed',
  ]);
});
