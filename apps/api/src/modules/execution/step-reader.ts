import { rawId } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import { boundedCount, type Count } from '../../graphql/page-rows.ts';
import type { RecordedStep } from '../worker/recorded-steps.ts';

/** A step as people see it. */
export interface StepRow
  extends Pick<RecordedStep, 'position' | 'kind' | 'name' | 'done' | 'result' | 'error' | 'child'> {
  executionId: string;
  /** When it was recorded, or, once it is done, completed. */
  at: Date;
  /** Of an open TIMER. */
  wakeAt: Date | null;
}

/** Reads what durable calls have recorded: the steps of one execution by position. */
export class StepReader {
  readonly #db: Executor;

  constructor(db: Executor) {
    this.#db = db;
  }

  /** In the order of positions, after one of them (-1: from the first). At most 8 MiB: an execution has no more. */
  async page(executionId: string, after: number, limit: number): Promise<StepRow[]> {
    const { rows } = await this.#db.run<StepRow>(
      {
        name: 'execution-steps',
        priority: 'read',
        text: `SELECT $1::text AS "executionId", s.position, s.kind, s.name, s.done, s.result, s.error, s.child_id::text AS child, s.at,
            CASE WHEN NOT s.done THEN s.wake_at END AS "wakeAt"
          FROM step s WHERE s.execution_id = $1::uuid AND s.position > $2 ORDER BY s.position LIMIT $3`,
      },
      [executionId, after, limit],
    );
    return rows.map((row) => ({ ...row, child: row.child === null ? null : rawId(row.child) }));
  }

  async count(executionId: string): Promise<Count> {
    const { rows } = await this.#db.run<{ n: number }>(
      {
        name: 'execution-step-count',
        priority: 'read',
        text: 'SELECT count(*)::int AS n FROM (SELECT 1 FROM step WHERE execution_id = $1::uuid LIMIT 10001) x',
      },
      [executionId],
    );
    return boundedCount(rows[0]?.n ?? 0);
  }
}
