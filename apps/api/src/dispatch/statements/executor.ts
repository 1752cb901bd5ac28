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

export function createExecutor(target: StatementTarget): Executor {
  return {
    run: <R extends object>({ name, text, priority }: Statement, values: readonly unknown[]) =>
      target.query<R>(text, values, {
        ...(name === '' ? {} : { name }),
        priority: priority === 'read' ? 'request' : priority,
      }),
  };
}
