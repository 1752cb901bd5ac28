/** The state of an execution as the API names it. `parked` is a flag on PENDING and RESUMING, not a state. */
export type ExecutionState =
  | 'PENDING'
  | 'SCHEDULED'
  | 'CLAIMED'
  | 'RUNNING'
  | 'PAUSED'
  | 'RESUMING'
  | 'CANCELLING'
  | 'COMPLETED'
  | 'FAILED'
  | 'CANCELLED';

export type TerminalState = 'COMPLETED' | 'FAILED' | 'CANCELLED';

/**
 * Every legal step. Anything that is not here is refused, and each UPDATE names the states it may start from.
 * PENDING and RESUMING wait for a worker; SCHEDULED, CLAIMED, RUNNING and CANCELLING are on one; PAUSED is on none and waits for a
 * resume, a time or a child; what it waits for may have come already, then it is RESUMING at once. A step back to PENDING or RESUMING is a release (or a retry), and a cancelled execution that nobody
 * works on yet ends at once, without CANCELLING: the guard of a claim that comes too late refuses it.
 */
const TRANSITIONS: Readonly<Record<ExecutionState, readonly ExecutionState[]>> = {
  PENDING: ['SCHEDULED', 'FAILED', 'CANCELLED'],
  RESUMING: ['SCHEDULED', 'FAILED', 'CANCELLED'],
  SCHEDULED: ['CLAIMED', 'RUNNING', 'PENDING', 'RESUMING', 'CANCELLING', 'CANCELLED'],
  CLAIMED: ['RUNNING', 'PENDING', 'RESUMING', 'CANCELLING', 'COMPLETED', 'FAILED'],
  RUNNING: ['PAUSED', 'RESUMING', 'PENDING', 'CANCELLING', 'COMPLETED', 'FAILED'],
  PAUSED: ['RESUMING', 'FAILED', 'CANCELLED'],
  CANCELLING: ['COMPLETED', 'FAILED', 'CANCELLED'],
  COMPLETED: [],
  FAILED: [],
  CANCELLED: [],
};

export const EXECUTION_STATES: readonly ExecutionState[] = Object.keys(TRANSITIONS) as ExecutionState[];
export const TERMINAL_STATES: readonly TerminalState[] = ['COMPLETED', 'FAILED', 'CANCELLED'];

/** Assigned to a worker: these count as its load (ruling 15). */
export const LIVE_STATES: readonly ExecutionState[] = ['SCHEDULED', 'CLAIMED', 'RUNNING', 'CANCELLING'];

/** Waiting for a worker: these may be parked. */
export const QUEUED_STATES: readonly ExecutionState[] = ['PENDING', 'RESUMING'];

/** Whether the step is legal. A state never becomes itself. */
export function canBecome(from: ExecutionState, to: ExecutionState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** The states that a guarded UPDATE to `to` may start from. */
export function statesBefore(to: ExecutionState): readonly ExecutionState[] {
  return EXECUTION_STATES.filter((from) => canBecome(from, to));
}

export function isTerminal(state: ExecutionState): state is TerminalState {
  return TRANSITIONS[state].length === 0;
}

export function isLive(state: ExecutionState): boolean {
  return LIVE_STATES.includes(state);
}

export function isQueued(state: ExecutionState): boolean {
  return QUEUED_STATES.includes(state);
}

/** What a request to cancel makes of an execution; null where there is nothing left to cancel. */
export function stateAfterCancelRequest(state: ExecutionState): 'CANCELLING' | 'CANCELLED' | null {
  if (isTerminal(state) || state === 'CANCELLING') return null;
  return state === 'CLAIMED' || state === 'RUNNING' ? 'CANCELLING' : 'CANCELLED';
}
