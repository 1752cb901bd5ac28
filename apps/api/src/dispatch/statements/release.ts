import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';
import { FENCE, fencedRows, type LeaderSession } from './fence.ts';
import { WOKEN_COLUMNS, type WakingRow, wakeParents } from './wake.ts';

/**
 * Why an assignment ends without an end. Each is checked again against the tables, under the lock of the row: a worker that has
 * recovered keeps its work.
 * UNCLAIMED: not claimed in time. RETURNED: the worker gave it back (busy, draining). SILENT: no heartbeat for the offline time. DISCONNECTED: its connection is gone and it has not come back. LEFT: it said goodbye.
 * REPLACED: another instance has its name. REMOVED: an operator removed it. ATTEMPT_FAILED: the worker reports an end that another attempt may mend.
 * TIMED_OUT: it has run for longer than its version allows, and its worker did not say so. CANCEL_IGNORED: its worker did not answer a cancel.
 * UNLISTED: its worker lives and says in its heartbeats that it holds other things, not this.
 */
export type ReleaseCause =
  | 'UNCLAIMED'
  | 'RETURNED'
  | 'SILENT'
  | 'DISCONNECTED'
  | 'LEFT'
  | 'REPLACED'
  | 'REMOVED'
  | 'ATTEMPT_FAILED'
  | 'TIMED_OUT'
  | 'CANCEL_IGNORED'
  | 'UNLISTED';

/** What a worker says of an attempt that failed. */
export interface AttemptFailure {
  outcome: 'FAILED' | 'CRASHED' | 'TIMED_OUT';
  /** JSON text of type, message, stack and retryable. */
  error: string;
  /** Its message without NUL. */
  message: string;
}

/** How much longer than its version allows an attempt may take before the server ends it: its worker is to be first. */
export const TIMEOUT_GRACE_SECONDS = 5;

export interface ReleaseItem {
  /** Raw UUID. */
  id: string;
  generation: number;
  workerId: number;
  /** null: whatever instance it was given to. */
  instance: string | null;
  cause: ReleaseCause;
  /** How long it is not to be dispatched again where no attempt was used up; else the back-off follows from the attempt. */
  backoffMs: number;
  /** For people: what happened, e.g. `worker w-2 went silent`. No NUL. */
  message: string;
  /** Of ATTEMPT_FAILED. */
  failure?: AttemptFailure | undefined;
  /** Of UNLISTED: a claim that was taken later than this stays. */
  claimedBefore?: Date | undefined;
}

export interface ReleaseSettings {
  /** Park time of executions that bring none; 0: for ever. */
  parkTtlSeconds: number;
  claimSeconds: number;
  offlineSeconds: number;
  /** How long a worker has to answer a cancel. */
  cancelSeconds: number;
}

export interface ReleasedRow extends WakingRow {
  id: string;
  /** The new generation; unchanged where it has ended. */
  generation: number;
  revision: number;
  /** PENDING or RESUMING: queued again. FAILED: no attempts left. CANCELLED: it was being cancelled. */
  state: 'PENDING' | 'RESUMING' | 'FAILED' | 'CANCELLED';
  workerId: number;
  workerName: string;
}

/** 1 s after the first attempt, then twice as long each time, at most 60 s; ± 20 %, so that what failed together does not come back together. */
const ATTEMPT_BACKOFF_MS = `least(60000, 1000 * power(2, least(greatest(x.attempt - 1, 0), 10))) * (0.8 + 0.4 * random())`;

const ERROR_TYPE = `CASE h.outcome WHEN 'UNCLAIMED' THEN 'UnclaimedError' WHEN 'TIMED_OUT' THEN 'TimeoutError' WHEN 'CRASHED' THEN 'CrashError'
      WHEN 'CANCELLED' THEN 'CancelIgnoredError' ELSE 'WorkerLostError' END`;

/**
 * The old values are read under the row lock, because an UPDATE can return only the new ones. An attempt is used up by a claim, not by an
 * assignment (ruling 31). The worker that did not claim is skipped in the next decision. `IS NOT DISTINCT FROM` keeps the planner off the index
 * by worker: the primary key has less dead weight. `superseded`: the assignment leaves an `attempt` row and the generation moves on.
 */
function text(fenced: boolean): string {
  const first = fenced ? 3 : 1;
  const p = (index: number): string => `$${first + index}`;
  return `WITH ${fenced ? FENCE : `fence AS MATERIALIZED (SELECT 0 AS epoch, clock_timestamp() AS now)`}, held AS (
  SELECT x.id, x.generation, x.state, x.attempt, x.event_seq, x.worker_id, x.worker_name, x.instance, x.resumed,
    x.scheduled_at, x.claimed_at, x.started_at, x.scheduled_seq, x.claimed_seq, x.started_seq, x.park_ttl_s,
    i.message, i.failure,
    CASE WHEN x.state = 'SCHEDULED' OR i.cause = 'RETURNED' THEN i.backoff_ms ELSE ${ATTEMPT_BACKOFF_MS} END AS backoff_ms,
    CASE WHEN x.state = 'SCHEDULED' THEN 'UNCLAIMED' WHEN i.cause = 'CANCEL_IGNORED' THEN 'CANCELLED' WHEN i.cause = 'TIMED_OUT' THEN 'TIMED_OUT'
      ELSE coalesce(i.outcome, 'WORKER_LOST') END AS outcome,
    (x.state <> 'CANCELLING' AND (x.state = 'SCHEDULED' OR x.attempt < v.max_attempts)) OR i.cause = 'CANCEL_IGNORED' AS superseded,
    CASE WHEN i.cause = 'CANCEL_IGNORED' THEN 2 ELSE 1 END AS events,
    CASE WHEN x.state = 'CANCELLING' THEN 'CANCELLED'
      WHEN x.state <> 'SCHEDULED' AND x.attempt >= v.max_attempts THEN 'FAILED'
      WHEN x.resumed THEN 'RESUMING' ELSE 'PENDING' END AS next
  FROM fence f, unnest(${p(0)}::uuid[], ${p(1)}::int[], ${p(2)}::int[], ${p(3)}::text[], ${p(4)}::text[], ${p(5)}::float8[], ${p(6)}::text[], ${p(10)}::text[], ${p(11)}::text[],
      ${p(13)}::timestamptz[]) AS i (id, generation, worker_id, instance, cause, backoff_ms, message, outcome, failure, claimed_before)
    JOIN execution x ON x.id = i.id
    JOIN workflow_version v ON v.id = x.version_id
    LEFT JOIN worker w ON w.id = i.worker_id
    LEFT JOIN worker_pulse u ON u.worker_id = i.worker_id
  WHERE x.generation = i.generation AND x.worker_id IS NOT DISTINCT FROM i.worker_id AND (i.instance IS NULL OR x.instance = i.instance)
    AND x.state IN ('SCHEDULED', 'CLAIMED', 'RUNNING', 'CANCELLING')
    AND CASE i.cause
      WHEN 'UNCLAIMED' THEN x.state = 'SCHEDULED' AND x.scheduled_at <= f.now - make_interval(secs => ${p(8)})
      WHEN 'RETURNED' THEN true
      WHEN 'SILENT' THEN u.seen_at IS NULL OR u.instance <> x.instance OR u.seen_at <= f.now - make_interval(secs => ${p(9)})
      WHEN 'DISCONNECTED' THEN w.disconnected_at IS NOT NULL OR w.instance <> x.instance
      WHEN 'LEFT' THEN w.left_at IS NOT NULL OR w.instance <> x.instance
      WHEN 'REPLACED' THEN w.instance <> x.instance
      WHEN 'REMOVED' THEN w.id IS NULL OR w.removed_at IS NOT NULL
      WHEN 'ATTEMPT_FAILED' THEN x.state <> 'SCHEDULED'
      WHEN 'TIMED_OUT' THEN x.state IN ('CLAIMED', 'RUNNING') AND x.claimed_at <= f.now - make_interval(secs => v.timeout_s + ${TIMEOUT_GRACE_SECONDS})
      WHEN 'CANCEL_IGNORED' THEN x.state = 'CANCELLING' AND x.cancel_requested_at <= f.now - make_interval(secs => ${p(12)})
      WHEN 'UNLISTED' THEN x.state <> 'SCHEDULED' AND x.claimed_at <= i.claimed_before
    END
  FOR UPDATE OF x
), moved AS (
  UPDATE execution x SET
    state = h.next,
    queued = h.next IN ('PENDING', 'RESUMING'), live = false,
    finished_state = CASE WHEN h.next IN ('FAILED', 'CANCELLED') THEN h.next END,
    finished_at = CASE WHEN h.next IN ('FAILED', 'CANCELLED') THEN f.now END,
    finished_seq = CASE WHEN h.next IN ('FAILED', 'CANCELLED') THEN x.event_seq + h.events END,
    error = CASE WHEN h.next <> 'FAILED' THEN NULL WHEN h.outcome = 'FAILED' THEN h.failure::json
      ELSE json_build_object('type', ${ERROR_TYPE}, 'retryable', true, 'message', h.message || ' in attempt ' || h.attempt || ', the last one') END,
    generation = x.generation + CASE WHEN h.superseded THEN 1 ELSE 0 END,
    revision = x.revision + 1, event_seq = x.event_seq + h.events, updated_at = f.now,
    queued_at = CASE WHEN h.next IN ('PENDING', 'RESUMING') THEN f.now ELSE x.queued_at END,
    park_deadline = CASE WHEN h.next IN ('PENDING', 'RESUMING') AND coalesce(h.park_ttl_s, ${p(7)}) > 0
      THEN f.now + make_interval(secs => coalesce(h.park_ttl_s, ${p(7)})) END,
    not_before = CASE WHEN h.next IN ('PENDING', 'RESUMING') AND h.backoff_ms > 0 THEN f.now + make_interval(secs => h.backoff_ms / 1000) END,
    skip_worker_id = CASE WHEN h.next IN ('PENDING', 'RESUMING') AND h.state = 'SCHEDULED' THEN h.worker_id END,
    worker_id = CASE WHEN NOT h.superseded THEN h.worker_id END,
    worker_name = CASE WHEN NOT h.superseded THEN h.worker_name END,
    instance = CASE WHEN NOT h.superseded THEN h.instance END,
    scheduled_at = CASE WHEN NOT h.superseded THEN h.scheduled_at END,
    claimed_at = CASE WHEN NOT h.superseded THEN h.claimed_at END,
    started_at = CASE WHEN NOT h.superseded THEN h.started_at END,
    scheduled_seq = CASE WHEN NOT h.superseded THEN h.scheduled_seq END,
    claimed_seq = CASE WHEN NOT h.superseded THEN h.claimed_seq END,
    started_seq = CASE WHEN NOT h.superseded THEN h.started_seq END
  FROM fence f, held h
  WHERE x.id = h.id AND x.generation = h.generation AND x.state = h.state
  RETURNING x.id, x.generation, x.revision, x.state, h.worker_id, h.worker_name, x.parent_id, x.parent_position, x.output, x.error
), superseded AS (
  INSERT INTO attempt (execution_id, scheduled_at, claimed_at, started_at, ended_at, generation, worker_id, scheduled_seq, claimed_seq,
    started_seq, ended_seq, number, outcome, worker_name, instance, error)
  SELECT h.id, h.scheduled_at, h.claimed_at, h.started_at, f.now, h.generation, h.worker_id, h.scheduled_seq, h.claimed_seq,
    h.started_seq, h.event_seq + 1, h.attempt + CASE WHEN h.claimed_at IS NULL AND NOT h.resumed THEN 1 ELSE 0 END,
    h.outcome, h.worker_name, h.instance,
    coalesce(h.failure::json, json_build_object('type', ${ERROR_TYPE}, 'message', h.message, 'retryable', true))
  FROM fence f, held h JOIN moved m ON m.id = h.id
  WHERE h.superseded
), ended AS (
  SELECT * FROM moved WHERE state IN ('FAILED', 'CANCELLED')
), ${wakeParents('ended', { now: '(SELECT now FROM fence)', parkTtl: p(7) })}
SELECT m.id, m.generation, m.revision, m.state, m.worker_id AS "workerId", m.worker_name AS "workerName", ${WOKEN_COLUMNS}
FROM fence LEFT JOIN moved m ON true LEFT JOIN parent_woken pw ON pw.id = m.parent_id`;
}

export const RELEASE_BY_LEADER: Statement = { name: 'release_by_leader', priority: 'hot', text: text(true) };
export const RELEASE: Statement = { name: 'release', priority: 'hot', text: text(false) };

function values(items: readonly ReleaseItem[], settings: ReleaseSettings): unknown[] {
  return [
    items.map((item) => item.id),
    items.map((item) => item.generation),
    items.map((item) => item.workerId),
    items.map((item) => item.instance),
    items.map((item) => item.cause),
    items.map((item) => item.backoffMs),
    items.map((item) => item.message),
    settings.parkTtlSeconds,
    settings.claimSeconds,
    settings.offlineSeconds,
    items.map((item) => item.failure?.outcome ?? null),
    items.map((item) => item.failure?.error ?? null),
    settings.cancelSeconds,
    items.map((item) => item.claimedBefore ?? null),
  ];
}

/**
 * Takes executions back from their workers; those that may run again are queued with a new generation and leave an `attempt` row.
 * Items that no longer stand as they say (claimed meanwhile, worker back, another generation) are left out of the answer.
 * With a session it is a statement of the leader and throws `LeadershipLostError`; without one any replica may do it.
 */
export async function releaseAssignments(
  db: Executor,
  session: LeaderSession | null,
  items: readonly ReleaseItem[],
  settings: ReleaseSettings,
): Promise<ReleasedRow[]> {
  const { rows } =
    session === null
      ? await db.run<ReleasedRow & { id: string | null }>(RELEASE, values(items, settings))
      : await db.run<ReleasedRow & { id: string | null }>(RELEASE_BY_LEADER, [
          session.epoch,
          session.holder,
          ...values(items, settings),
        ]);
  return fencedRows(rows).map((row) => ({ ...row, id: rawId(row.id) }));
}
