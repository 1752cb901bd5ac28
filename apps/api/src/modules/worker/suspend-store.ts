import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import { rawId } from '../../dispatch/ids.ts';
import { toResuming } from '../../dispatch/statements/wake.ts';
import type { ChangedRow, HeldItem, Holder } from './report-store.ts';

export interface SuspendItem extends HeldItem {
  /** Of open steps; any of them ends the pause. */
  positions: readonly number[];
}

/** `missing`: so many of the positions have no step. */
export interface SuspendVerdict {
  id: string;
  missing: number;
}

const NOW = 'clock_timestamp()';
/** What both ways out of RUNNING share: the assignment is over and stands in `attempt` from now on. */
const LEAVE = `worker_name = NULL, instance = NULL, scheduled_at = NULL, claimed_at = NULL, started_at = NULL,
    scheduled_seq = NULL, claimed_seq = NULL, started_seq = NULL, last_worker = h.worker_name`;

/**
 * `known` reads the steps as they were when the statement began; `held` has the newest row. Where its `signals` differ, something ended in
 * between and the reading is out of date: then the execution goes on at once, and its handler looks again. What ends after this statement has
 * the row finds it PAUSED (wake.ts). `OFFSET 0`: each step by its key, where the planner might rather read the whole table once.
 */
const SUSPEND: Statement = {
  name: 'suspend',
  priority: 'hot',
  text: `
WITH item AS (
  SELECT u.id, u.generation, p.position FROM unnest($1::uuid[], $2::int[], $3::text[]) AS u (id, generation, positions),
    unnest(u.positions::int[]) AS p (position)
), known AS MATERIALIZED (
  SELECT i.id, i.generation, array_agg(i.position ORDER BY i.position) AS positions,
    (SELECT x.signals FROM execution x WHERE x.id = i.id) AS signals,
    (count(*) FILTER (WHERE s.position IS NULL))::int AS missing,
    coalesce(bool_or(s.done OR (s.kind = 'TIMER' AND s.wake_at <= ${NOW})), false) AS due,
    min(s.wake_at) FILTER (WHERE s.kind = 'TIMER' AND NOT s.done) AS wake_at,
    coalesce(min(i.position) FILTER (WHERE s.kind = 'RESUME' AND NOT s.done), min(i.position) FILTER (WHERE s.kind = 'CALL' AND NOT s.done),
      min(i.position) FILTER (WHERE NOT s.done)) AS waiting_position
  FROM item i LEFT JOIN LATERAL (SELECT * FROM step t WHERE t.execution_id = i.id AND t.position = i.position OFFSET 0) s ON true
  GROUP BY i.id, i.generation
), held AS (
  SELECT x.id, x.generation, x.worker_id, x.worker_name, x.instance, x.attempt, x.event_seq, x.scheduled_at, x.claimed_at, x.started_at,
    x.scheduled_seq, x.claimed_seq, x.started_seq, k.positions, k.wake_at, k.waiting_position, w.name, w.child_id,
    CASE w.kind WHEN 'RESUME' THEN 'RESUME' WHEN 'CALL' THEN 'CHILD' ELSE 'TIMER' END AS waiting,
    k.due OR k.signals IS DISTINCT FROM x.signals AS goes_on
  FROM known k JOIN execution x ON x.id = k.id LEFT JOIN step w ON w.execution_id = k.id AND w.position = k.waiting_position
  WHERE x.generation = k.generation AND x.worker_id IS NOT DISTINCT FROM $4 AND x.instance = $5 AND x.state = 'RUNNING' AND k.missing = 0
  ORDER BY x.id FOR UPDATE OF x
), paused AS (
  UPDATE execution x SET
    state = 'PAUSED', waiting = h.waiting, waiting_name = h.name, waiting_child = h.child_id, waiting_position = h.waiting_position,
    awaited = h.positions, wake_at = h.wake_at, live = false, worker_id = NULL, ${LEAVE}, revision = x.revision + 1, event_seq = x.event_seq + 1, updated_at = ${NOW}
  FROM held h WHERE x.id = h.id AND NOT h.goes_on
  RETURNING x.id, x.generation, x.revision, x.state
), resuming AS (
  UPDATE execution x SET ${toResuming('x', { now: NOW, parkTtl: '$6' })}, ${LEAVE}
  FROM held h WHERE x.id = h.id AND h.goes_on
  RETURNING x.id, x.generation, x.revision, x.state
), over AS (
  UPDATE step s SET done = true, at = ${NOW}, generation = h.generation + 1
  FROM (SELECT id, generation, unnest(positions) AS position FROM held WHERE goes_on) h
  WHERE s.execution_id = h.id AND s.position = h.position AND s.kind = 'TIMER' AND NOT s.done AND s.wake_at <= ${NOW}
), superseded AS (
  INSERT INTO attempt (execution_id, scheduled_at, claimed_at, started_at, ended_at, generation, worker_id, scheduled_seq, claimed_seq,
    started_seq, ended_seq, number, outcome, worker_name, instance, waiting)
  SELECT h.id, h.scheduled_at, h.claimed_at, h.started_at, ${NOW}, h.generation, h.worker_id, h.scheduled_seq, h.claimed_seq, h.started_seq,
    h.event_seq + 1, h.attempt, 'PAUSED', h.worker_name, h.instance,
    json_build_object('kind', h.waiting, 'name', h.name, 'until', h.wake_at, 'child', 'ex_' || replace(h.child_id::text, '-', ''))
  FROM held h
)
SELECT k.id, k.missing, r.generation, r.revision, r.state
FROM known k LEFT JOIN (SELECT * FROM paused UNION ALL SELECT * FROM resuming) r ON r.id = k.id`,
};

/**
 * RUNNING → PAUSED until any of the steps is done, or → RESUMING where one is done already; the slot is free. Rows that are not in `moved` were
 * refused by the guard or name steps that are not there (`missing`). `parkTtlSeconds`: of executions that bring none.
 */
export async function suspendExecutions(
  db: Executor,
  holder: Holder,
  items: readonly SuspendItem[],
  parkTtlSeconds: number,
): Promise<{ moved: ChangedRow[]; missing: Map<string, number> }> {
  const { rows } = await db.run<SuspendVerdict & { generation: number | null; revision: number; state: string }>(
    SUSPEND,
    [
      items.map((item) => item.id),
      items.map((item) => item.generation),
      items.map((item) => `{${item.positions.join(',')}}`),
      holder.workerId,
      holder.instance,
      parkTtlSeconds,
    ],
  );
  const moved: ChangedRow[] = [];
  const missing = new Map<string, number>();
  for (const { id, missing: count, generation, revision, state } of rows) {
    if (generation !== null) moved.push({ id: rawId(id), generation, revision, state });
    else if (count > 0) missing.set(rawId(id), count);
  }
  return { moved, missing };
}

/** Which of these assignments ended in a pause that this worker asked for: for a repeated suspend whose answer was lost. */
export async function readSuspended(db: Executor, holder: Holder, items: readonly HeldItem[]): Promise<Set<string>> {
  const { rows } = await db.run<{ id: string }>(
    {
      name: 'read-suspended',
      priority: 'hot',
      text: `
SELECT a.execution_id AS id FROM unnest($1::uuid[], $2::int[]) AS w (id, generation)
JOIN attempt a ON a.execution_id = w.id AND a.generation = w.generation
WHERE a.outcome = 'PAUSED' AND a.worker_id IS NOT DISTINCT FROM $3 AND a.instance = $4`,
    },
    [items.map((item) => item.id), items.map((item) => item.generation), holder.workerId, holder.instance],
  );
  return new Set(rows.map((row) => rawId(row.id)));
}
