import { ROUTING_UNSATISFIED } from '../constraints/affinity.ts';
import type { Decision, DecisionCandidate, RejectionReason } from './decision.ts';

const SHORT: Readonly<Record<RejectionReason, string>> = {
  OFFLINE: 'offline',
  DISCONNECTED: 'not connected',
  STALE: 'stale',
  UNHEALTHY: 'unhealthy',
  CORDONED: 'cordoned',
  DRAINING: 'draining',
  NOT_BOUND_WORKER: 'not the bound worker',
  ROLE_MISMATCH: 'role',
  NO_HANDLER: 'no handler',
  RUNNER_MISSING: 'runner',
  RESOURCES_SHORT: 'resources',
  AFFINITY_UNMET: 'affinity',
  NO_CAPACITY: 'full',
  UNCLAIMED_BEFORE: 'did not claim it before',
};

/** Most reasons that the second sentence names; the rest is "other". */
const REASONS_SHOWN = 4;

/**
 * The decision in short sentences, best first; the first one says it all and is the execution's "why". Give it the blinded
 * decision: it tells what it is given.
 */
export function explain(decision: Decision): string[] {
  const sentences = [verdict(decision)];
  const considered = decision.eligibleCount + decision.rejectedCount;
  if (considered > 0) sentences.push(funnel(decision, considered));
  if (decision.degraded !== null) {
    const reason = `The policy could not be used: ${decision.degraded}.`;
    sentences.push(decision.blinded ? reason : `${reason} The least loaded worker was taken instead.`);
  }
  const decisive = decisiveTerm(decision);
  if (decisive !== null) sentences.push(decisive);
  const tie = tieSentence(decision);
  if (tie !== null) sentences.push(tie);
  sentences.push(...idleTerms(decision));
  return sentences;
}

function verdict(decision: Decision): string {
  const { winner } = decision;
  if (winner === null)
    return decision.outcome === 'FAILED'
      ? `Failed: ${decision.reason}.`
      : `${capital(decision.reason ?? 'Nobody is eligible')}.`;
  if (decision.blinded) return `${winner} was chosen; its score is withheld, because this version reads routing input.`;
  const [first, second] = decision.candidates;
  const load = `load ${first?.load ?? 0}`;
  if (decision.method === 'HINT') return `${winner} was preferred by the caller and eligible.`;
  if (decision.eligibleCount === 1) return `${winner} is the only eligible worker${totalText(first)}.`;
  if (decision.method === 'LEAST_LOADED') {
    if (decision.tieBreak === 'NAME')
      return `${winner} is the least loaded (${load}), before ${second?.worker} by name.`;
    return `${winner} is the least loaded of ${decision.eligibleCount} (${load}).`;
  }
  const total = number(first?.total ?? 0);
  if (decision.tieBreak === 'NONE') {
    return `${winner} won with ${total}, ahead of ${second?.worker} by ${number(decision.margin ?? 0)}.`;
  }
  const by = decision.tieBreak === 'LOAD' ? 'lower load' : 'name';
  return `${winner} won with ${total}, tied with ${second?.worker}; the ${by} decided.`;
}

function totalText(candidate: DecisionCandidate | undefined): string {
  return candidate?.total === null || candidate === undefined ? '' : `, with ${number(candidate.total)}`;
}

function funnel(decision: Decision, considered: number): string {
  const eligible = decision.eligibleCount === 0 ? 'none eligible' : `${decision.eligibleCount} eligible`;
  const start = decision.blinded ? `${considered} considered.` : `${considered} considered, ${eligible}.`;
  if (decision.rejectedCount === 0) return start;
  const sorted = decision.rejections.toSorted((a, b) => b.count - a.count);
  const shown = sorted.slice(0, sorted.length > REASONS_SHOWN ? REASONS_SHOWN - 1 : REASONS_SHOWN);
  const rest = decision.rejectedCount - shown.reduce((sum, r) => sum + r.count, 0);
  const parts = shown.map((r) => `${shortReason(decision, r.reason, r.count)} ${r.count}`);
  if (rest > 0) parts.push(`other ${rest}`);
  return `${start} ${decision.rejectedCount} left out: ${parts.join(', ')}.`;
}

/** The constraint itself where all workers that it left out are kept and lack the same. */
function shortReason(decision: Decision, reason: RejectionReason, count: number): string {
  if (reason !== 'AFFINITY_UNMET' && reason !== 'RESOURCES_SHORT') return SHORT[reason];
  const rejections = decision.candidates.filter((c) => c.rejected === reason).map((c) => c.rejections[0]);
  const wanted = rejections[0]?.wanted ?? null;
  if (rejections[0]?.message === ROUTING_UNSATISFIED) return ROUTING_UNSATISFIED;
  return wanted !== null && rejections.length === count && rejections.every((r) => r?.wanted === wanted)
    ? wanted
    : SHORT[reason];
}

/** The term that put the winner ahead of the runner-up the most. */
function decisiveTerm(decision: Decision): string | null {
  const [first, second] = decision.candidates;
  if (decision.blinded || decision.method !== 'ROUTING' || decision.tieBreak !== 'NONE') return null;
  if (first === undefined || second === undefined || first.rejected !== null || second.rejected !== null) return null;
  let best = 0;
  let at = -1;
  first.cells.forEach((cell, index) => {
    const lead = (cell.weighted ?? 0) - (second.cells[index]?.weighted ?? 0);
    if (lead > best) {
      best = lead;
      at = index;
    }
  });
  const term = decision.terms[at];
  return term === undefined ? null : `Decided the matter: ${term.text} (+${number(best)}).`;
}

function tieSentence(decision: Decision): string | null {
  const [first, second] = decision.candidates;
  if (decision.method !== 'ROUTING' || decision.tieBreak === 'NONE' || first === undefined || second === undefined)
    return null;
  const tie = `${first.worker} and ${second.worker} tie on ${number(first.total ?? 0)}.`;
  if (decision.tieBreak === 'LOAD')
    return `${tie} ${first.worker} has the lower load (${first.load} against ${second.load}).`;
  return `${tie} Same load (${first.load}), so the name decided: ${first.worker} comes first.`;
}

function idleTerms(decision: Decision): string[] {
  if (decision.method !== 'ROUTING' || decision.outcome !== 'ASSIGNED') return [];
  return decision.terms.flatMap((term) =>
    term.active === false && term.note !== null ? [`${term.text} took no part: ${term.note}.`] : [],
  );
}

/** Two decimals at most; small and huge figures keep three significant digits. */
function number(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.01 || size >= 1e6)) return String(Number(value.toPrecision(3)));
  return String(Number(value.toFixed(2)));
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
