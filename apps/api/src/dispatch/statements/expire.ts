import { rawId } from '../ids.ts';
import type { GuardedItem } from './decision-rows.ts';
import type { Executor, Statement } from './executor.ts';
import { FENCE, fencedRows, type LeaderSession } from './fence.ts';
import { type EndedRow, WOKEN_COLUMNS, wakeParents } from './wake.ts';

/** A queued execution whose park time is over. */
export interface ExpiredRow extends GuardedItem {
  versionId: number;
  requiredWorker: string | null;
  targetRoles: string[];
}

/** The time is one that stands still for the statement: with another one, the index would be read from end to end. */
export const READ_EXPIRED: Statement = {
  name: 'read_expired',
  priority: 'hot',
  text: `SELECT id, generation, version_id AS "versionId", required_worker AS "requiredWorker", target_roles AS "targetRoles"
FROM execution WHERE queued AND park_deadline IS NOT NULL AND park_deadline <= statement_timestamp()
ORDER BY park_deadline LIMIT 200`,
};

/** At most 200, the longest overdue first. */
export async function readExpired(db: Executor): Promise<ExpiredRow[]> {
  const { rows } = await db.run<ExpiredRow>(READ_EXPIRED, []);
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}

export const EXPIRE: Statement = {
  name: 'expire',
  priority: 'hot',
  text: `WITH ${FENCE}, moved AS (
  UPDATE execution x SET
    state = 'FAILED', finished_state = 'FAILED', queued = false, finished_at = f.now, finished_seq = x.event_seq + 1,
    error = i.error::json, revision = x.revision + 1, event_seq = x.event_seq + 1, updated_at = f.now,
    parked = false, parked_reason = NULL, parked_since = NULL, park_deadline = NULL, not_before = NULL, skip_worker_id = NULL
  FROM fence f, unnest($3::uuid[], $4::int[], $5::text[]) AS i (id, generation, error)
  WHERE x.id = i.id AND x.generation = i.generation AND x.state IN ('PENDING', 'RESUMING') AND x.park_deadline <= f.now
  RETURNING x.id, x.generation, x.revision, x.state, x.parent_id, x.parent_position, x.output, x.error
), ${wakeParents('moved', { now: '(SELECT now FROM fence)', parkTtl: '$6' })}
SELECT m.id, m.generation, m.revision, ${WOKEN_COLUMNS}
FROM fence LEFT JOIN moved m ON true LEFT JOIN parent_woken pw ON pw.id = m.parent_id`,
};

/** Ends executions that have waited for longer than their park time (leader). `parkTtlSeconds`: of parents that go on and bring none. Throws `LeadershipLostError`. */
export async function expireExecutions(
  db: Executor,
  session: LeaderSession,
  items: readonly (GuardedItem & { message: string })[],
  parkTtlSeconds: number,
): Promise<EndedRow[]> {
  const { rows } = await db.run<EndedRow & { id: string | null }>(EXPIRE, [
    session.epoch,
    session.holder,
    items.map((item) => item.id),
    items.map((item) => item.generation),
    items.map((item) => JSON.stringify({ type: 'ParkTimeoutError', message: item.message, retryable: false })),
    parkTtlSeconds,
  ]);
  return fencedRows(rows).map((row) => ({ ...row, id: rawId(row.id) }));
}
