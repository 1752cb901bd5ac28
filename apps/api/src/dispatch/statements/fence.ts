/**
 * Every statement of the leader begins with this: it locks the leadership row of its epoch and holder, so that it cannot commit
 * after another replica has taken over. The common table expression must be READ by every part that writes (`FROM fence …`):
 * PostgreSQL does not execute one that nothing refers to.
 *
 * `$1` is the epoch and `$2` the holder. The statement ends with `FROM fence LEFT JOIN …`, so that no row at all means
 * "not the leader any more". `now` is the one time of the whole statement.
 */
export const FENCE = `fence AS MATERIALIZED (
  SELECT epoch, clock_timestamp() AS now FROM leadership WHERE one AND epoch = $1::bigint AND holder = $2 FOR SHARE
)`;

/** Which leader writes. */
export interface LeaderSession {
  readonly epoch: string;
  readonly holder: string;
}

/** Another replica has taken over, or our lease was given up: nothing was written. */
export class LeadershipLostError extends Error {
  constructor() {
    super('the leadership of this epoch is over');
    this.name = 'LeadershipLostError';
  }
}

/** The rows that were written, of a statement that ends with `FROM fence LEFT JOIN …`. Throws `LeadershipLostError`. */
export function fencedRows<R extends { id: string | null }>(rows: readonly R[]): (R & { id: string })[] {
  if (rows.length === 0) throw new LeadershipLostError();
  return rows.filter((row): row is R & { id: string } => row.id !== null);
}
