import { MusterError } from '@muster/core';

/** SQLSTATEs, their classes, Prisma's and the driver's codes that say: not the caller's fault, and it may pass. */
const PASSING = /^(?:08...|53...|57P0[1-5]|57014|55P03|40001|40P01|P1001|P1002|P1008|P1017|P2024|P2028|P2034|E[A-Z]+)$/;

/**
 * What a caller is told where the database was busy, gone or slow: UNAVAILABLE, try again. null: the error says something else.
 * A wrapper's cause counts as well as the error itself.
 */
export function databaseTrouble(error: unknown): MusterError | null {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = 'cause' in cause ? cause.cause : null) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    const message = cause instanceof Error ? cause.message : '';
    if (PASSING.test(code) || /^timeout exceeded when trying to connect|^Connection terminated/.test(message)) {
      return new MusterError('UNAVAILABLE', 'The database is busy or away; try again in a moment.', { cause: error });
    }
  }
  return null;
}
