import { rawId } from '../ids.ts';
import {
  type DecisionWrite,
  decisionInserts,
  decisionValues,
  type FrameWrite,
  type GuardedItem,
  itemRows,
  uniqueById,
} from './decision-rows.ts';
import type { Executor, Statement } from './executor.ts';
import { FENCE, fencedRows, type LeaderSession } from './fence.ts';

/** An execution and the worker that gets it; the worker's id is the decision's `winner`. */
export interface AssignItem extends GuardedItem, DecisionWrite {
  winner: number;
  workerName: string;
  instance: string;
}

export interface AssignedRow {
  id: string;
  /** The new one: the fencing token of the assignment. */
  generation: number;
  revision: number;
}

export const ASSIGN: Statement = {
  name: 'assign',
  priority: 'hot',
  text: `WITH ${FENCE}, item AS (
  SELECT * FROM ${itemRows([
    ['worker_name', 'text'],
    ['instance', 'text'],
  ])}
), moved AS (
  UPDATE execution x SET
    state = 'SCHEDULED', queued = false, live = true,
    generation = x.generation + 1, revision = x.revision + 1, event_seq = x.event_seq + 1,
    worker_id = i.winner, worker_name = i.worker_name, instance = i.instance,
    scheduled_at = f.now, scheduled_seq = x.event_seq + 1, updated_at = f.now,
    parked = false, parked_reason = NULL, parked_since = NULL, park_deadline = NULL, not_before = NULL, skip_worker_id = NULL
  FROM fence f, item i
  WHERE x.id = i.id AND x.generation = i.generation AND x.state IN ('PENDING', 'RESUMING')
  RETURNING x.id, x.generation, x.revision, x.event_seq, x.attempt - CASE WHEN x.resumed THEN 1 ELSE 0 END AS attempt, x.version_id
), ${decisionInserts('ASSIGNED')}
SELECT m.id, m.generation, m.revision FROM fence LEFT JOIN moved m ON true`,
};

/**
 * Gives a batch of queued executions to their workers and stores why, in one statement (leader). Items whose execution is no longer queued
 * with that generation are left out of the answer. Throws `LeadershipLostError`.
 */
export async function assignExecutions(
  db: Executor,
  session: LeaderSession,
  frames: readonly FrameWrite[],
  batch: readonly AssignItem[],
): Promise<AssignedRow[]> {
  const items = uniqueById(batch);
  const { rows } = await db.run<AssignedRow & { id: string | null }>(ASSIGN, [
    session.epoch,
    session.holder,
    ...decisionValues(frames, items),
    items.map((item) => item.workerName),
    items.map((item) => item.instance),
  ]);
  return fencedRows(rows).map((row) => ({ ...row, id: rawId(row.id) }));
}
