import { MusterError } from '@muster/core';

/** SQLSTATEs, their classes, Prisma's and the driver's codes that say: not the caller's fault, and it may pass. */
const PASSING = /^(?:08...|53...|57P0[1-5]|57014|55P03|40001|40P01|P1001|P1002|P1008|P1017|P2024|P2028|P2034|E[A-Z]+)$/;

/** SQLSTATEs that say: this value is none that a column can hold. */
const UNSTORABLE = /^(?:22021|22P05|22003|22008)$/;

/**
 * What a caller is told where the database was busy, gone or slow: UNAVAILABLE, try again. BAD_INPUT where it could not take a value, e.g. a
 * text with NUL. null: the error says something else. A wrapper's cause counts as well as the error itself.
 */
export function databaseTrouble(error: unknown): MusterError | null {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = causeOf(cause)) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    const message = cause instanceof Error ? cause.message : '';
    if (PASSING.test(code) || /^timeout exceeded when trying to connect|^Connection terminated/.test(message)) {
      return new MusterError('UNAVAILABLE', 'The database is busy or away; try again in a moment.', { cause: error });
    }
    const state = 'originalCode' in cause && typeof cause.originalCode === 'string' ? cause.originalCode : code;
    if (UNSTORABLE.test(state)) {
      const rule =
        'A value cannot be stored: texts must have no NUL and no half of a character, and numbers and times must be of a usual size.';
      return new MusterError('BAD_INPUT', rule, { cause: error });
    }
  }
  return null;
}

/** Prisma hands the driver's error on beside its own. */
function causeOf(error: object): unknown {
  if ('cause' in error && error.cause != null) return error.cause;
  const meta = 'meta' in error ? error.meta : null;
  return typeof meta === 'object' && meta !== null && 'driverAdapterError' in meta ? meta.driverAdapterError : null;
}
