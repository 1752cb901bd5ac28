import type { AffinityCheck } from '../constraints/affinity.ts';
import { describeRejection, type FilterContext, FILTERS, rejectingFilters } from '../constraints/filters.ts';
import { cellMaker, type TermContext } from '../policy/score.ts';
import type { WorkerValue } from '../policy/values.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import type {
  CandidateRejection,
  Decision,
  DecisionCandidate,
  DecisionCell,
  DecisionFailure,
  DecisionMethod,
  DecisionOutcome,
  DecisionTerm,
  RejectionCount,
  TieBreak,
} from './decision.ts';
import { readSelector } from './fleet.ts';
import type { DispatchPlan } from './plan.ts';
import type { DecideOptions, DispatchRequest } from './request.ts';

/** A candidate that the decision keeps, as it was when the decision was made. */
export interface KeptCandidate {
  readonly facts: WorkerFacts;
  readonly load: number;
  /** 0 or the position of the first filter that rejects it. */
  readonly verdict: number;
  /** 1 = best; null where rejected or not among the best in order. */
  readonly rank: number | null;
  readonly total: number | null;
}

/** What the terms made of the kept candidates. */
export interface KeptScores {
  readonly contexts: readonly TermContext[];
  readonly weights: readonly number[];
  /** Per term and kept candidate: what the term's key read, and what its gate read (null: no gate). */
  readonly values: readonly (readonly WorkerValue[] | null)[];
  readonly gateValues: readonly (readonly WorkerValue[] | null)[];
}

export interface DecisionParts {
  readonly plan: DispatchPlan;
  readonly request: DispatchRequest;
  readonly options: DecideOptions;
  readonly checks: readonly AffinityCheck[];
  /** Whether UNCLAIMED_BEFORE was applied; it is not where nobody else is eligible. */
  readonly unclaimedApplied: boolean;
  readonly outcome: DecisionOutcome;
  readonly winner: string | null;
  readonly reason: string | null;
  readonly failure: DecisionFailure | null;
  readonly method: DecisionMethod;
  readonly degraded: string | null;
  /** Why no term took part, where nothing was scored. */
  readonly unscored: string;
  readonly scores: KeptScores | null;
  readonly kept: readonly KeptCandidate[];
  readonly eligibleCount: number;
  readonly rejectedCount: number;
  readonly rejections: readonly RejectionCount[];
  readonly margin: number | null;
  readonly tieBreak: TieBreak;
}

/**
 * A decision before its explanation is spelled out. The dispatcher packs it as it stands; `decision` writes the explanation
 * when somebody reads it, always the same: nothing here changes with the fleet afterwards.
 */
export class TracedDecision {
  readonly parts: DecisionParts;
  #decision: Decision | null = null;

  constructor(parts: DecisionParts) {
    this.parts = parts;
  }

  get outcome(): DecisionOutcome {
    return this.parts.outcome;
  }

  get winner(): string | null {
    return this.parts.winner;
  }

  get decision(): Decision {
    this.#decision ??= spellOut(this.parts);
    return this.#decision;
  }
}

function spellOut(parts: DecisionParts): Decision {
  const makeCells = cellsOf(parts);
  return {
    outcome: parts.outcome,
    winner: parts.winner,
    reason: parts.reason,
    failure: parts.failure,
    method: parts.method,
    degraded: parts.degraded,
    terms: describeTerms(parts),
    candidates: parts.kept.map((kept, position) => {
      const rejections = rejectionsOf(parts, kept, parts.options.allReasons === true);
      return describeCandidate(kept, rejections, kept.verdict === 0 ? makeCells(position) : NO_CELLS);
    }),
    eligibleCount: parts.eligibleCount,
    rejectedCount: parts.rejectedCount,
    rejections: parts.rejections,
    blinded: false,
    margin: parts.margin,
    tieBreak: parts.tieBreak,
  };
}

const NO_CELLS: readonly DecisionCell[] = [];
const NO_REJECTIONS: readonly CandidateRejection[] = [];

export function describeCandidate(
  { facts, load, rank, total }: KeptCandidate,
  rejections: readonly CandidateRejection[],
  cells: readonly DecisionCell[],
): DecisionCandidate {
  const [first] = rejections;
  return {
    worker: facts.name,
    instanceId: facts.instanceId,
    role: facts.role,
    capacity: facts.capacity,
    load,
    rank,
    total,
    rejected: first?.reason ?? null,
    rejectedBecause: first?.message ?? null,
    cells,
    rejections,
  };
}

/** The rejections of a kept candidate: the first alone, or all of them. */
export function rejectionsOf(parts: DecisionParts, kept: KeptCandidate, all: boolean): readonly CandidateRejection[] {
  const first = kept.verdict === 0 ? undefined : FILTERS[kept.verdict - 1];
  if (first === undefined) return NO_REJECTIONS;
  const { plan, request } = parts;
  const context: FilterContext = {
    rules: plan.staticRules,
    requiredWorker: request.requiredWorker,
    targetRoles: request.targetRoles,
    unclaimedBefore: parts.unclaimedApplied ? request.unclaimedBefore : [],
    checks: parts.checks,
  };
  const { facts, load } = kept;
  const read = (selector: string): WorkerValue => readSelector(facts, selector, load);
  const reasons = all ? rejectingFilters(context, facts, load, read) : [first];
  return reasons.map((reason) => describeRejection(reason, context, facts, load, read));
}

function cellsOf({ scores, kept }: DecisionParts): (position: number) => readonly DecisionCell[] {
  if (scores === null) return () => NO_CELLS;
  const { contexts, weights, values, gateValues } = scores;
  const makers = contexts.map((context, t) => cellMaker(context, weights[t] ?? 1));
  return (position) => {
    const facts = kept[position]?.facts;
    const name = facts?.name ?? '';
    const age = facts?.metricsAgeMs ?? null;
    const cells: DecisionCell[] = [];
    for (let t = 0; t < makers.length; t++) {
      const cell = makers[t]?.(name, age, values[t]?.[position], gateValues[t]?.[position]);
      if (cell !== undefined) cells.push(cell);
    }
    return cells;
  };
}

export function describeTerms({ plan, scores, options, unscored }: DecisionParts): DecisionTerm[] {
  return plan.texts.map((text, index) => {
    const context = scores?.contexts[index];
    const own = plan.policy?.terms[index]?.weight ?? 1;
    if (context === undefined) {
      return { text, weight: options.weights?.[index] ?? own, active: false, withheld: false, note: unscored };
    }
    const weight = scores?.weights[index] ?? own;
    return { text, weight, active: context.mode !== 'off', withheld: false, note: context.note };
  });
}
