import { type AffinityProblem, resolveAffinity, ROUTING_UNSATISFIED } from '../constraints/affinity.ts';
import { FILTERS, VERDICT } from '../constraints/filters.ts';
import type { WorkerValue } from '../policy/values.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { type Column, columnValue } from './columns.ts';
import type { Decision, DecisionMethod, RejectionCount, TieBreak } from './decision.ts';
import { filterFleet } from './filter-fleet.ts';
import { type Fleet, prepareFleet } from './fleet.ts';
import { compilePlan, type DispatchPlan } from './plan.ts';
import { parkReason } from './reasons.ts';
import type { DecideOptions, DispatchRequest, DispatchRules } from './request.ts';
import { type Scoring, scoreFleet } from './score-fleet.ts';
import { countVerdicts, firstByName, KEPT_MAX, nearestMisses, selectBest } from './select.ts';
import { type KeptCandidate, type KeptScores, TracedDecision } from './traced-decision.ts';

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

/** `decide`, with the explanation left unwritten until it is read: what the dispatcher assigns by and `packDecisions` stores. */
export function decideTraced(
  plan: DispatchPlan,
  fleet: Fleet,
  request: DispatchRequest,
  options: DecideOptions = {},
): TracedDecision {
  const { checks, problems } =
    plan.affinity === null ? { checks: [], problems: [] } : resolveAffinity(plan.affinity, request);
  if (problems.length > 0) return failed(plan, request, options, problems);
  const eligible = filterFleet(plan, fleet, request, checks);
  const counts = countVerdicts(fleet, eligible);
  const ranking = eligible === 0 ? NOBODY : rank(plan, fleet, request, eligible, options.weights);
  const { best, totals, scoring } = ranking;
  const winner = best[0];
  const kept = keep(plan, fleet, counts, best, totals, options.revealed === true);
  return new TracedDecision({
    plan,
    request,
    options,
    checks,
    unclaimedApplied: (counts[VERDICT.unclaimed] ?? 0) > 0,
    outcome: winner === undefined ? 'PARKED' : 'ASSIGNED',
    winner: winner === undefined ? null : fleet.facts(winner).name,
    reason:
      winner === undefined ? parkReason(plan, request, checks, counts, fleet.size, boundVerdict(fleet, request)) : null,
    failure: null,
    method: ranking.method ?? methodOf(plan),
    degraded: ranking.degraded,
    unscored: ranking.degraded === null ? 'nobody is eligible' : 'the policy could not be used',
    scores: scoring === null ? null : keptScores(fleet, scoring, kept),
    kept: kept.map((index, position): KeptCandidate => {
      const verdict = fleet.scratch.verdicts[index] ?? 0;
      return {
        facts: fleet.facts(index),
        load: fleet.loadOf(index),
        verdict,
        rank: best[position] === index ? position + 1 : null,
        total: totals === null || verdict !== 0 ? null : (totals[index] ?? 0),
      };
    }),
    eligibleCount: eligible,
    rejectedCount: fleet.size - eligible,
    rejections: eligible === fleet.size ? [] : rejectionCounts(counts),
    margin: margin(ranking),
    tieBreak: tieBreak(fleet, ranking),
  });
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

function methodOf(plan: DispatchPlan): DecisionMethod {
  return plan.policy === null || plan.policy.malformed !== null ? 'LEAST_LOADED' : 'ROUTING';
}

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
  counts: ArrayLike<number>,
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

/** What the terms read of the kept candidates: columns change later, the decision does not. */
function keptScores(fleet: Fleet, { contexts, weights }: Scoring, kept: readonly number[]): KeptScores {
  const valuesOf = (selector: string | undefined): WorkerValue[] | null => {
    const column: Column | null = selector === undefined ? null : fleet.column(selector);
    return column === null ? null : kept.map((index) => columnValue(column, index));
  };
  return {
    contexts,
    weights,
    values: contexts.map((context) => valuesOf('key' in context ? context.key : undefined)),
    gateValues: contexts.map((context) => valuesOf(context.gate?.selector)),
  };
}

function rejectionCounts(counts: ArrayLike<number>): RejectionCount[] {
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
function failed(
  plan: DispatchPlan,
  request: DispatchRequest,
  options: DecideOptions,
  problems: readonly AffinityProblem[],
): TracedDecision {
  const message = problems.find((problem) => !problem.dependsOnRouting)?.message ?? ROUTING_UNSATISFIED;
  return new TracedDecision({
    plan,
    request,
    options,
    checks: [],
    unclaimedApplied: false,
    outcome: 'FAILED',
    winner: null,
    reason: message,
    failure: { type: 'AffinityResolutionError', message },
    method: methodOf(plan),
    degraded: null,
    unscored: 'the affinity cannot be satisfied',
    scores: null,
    kept: [],
    eligibleCount: 0,
    rejectedCount: 0,
    rejections: [],
    margin: null,
    tieBreak: 'NONE',
  });
}
