import type { AttemptFailure } from '../../dispatch/statements/release.ts';
import type { HeldItem } from './report-store.ts';

/**
 * Gives executions of one worker process back to the queue, or ends those that cannot go on. The outcome follows from each row: what was not claimed
 * keeps its attempt, the rest counts as lost. The cause is checked again in the statement, so the worker's row is written first.
 */
export type ReleaseWorker = (request: {
  workerId: number;
  /** null: any instance of the worker. */
  instance: string | null;
  cause: 'RETURNED' | 'LEFT' | 'REPLACED' | 'REMOVED' | 'ATTEMPT_FAILED' | 'UNLISTED';
  /** One clause, for the attempt's record. No NUL. */
  message: string;
  /** Of UNLISTED: claims that were taken later than this stay. */
  claimedBefore?: Date;
  /** Only these; absent: everything that is live on it. */
  items?: readonly (HeldItem & { failure?: AttemptFailure | undefined })[];
}) => Promise<readonly HeldItem[]>;
