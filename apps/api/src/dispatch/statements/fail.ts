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

export interface FailItem extends GuardedItem, DecisionWrite {
  error: { type: string; message: string };
}

export const FAIL: Statement = {
  name: 'fail',
  priority: 'hot',
  text: `WITH ${FENCE}, item AS (
  SELECT * FROM ${itemRows([['error', 'text']])}
), moved AS (
  UPDATE execution x SET
    state = 'FAILED', finished_state = 'FAILED', queued = false, finished_at = f.now, finished_seq = x.event_seq + 1,
    error = i.error::json, revision = x.revision + 1, event_seq = x.event_seq + 1, updated_at = f.now,
    parked = false, parked_reason = NULL, parked_since = NULL, park_deadline = NULL, not_before = NULL, skip_worker_id = NULL
  FROM fence f, item i
  WHERE x.id = i.id AND x.generation = i.generation AND x.state IN ('PENDING', 'RESUMING')
  RETURNING x.id, x.generation, x.revision, x.event_seq, x.attempt, x.version_id
), ${decisionInserts('FAILED')}
SELECT m.id, m.generation, m.revision FROM fence LEFT JOIN moved m ON true`,
};

/** Ends executions that can never be placed, e.g. for a constraint whose input is absent (ruling 17), and stores why (leader). Throws `LeadershipLostError`. */
export async function failExecutions(
  db: Executor,
  session: LeaderSession,
  frames: readonly FrameWrite[],
  batch: readonly FailItem[],
): Promise<{ id: string; generation: number; revision: number }[]> {
  const items = uniqueById(batch);
  const { rows } = await db.run<{ id: string | null; generation: number; revision: number }>(FAIL, [
    session.epoch,
    session.holder,
    ...decisionValues(frames, items),
    items.map((item) => JSON.stringify({ ...item.error, retryable: false })),
  ]);
  return fencedRows(rows).map((row) => ({ ...row, id: rawId(row.id) }));
}
