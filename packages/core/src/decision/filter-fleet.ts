import { type AffinityCheck, holds } from '../constraints/affinity.ts';
import { standingVerdict, VERDICT } from '../constraints/filters.ts';
import { scoreCompare } from '../policy/values.ts';
import type { Gate } from '../policy/score.ts';
import { comparisonVerdicts, type Column, verdictsOf } from './columns.ts';
import type { Fleet } from './fleet.ts';
import type { DispatchPlan } from './plan.ts';
import type { DispatchRequest } from './request.ts';

const STANDING = {};

/**
 * Runs all filters over the fleet: `scratch.verdicts` gets each worker's verdict (0 or the position of the first filter that
 * rejects), `scratch.eligible` the eligible positions. Returns how many those are.
 */
export function filterFleet(
  plan: DispatchPlan,
  fleet: Fleet,
  request: DispatchRequest,
  checks: readonly AffinityCheck[],
): number {
  const size = fleet.size;
  const { verdicts, eligible } = fleet.scratch.fit(size);
  firstVerdicts(plan, fleet, request, verdicts);
  for (const check of checks) applyCheck(fleet, check, verdicts);
  const { loads, capacities } = fleet;
  let count = 0;
  for (let i = 0; i < size; i++) {
    if (verdicts[i] !== 0) continue;
    if ((loads[i] ?? 0) >= (capacities[i] ?? 0)) verdicts[i] = VERDICT.capacity;
    else eligible[count++] = i;
  }
  return request.unclaimedBefore.length === 0 ? count : skipUnclaimed(fleet, request.unclaimedBefore, count);
}

/** Everything before affinity: liveness, availability, binding, roles, and what the version asks. */
function firstVerdicts(plan: DispatchPlan, fleet: Fleet, request: DispatchRequest, verdicts: Uint8Array): void {
  const size = fleet.size;
  const standing = fleet.derived(STANDING, standingVerdict);
  const judged = fleet.derived(plan, plan.judge);
  for (let i = 0; i < size; i++) {
    const verdict = standing[i] ?? 0;
    verdicts[i] = verdict === 0 ? (judged[i] ?? 0) : verdict;
  }
  // Roles and the binding come before what the version asks, so they take the place of its verdicts, but of no earlier one.
  if (request.targetRoles.length > 0) {
    const { codes } = fleet.roles;
    const fits = verdictsOf(fleet.roles, JSON.stringify(request.targetRoles), (role) =>
      request.targetRoles.includes(String(role)),
    );
    for (let i = 0; i < size; i++) {
      if (standing[i] === 0 && fits[codes[i] ?? 0] !== 1) verdicts[i] = VERDICT.role;
    }
  }
  if (request.requiredWorker !== null) {
    const bound = fleet.indexOf(request.requiredWorker);
    for (let i = 0; i < size; i++) if (standing[i] === 0 && i !== bound) verdicts[i] = VERDICT.bound;
  }
}

/** Workers that did not claim this execution are skipped, unless nobody else is eligible (ruling 31). */
function skipUnclaimed(fleet: Fleet, names: readonly string[], count: number): number {
  const { verdicts, eligible } = fleet.scratch;
  const skipped = new Set(names.map((name) => fleet.indexOf(name)));
  let left = 0;
  for (let e = 0; e < count; e++) if (!skipped.has(eligible[e] ?? -1)) left++;
  if (left === 0) return count;
  let kept = 0;
  for (let e = 0; e < count; e++) {
    const i = eligible[e] ?? 0;
    if (skipped.has(i)) verdicts[i] = VERDICT.unclaimed;
    else eligible[kept++] = i;
  }
  return kept;
}

function applyCheck(fleet: Fleet, check: AffinityCheck, verdicts: Uint8Array): void {
  const size = fleet.size;
  const gate = check.gate === null ? null : gateTest(fleet, check.gate);
  const column = check.never ? null : fleet.column(`${check.kind}:${check.key}`);
  if (column === null || column.kind !== 'text') {
    for (let i = 0; i < size; i++) {
      if (verdicts[i] === 0 && (gate === null || gate(i))) verdicts[i] = VERDICT.affinity;
    }
    return;
  }
  const reference = check.reference;
  const name = `require ${check.op} ${reference === null || typeof reference === 'object' ? 'none' : `${typeof reference} ${reference}`}`;
  const fits = verdictsOf(column, name, (value) => holds(check, value));
  const missingFits = holds(check, undefined);
  const { codes } = column;
  for (let i = 0; i < size; i++) {
    if (verdicts[i] !== 0) continue;
    const code = codes[i] ?? -1;
    const fit = code < 0 ? missingFits : fits[code] === 1;
    if (!fit && (gate === null || gate(i))) verdicts[i] = VERDICT.affinity;
  }
}

/** A worker-state condition as a test of positions; false for a worker without the value. */
export function gateTest(fleet: Fleet, gate: Gate): (index: number) => boolean {
  const column: Column | null = fleet.column(gate.selector);
  if (column === null) return () => false;
  if (column.kind === 'text') {
    const verdicts = comparisonVerdicts(column, gate.op, gate.value);
    const { codes } = column;
    return (index) => {
      const code = codes[index] ?? -1;
      return code >= 0 && verdicts[code] === 1;
    };
  }
  const { values } = column;
  return (index) => {
    const value = values[index] ?? Number.NaN;
    return !Number.isNaN(value) && scoreCompare(value, gate.op, gate.value);
  };
}
