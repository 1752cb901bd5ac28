import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';
import { auditOthers, type OperatorNote } from './operator-audit.ts';
import { WOKEN_COLUMNS, type WakingRow, wakeParents } from './wake.ts';

export interface CancelItem {
  /** Raw UUID. */
  id: string;
  /** Raw UUID v7 for the event. */
  eventId: string;
  by: string;
  /** Whoever asked for it; absent: the server does it by itself. */
  note?: OperatorNote | null;
}

export interface CancelledRow extends WakingRow {
  id: string;
  generation: number;
  revision: number;
  state: 'CANCELLING' | 'CANCELLED';
  /** Who had it, or has it still. */
  workerId: number | null;
  workerName: string | null;
  /** It has children, which are to be cancelled too. */
  cancelChildren: boolean;
}

export const CANCEL: Statement = {
  name: 'cancel',
  priority: 'hot',
  text: `WITH item AS (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $5::uuid[], $6::text[], $7::text[])
    AS i (id, event_id, by, audit_id, address, request_id)
), moved AS (
  UPDATE execution x SET
    state = CASE WHEN x.state IN ('CLAIMED', 'RUNNING') THEN 'CANCELLING' ELSE 'CANCELLED' END,
    queued = false, live = x.state IN ('CLAIMED', 'RUNNING'),
    finished_state = CASE WHEN x.state IN ('CLAIMED', 'RUNNING') THEN NULL ELSE 'CANCELLED' END,
    finished_at = CASE WHEN x.state IN ('CLAIMED', 'RUNNING') THEN NULL ELSE clock_timestamp() END,
    finished_seq = CASE WHEN x.state IN ('CLAIMED', 'RUNNING') THEN NULL ELSE x.event_seq + 2 END,
    event_seq = x.event_seq + CASE WHEN x.state IN ('CLAIMED', 'RUNNING') THEN 1 ELSE 2 END,
    revision = x.revision + 1, cancel_requested_at = clock_timestamp(), updated_at = clock_timestamp(),
    parked = false, parked_reason = NULL, parked_since = NULL, park_deadline = NULL, not_before = NULL, skip_worker_id = NULL,
    wake_at = NULL, waiting = NULL, waiting_name = NULL, waiting_child = NULL, waiting_position = NULL, awaited = NULL,
    cancel_children = x.child_count > 0
  FROM item i
  WHERE x.id = i.id AND x.state IN ('PENDING', 'RESUMING', 'PAUSED', 'SCHEDULED', 'CLAIMED', 'RUNNING')
  RETURNING x.id, x.generation, x.revision, x.state, x.worker_id, x.worker_name, x.cancel_children,
    x.parent_id, x.parent_position, x.output, x.error,
    x.event_seq - CASE WHEN x.state = 'CANCELLED' THEN 1 ELSE 0 END AS requested_seq, i.event_id, i.by,
    x.submitted_by, i.audit_id, i.address, i.request_id
), events AS (
  INSERT INTO event (id, execution_id, at, sequence, generation, type, data)
  SELECT m.event_id, m.id, clock_timestamp(), m.requested_seq, m.generation, 'CANCEL_REQUESTED', json_build_object('by', m.by) FROM moved m
), ${auditOthers('moved', 'execution.cancel')}, ended AS (
  SELECT * FROM moved WHERE state = 'CANCELLED'
), ${wakeParents('ended', { now: 'clock_timestamp()', parkTtl: '$4' })}
SELECT m.id, m.generation, m.revision, m.state, m.worker_id AS "workerId", m.worker_name AS "workerName", m.cancel_children AS "cancelChildren", ${WOKEN_COLUMNS}
FROM moved m LEFT JOIN parent_woken pw ON pw.id = m.parent_id`,
};

/**
 * Cancels from every state that has not ended. What nobody works on is CANCELLED at once, also what is scheduled and not claimed: the
 * claim's guard refuses it from now on. The rest waits as CANCELLING for its worker. Executions that are not in the answer do not
 * exist, are CANCELLING already, or have ended. Of children, the cancelled row only remembers that there are any. `parkTtlSeconds`: of parents that go on
 * and bring none. What is cancelled for somebody else than who submitted it is noted in the audit.
 */
export async function cancelExecutions(
  db: Executor,
  batch: readonly CancelItem[],
  parkTtlSeconds: number,
): Promise<CancelledRow[]> {
  const items = [...new Map(batch.map((item) => [item.id, item])).values()];
  const { rows } = await db.run<CancelledRow>(CANCEL, [
    items.map((item) => item.id),
    items.map((item) => item.eventId),
    items.map((item) => item.by),
    parkTtlSeconds,
    items.map((item) => item.note?.id ?? null),
    items.map((item) => item.note?.address ?? null),
    items.map((item) => item.note?.requestId ?? null),
  ]);
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}
