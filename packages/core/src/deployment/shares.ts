import { isDead, type RoleChecker, skipReason, type Variant } from './variant.ts';

export interface VariantShare {
  readonly label: string;
  /** By weight alone, 0 … 1. */
  readonly share: number;
  /** With dead variants left out; 0 where dead. */
  readonly effectiveShare: number;
  readonly dead: boolean;
}

export type DeploymentHealth = 'OK' | 'DEGRADED' | 'UNAVAILABLE';

/** What part of new sessions each variant gets, in the order given. Shares are 0 where the sum they are part of is 0. */
export function variantShares(variants: readonly Variant[], roleChecker?: RoleChecker): VariantShare[] {
  const all = sum(variants.map((variant) => positive(variant.weight)));
  const left = sum(variants.map((variant) => effectiveWeight(variant, roleChecker)));
  return variants.map((variant) => ({
    label: variant.label,
    share: all === 0 ? 0 : positive(variant.weight) / all,
    effectiveShare: left === 0 ? 0 : effectiveWeight(variant, roleChecker) / left,
    dead: isDead(variant, roleChecker),
  }));
}

/** UNAVAILABLE: resolving fails. DEGRADED: a variant that should get sessions is dead. */
export function deploymentHealth(variants: readonly Variant[], roleChecker?: RoleChecker): DeploymentHealth {
  if (variants.every((variant) => skipReason(variant, roleChecker) !== null)) return 'UNAVAILABLE';
  return variants.some((variant) => variant.weight > 0 && isDead(variant, roleChecker)) ? 'DEGRADED' : 'OK';
}

/**
 * The part of all sessions that get another variant (another label) once `after` replaces `before`, 0 … 1. Exact, not sampled: with independent
 * exponential scores a session stays with i exactly where, for every j, its score of j is above its score of i times the larger of the two weight ratios,
 * so the part that stays is the sum over i of 1 / Σj max(before j / before i, after j / after i).
 */
export function movedShare(before: readonly Variant[], after: readonly Variant[], roleChecker?: RoleChecker): number {
  const old = weights(before, roleChecker);
  const next = weights(after, roleChecker);
  if (old.size === 0 && next.size === 0) return 0;
  const labels = new Set([...old.keys(), ...next.keys()]);
  let stay = 0;
  for (const [label, oldWeight] of old) {
    const nextWeight = next.get(label);
    if (nextWeight === undefined) continue;
    let ratios = 0;
    for (const other of labels) {
      ratios += Math.max((old.get(other) ?? 0) / oldWeight, (next.get(other) ?? 0) / nextWeight);
    }
    stay += 1 / ratios;
  }
  return Math.min(1, Math.max(0, 1 - stay));
}

function weights(variants: readonly Variant[], roleChecker: RoleChecker | undefined): Map<string, number> {
  const eligible = variants.filter((variant) => effectiveWeight(variant, roleChecker) > 0);
  return new Map(eligible.map((variant) => [variant.label, variant.weight]));
}

function effectiveWeight(variant: Variant, roleChecker: RoleChecker | undefined): number {
  return isDead(variant, roleChecker) ? 0 : positive(variant.weight);
}

function positive(weight: number): number {
  return weight > 0 ? weight : 0;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
