import { rawId, timeOfId } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';

/** Rows that the figures of one request read at most. */
const MAX_WINDOW_ROWS = 20_000;

/**
 * What executions say of deployments. Raw SQL: the execution table is the hot path's. Unnamed, so that each is planned for its values: a plan for any
 * value would walk the primary key where a deployment is rare.
 */
export class DeploymentUsageStore {
  readonly #db: Executor;

  constructor(db: Executor) {
    this.#db = db;
  }

  /** When the newest execution of each deployment was made. */
  async lastExecutions(ids: readonly number[]): Promise<Map<number, Date>> {
    const { rows } = await this.#db.run<{ id: number; last: string }>(
      {
        name: '',
        priority: 'read',
        text: `SELECT g.id, x.id::text AS last FROM unnest($1::int[]) AS g (id)
          CROSS JOIN LATERAL (SELECT e.id FROM execution e WHERE e.deployment_id = g.id ORDER BY e.id DESC LIMIT 1) x`,
      },
      [ids],
    );
    return new Map(rows.map((row) => [row.id, new Date(timeOfId(rawId(row.last)))]));
  }

  /**
   * Executions of the last minutes per deployment and variant label. Of very busy deployments the newest are counted, so that all together
   * at most 20,000 rows are read.
   */
  async observed(ids: readonly number[], minutes: number): Promise<Map<number, Map<string, number>>> {
    const { rows } = await this.#db.run<{ id: number; variant: string; n: number }>(
      {
        name: '',
        priority: 'read',
        text: `SELECT g.id, x.variant, count(*)::int AS n FROM unnest($1::int[]) AS g (id)
          CROSS JOIN LATERAL (
            SELECT e.variant FROM execution e
            WHERE e.deployment_id = g.id AND e.id >= uuid_v7_floor(statement_timestamp() - make_interval(mins => $2::int))
            ORDER BY e.id DESC LIMIT $3
          ) x WHERE x.variant IS NOT NULL GROUP BY g.id, x.variant`,
      },
      [ids, minutes, Math.max(1, Math.floor(MAX_WINDOW_ROWS / ids.length))],
    );
    const counts = new Map<number, Map<string, number>>();
    for (const { id, variant, n } of rows) {
      const variants = counts.get(id) ?? new Map<string, number>();
      counts.set(id, variants.set(variant, n));
    }
    return counts;
  }
}
