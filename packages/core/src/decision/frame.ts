import { cellMaker, type TermContext, WITHHELD } from '../policy/score.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { blind } from './blind.ts';
import type {
  CandidateRejection,
  Decision,
  DecisionCandidate,
  DecisionCell,
  DecisionMethod,
  DecisionOutcome,
  DecisionTerm,
  RejectionCount,
  RejectionReason,
  TieBreak,
} from './decision.ts';
import { readSelector } from './fleet.ts';
import type { Blinding, DispatchPlan } from './plan.ts';
import { factsOfCandidate, type FrameCandidate, frameCandidate } from './stored-facts.ts';
import { type DecisionParts, type KeptCandidate, rejectionsOf, type TracedDecision } from './traced-decision.ts';

/** How one term stood in one decision: withheld, not scored, or filled in. */
type FrameTerm = null | { readonly mode: 'unscored'; readonly note: string | null } | TermContext;

/**
 * What the decisions of one batch and version have in common, as plain JSON: content-addressed by its serialisation, and
 * blinded already. Rows point into its lists.
 */
export interface DecisionFrame {
  readonly v: 1;
  readonly workflow: string | null;
  readonly blinded: boolean;
  readonly terms: readonly { readonly text: string; readonly weight: number }[];
  /** At most 250. */
  readonly candidates: readonly FrameCandidate[];
  /** A candidate and what was said of it: position in `rejections`, or -1 where it was eligible or is without verdict. */
  readonly entries: readonly (readonly [candidate: number, rejection: number])[];
  readonly rejections: readonly CandidateRejection[];
  /** `cells`: candidates without rejection have cells. */
  readonly contexts: readonly { readonly cells: boolean; readonly terms: readonly FrameTerm[] }[];
  readonly counts: readonly (readonly (readonly [RejectionReason, number])[])[];
}

/** The narrow part of one decision. */
export interface DecisionRow {
  /** Position in the list of frames that it was packed with. */
  readonly frame: number;
  readonly outcome: DecisionOutcome;
  readonly winner: string | null;
  readonly method: DecisionMethod;
  readonly degraded: string | null;
  readonly reason: string | null;
  readonly eligible: number;
  readonly rejected: number;
  /** Positions in the frame's `entries`, in the decision's order; at most 50. */
  readonly kept: readonly number[];
  /** Their loads. */
  readonly loads: readonly number[];
  /** Positions in the frame's `contexts` and `counts`. */
  readonly refs: readonly [context: number, counts: number];
}

/** Most candidates in a frame. */
export const FRAME_MAX = 250;

/**
 * Packs the decisions of one batch, blinding them. Rows come in the order of the decisions; decisions of different plans go
 * to different frames. What-if decisions (with weights of their own) are not packed.
 */
export function packDecisions(decisions: Iterable<TracedDecision>): {
  frames: DecisionFrame[];
  /** The plan of each frame. */
  plans: DispatchPlan[];
  rows: DecisionRow[];
} {
  const builders: FrameBuilder[] = [];
  const open = new Map<DispatchPlan, { builder: FrameBuilder; position: number }>();
  const rows: DecisionRow[] = [];
  for (const traced of decisions) {
    const { plan, kept } = traced.parts;
    let current = open.get(plan);
    if (current === undefined || !current.builder.hasRoomFor(kept)) {
      current = { builder: new FrameBuilder(plan), position: builders.length };
      builders.push(current.builder);
      open.set(plan, current);
    }
    rows.push({ frame: current.position, ...current.builder.add(traced) });
  }
  return { frames: builders.map((b) => b.finish()), plans: builders.map((b) => b.plan), rows };
}

class FrameBuilder {
  readonly plan: DispatchPlan;
  #facts = new Map<WorkerFacts, number>();
  #entries = new Interned<readonly [number, number]>();
  #rejections = new Interned<CandidateRejection>();
  #contexts = new Interned<DecisionFrame['contexts'][number]>();
  #counts = new Interned<DecisionFrame['counts'][number]>();

  constructor(plan: DispatchPlan) {
    this.plan = plan;
  }

  hasRoomFor(kept: readonly KeptCandidate[]): boolean {
    let more = 0;
    for (const { facts } of kept) if (!this.#facts.has(facts)) more++;
    return this.#facts.size + more <= FRAME_MAX;
  }

  add(traced: TracedDecision): Omit<DecisionRow, 'frame'> {
    return this.plan.blinding === null ? this.#addOpen(traced.parts) : this.#addBlinded(traced, this.plan.blinding);
  }

  /** The usual way: the explanation need not be written to be stored. */
  #addOpen(parts: DecisionParts): Omit<DecisionRow, 'frame'> {
    const { scores, unscored } = parts;
    const terms: readonly FrameTerm[] =
      scores?.contexts ?? this.plan.texts.map(() => ({ mode: 'unscored', note: unscored }));
    const cells = scores !== null && terms.length > 0 && parts.eligibleCount > 0;
    return {
      outcome: parts.outcome,
      winner: parts.winner,
      method: parts.method,
      degraded: parts.degraded,
      reason: parts.reason,
      eligible: parts.eligibleCount,
      rejected: parts.rejectedCount,
      kept: parts.kept.map((kept) => this.#entry(kept.facts, rejectionsOf(parts, kept, false)[0])),
      loads: parts.kept.map((kept) => kept.load),
      refs: this.#refs({ cells, terms }, parts.rejections),
    };
  }

  #addBlinded(traced: TracedDecision, blinding: Blinding): Omit<DecisionRow, 'frame'> {
    const shown = blind(traced.decision, blinding);
    const { scores, kept } = traced.parts;
    const factsOf = new Map(kept.map(({ facts }) => [facts.name, facts]));
    const withoutRejection = shown.candidates.find((candidate) => candidate.rejected === null);
    const terms = shown.terms.map((term, index): FrameTerm => {
      if (term.withheld) return null;
      return scores?.contexts[index] ?? { mode: 'unscored', note: term.note };
    });
    return {
      outcome: shown.outcome,
      winner: shown.winner,
      method: shown.method,
      degraded: shown.degraded,
      reason: shown.reason,
      eligible: shown.eligibleCount,
      rejected: shown.rejectedCount,
      kept: shown.candidates.map((candidate) => this.#entry(factsOf.get(candidate.worker), candidate.rejections[0])),
      loads: shown.candidates.map((candidate) => candidate.load),
      refs: this.#refs({ cells: (withoutRejection?.cells.length ?? 0) > 0, terms }, shown.rejections),
    };
  }

  #refs(context: DecisionFrame['contexts'][number], rejections: readonly RejectionCount[]): [number, number] {
    const counts = rejections.map((rejection) => [rejection.reason, rejection.count] as const);
    return [this.#contexts.position(context), this.#counts.position(counts)];
  }

  #entry(facts: WorkerFacts | undefined, rejection: CandidateRejection | undefined): number {
    if (facts === undefined) throw new TypeError('a kept candidate has facts');
    let position = this.#facts.get(facts);
    if (position === undefined) {
      position = this.#facts.size;
      this.#facts.set(facts, position);
    }
    return this.#entries.position([position, rejection === undefined ? -1 : this.#rejections.position(rejection)]);
  }

  finish(): DecisionFrame {
    const read = new Set<string>();
    for (const { terms } of this.#contexts.values) {
      for (const term of terms) {
        if (term === null || term.mode === 'unscored') continue;
        if (term.gate !== null) read.add(term.gate.selector);
        if ('key' in term) read.add(term.key);
      }
    }
    const weights = this.plan.policy?.terms ?? [];
    return {
      v: 1,
      workflow: this.plan.rules.workflowRef,
      blinded: this.plan.blinding !== null,
      terms: this.plan.texts.map((text, index) => ({ text, weight: weights[index]?.weight ?? 1 })),
      candidates: [...this.#facts.keys()].map((facts) => frameCandidate(facts, read)),
      entries: this.#entries.values,
      rejections: this.#rejections.values,
      contexts: this.#contexts.values,
      counts: this.#counts.values,
    };
  }
}

/** Distinct values in order of first appearance. */
class Interned<T> {
  readonly values: T[] = [];
  #positions = new Map<string, number>();

  position(value: T): number {
    const key = JSON.stringify(value);
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    const position = this.values.length;
    this.#positions.set(key, position);
    this.values.push(value);
    return position;
  }
}

/** Rebuilds the stored decision: exactly what `blind(decide(...))` was. */
export function unpackDecision(frame: DecisionFrame, row: DecisionRow): Decision {
  const [contextAt, countsAt] = row.refs;
  const context = frame.contexts[contextAt];
  const counts = frame.counts[countsAt];
  if (context === undefined || counts === undefined) throw new RangeError('the row does not belong to this frame');
  const terms = frame.terms.map(({ text, weight }, index): DecisionTerm => {
    const term = context.terms[index] ?? null;
    if (term === null) return { text, weight, active: null, withheld: true, note: null };
    return { text, weight, active: term.mode !== 'off' && term.mode !== 'unscored', withheld: false, note: term.note };
  });
  const candidates = row.kept.map((at, place) => rebuildCandidate(frame, context, at, place, row.loads[place] ?? 0));
  return {
    outcome: row.outcome,
    winner: row.winner,
    reason: row.reason,
    failure: row.outcome === 'FAILED' ? { type: 'AffinityResolutionError', message: row.reason ?? '' } : null,
    method: row.method,
    degraded: row.degraded,
    terms,
    candidates,
    eligibleCount: row.eligible,
    rejectedCount: row.rejected,
    rejections: counts.map(([reason, count]) => ({ reason, count })),
    blinded: frame.blinded,
    ...comparison(frame, row, candidates),
  };
}

function rebuildCandidate(
  frame: DecisionFrame,
  context: DecisionFrame['contexts'][number],
  at: number,
  place: number,
  load: number,
): DecisionCandidate {
  const { candidate, rejection } = entryOf(frame, at);
  const facts = factsOfCandidate(candidate, load);
  const read = (selector: string | undefined) =>
    selector === undefined ? undefined : readSelector(facts, selector, load);
  const cells =
    rejection !== null || !context.cells
      ? []
      : context.terms.map((term, index): DecisionCell => {
          if (term === null || term.mode === 'unscored') return WITHHELD;
          const make = cellMaker(term, frame.terms[index]?.weight ?? 1);
          return make(
            facts.name,
            facts.metricsAgeMs,
            read('key' in term ? term.key : undefined),
            read(term.gate?.selector),
          );
        });
  const scored = cells.length > 0 && !frame.blinded;
  return {
    worker: candidate.worker,
    instanceId: candidate.instanceId,
    role: candidate.role,
    capacity: candidate.capacity,
    load,
    rank: rejection === null && !frame.blinded ? place + 1 : null,
    total: scored ? cells.reduce((sum, cell) => sum + (cell.weighted ?? 0), 0) : null,
    rejected: rejection?.reason ?? null,
    rejectedBecause: rejection?.message ?? null,
    cells,
    rejections: rejection === null ? [] : [rejection],
  };
}

function entryOf(
  frame: DecisionFrame,
  at: number,
): { candidate: FrameCandidate; rejection: CandidateRejection | null } {
  const [position, rejectionAt] = frame.entries[at] ?? [-1, -1];
  const candidate = frame.candidates[position];
  if (candidate === undefined) throw new RangeError('the row does not belong to this frame');
  return { candidate, rejection: frame.rejections[rejectionAt] ?? null };
}

/** Margin and tie-break, as `decide` reads them from the first two. */
function comparison(
  frame: DecisionFrame,
  row: DecisionRow,
  [first, second]: readonly DecisionCandidate[],
): { margin: number | null; tieBreak: TieBreak } {
  const none = { margin: null, tieBreak: 'NONE' } as const;
  if (frame.blinded || row.outcome !== 'ASSIGNED' || first === undefined || second === undefined) return none;
  if (second.rejected !== null || row.method === 'HINT') return none;
  const sameLoad = first.load === second.load;
  if (first.total === null || second.total === null) return { margin: null, tieBreak: sameLoad ? 'NAME' : 'NONE' };
  const margin = first.total - second.total;
  return { margin, tieBreak: margin !== 0 ? 'NONE' : sameLoad ? 'NAME' : 'LOAD' };
}

/** The candidates that a stored decision kept, with the facts and loads they had, to be scored again. */
export function frameFacts(frame: DecisionFrame, row: DecisionRow): WorkerFacts[] {
  return row.kept.map((at, place) => factsOfCandidate(entryOf(frame, at).candidate, row.loads[place] ?? 0));
}
