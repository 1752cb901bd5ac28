/**
 * Runs the named statements of the hot path. On PostgreSQL they go straight to the pool, prepared under their name. The
 * embedded database is one session, so there they wait in a queue of our own, in which hot statements go first.
 */

export type StatementPriority = 'hot' | 'read' | 'background';

export interface Statement {
  /** Name of the prepared statement on PostgreSQL; unique in the whole server. */
  readonly name: string;
  readonly text: string;
  readonly priority: StatementPriority;
}

export interface StatementResult<R> {
  readonly rows: R[];
  readonly rowCount: number;
}

export interface Executor {
  /** One autocommit statement. Rejects with the driver's error. */
  run<R extends object>(statement: Statement, values: readonly unknown[]): Promise<StatementResult<R>>;
}

/** The part of @muster/db's Database (and of a direct connection) that is needed here. */
export interface StatementTarget {
  readonly kind: 'embedded' | 'postgres';
  /** Statements may be prepared by name. */
  readonly prepare: boolean;
  readonly pool: {
    query(config: {
      name?: string;
      text: string;
      values: unknown[];
    }): Promise<{ rows: unknown[]; rowCount: number | null }>;
  };
}

export function createExecutor(database: StatementTarget): Executor {
  const send = async <R extends object>(
    statement: Statement,
    values: readonly unknown[],
  ): Promise<StatementResult<R>> => {
    const config = { text: statement.text, values: [...values] };
    const result = await database.pool.query(
      database.kind === 'postgres' && database.prepare ? { name: statement.name, ...config } : config,
    );
    return { rows: result.rows as R[], rowCount: result.rowCount ?? 0 };
  };
  if (database.kind === 'postgres') return { run: send };

  const queue = new PriorityQueue();
  return { run: (statement, values) => queue.add(statement.priority, () => send(statement, values)) };
}

const ORDER: readonly StatementPriority[] = ['hot', 'read', 'background'];

/** One task at a time; a waiting task of a higher class goes before all of the lower ones, else first come, first served. */
export class PriorityQueue {
  readonly #waiting: Record<StatementPriority, (() => Promise<void>)[]> = { hot: [], read: [], background: [] };
  #busy = false;

  add<T>(priority: StatementPriority, task: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting[priority].push(() => task().then(resolve, reject));
      void this.#drain();
    });
  }

  async #drain(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    for (let task = this.#next(); task !== undefined; task = this.#next()) await task();
    this.#busy = false;
  }

  #next(): (() => Promise<void>) | undefined {
    for (const priority of ORDER) {
      const task = this.#waiting[priority].shift();
      if (task !== undefined) return task;
    }
    return undefined;
  }
}
