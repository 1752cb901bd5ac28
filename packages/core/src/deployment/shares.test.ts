import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sessionScore } from './session-key.ts';
import { deploymentHealth, movedShare, variantShares } from './shares.ts';
import type { Variant } from './variant.ts';

const variant = (label: string, weight: number, ...targetRoles: string[]): Variant => ({
  label,
  flowId: 'default/chat',
  versionId: null,
  weight,
  targetRoles,
  labels: {},
});
const nobody = (): boolean => false;

describe('shares', () => {
  it('are the weights over their sum, whatever they add up to', () => {
    const shares = variantShares([variant('a', 40), variant('b', 40), variant('c', 40), variant('off', 0)]);
    expect(shares.map((s) => s.share)).toEqual([1 / 3, 1 / 3, 1 / 3, 0]);
  });

  it('go to the living variants where a role is dead', () => {
    const shares = variantShares([variant('stable', 30), variant('canary', 70, 'gpu')], nobody);
    expect(shares).toEqual([
      { label: 'stable', share: 0.3, effectiveShare: 1, dead: false },
      { label: 'canary', share: 0.7, effectiveShare: 0, dead: true },
    ]);
  });

  it('are 0, not NaN, where nothing is left', () => {
    for (const { share, effectiveShare } of variantShares([variant('a', 0), variant('b', 0)], nobody)) {
      expect(share).toBe(0);
      expect(effectiveShare).toBe(0);
    }
  });

  it('stay exact with the largest weights there are', () => {
    const shares = variantShares(Array.from({ length: 100 }, (_, i) => variant(`v${i}`, 2 ** 31 - 1)));
    expect(shares.every((s) => s.share === 0.01)).toBe(true);
  });
});

describe('health', () => {
  it('tells a dead alternative from a dead deployment', () => {
    expect(deploymentHealth([variant('a', 1), variant('b', 1, 'gpu')], nobody)).toBe('DEGRADED');
    expect(deploymentHealth([variant('a', 1), variant('b', 0, 'gpu')], nobody)).toBe('OK');
    expect(deploymentHealth([variant('a', 1, 'gpu'), variant('b', 2, 'tpu')], nobody)).toBe('UNAVAILABLE');
    expect(deploymentHealth([variant('a', 1, 'gpu')])).toBe('OK');
  });
});

describe('the moved share', () => {
  it('is what the smaller side gains where two variants trade', () => {
    expect(movedShare([variant('a', 50), variant('b', 50)], [variant('a', 60), variant('b', 40)])).toBeCloseTo(0.1, 12);
    expect(movedShare([variant('a', 90), variant('b', 10)], [variant('a', 50), variant('b', 50)])).toBeCloseTo(0.4, 12);
  });

  it('is nothing for the same weights at another scale, and everything for a renamed variant', () => {
    expect(movedShare([variant('a', 1), variant('b', 3)], [variant('b', 300), variant('a', 100)])).toBeCloseTo(0, 12);
    expect(movedShare([variant('a', 1)], [variant('z', 1)])).toBe(1);
  });

  it('counts what the roles do today', () => {
    const after = [variant('a', 50), variant('b', 50, 'gpu')];
    expect(movedShare([variant('a', 100)], after, nobody)).toBe(0);
    expect(movedShare([variant('a', 100)], after)).toBeCloseTo(0.5, 12);
    expect(movedShare([variant('a', 1, 'gpu')], [variant('a', 1, 'gpu')], nobody)).toBe(0);
    expect(movedShare([variant('a', 1, 'gpu')], [variant('a', 1)], nobody)).toBe(1);
  });

  it('agrees with counted sessions', () => {
    const weight = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(fc.array(fc.tuple(weight, weight), { minLength: 2, maxLength: 5 }), (pairs) => {
        const before = pairs.map(([w], i) => variant(`v${i}`, w));
        const after = pairs.map(([, w], i) => variant(`v${i}`, w));
        fc.pre(before.some((v) => v.weight > 0) && after.some((v) => v.weight > 0));
        const winner = (variants: readonly Variant[], key: string): string =>
          variants
            .filter((v) => v.weight > 0)
            .map((v) => ({ label: v.label, score: sessionScore('s', v.label, key, v.weight) }))
            .reduce((best, next) => (next.score < best.score ? next : best)).label;
        const n = 1500;
        let moved = 0;
        for (let i = 0; i < n; i += 1) if (winner(before, `k${i}`) !== winner(after, `k${i}`)) moved += 1;
        // Six standard deviations of a fair count.
        expect(Math.abs(moved / n - movedShare(before, after))).toBeLessThan(6 * Math.sqrt(0.25 / n));
      }),
      { numRuns: 40 },
    );
  });
});
