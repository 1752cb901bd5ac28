import type { Decision, DispatchRules, JsonObject, JsonValue } from '@muster/core';

/** What would happen to such an execution now; nothing is stored. */
export interface PreviewRequest {
  /** A registered version's, or loose parts (compiled specs). */
  rules: DispatchRules;
  input: JsonValue | undefined;
  routingInput: JsonObject | null;
  targetRoles: readonly string[];
  requiredWorker: string | null;
  preferredWorker: string | null;
  /** By term index; null keeps the term's own. */
  weights?: readonly (number | null)[] | undefined;
  /** Score the candidates that this stored decision kept, with the values it stored, instead of the live fleet. */
  decisionId?: string | undefined;
}

export interface PercentileFigures {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

/** Of the last minute, as this process saw it (only the leader dispatches). */
export interface DispatchStats {
  dispatchedPerSecond: number;
  completedPerSecond: number;
  failedPerSecond: number;
  /** From being dispatchable to being assigned. */
  dispatchLatencyMs: PercentileFigures;
  /** Time inside the decision itself. */
  decisionUs: PercentileFigures;
  degradedDecisionsPerMinute: number;
  /** Most frequent first, at most 10; of what waits now. */
  parkedReasons: { reason: string; count: number; oldest: Date }[];
}

/** What the rest of the server sees of the dispatcher. */
export interface Dispatcher {
  /** Takes part in the election (unless it may not lead) and dispatches while it leads. */
  start(): Promise<void>;
  /** Stops to decide, waits for the statements in flight, gives leadership up. */
  close(): Promise<void>;
  /** This process leads now. */
  readonly leading: boolean;
  /** Something may have become placeable: takes another look soon. Cheap, may be called often. */
  wake(reason: string): void;
  /** These executions have become queued (submitted or released): read them and consider them. A hint. */
  offer(ids: readonly string[]): void;
  /** Blinded, except that who typed the routing value sees what it does. Errors: NOT_FOUND for the decision. */
  preview(request: PreviewRequest): Promise<Decision>;
  /** For executions that wait now, with all reasons per worker, blinded; the others are left out. */
  whyWaiting(executionIds: readonly string[]): Promise<Map<string, Decision>>;
  stats(): DispatchStats;
}
