import { type AffinityCheck, ROUTING_UNSATISFIED, wantedText } from '../constraints/affinity.ts';
import { FILTERS, VERDICT } from '../constraints/filters.ts';
import type { RejectionReason } from './decision.ts';
import type { DispatchPlan } from './plan.ts';
import type { DispatchRequest } from './request.ts';

const STATES: Readonly<Record<RejectionReason, string>> = {
  OFFLINE: 'is offline',
  DISCONNECTED: 'is not connected',
  STALE: 'is stale',
  UNHEALTHY: 'is unhealthy',
  CORDONED: 'is cordoned',
  DRAINING: 'is draining',
  NOT_BOUND_WORKER: 'is not registered',
  ROLE_MISMATCH: 'has another role',
  NO_HANDLER: 'has no handler for the workflow',
  RUNNER_MISSING: 'does not offer the runner',
  RESOURCES_SHORT: 'lacks resources',
  AFFINITY_UNMET: 'does not meet the affinity',
  NO_CAPACITY: 'is at capacity',
  UNCLAIMED_BEFORE: 'did not claim it',
};

/**
 * Why nobody is eligible, in one clause that changes only when the cause does (no ages, no times). It never names routing
 * input, and never the binding: an execution's own token may read it (ruling 20). `bound` is the bound worker's verdict,
 * null where it is not registered, undefined without a binding.
 */
export function parkReason(
  plan: DispatchPlan,
  request: DispatchRequest,
  checks: readonly AffinityCheck[],
  counts: ArrayLike<number>,
  size: number,
  bound: number | null | undefined,
): string {
  if (size === 0) return 'no worker is registered';
  const wanted = affinityText(checks);
  if (bound === null) return 'the bound worker is not registered';
  if (bound !== undefined) {
    const reason = FILTERS[bound - 1] ?? 'NOT_BOUND_WORKER';
    const lacks = reason === 'AFFINITY_UNMET' && wanted !== null && wanted !== ROUTING_UNSATISFIED;
    return `the bound worker ${lacks ? `lacks ${wanted}` : STATES[reason]}`;
  }
  const full = counts[VERDICT.capacity] ?? 0;
  if (full > 0) {
    const match = wanted === null || wanted === ROUTING_UNSATISFIED ? '' : ` (${wanted})`;
    return `${full} of ${size} workers ${full === 1 ? 'matches' : 'match'}${match}, ${full === 1 ? 'it is' : 'all'} at capacity`;
  }
  const parts: string[] = [];
  const roles = request.targetRoles.join(' or ');
  for (let verdict = VERDICT.unclaimed; verdict >= 1; verdict--) {
    const count = counts[verdict] ?? 0;
    const reason = FILTERS[verdict - 1];
    if (count > 0 && reason !== undefined) parts.push(countText(reason, count, { roles, wanted, plan }));
  }
  return `0 of ${size} workers eligible: ${parts.join(', ')}`;
}

function countText(
  reason: RejectionReason,
  count: number,
  about: { roles: string; wanted: string | null; plan: DispatchPlan },
): string {
  const one = count === 1;
  switch (reason) {
    case 'ROLE_MISMATCH':
      return `${count} without role ${about.roles}`;
    case 'NO_HANDLER':
      return `${count} without a handler for ${about.plan.rules.workflowRef ?? 'it'}`;
    case 'RUNNER_MISSING':
      return `${count} without runner ${about.plan.rules.runner ?? ''}`;
    case 'RESOURCES_SHORT':
      return `${count} short of resources`;
    case 'AFFINITY_UNMET':
      return about.wanted === ROUTING_UNSATISFIED
        ? ROUTING_UNSATISFIED
        : `${count} without ${about.wanted ?? 'the affinity'}`;
    case 'UNCLAIMED_BEFORE':
      return `${count} did not claim it`;
    default:
      return `${count} ${STATES[reason].replace(/^is /, one ? '' : '')}`;
  }
}

/** All constraints in one text; blind where one of them reads routing input, null where there are none. */
function affinityText(checks: readonly AffinityCheck[]): string | null {
  if (checks.length === 0) return null;
  const texts = checks.map(wantedText);
  if (texts.some((text) => text === null)) return ROUTING_UNSATISFIED;
  return texts.length <= 3 ? texts.join(', ') : `${texts.slice(0, 3).join(', ')} and ${texts.length - 3} more`;
}
