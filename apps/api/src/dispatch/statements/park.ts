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

export interface ParkItem extends GuardedItem, DecisionWrite {
  /** One clause for people; never names the binding, nor anything of the routing input. */
  reason: string;
}

export const PARK: Statement = {
  name: 'park',
  priority: 'hot',
  text: `WITH ${FENCE}, item AS (
  SELECT * FROM ${itemRows()}
), moved AS (
  UPDATE execution x SET
    parked = true, parked_reason = i.reason, parked_since = CASE WHEN x.parked THEN x.parked_since ELSE f.now END,
    revision = x.revision + 1, event_seq = x.event_seq + 1, updated_at = f.now
  FROM fence f, item i
  WHERE x.id = i.id AND x.generation = i.generation AND x.state IN ('PENDING', 'RESUMING')
    AND x.parked_reason IS DISTINCT FROM i.reason
  RETURNING x.id, x.generation, x.revision, x.event_seq, x.attempt - CASE WHEN x.resumed THEN 1 ELSE 0 END AS attempt, x.version_id
), ${decisionInserts('PARKED')}
SELECT m.id, m.generation, m.revision FROM fence LEFT JOIN moved m ON true`,
};

/**
 * Says on the rows that nobody can take them now, and stores why: once per change of reason (leader). The park clock is not touched: it runs
 * since the execution became unassigned (ruling 18). Throws `LeadershipLostError`.
 */
export async function parkExecutions(
  db: Executor,
  session: LeaderSession,
  frames: readonly FrameWrite[],
  batch: readonly ParkItem[],
): Promise<{ id: string; generation: number; revision: number }[]> {
  const items = uniqueById(batch);
  const { rows } = await db.run<{ id: string | null; generation: number; revision: number }>(PARK, [
    session.epoch,
    session.holder,
    ...decisionValues(frames, items),
  ]);
  return fencedRows(rows).map((row) => ({ ...row, id: rawId(row.id) }));
}
