import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MusterError } from '../lib/errors.ts';
import { resolveDeployment } from './resolve.ts';
import golden from './session-golden.json' with { type: 'json' };
import { sessionUnit } from './session-key.ts';
import type { RoleChecker, Variant } from './variant.ts';

const variant = (label: string, weight: number, ...targetRoles: string[]): Variant => ({
  label,
  flowId: 'default/chat',
  versionId: null,
  weight,
  targetRoles,
  labels: {},
});
const never = (): number => {
  throw new Error('no draw expected');
};
const roles =
  (...healthy: string[]): RoleChecker =>
  (role) =>
    healthy.includes(role);
const sessions = (count: number): string[] => Array.from({ length: count }, (_, i) => `session-${i}`);
const pick = (slug: string, variants: readonly Variant[], sessionKey: string, roleChecker?: RoleChecker): string =>
  resolveDeployment({ slug, variants }, { sessionKey, roleChecker, random: never }).variant.label;
const failure = (run: () => unknown): MusterError => {
  try {
    run();
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('sessions', () => {
  it.each(golden)('keeps the frozen winner of $slug, $key', ({ slug, weights, key, winner }) => {
    const variants = Object.entries(weights).map(([label, weight]) => variant(label, weight));
    expect(pick(slug, variants, key)).toBe(winner);
  });

  it('takes the first 53 bits of the hash', () => {
    expect(sessionUnit('assistant', 'stable', 'u-1')).toBe(0.3125641636756125);
    expect(sessionUnit('Ωμέγα', '𝒳', '工人')).toBe(0.09226076541987599);
  });

  it('gives a session the same variant every time, in any order of the variants', () => {
    const variants = [variant('a', 3), variant('b', 1), variant('c', 6)];
    for (const key of sessions(200)) expect(pick('x', variants, key)).toBe(pick('x', variants.toReversed(), key));
  });

  it('refuses keys that cannot be hashed without doubt', () => {
    for (const sessionKey of ['a\u0000b', 'half \ud800', '', 'k'.repeat(1025)]) {
      const error = failure(() => pick('x', [variant('a', 1)], sessionKey));
      expect(error.code).toBe('BAD_INPUT');
      expect(error.field).toBe('sessionKey');
    }
  });

  it('holds shares within exact bounds', () => {
    // 20,000 sessions at p: six standard deviations either way.
    const variants = [variant('stable', 899), variant('canary', 101), variant('off', 0)];
    const count = sessions(20_000).filter((key) => pick('assistant', variants, key) === 'canary').length;
    const bound = 6 * Math.sqrt(20_000 * 0.101 * 0.899);
    expect(Math.abs(count - 20_000 * 0.101)).toBeLessThan(bound);
  });

  it('keeps a canary at a tenth of sessions and of requests', () => {
    const variants = [variant('stable', 90), variant('canary', 10)];
    const canary = sessions(1000).filter((key) => pick('assistant', variants, key) === 'canary');
    expect(canary.length).toBeGreaterThan(60);
    expect(canary.length).toBeLessThan(140);
    for (const key of canary) for (let i = 0; i < 50; i += 1) expect(pick('assistant', variants, key)).toBe('canary');
  });

  it('moves only the sessions of a dead role, and they come back', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 1_000_000 })), {
          minLength: 2,
          maxLength: 6,
          selector: ([label]) => label,
        }),
        fc.array(
          fc.string({ unit: 'grapheme', minLength: 1 }).filter((key) => !key.includes('\u0000')),
          { maxLength: 30 },
        ),
        (entries, keys) => {
          const variants = entries.map(([label, weight], i) => variant(label, weight, `role-${i}`));
          const all = roles(...entries.map((_, i) => `role-${i}`));
          const without0: RoleChecker = (role) => role !== 'role-0';
          for (const key of keys) {
            const before = pick('s', variants, key, all);
            const during = pick('s', variants, key, without0);
            expect(during).not.toBe(variants[0]?.label);
            expect(before === variants[0]?.label || during === before).toBe(true);
            expect(pick('s', variants, key, all)).toBe(before);
          }
        },
      ),
    );
  });

  it('moves sessions only to or from the variants whose weight was edited', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 6 }),
        fc.array(fc.integer({ min: 0, max: 100 }), { minLength: 2, maxLength: 6 }),
        (first, second) => {
          const size = Math.min(first.length, second.length);
          const before = first.slice(0, size).map((weight, i) => variant(`v${i}`, weight));
          const after = second.slice(0, size).map((weight, i) => variant(`v${i}`, weight));
          fc.pre(before.some((v) => v.weight > 0) && after.some((v) => v.weight > 0));
          const edited = (label: string): boolean =>
            before.find((v) => v.label === label)?.weight !== after.find((v) => v.label === label)?.weight;
          for (const key of sessions(40)) {
            const was = pick('s', before, key);
            const is = pick('s', after, key);
            expect(was === is || edited(was) || edited(is)).toBe(true);
          }
        },
      ),
    );
  });

  it('lets nobody leave a growing variant', () => {
    const before = [variant('a', 50), variant('b', 50)];
    const after = [variant('a', 60), variant('b', 40)];
    const inside = sessions(2000).filter((key) => pick('s', before, key) === 'a');
    expect(inside.filter((key) => pick('s', after, key) !== 'a')).toEqual([]);
  });

  it('leaves a variant at once when its weight becomes 0', () => {
    const after = [variant('stable', 100), variant('canary', 0)];
    for (const key of sessions(500)) expect(pick('assistant', after, key)).toBe('stable');
  });
});

describe('draws', () => {
  const draw = (variants: readonly Variant[], random: number): string =>
    resolveDeployment({ slug: 's', variants }, { random: () => random }).variant.label;

  it.each([[[1, 999]], [[7, 3]], [[0, 50, 50]], [[0, 1, 0, 2, 0]], [[100, 0]]])(
    'gives %j each exactly its buckets',
    (weights) => {
      const variants = weights.map((weight, i) => variant(`v${i}`, weight));
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const counts = new Map<string, number>();
      for (let bucket = 0; bucket < total; bucket += 1) {
        for (const edge of [0, 0.5, 0.999]) {
          const label = draw(variants, (bucket + edge) / total);
          if (edge === 0.5) counts.set(label, (counts.get(label) ?? 0) + 1);
          expect(variants.find((v) => v.label === label)?.weight).toBeGreaterThan(0);
        }
      }
      expect(weights.map((_, i) => counts.get(`v${i}`) ?? 0)).toEqual(weights);
    },
  );

  it('begins each share exactly where the one before ends', () => {
    // Eighths are exact in binary.
    const variants = [variant('a', 1), variant('b', 5), variant('c', 2)];
    const picked = [0, 1, 2, 3, 4, 5, 6, 7].map((eighth) => draw(variants, eighth / 8));
    expect(picked).toEqual(['a', 'b', 'b', 'b', 'b', 'b', 'c', 'c']);
  });

  it('never picks weight 0 or −0, whatever the generator gives', () => {
    for (const weight of [0, -0]) {
      const variants = [variant('off', weight), variant('on', 1), variant('off too', weight)];
      for (const random of [0, Number.MIN_VALUE, 0.5, 1 - Number.EPSILON, 1]) expect(draw(variants, random)).toBe('on');
    }
  });

  it('says that nothing stuck', () => {
    const resolved = resolveDeployment({ slug: 's', variants: [variant('a', 1)] }, { random: () => 0 });
    expect(resolved.sticky).toBe(false);
  });

  it('asks the generator afresh for every draw', () => {
    let calls = 0;
    const random = (): number => {
      calls += 1;
      return calls % 2 === 0 ? 0.1 : 0.9;
    };
    const deployment = { slug: 's', variants: [variant('a', 1), variant('b', 1)] };
    const labels = sessions(4).map(() => resolveDeployment(deployment, { random }).variant.label);
    expect(labels).toEqual(['b', 'a', 'b', 'a']);
  });
});

describe('the role filter', () => {
  const variants = [variant('stable', 90), variant('canary', 10, 'gpu-worker', 'tpu-worker')];

  it('keeps 200 sessions on stable while the canary role is dead', () => {
    for (const key of sessions(200)) {
      const resolved = resolveDeployment(
        { slug: 'assistant', variants },
        { sessionKey: key, roleChecker: roles('worker'), random: never },
      );
      expect(resolved.variant.label).toBe('stable');
      expect(resolved.sticky).toBe(true);
      expect(resolved.skipped).toEqual([
        { label: 'canary', reason: 'ROLES_DEAD', deadRoles: ['gpu-worker', 'tpu-worker'] },
      ]);
    }
  });

  it('is off without a checker: some sessions reach the canary', () => {
    expect(sessions(200).some((key) => pick('assistant', variants, key) === 'canary')).toBe(true);
  });

  it('wants any one of the target roles', () => {
    const reach = sessions(200).filter((key) => pick('assistant', variants, key, roles('tpu-worker')) === 'canary');
    expect(reach.length).toBeGreaterThan(0);
  });

  it('resolves a lone variant without target roles with no worker at all', () => {
    expect(pick('x', [variant('only', 1)], 'u', roles())).toBe('only');
  });

  it('says so when every variant is dead', () => {
    const error = failure(() =>
      pick('assistant', [variant('a', 1, 'x'), variant('b', 1, 'y', 'z')], 'u', roles('worker')),
    );
    expect(error.code).toBe('NO_HEALTHY_VARIANT');
    expect(error.message).toContain('no variants with healthy target roles');
    expect(error.message).toContain('variant b needs a healthy worker of y or z');
    expect(error.issues.map(({ path, code }) => [path, code])).toEqual([
      ['variants.0', 'ROLES_DEAD'],
      ['variants.1', 'ROLES_DEAD'],
    ]);
  });

  it('fails explicitly where all weights are 0, and names both causes where they meet', () => {
    const zero = failure(() => pick('x', [variant('a', 0), variant('b', 0)], 'u'));
    expect(zero.code).toBe('NO_HEALTHY_VARIANT');
    expect(zero.message).toContain('no variants with a weight above 0');
    const both = failure(() =>
      resolveDeployment(
        { slug: 'x', variants: [variant('a', 0), variant('b', 5, 'gone')] },
        { roleChecker: roles(), random: () => 0.5 },
      ),
    );
    expect(both.message).toContain('no variants with healthy target roles');
    expect(both.details['skipped']).toEqual([
      { label: 'a', reason: 'WEIGHT_ZERO', deadRoles: [] },
      { label: 'b', reason: 'ROLES_DEAD', deadRoles: ['gone'] },
    ]);
  });
});
