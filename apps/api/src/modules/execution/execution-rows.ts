import type { ExecutionState, JsonValue } from '@muster/core';

export interface StoredError {
  type: string;
  message: string;
  stack?: string | null;
  retryable?: boolean;
}

/** One execution as lists read it: everything but input and output, which may be large. Ids are raw. */
export interface ExecutionRow {
  id: string;
  parentId: string | null;
  retryOf: string | null;
  waitingChild: string | null;
  versionId: number;
  deploymentId: number | null;
  variant: string | null;
  targetRoles: string[];
  sessionKey: string | null;
  state: ExecutionState;
  parked: boolean;
  parkedReason: string | null;
  parkedSince: Date | null;
  parkDeadline: Date | null;
  error: StoredError | null;
  workerId: number | null;
  workerName: string | null;
  requiredWorker: string | null;
  preferredWorker: string | null;
  priority: number;
  attempt: number;
  /** Comes back from a pause: its next claim goes on with the same attempt. */
  resumed: boolean;
  generation: number;
  revision: number;
  submittedBy: string;
  createdAt: Date;
  updatedAt: Date;
  scheduledAt: Date | null;
  claimedAt: Date | null;
  startedAt: Date | null;
  finishedAt: Date | null;
  waiting: 'RESUME' | 'TIMER' | 'CHILD' | null;
  waitingName: string | null;
  wakeAt: Date | null;
}

export interface ExecutionPayload {
  input: JsonValue;
  output: JsonValue;
}

/** An entry of an execution's history; its identity is execution and sequence. */
export interface EventRow {
  executionId: string;
  sequence: number;
  type: string;
  at: Date;
  worker: string | null;
  data: JsonValue;
}

export type AttemptOutcome =
  | 'RUNNING'
  | 'COMPLETED'
  | 'FAILED'
  | 'CRASHED'
  | 'TIMED_OUT'
  | 'WORKER_LOST'
  | 'UNCLAIMED'
  | 'PAUSED'
  | 'CANCELLED';

/** One try on one worker. */
export interface AttemptRow {
  executionId: string;
  number: number;
  generation: number;
  worker: string;
  outcome: AttemptOutcome;
  error: StoredError | null;
  scheduledAt: Date;
  claimedAt: Date | null;
  endedAt: Date | null;
}
