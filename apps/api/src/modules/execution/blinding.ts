import type { JsonValue } from '@muster/core';
import type { EventRow, ExecutionRow, StoredError } from './execution-rows.ts';

const PARKED = 'no worker can take it now';
const EXPIRED = 'no worker could take it within its park time';
const PARK_TIMEOUT = 'ParkTimeoutError';

/**
 * An execution as the token of one sees it (ruling 20): without binding and hint, and without the reasons that name them, whether or not it has any:
 * the difference would tell.
 */
export function blindRow(row: ExecutionRow): ExecutionRow {
  return {
    ...row,
    requiredWorker: null,
    preferredWorker: null,
    parkedReason: row.parkedReason === null ? null : PARKED,
    error: blindError(row.error),
  };
}

export function blindError(error: StoredError | null): StoredError | null {
  return error?.type === PARK_TIMEOUT ? { ...error, message: EXPIRED } : error;
}

export function blindEvent(event: EventRow): EventRow {
  return { ...event, data: blindData(event.data) };
}

function blindData(data: JsonValue): JsonValue {
  const blinds = typeof data === 'object' && data !== null && !Array.isArray(data) && data['type'] === PARK_TIMEOUT;
  return blinds ? { ...data, message: EXPIRED } : data;
}
