import type { Decision } from '@muster/core';

/** One decision as it was stored: blinded where its version asks for it. */
export interface StoredDecision {
  /** Raw UUID v7, 32 hex digits. */
  id: string;
  executionId: string;
  /** The execution's event sequence at which it was made. */
  n: number;
  at: Date;
  attempt: number;
  generation: number;
  versionId: number;
  waitMs: number;
  durationUs: number;
  decision: Decision;
  /** Short sentences; the first is `Execution.why`. */
  explanation: string[];
}

/** All are ANDed, a list is ORed. */
export interface DecisionFilter {
  outcomes?: readonly Decision['outcome'][] | undefined;
  versionIds?: readonly number[] | undefined;
  deploymentId?: number | undefined;
  executionId?: string | undefined;
  /** Worker ids: `worker` winner or kept candidate, `winner`, `candidate` kept candidate. */
  worker?: number | undefined;
  winner?: number | undefined;
  candidate?: number | undefined;
  blinded?: boolean | undefined;
  degraded?: boolean | undefined;
  after?: Date | undefined;
  before?: Date | undefined;
}

/**
 * Newest first; `after` (older than it) and `before` (newer than it) are ids of decisions. `backward`: the last `limit` of those between them, still
 * newest first.
 */
export interface DecisionPageRequest {
  limit: number;
  after?: string | undefined;
  before?: string | undefined;
  backward?: boolean | undefined;
}

/**
 * `more`: there are (or may be) further ones in the direction of reading; a filter that matches little walks at most 20,000
 * rows a request, then `exhausted` is false and `cursor` says where to go on.
 */
export interface DecisionPage {
  items: StoredDecision[];
  more: boolean;
  exhausted: boolean;
  cursor: string | null;
}

/** Read side. Unknown ids are left out of the maps. */
export interface DecisionReader {
  byIds(ids: readonly string[]): Promise<Map<string, StoredDecision>>;
  latestByExecutions(executionIds: readonly string[]): Promise<Map<string, StoredDecision>>;
  /** The decision that assigned this generation, for `ExecutionAttempt.decision`; keyed `<executionId>:<generation>`. */
  byGenerations(keys: readonly { executionId: string; generation: number }[]): Promise<Map<string, StoredDecision>>;
  byExecution(executionId: string, page: DecisionPageRequest): Promise<DecisionPage>;
  list(filter: DecisionFilter, page: DecisionPageRequest): Promise<DecisionPage>;
  /** At most 10,001 are counted. */
  count(filter: DecisionFilter): Promise<{ count: number; exact: boolean }>;
}
