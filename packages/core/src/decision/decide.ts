import { type AffinityProblem, resolveAffinity, ROUTING_UNSATISFIED } from '../constraints/affinity.ts';
import { describeRejection, type FilterContext, FILTERS, rejectingFilters, VERDICT } from '../constraints/filters.ts';
import { cellFor, type TermContext } from '../policy/score.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import type {
  Decision,
  DecisionCandidate,
  DecisionMethod,
  DecisionTerm,
  RejectionCount,
  TieBreak,
} from './decision.ts';
import { filterFleet } from './filter-fleet.ts';
import { type Fleet, prepareFleet } from './fleet.ts';
import { compilePlan, type DispatchPlan } from './plan.ts';
import { parkReason } from './reasons.ts';
import type { DecideOptions, DispatchRequest, DispatchRules } from './request.ts';
import { type Scoring, scoreFleet } from './score-fleet.ts';
import { countVerdicts, firstByName, KEPT_MAX, nearestMisses, selectBest } from './select.ts';

/** What a frame needs beside the decision to rebuild it. */
export interface DecisionTrace {
  readonly plan: DispatchPlan;
  /** How each term was filled in; null where nothing was scored. */
  readonly contexts: readonly TermContext[] | null;
  /** The facts of the kept candidates, in their order. */
  readonly facts: readonly WorkerFacts[];
}

export interface TracedDecision {
  readonly decision: Decision;
  readonly trace: DecisionTrace;
}

/**
 * One dispatch attempt: filters (ruling 14), score matrix, tie-break, winner. The explanation is the return value and the
 * winner is read from it. Not blinded: what is stored or shown goes through `blind` first. Never throws for anything that a
 * stored spec, an input or a worker's facts may hold.
 */
export function decide(
  plan: DispatchPlan,
  fleet: Fleet,
  request: DispatchRequest,
  options: DecideOptions = {},
): Decision {
  return decideTraced(plan, fleet, request, options).decision;
}

/** `decide` for a fleet that is asked once: previews and tests. */
export function decideOnce(
  rules: DispatchRules,
  facts: Iterable<WorkerFacts>,
  request: DispatchRequest,
  options: DecideOptions = {},
): Decision {
  return decide(compilePlan(rules), prepareFleet(facts), request, options);
}

/** `decide`, with what `packDecisions` needs to store the decision. */
export function decideTraced(
  plan: DispatchPlan,
  fleet: Fleet,
  request: DispatchRequest,
  options: DecideOptions = {},
): TracedDecision {
  const { checks, problems } =
    plan.affinity === null ? { checks: [], problems: [] } : resolveAffinity(plan.affinity, request);
  if (problems.length > 0) {
    return { decision: failed(plan, problems), trace: { plan, contexts: null, facts: [] } };
  }
  const eligible = filterFleet(plan, fleet, request, checks);
  const counts = countVerdicts(fleet);
  const ranking = eligible === 0 ? NOBODY : rank(plan, fleet, request, eligible, options.weights);
  const { best } = ranking;
  const winner = best[0] ?? null;
  const kept = keep(plan, fleet, counts, best, ranking.totals, options.revealed === true);
  const context: FilterContext = {
    rules: plan.staticRules,
    requiredWorker: request.requiredWorker,
    targetRoles: request.targetRoles,
    unclaimedBefore: (counts[VERDICT.unclaimed] ?? 0) > 0 ? request.unclaimedBefore : [],
    checks,
  };
  const candidates = kept.map((index, position) => {
    const verdict = fleet.scratch.verdicts[index] ?? 0;
    if (verdict !== 0) return rejectedCandidate(fleet, index, verdict, context, options.allReasons === true);
    return eligibleCandidate(fleet, index, best[position] === index ? position + 1 : null, ranking);
  });
  const decision: Decision = {
    outcome: winner === null ? 'PARKED' : 'ASSIGNED',
    winner: winner === null ? null : fleet.facts(winner).name,
    reason:
      winner === null ? parkReason(plan, request, checks, counts, fleet.size, boundVerdict(fleet, request)) : null,
    failure: null,
    method: ranking.method ?? (plan.policy === null || plan.policy.malformed !== null ? 'LEAST_LOADED' : 'ROUTING'),
    degraded: ranking.degraded,
    terms: describeTerms(plan, ranking.scoring, options.weights, termNote(ranking)),
    candidates,
    eligibleCount: eligible,
    rejectedCount: fleet.size - eligible,
    rejections: rejectionCounts(counts),
    blinded: false,
    margin: margin(ranking),
    tieBreak: tieBreak(fleet, ranking),
  };
  return {
    decision,
    trace: { plan, contexts: ranking.scoring?.contexts ?? null, facts: kept.map((index) => fleet.facts(index)) },
  };
}

interface Ranking {
  readonly method: DecisionMethod | null;
  readonly degraded: string | null;
  readonly scoring: Scoring | null;
  readonly totals: Float64Array | null;
  /** Positions, best first, at most as many as a decision keeps. */
  readonly best: readonly number[];
}

const NOBODY: Ranking = { method: null, degraded: null, scoring: null, totals: null, best: [] };

function rank(
  plan: DispatchPlan,
  fleet: Fleet,
  request: DispatchRequest,
  count: number,
  weights: DecideOptions['weights'],
): Ranking {
  const { eligible, totals, verdicts } = fleet.scratch;
  if (plan.policy === null) {
    const best = selectBest(fleet, eligible, count, null, KEPT_MAX);
    const hinted = request.preferredWorker === null ? -1 : fleet.indexOf(request.preferredWorker);
    if (hinted < 0 || verdicts[hinted] !== 0) return { ...NOBODY, method: 'LEAST_LOADED', best };
    return { ...NOBODY, method: 'HINT', best: [hinted, ...best.filter((i) => i !== hinted)].slice(0, KEPT_MAX) };
  }
  const scoring = scoreFleet(plan.policy, fleet, count, request, request.preferredWorker, weights);
  if ('degraded' in scoring) {
    const best = selectBest(fleet, eligible, count, null, KEPT_MAX);
    return { ...NOBODY, method: 'LEAST_LOADED', degraded: scoring.degraded, best };
  }
  const best = selectBest(fleet, eligible, count, totals, KEPT_MAX);
  return { method: 'ROUTING', degraded: null, scoring, totals, best };
}

/**
 * Which candidates the decision keeps, and in what order. For a blinded version the choice must not follow from the routing
 * value: names decide among those whose verdict or rank is withheld.
 */
function keep(
  plan: DispatchPlan,
  fleet: Fleet,
  counts: readonly number[],
  best: readonly number[],
  totals: Float64Array | null,
  revealed: boolean,
): readonly number[] {
  if (plan.blinding === null || revealed || fleet.size <= KEPT_MAX) {
    if (best.length >= KEPT_MAX) return best;
    return [...best, ...nearestMisses(fleet, counts, 1, VERDICT.unclaimed, KEPT_MAX - best.length)];
  }
  const hiddenFrom = plan.blinding.affinity ? VERDICT.affinity : VERDICT.unclaimed + 1;
  const group = firstByName(fleet, hiddenFrom, best[0] ?? null, KEPT_MAX);
  const eligible = group.filter((i) => fleet.scratch.verdicts[i] === 0);
  const late = group.filter((i) => fleet.scratch.verdicts[i] !== 0);
  const early = nearestMisses(fleet, counts, 1, hiddenFrom - 1, KEPT_MAX - group.length);
  return [...selectBest(fleet, eligible, eligible.length, totals, KEPT_MAX), ...late, ...early];
}

function eligibleCandidate(fleet: Fleet, index: number, place: number | null, ranking: Ranking): DecisionCandidate {
  const facts = fleet.facts(index);
  const { scoring } = ranking;
  const reader = {
    name: facts.name,
    metricsAgeMs: facts.metricsAgeMs,
    read: (selector: string) => fleet.read(index, selector),
  };
  return {
    worker: facts.name,
    instanceId: facts.instanceId,
    role: facts.role,
    capacity: facts.capacity,
    load: fleet.loadOf(index),
    rank: place,
    total: scoring === null ? null : (ranking.totals?.[index] ?? 0),
    rejected: null,
    rejectedBecause: null,
    cells:
      scoring === null ? [] : scoring.contexts.map((context, t) => cellFor(context, scoring.weights[t] ?? 1, reader)),
    rejections: [],
  };
}

function rejectedCandidate(
  fleet: Fleet,
  index: number,
  verdict: number,
  context: FilterContext,
  allReasons: boolean,
): DecisionCandidate {
  const facts = fleet.facts(index);
  const load = fleet.loadOf(index);
  const read = (selector: string) => fleet.read(index, selector);
  const first = FILTERS[verdict - 1] ?? 'OFFLINE';
  const reasons = allReasons ? rejectingFilters(context, facts, load, read) : [first];
  const rejections = reasons.map((reason) => describeRejection(reason, context, facts, load, read));
  return {
    worker: facts.name,
    instanceId: facts.instanceId,
    role: facts.role,
    capacity: facts.capacity,
    load,
    rank: null,
    total: null,
    rejected: first,
    rejectedBecause: rejections[0]?.message ?? null,
    cells: [],
    rejections,
  };
}

/** What keeps a term from taking part where no term did. */
function termNote(ranking: Ranking): string {
  if (ranking.degraded !== null) return 'the policy could not be used';
  return ranking.best.length === 0 ? 'nobody is eligible' : 'nothing was scored';
}

function describeTerms(
  plan: DispatchPlan,
  scoring: Scoring | null,
  weights: DecideOptions['weights'],
  unscored: string,
): DecisionTerm[] {
  return plan.texts.map((text, index) => {
    const context = scoring?.contexts[index];
    const weight = scoring?.weights[index] ?? weights?.[index] ?? plan.policy?.terms[index]?.weight ?? 1;
    if (context === undefined) return { text, weight, active: false, withheld: false, note: unscored };
    return { text, weight, active: context.mode !== 'off', withheld: false, note: context.note };
  });
}

function rejectionCounts(counts: readonly number[]): RejectionCount[] {
  return FILTERS.flatMap((reason, index) => {
    const count = counts[index + 1] ?? 0;
    return count > 0 ? [{ reason, count }] : [];
  });
}

function margin(ranking: Ranking): number | null {
  const [first, second] = ranking.best;
  if (ranking.totals === null || first === undefined || second === undefined) return null;
  return (ranking.totals[first] ?? 0) - (ranking.totals[second] ?? 0);
}

/** What set the winner apart from the runner-up where the totals (or, without a policy, the loads) did not. */
function tieBreak(fleet: Fleet, ranking: Ranking): TieBreak {
  const [first, second] = ranking.best;
  if (first === undefined || second === undefined || ranking.method === 'HINT') return 'NONE';
  const sameLoad = fleet.loadOf(first) === fleet.loadOf(second);
  if (ranking.totals === null) return sameLoad ? 'NAME' : 'NONE';
  if (ranking.totals[first] !== ranking.totals[second]) return 'NONE';
  return sameLoad ? 'NAME' : 'LOAD';
}

function boundVerdict(fleet: Fleet, request: DispatchRequest): number | null | undefined {
  if (request.requiredWorker === null) return undefined;
  const index = fleet.indexOf(request.requiredWorker);
  return index < 0 ? null : (fleet.scratch.verdicts[index] ?? null);
}

/**
 * The execution can never match (ruling 17). Of several problems the first that shows whatever the routing value is the one
 * told; if there is none, the message is blind.
 */
function failed(plan: DispatchPlan, problems: readonly AffinityProblem[]): Decision {
  const message = problems.find((problem) => !problem.dependsOnRouting)?.message ?? ROUTING_UNSATISFIED;
  return {
    outcome: 'FAILED',
    winner: null,
    reason: message,
    failure: { type: 'AffinityResolutionError', message },
    method: plan.policy === null || plan.policy.malformed !== null ? 'LEAST_LOADED' : 'ROUTING',
    degraded: null,
    terms: describeTerms(plan, null, undefined, 'the affinity cannot be satisfied'),
    candidates: [],
    eligibleCount: 0,
    rejectedCount: 0,
    rejections: [],
    blinded: false,
    margin: null,
    tieBreak: 'NONE',
  };
}
