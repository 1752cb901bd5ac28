import type { JsonValue } from '../lib/json.ts';

export type DecisionOutcome = 'ASSIGNED' | 'PARKED' | 'FAILED';
export type DecisionMethod = 'ROUTING' | 'LEAST_LOADED' | 'HINT';
export type TieBreak = 'NONE' | 'LOAD' | 'NAME';

/** The filters of a dispatch, in the order in which they run (ruling 14). */
export type RejectionReason =
  | 'OFFLINE'
  | 'DISCONNECTED'
  | 'STALE'
  | 'UNHEALTHY'
  | 'CORDONED'
  | 'DRAINING'
  | 'NOT_BOUND_WORKER'
  | 'ROLE_MISMATCH'
  | 'NO_HANDLER'
  | 'RUNNER_MISSING'
  | 'RESOURCES_SHORT'
  | 'AFFINITY_UNMET'
  | 'NO_CAPACITY'
  | 'UNCLAIMED_BEFORE';

export type CellState = 'SCORED' | 'MISSING' | 'INACTIVE' | 'GATED' | 'WITHHELD';

/** One candidate × one term. `weighted` is what went into the total. */
export interface DecisionCell {
  readonly state: CellState;
  /** What was read; null where nothing was, or where it is withheld. */
  readonly value: JsonValue;
  /** Age of a metric when it was read. */
  readonly valueAgeMs: number | null;
  readonly normalised: number | null;
  readonly weighted: number | null;
}

export interface DecisionTerm {
  /** The term as expression text, without its weight. */
  readonly text: string;
  readonly weight: number;
  /** Whether the term took part; null where withheld. */
  readonly active: boolean | null;
  readonly withheld: boolean;
  /** Why it did not take part, or what is odd about it. */
  readonly note: string | null;
}

export interface CandidateRejection {
  readonly reason: RejectionReason;
  readonly message: string;
  /** Texts for people; null where routing input is involved. */
  readonly wanted: string | null;
  readonly had: string | null;
}

export interface DecisionCandidate {
  readonly worker: string;
  readonly instanceId: string | null;
  readonly role: string;
  readonly capacity: number | null;
  readonly load: number;
  /** 1 = best. null where rejected or withheld. */
  readonly rank: number | null;
  readonly total: number | null;
  /** The filter that counts (the first), null where eligible. */
  readonly rejected: RejectionReason | null;
  readonly rejectedBecause: string | null;
  /** One per term, in term order; empty where rejected, and where the decision was not scored. */
  readonly cells: readonly DecisionCell[];
  /** The first is the one that counts. Stored decisions hold only that one, previews all of them. */
  readonly rejections: readonly CandidateRejection[];
}

export interface RejectionCount {
  readonly reason: RejectionReason;
  readonly count: number;
}

/** A failure that ends the execution at once (ruling 17). */
export interface DecisionFailure {
  readonly type: 'AffinityResolutionError';
  readonly message: string;
}

/**
 * The outcome of one dispatch attempt and its whole explanation; the winner is read from it. Complete for every field of
 * the API's DispatchDecision that is not a matter of storage (ids and times).
 */
export interface Decision {
  readonly outcome: DecisionOutcome;
  readonly winner: string | null;
  /** Why nobody got it (PARKED, FAILED); never names a routing-input key or value. */
  readonly reason: string | null;
  readonly failure: DecisionFailure | null;
  readonly method: DecisionMethod;
  /** Why the policy could not be used, null where it could. */
  readonly degraded: string | null;
  readonly terms: readonly DecisionTerm[];
  /** Best first, then the rejected, nearest misses first; at most 50 of a larger fleet, the winner always among them. */
  readonly candidates: readonly DecisionCandidate[];
  readonly eligibleCount: number;
  readonly rejectedCount: number;
  /** In filter order, over all candidates. */
  readonly rejections: readonly RejectionCount[];
  readonly blinded: boolean;
  /** Winner's total less the runner-up's; null where there is no runner-up, or withheld. */
  readonly margin: number | null;
  readonly tieBreak: TieBreak;
}
