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
import { type EndedRow, WOKEN_COLUMNS, wakeParents } from './wake.ts';

export interface FailItem extends GuardedItem, DecisionWrite {
  error: { type: string; message: string };
}

/** After the decisions and the errors. */
const PARK_TTL = '$26';

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
  RETURNING x.id, x.generation, x.revision, x.event_seq, x.attempt - CASE WHEN x.resumed THEN 1 ELSE 0 END AS attempt, x.version_id,
    x.state, x.parent_id, x.parent_position, x.output, x.error
), ${decisionInserts('FAILED')}, ${wakeParents('moved', { now: '(SELECT now FROM fence)', parkTtl: PARK_TTL })}
SELECT m.id, m.generation, m.revision, ${WOKEN_COLUMNS}
FROM fence LEFT JOIN moved m ON true LEFT JOIN parent_woken pw ON pw.id = m.parent_id`,
};

/** Ends executions that can never be placed, e.g. for a constraint whose input is absent (ruling 17), and stores why (leader). `parkTtlSeconds`: of parents that go on and bring none. Throws `LeadershipLostError`. */
export async function failExecutions(
  db: Executor,
  session: LeaderSession,
  frames: readonly FrameWrite[],
  batch: readonly FailItem[],
  parkTtlSeconds: number,
): Promise<EndedRow[]> {
  const items = uniqueById(batch);
  const { rows } = await db.run<EndedRow & { id: string | null }>(FAIL, [
    session.epoch,
    session.holder,
    ...decisionValues(frames, items),
    items.map((item) => JSON.stringify({ ...item.error, retryable: false })),
    parkTtlSeconds,
  ]);
  return fencedRows(rows).map((row) => ({ ...row, id: rawId(row.id) }));
}
