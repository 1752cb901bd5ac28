import { ROUTING_UNSATISFIED } from '../constraints/affinity.ts';
import { FILTERS, VERDICT } from '../constraints/filters.ts';
import { compareCodePoints } from '../lib/code-point-order.ts';
import { WITHHELD } from '../policy/score.ts';
import type { Decision, DecisionCandidate, DecisionTerm, RejectionReason } from './decision.ts';
import type { Blinding } from './plan.ts';

/** The filters that tell nothing of the routing value where the affinity names it: all that run before affinity. */
const EARLY: ReadonlySet<RejectionReason> = new Set(FILTERS.slice(0, VERDICT.affinity - 1));
const ALL: ReadonlySet<RejectionReason> = new Set(FILTERS);

/**
 * The decision as it may be stored and shown (ruling 23): two executions that differ only in their routing value and have
 * the same outcome and winner give equal results. The same object where the version is not blinded (`blinding` null).
 */
export function blind(decision: Decision, blinding: Blinding | null): Decision {
  if (blinding === null) return decision;
  const open = blinding.affinity ? EARLY : ALL;
  const isOpen = (candidate: DecisionCandidate): boolean => candidate.rejected !== null && open.has(candidate.rejected);
  const hidden = decision.candidates
    .filter((candidate) => !isOpen(candidate))
    .map((candidate) => hide(candidate, decision, blinding))
    .sort((a, b) => compareCodePoints(a.worker, b.worker));
  const rejected = decision.candidates.filter(isOpen).map((candidate) => ({
    ...candidate,
    rejections: candidate.rejections.filter((rejection) => open.has(rejection.reason)),
  }));
  const rejections = decision.rejections.filter((rejection) => open.has(rejection.reason));
  const rejectedCount = rejections.reduce((sum, rejection) => sum + rejection.count, 0);
  const eligibleCount = decision.eligibleCount + decision.rejectedCount - rejectedCount;
  const degrades = blinding.degraded !== null && decision.outcome === 'ASSIGNED';
  return {
    ...decision,
    reason:
      decision.outcome === 'PARKED' && blinding.affinity && eligibleCount > 0 ? ROUTING_UNSATISFIED : decision.reason,
    method: degrades ? 'LEAST_LOADED' : decision.method,
    degraded: degrades ? blinding.degraded : decision.degraded,
    terms: decision.terms.map((term, index) => (blinding.terms[index] === true ? withhold(term) : term)),
    candidates: [...hidden, ...rejected],
    eligibleCount,
    rejectedCount,
    rejections,
    blinded: true,
    margin: null,
    tieBreak: 'NONE',
  };
}

function withhold(term: DecisionTerm): DecisionTerm {
  return { text: term.text, weight: term.weight, active: null, withheld: true, note: null };
}

function hide(candidate: DecisionCandidate, decision: Decision, blinding: Blinding): DecisionCandidate {
  // With all terms withheld every candidate looks alike, whether it was scored, degraded or rejected.
  const all = blinding.affinity || blinding.degraded !== null;
  const cells = all
    ? decision.terms.map(() => WITHHELD)
    : candidate.cells.map((cell, index) => (blinding.terms[index] === true ? WITHHELD : cell));
  return { ...candidate, rank: null, total: null, rejected: null, rejectedBecause: null, cells, rejections: [] };
}
