import { isTerminal } from '@muster/core';
import type { StoredDecision } from '../decision/stored-decision.ts';
import type { AttemptOutcome, AttemptRow, ExecutionRow } from './execution-rows.ts';

/** One clause: why it is where it is, or why nobody has it. The words are the decision's where there is one. */
export function describeWhy(row: ExecutionRow, latest: StoredDecision | null, maxAttempts: number): string {
  if (row.state === 'PAUSED') return describeWaiting(row);
  const ended = describeEnd(row, maxAttempts);
  if (ended !== null) return ended;
  const decided = latest?.explanation[0];
  if (row.parked) {
    const known = latest?.decision.outcome === 'PARKED' && latest.decision.reason === row.parkedReason;
    if (known && decided !== undefined) return decided;
    if (row.parkedReason) return row.parkedReason;
  }
  const waiting = row.state === 'PENDING' || row.state === 'RESUMING';
  if (waiting && latest?.decision.outcome !== 'PARKED') return 'It waits to be dispatched.';
  if (decided !== undefined) return decided;
  return row.workerName === null ? 'It waits to be dispatched.' : `${row.workerName} has it.`;
}

/** What its own end says; null where the decision says more. */
function describeEnd(row: ExecutionRow, maxAttempts: number): string | null {
  const { state, error, workerId, attempt } = row;
  if (state === 'FAILED' && error) {
    // Another attempt would have been made, had there been one.
    if (error.retryable === true && attempt >= maxAttempts) return describeLastFailure(row, error.message);
    return workerId === null ? error.message : null;
  }
  if (state !== 'CANCELLED' || workerId !== null) return null;
  return attempt === 0 ? 'It was cancelled before a worker had it.' : 'It was cancelled and is on no worker any more.';
}

function describeLastFailure({ attempt }: ExecutionRow, message: string): string {
  return attempt === 1
    ? `It failed, and its version allows one attempt: ${message}`
    : `It failed in each of its ${attempt} attempts, and its version allows no more: ${message}`;
}

function describeWaiting(row: ExecutionRow): string {
  if (row.waiting === 'TIMER') return row.wakeAt ? `It sleeps until ${row.wakeAt.toISOString()}.` : 'It sleeps.';
  if (row.waiting === 'CHILD')
    return `It waits for another execution${row.waitingName ? ` (${row.waitingName})` : ''}.`;
  return `It waits to be resumed${row.waitingName ? ` (${row.waitingName})` : ''}.`;
}

/** The present assignment as an attempt; null while nobody has or had it since the last release. */
export function presentAttempt(row: ExecutionRow): AttemptRow | null {
  if (row.scheduledAt === null || row.workerName === null) return null;
  const outcome: AttemptOutcome = isTerminal(row.state) ? row.state : row.state === 'PAUSED' ? 'PAUSED' : 'RUNNING';
  return {
    executionId: row.id,
    // An attempt starts at the claim: until then it is the next one, unless it goes on after a pause.
    number: row.claimedAt === null && !row.resumed ? row.attempt + 1 : row.attempt,
    generation: row.generation,
    worker: row.workerName,
    outcome,
    error: isTerminal(row.state) ? row.error : null,
    scheduledAt: row.scheduledAt,
    claimedAt: row.claimedAt,
    endedAt: row.finishedAt,
  };
}
