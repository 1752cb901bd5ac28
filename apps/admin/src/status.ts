import {
  type Icon,
  IconAlertTriangleFilled,
  IconBarrierBlock,
  IconCircle,
  IconCircleArrowRightFilled,
  IconCircleCheck,
  IconCircleCheckFilled,
  IconCircleDashed,
  IconCircleDashedX,
  IconCircleMinus,
  IconCircleOff,
  IconCircleXFilled,
  IconClockExclamation,
  IconClockX,
  IconFilterDown,
  IconParkingCircle,
  IconPercentage25,
  IconPercentage50,
  IconPercentage75,
  IconPlayerPauseFilled,
  IconPlayerTrackNextFilled,
  IconPlugConnectedX,
} from '@tabler/icons-react';
import type {
  AttemptOutcome,
  CredentialStatus,
  DecisionOutcome,
  DeploymentHealth,
  ExecutionState,
  RejectionReason,
  WorkerAvailability,
  WorkerStatus,
} from './api/generated/graphql.ts';

/** ok whispers (icon only), neutral is plain, the others speak: icon and word coloured. */
export type Tone = 'ok' | 'warn' | 'bad' | 'neutral' | 'accent';

export interface StatusLook {
  word: string;
  tone: Tone;
  icon: Icon;
}

const look = (word: string, tone: Tone, icon: Icon): StatusLook => ({ word, tone, icon });

export const PARKED = look('Parked', 'warn', IconParkingCircle);
export const DEGRADED_DECISION = look('Least loaded (degraded)', 'warn', IconAlertTriangleFilled);

/** Every state word of the app: word, tone, icon. Nothing else in the app names or colours a state. */
export const status = {
  worker: {
    HEALTHY: look('Healthy', 'ok', IconCircleCheckFilled),
    UNHEALTHY: look('Unhealthy', 'warn', IconAlertTriangleFilled),
    STALE: look('Stale', 'warn', IconClockExclamation),
    OFFLINE: look('Offline', 'bad', IconPlugConnectedX),
  } satisfies Record<WorkerStatus, StatusLook>,
  availability: {
    ACTIVE: look('Active', 'neutral', IconCircle),
    CORDONED: look('Cordoned', 'accent', IconBarrierBlock),
    DRAINING: look('Draining', 'accent', IconFilterDown),
  } satisfies Record<WorkerAvailability, StatusLook>,
  execution: {
    PENDING: look('Pending', 'neutral', IconCircleDashed),
    SCHEDULED: look('Scheduled', 'neutral', IconPercentage25),
    CLAIMED: look('Claimed', 'neutral', IconPercentage50),
    RUNNING: look('Running', 'ok', IconPercentage75),
    PAUSED: look('Paused', 'neutral', IconPlayerPauseFilled),
    RESUMING: look('Resuming', 'neutral', IconPlayerTrackNextFilled),
    CANCELLING: look('Cancelling', 'neutral', IconCircleMinus),
    COMPLETED: look('Completed', 'neutral', IconCircleCheck),
    FAILED: look('Failed', 'bad', IconCircleXFilled),
    CANCELLED: look('Cancelled', 'neutral', IconCircleOff),
  } satisfies Record<ExecutionState, StatusLook>,
  decision: {
    ASSIGNED: look('Assigned', 'ok', IconCircleArrowRightFilled),
    PARKED,
    FAILED: look('Failed', 'bad', IconCircleXFilled),
  } satisfies Record<DecisionOutcome, StatusLook>,
  deployment: {
    OK: look('All live', 'ok', IconCircleCheckFilled),
    DEGRADED: look('Degraded', 'warn', IconAlertTriangleFilled),
    UNAVAILABLE: look('Unavailable', 'bad', IconCircleXFilled),
  } satisfies Record<DeploymentHealth, StatusLook>,
  attempt: {
    RUNNING: look('Running', 'ok', IconPercentage75),
    COMPLETED: look('Completed', 'neutral', IconCircleCheck),
    FAILED: look('Failed', 'bad', IconCircleXFilled),
    PAUSED: look('Paused', 'neutral', IconPlayerPauseFilled),
    CANCELLED: look('Cancelled', 'neutral', IconCircleOff),
    CRASHED: look('Crashed', 'bad', IconCircleXFilled),
    TIMED_OUT: look('Timed out', 'bad', IconClockX),
    WORKER_LOST: look('Worker lost', 'warn', IconPlugConnectedX),
    UNCLAIMED: look('Not claimed', 'warn', IconCircleDashedX),
  } satisfies Record<AttemptOutcome, StatusLook>,
  credential: {
    ACTIVE: look('Active', 'ok', IconCircleCheckFilled),
    EXPIRED: look('Expired', 'neutral', IconClockX),
    REVOKED: look('Revoked', 'neutral', IconCircleOff),
    USED: look('Used', 'neutral', IconCircleCheck),
  } satisfies Record<CredentialStatus, StatusLook>,
  principal: {
    enabled: look('Enabled', 'ok', IconCircleCheckFilled),
    disabled: look('Disabled', 'warn', IconCircleMinus),
  } satisfies Record<string, StatusLook>,
  step: {
    DONE: look('Done', 'neutral', IconCircleCheck),
    FAILED: look('Failed', 'bad', IconCircleXFilled),
    OPEN: look('Under way', 'neutral', IconPercentage75),
    TIMER: look('Waits until', 'neutral', IconPlayerPauseFilled),
    RESUME: look('Waits for resume', 'neutral', IconPlayerPauseFilled),
    CALL: look('Waits for child', 'neutral', IconPlayerPauseFilled),
    LEFT: look('Left open', 'neutral', IconCircleOff),
  } satisfies Record<string, StatusLook>,
};

/** Why a worker was left out, as short words for buttons and tables. */
export const rejectionWords: Record<RejectionReason, string> = {
  OFFLINE: 'Offline',
  STALE: 'Stale',
  DISCONNECTED: 'Not connected',
  UNHEALTHY: 'Unhealthy',
  CORDONED: 'Cordoned',
  DRAINING: 'Draining',
  NOT_BOUND_WORKER: 'Bound elsewhere',
  ROLE_MISMATCH: 'Role',
  NO_HANDLER: 'No handler',
  RUNNER_MISSING: 'Runner',
  RESOURCES_SHORT: 'Resources',
  AFFINITY_UNMET: 'Affinity',
  NO_CAPACITY: 'No slot',
  UNCLAIMED_BEFORE: 'Not claimed before',
};

/** What an execution shows: parked is a flag on top of its state. */
export function executionLook(execution: { state: ExecutionState; parked: boolean }): StatusLook {
  return execution.parked ? PARKED : status.execution[execution.state];
}

/** The order in which the dispatcher's filters run; the enum lists the same reasons in no particular order. */
export const FILTER_ORDER: readonly RejectionReason[] = [
  'OFFLINE',
  'DISCONNECTED',
  'STALE',
  'UNHEALTHY',
  'CORDONED',
  'DRAINING',
  'NOT_BOUND_WORKER',
  'ROLE_MISMATCH',
  'NO_HANDLER',
  'RUNNER_MISSING',
  'RESOURCES_SHORT',
  'AFFINITY_UNMET',
  'NO_CAPACITY',
  'UNCLAIMED_BEFORE',
];
