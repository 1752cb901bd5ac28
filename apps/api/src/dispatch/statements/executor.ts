/** Which waiting statement goes first on the embedded database, which is one session; on PostgreSQL, which connections it uses. */
export type StatementPriority = 'hot' | 'read' | 'background';

export interface Statement {
  /**
   * Name of the prepared statement on PostgreSQL; unique in the whole server. Empty: planned anew for its values each time, as lists must be.
   */
  readonly name: string;
  readonly text: string;
  readonly priority: StatementPriority;
}

export interface StatementResult<R> {
  readonly rows: R[];
  /** Rows read or changed. */
  readonly rowCount: number;
}

/** Runs named statements, each of which commits by itself: the only way in which stores reach the hot tables. */
export interface Executor {
  /** Rejects with the driver's error. */
  run<R extends object>(statement: Statement, values: readonly unknown[]): Promise<StatementResult<R>>;
}

/** A database, or a connection of its own. */
export interface StatementTarget {
  query<R extends object>(
    text: string,
    values: readonly unknown[],
    options: { name?: string; priority: 'hot' | 'request' | 'background' },
  ): Promise<{ rows: R[]; rowCount: number }>;
}

const DEADLOCK = '40P01';
const DEADLOCK_TRIES = 4;

/**
 * Statements that end executions lock children, then parents, in batches: two of them may meet crosswise. PostgreSQL then takes one of them back whole,
 * and it is simply run again.
 */
export function createExecutor(target: StatementTarget): Executor {
  return {
    run: async <R extends object>({ name, text, priority }: Statement, values: readonly unknown[]) => {
      const options = {
        ...(name === '' ? {} : { name }),
        priority: priority === 'read' ? ('request' as const) : priority,
      };
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await target.query<R>(text, values, options);
        } catch (error) {
          const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
          if (code !== DEADLOCK || attempt === DEADLOCK_TRIES) throw error;
        }
      }
    },
  };
}
