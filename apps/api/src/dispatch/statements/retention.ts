import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';
import { FENCE, type LeaderSession, LeadershipLostError } from './fence.ts';
import { QUEUE_START } from './queue-reads.ts';
import { IDEMPOTENCY_DAYS } from './submit.ts';

/** Rows of one DELETE. */
export const RETENTION_SLICE = 500;

/**
 * The oldest that have ended, from an id on, with everything that hangs on them but their idempotency keys: those answer "since deleted" for as long as
 * they live. Frames go with their day's partition.
 */
export const DELETE_ENDED: Statement = {
  name: 'retention_delete',
  priority: 'background',
  text: `WITH ${FENCE}, doomed AS (
  SELECT x.id FROM fence, LATERAL (
    SELECT id FROM execution WHERE id > $3 AND id < $4 AND finished_state IS NOT NULL ORDER BY id LIMIT $5
  ) x
), executions AS (
  DELETE FROM execution x USING doomed d WHERE x.id = d.id AND x.state IN ('COMPLETED', 'FAILED', 'CANCELLED') RETURNING x.id
), routing AS (
  DELETE FROM execution_routing r USING executions x WHERE r.execution_id = x.id
), attempts AS (
  DELETE FROM attempt a USING executions x WHERE a.execution_id = x.id
), steps AS (
  DELETE FROM step s USING executions x WHERE s.execution_id = x.id
), decisions AS (
  DELETE FROM decision d USING executions x WHERE d.execution_id = x.id AND d.id >= x.id
), events AS (
  DELETE FROM event e USING executions x WHERE e.execution_id = x.id AND e.id >= x.id
)
SELECT x.id FROM fence LEFT JOIN executions x ON true`,
};

/** Deletes at most `limit` ended executions between two ids, oldest first; answers their ids (leader). Throws `LeadershipLostError`. */
export async function deleteEnded(
  db: Executor,
  session: LeaderSession,
  range: { after: string; before: string; limit: number },
): Promise<string[]> {
  const { rows } = await db.run<{ id: string | null }>(DELETE_ENDED, [
    session.epoch,
    session.holder,
    range.after,
    range.before,
    range.limit,
  ]);
  if (rows.length === 0) throw new LeadershipLostError();
  return rows.flatMap((row) => (row.id === null ? [] : [rawId(row.id)])).toSorted();
}

const COUNT_EXECUTIONS: Statement = {
  name: 'retention_count',
  priority: 'background',
  text: 'SELECT count(*)::int AS n FROM execution WHERE finished_state IS NOT NULL',
};

export async function countEnded(db: Executor): Promise<number> {
  const { rows } = await db.run<{ n: number }>(COUNT_EXECUTIONS, []);
  return rows[0]?.n ?? 0;
}

const OLDEST: Statement = {
  name: 'retention_oldest',
  priority: 'background',
  text: 'SELECT id FROM execution WHERE id > $1 ORDER BY id LIMIT 1',
};

/** Raw id of the oldest execution there is. */
export async function oldestExecution(db: Executor): Promise<string | null> {
  const { rows } = await db.run<{ id: string }>(OLDEST, [QUEUE_START.id]);
  return rows[0] === undefined ? null : rawId(rows[0].id);
}

const DELETE_KEYS: Statement = {
  name: 'retention_idempotency',
  priority: 'background',
  text: `DELETE FROM idempotency k USING (
  SELECT principal, mutation, key FROM idempotency WHERE at < statement_timestamp() - make_interval(days => ${IDEMPOTENCY_DAYS})
  ORDER BY at LIMIT ${RETENTION_SLICE}
) old WHERE (k.principal, k.mutation, k.key) = (old.principal, old.mutation, old.key)
  AND k.at < clock_timestamp() - make_interval(days => ${IDEMPOTENCY_DAYS})`,
};

/** Forgets keys that have outlived their time; answers how many, at most 500. */
export async function deleteOldKeys(db: Executor): Promise<number> {
  return (await db.run(DELETE_KEYS, [])).rowCount;
}

const PARTITIONS: Statement = {
  name: 'retention_partitions',
  priority: 'background',
  text: 'SELECT done, partition FROM maintain_partitions(clock_timestamp(), 2, $1::int)',
};

/** Makes the partitions of the coming days and drops those that ended more than `keepDays` ago (null: none). */
export async function maintainPartitions(
  db: Executor,
  keepDays: number | null,
): Promise<{ done: 'created' | 'dropped'; partition: string }[]> {
  return (await db.run<{ done: 'created' | 'dropped'; partition: string }>(PARTITIONS, [keepDays])).rows;
}

const DEAD_ROWS: Statement = {
  name: 'vacuum_dead_rows',
  priority: 'background',
  text: `SELECT relname AS name, n_dead_tup::int AS dead FROM pg_stat_user_tables WHERE n_dead_tup > $1 ORDER BY n_dead_tup DESC`,
};

/** Tables with more dead rows than that. */
export async function tablesWithDeadRows(db: Executor, least: number): Promise<{ name: string; dead: number }[]> {
  return (await db.run<{ name: string; dead: number }>(DEAD_ROWS, [least])).rows;
}

/** For the embedded database, which has no autovacuum. */
export async function vacuum(db: Executor, table: string): Promise<void> {
  await db.run({ name: `vacuum_${table}`, priority: 'background', text: `VACUUM (ANALYZE) "${table}"` }, []);
}

/** For the embedded database, which has no checkpointer. */
export async function checkpoint(db: Executor): Promise<void> {
  await db.run({ name: 'checkpoint', priority: 'background', text: 'CHECKPOINT' }, []);
}
