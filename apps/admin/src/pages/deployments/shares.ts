/** What a share needs to know of a variant; `weight` null where what was typed is no weight. */
export interface WeightedVariant {
  weight: number | null;
  targetRoles: readonly string[];
}

export interface Share {
  /** By weight alone, 0..1. */
  configured: number;
  /** With dead variants left out, 0..1; 0 where dead. */
  effective: number;
  /** It has target roles and none of them has a healthy worker. */
  dead: boolean;
}

/**
 * The shares of new sessions while weights and roles are typed; the API computes the same on save. A role that nobody has
 * announced is not healthy. Where everything is dead, all effective shares are 0.
 */
export function sharesOf(variants: readonly WeightedVariant[], healthy: (role: string) => boolean): Share[] {
  const dead = variants.map((variant) => variant.targetRoles.length > 0 && !variant.targetRoles.some(healthy));
  const weights = variants.map((variant) => variant.weight ?? 0);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const alive = weights.reduce((total, weight, index) => total + (dead[index] ? 0 : weight), 0);
  return variants.map((_, index) => {
    const weight = weights[index] ?? 0;
    const isDead = dead[index] ?? false;
    return {
      configured: sum === 0 ? 0 : weight / sum,
      effective: isDead || alive === 0 ? 0 : weight / alive,
      dead: isDead,
    };
  });
}

/** "gpu-a, gpu-b and gpu-c". */
export function listOf(names: readonly string[], last = 'and'): string {
  if (names.length <= 1) return names[0] ?? '';
  return `${names.slice(0, -1).join(', ')} ${last} ${names.at(-1)}`;
}
