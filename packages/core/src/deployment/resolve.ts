import { compareCodePoints } from '../lib/code-point-order.ts';
import { type Issue, MusterError } from '../lib/errors.ts';
import { checkSessionKey, sessionScore } from './session-key.ts';
import { type DeploymentVariants, type RoleChecker, type SkippedVariant, skipReason, type Variant } from './variant.ts';

export interface ResolveOptions {
  /** Absent or null: a weighted draw. */
  readonly sessionKey?: string | null | undefined;
  /** Absent: the role filter is off. */
  readonly roleChecker?: RoleChecker | undefined;
  /** Uniform in [0, 1); only asked where there is no session key. */
  readonly random: () => number;
}

export interface Resolved {
  readonly variant: Variant;
  /** True where the session key decided. */
  readonly sticky: boolean;
  readonly skipped: readonly SkippedVariant[];
}

/**
 * Picks the variant that serves a call (DESIGN, "Picking a variant"). Dead variants and those of weight 0 are left out; of the rest, a session key
 * always gets the same one as long as that one is there, and moves back when it returns; without a key it is a weighted draw.
 *
 * @throws MusterError `BAD_INPUT` for an impossible session key, `NO_HEALTHY_VARIANT` where no variant is left, with an issue for each variant
 * and the skipped ones in `details`.
 */
export function resolveDeployment(deployment: DeploymentVariants, options: ResolveOptions): Resolved {
  const key = options.sessionKey ?? null;
  const keyIssues = key === null ? [] : checkSessionKey(key, 'sessionKey');
  if (keyIssues.length > 0) throw new MusterError('BAD_INPUT', keyIssues[0]?.message ?? '', { issues: keyIssues });

  const eligible: Variant[] = [];
  const skipped: SkippedVariant[] = [];
  for (const variant of deployment.variants) {
    const reason = skipReason(variant, options.roleChecker);
    if (reason === null) eligible.push(variant);
    else skipped.push({ label: variant.label, reason, deadRoles: reason === 'ROLES_DEAD' ? variant.targetRoles : [] });
  }
  const variant = key === null ? draw(eligible, options.random) : stickyVariant(deployment.slug, eligible, key);
  if (variant === undefined) throw noVariant(deployment, skipped);
  return { variant, sticky: key !== null, skipped };
}

function stickyVariant(slug: string, eligible: readonly Variant[], key: string): Variant | undefined {
  let best: Variant | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  for (const variant of eligible) {
    const score = sessionScore(slug, variant.label, key, variant.weight);
    const better =
      best === undefined ||
      score < bestScore ||
      (score === bestScore && compareCodePoints(variant.label, best.label) < 0);
    if (better) {
      best = variant;
      bestScore = score;
    }
  }
  return best;
}

function draw(eligible: readonly Variant[], random: () => number): Variant | undefined {
  const total = eligible.reduce((sum, variant) => sum + variant.weight, 0);
  let rest = random() * total;
  for (const variant of eligible) {
    if (rest < variant.weight) return variant;
    rest -= variant.weight;
  }
  // Only rounding (or a generator that returned 1) leads past the last one.
  return eligible.at(-1);
}

function noVariant(deployment: DeploymentVariants, skipped: readonly SkippedVariant[]): MusterError {
  const issues = skipped.map((skip, index): Issue => {
    const why =
      skip.reason === 'ROLES_DEAD' ? `needs a healthy worker of ${skip.deadRoles.join(' or ')}` : 'has weight 0';
    return { path: `variants.${index}`, code: skip.reason, message: `variant ${skip.label} ${why}` };
  });
  const onlyWeights = skipped.every((skip) => skip.reason === 'WEIGHT_ZERO');
  const what = onlyWeights ? 'no variants with a weight above 0' : 'no variants with healthy target roles';
  const list = issues.map((issue) => issue.message).join('; ');
  return new MusterError(
    'NO_HEALTHY_VARIANT',
    `${what} in deployment ${deployment.slug}${list === '' ? '' : `: ${list}`}`,
    {
      field: 'deployment',
      issues,
      details: { skipped },
    },
  );
}
