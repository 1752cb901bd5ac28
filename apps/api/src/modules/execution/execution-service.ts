import type { JsonValue } from '@muster/core';
import type { Viewer } from '../viewer/viewer.ts';
import type { SubmitItem, SubmitOutcome } from './submission.ts';

/** What callers can do to executions. Ids are raw UUIDs: 32 hex digits, without the `ex_` of the API. */
export interface ExecutionService {
  /**
   * Makes executions; the rows are durable when it resolves. Concurrent calls are joined into one insert of at most 200
   * rows; each item succeeds or fails alone. Never rejects.
   */
  submit(items: readonly SubmitItem[], viewer: Viewer): Promise<SubmitOutcome[]>;

  /**
   * Unassigned, unclaimed and paused executions are CANCELLED at once, claimed and running ones become CANCELLING until
   * their worker answers. Cancelling twice is fine.
   * Errors: NOT_FOUND; CONFLICT where it has COMPLETED or FAILED.
   */
  cancel(id: string, viewer: Viewer): Promise<void>;

  /**
   * A new execution with the same version, input, variant, roles, binding, hint, priority and routing input (ruling 32).
   * Errors: NOT_FOUND; CONFLICT where it is not FAILED or CANCELLED.
   */
  retry(id: string, viewer: Viewer): Promise<{ id: string }>;

  /** Errors: NOT_FOUND; CONFLICT where it is not PAUSED, or waits for something else than a resume. */
  resume(id: string, input: JsonValue, viewer: Viewer): Promise<void>;

  /** Resolves when the execution has ended or parked, or after so many seconds; event-driven. */
  waitUntilSettled(id: string, seconds: number): Promise<void>;

  close(): Promise<void>;
}
