import type {
  ScheduleOverlap,
  ScheduleResult,
  TargetColumns,
  TimingColumns,
} from '../../modules/schedule/schedule-row.ts';
import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';
import { FENCE, fencedRows, type LeaderSession } from './fence.ts';

/** Schedules that one look takes up. */
export const SCHEDULE_SLICE = 200;

/** A schedule whose run has come. */
export interface DueSchedule extends TimingColumns, TargetColumns {
  id: number;
  name: string;
  overlap: ScheduleOverlap;
  catchUpLimit: number;
  updatedBy: string;
  revision: number;
  /** The run that has come. */
  run: Date;
}

/** What a run starts. */
export interface ScheduleTarget {
  versionId: number;
  deploymentId: number | null;
  variant: string | null;
  targetRoles: readonly string[];
}

const COLUMNS = `s.id, s.name, s.kind, s.cron, s.time_zone AS "timeZone", s.interval_s AS "intervalSeconds", s.anchor_at AS "anchorAt",
  s.once_at AS "onceAt", s.workflow, s.version_id AS "versionId", s.deployment, s.session_key AS "sessionKey", s.overlap,
  s.catch_up_limit AS "catchUpLimit", s.updated_by AS "updatedBy", s.revision`;

export const READ_DUE_SCHEDULES: Statement = {
  name: 'read_due_schedules',
  priority: 'hot',
  text: `SELECT ${COLUMNS}, s.next_at AS run FROM schedule s
WHERE NOT s.paused AND s.next_at <= $1::timestamptz AND s.id <> ALL ($2::int[]) ORDER BY s.next_at LIMIT ${SCHEDULE_SLICE}`,
};

/** At most so many as one look takes, the longest overdue first, without those of `except`. */
export async function readDueSchedules(db: Executor, now: Date, except: readonly number[]): Promise<DueSchedule[]> {
  return (await db.run<DueSchedule>(READ_DUE_SCHEDULES, [now, except])).rows;
}

export const READ_NEXT_SCHEDULE: Statement = {
  name: 'read_next_schedule',
  priority: 'hot',
  text: `SELECT s.next_at AS next FROM schedule s
WHERE NOT s.paused AND s.next_at IS NOT NULL AND s.id <> ALL ($1::int[]) ORDER BY s.next_at LIMIT 1`,
};

/** When the first run of all comes, without those of `except`; null: none does. */
export async function readNextSchedule(db: Executor, except: readonly number[]): Promise<Date | null> {
  return (await db.run<{ next: Date }>(READ_NEXT_SCHEDULE, [except])).rows[0]?.next ?? null;
}

export const READ_QUEUED_SCHEDULES: Statement = {
  name: 'read_queued_schedules',
  priority: 'hot',
  text: `WITH slice AS (
  SELECT * FROM schedule WHERE queued_at IS NOT NULL AND id > $1 ORDER BY id LIMIT ${SCHEDULE_SLICE}
), free AS (
  SELECT ${COLUMNS}, s.queued_at AS run FROM slice s
  WHERE NOT s.paused AND (SELECT true FROM execution x WHERE x.schedule_id = s.id AND x.finished_state IS NULL LIMIT 1) IS NULL
)
SELECT f.*, l.last FROM (SELECT max(id) AS last FROM slice) l LEFT JOIN free f ON true`,
};

/**
 * Schedules with a run that has waited for the one before, which has ended now; of those with a larger id than `after`, as far as one look goes. `last` is
 * where the next look begins; 0: at the beginning.
 */
export async function readQueuedSchedules(
  db: Executor,
  after: number,
): Promise<{ schedules: DueSchedule[]; last: number }> {
  const { rows } = await db.run<DueSchedule & { last: number | null }>(READ_QUEUED_SCHEDULES, [after]);
  const schedules = rows.filter((row) => (row.id as number | null) !== null);
  return { schedules, last: rows[0]?.last ?? 0 };
}

export const READ_OPEN_OF_SCHEDULE: Statement = {
  name: 'read_open_of_schedule',
  priority: 'hot',
  text: `SELECT x.id FROM execution x WHERE x.schedule_id = $1 AND x.finished_state IS NULL
AND (x.schedule_run IS NULL OR x.schedule_run < $2) LIMIT ${SCHEDULE_SLICE}`,
};

/** Raw ids of its executions that have not ended, of runs before this one and of those that were started by hand. */
export async function readOpenOfSchedule(db: Executor, scheduleId: number, run: Date): Promise<string[]> {
  const { rows } = await db.run<{ id: string }>(READ_OPEN_OF_SCHEDULE, [scheduleId, run]);
  return rows.map((row) => rawId(row.id));
}

/**
 * The execution of a schedule, with its routing input, which no process reads on the way. `moved` is the schedule; `by`, `run` and `go` are SQL: who
 * submits it, for which run, and whether at all. Takes `$3` to `$8`.
 */
function started(by: string, run: string, go: string): string {
  return `started AS (
  INSERT INTO execution (id, created_at, queued_at, updated_at, park_deadline, version_id, deployment_id, park_ttl_s, priority, variant,
    target_roles, session_key, submitted_by, input, schedule_id, schedule_run)
  SELECT $3::uuid, m.now, m.now, m.now,
    CASE WHEN coalesce(m.park_ttl_s, $8::int) > 0 THEN m.now + make_interval(secs => coalesce(m.park_ttl_s, $8::int)) END,
    $4::int, $5::int, m.park_ttl_s, m.priority, $6::text, $7::text[], m.session_key, ${by}, m.input, m.id, ${run}
  FROM moved m WHERE ${go}
  RETURNING id, schedule_id
), routed AS (
  INSERT INTO execution_routing (execution_id, value)
  SELECT n.id, r.value FROM started n JOIN schedule_routing r ON r.schedule_id = n.schedule_id
)`;
}

/** The variant is still there; its lock makes whoever removes it wait, and then count what was started. Takes `$5` and `$6`. */
const BOUND = `bound AS (
  SELECT d.id FROM deployment d
  WHERE d.id = $5::int AND d.variants @> jsonb_build_array(jsonb_build_object('label', $6::text)) FOR SHARE
)`;
const IS_BOUND = '($5::int IS NULL OR EXISTS (SELECT FROM bound))';

function startedValues(start: ScheduleStart): unknown[] {
  const { executionId, target, defaultParkTtlSeconds } = start;
  const { versionId, deploymentId, variant, targetRoles } = target;
  return [executionId, versionId, deploymentId, variant, targetRoles, defaultParkTtlSeconds];
}

/** What is started, if it is. */
export interface ScheduleStart {
  /** Raw UUID v7. */
  executionId: string;
  target: ScheduleTarget;
  defaultParkTtlSeconds: number;
}

/** One run, decided. Its guard is written so that no index by time fits it: by its key there is one row, by its time there may be thousands. */
export interface FireRequest extends ScheduleStart {
  schedule: Pick<DueSchedule, 'id' | 'revision' | 'run'>;
  /** The run itself; a later one than the schedule was read with where runs are given up. */
  run: Date;
  /** The run after it; null: there is none. */
  next: Date | null;
  /** Runs that are given up with it. */
  missed: number;
  /** It has waited for the one before; `next` does not matter. */
  queued: boolean;
}

export const FIRE_SCHEDULE: Statement = {
  name: 'fire_schedule',
  priority: 'hot',
  text: `WITH ${FENCE}, ${BOUND}, outcome AS (
  SELECT s.id, CASE
    WHEN s.overlap IN ('ALLOW', 'REPLACE') THEN 'STARTED'
    WHEN NOT $14::bool AND s.queued_at IS NOT NULL THEN 'SKIPPED'
    WHEN NOT EXISTS (SELECT FROM execution x WHERE x.schedule_id = $9 AND x.finished_state IS NULL) THEN 'STARTED'
    WHEN s.overlap = 'QUEUE_ONE' THEN 'QUEUED'
    ELSE 'SKIPPED' END AS result
  FROM schedule s WHERE s.id = $9
), moved AS (
  UPDATE schedule s SET
    next_at = CASE WHEN $14::bool THEN s.next_at ELSE $12::timestamptz END,
    queued_at = CASE WHEN o.result = 'QUEUED' THEN $10::timestamptz WHEN $14::bool THEN NULL ELSE s.queued_at END,
    last_at = $10::timestamptz, last_result = o.result, last_result_at = f.now,
    last_execution_id = CASE WHEN o.result = 'STARTED' THEN $3::uuid ELSE s.last_execution_id END,
    last_error = CASE WHEN o.result = 'STARTED' THEN NULL ELSE s.last_error END,
    last_error_at = CASE WHEN o.result = 'STARTED' THEN NULL ELSE s.last_error_at END,
    started_count = s.started_count + CASE WHEN o.result = 'STARTED' THEN 1 ELSE 0 END,
    skipped_count = s.skipped_count + CASE WHEN o.result = 'SKIPPED' THEN 1 ELSE 0 END,
    missed_count = s.missed_count + $13::int
  FROM fence f, outcome o
  WHERE s.id = $9 AND s.id = o.id AND s.revision = $11 AND NOT s.paused AND ${IS_BOUND}
    AND CASE WHEN $14::bool THEN s.queued_at ELSE s.next_at END IS NOT DISTINCT FROM $15::timestamptz
  RETURNING s.id, s.last_result, s.park_ttl_s, s.priority, s.session_key, s.updated_by, s.input, f.now
), ${started('m.updated_by', '$10::timestamptz', `m.last_result = 'STARTED'`)}
SELECT m.id, m.last_result AS result FROM fence LEFT JOIN moved m ON true`,
};

/**
 * One run of a schedule (leader): by its overlap policy an execution is started, the run waits, or it is left out; and the schedule goes on to
 * its next run, in the same statement. Null where the schedule does not stand as it was read: it was changed or paused, the run was another's, or the variant is gone.
 * Throws `LeadershipLostError`.
 */
export async function fireSchedule(
  db: Executor,
  session: LeaderSession,
  request: FireRequest,
): Promise<ScheduleResult | null> {
  const { schedule, run, next, missed, queued } = request;
  const { rows } = await db.run<{ id: string | null; result: ScheduleResult }>(FIRE_SCHEDULE, [
    session.epoch,
    session.holder,
    ...startedValues(request),
    schedule.id,
    run,
    schedule.revision,
    next,
    missed,
    queued,
    schedule.run,
  ]);
  return fencedRows(rows)[0]?.result ?? null;
}

export const PASS_SCHEDULE: Statement = {
  name: 'pass_schedule',
  priority: 'hot',
  text: `WITH ${FENCE}, moved AS (
  UPDATE schedule s SET
    next_at = CASE WHEN $8::bool THEN s.next_at ELSE $6::timestamptz END, queued_at = CASE WHEN $8::bool THEN NULL ELSE s.queued_at END,
    last_at = $5::timestamptz, last_result = CASE WHEN $9::json IS NULL THEN 'MISSED' ELSE 'FAILED' END, last_result_at = f.now,
    last_error = coalesce($9::json, s.last_error), last_error_at = CASE WHEN $9::json IS NULL THEN s.last_error_at ELSE f.now END,
    missed_count = s.missed_count + $7::int, failed_count = s.failed_count + CASE WHEN $9::json IS NULL THEN 0 ELSE 1 END
  FROM fence f
  WHERE s.id = $3 AND s.revision = $4 AND NOT s.paused AND CASE WHEN $8::bool THEN s.queued_at ELSE s.next_at END IS NOT DISTINCT FROM $10::timestamptz
  RETURNING s.id
)
SELECT m.id FROM fence LEFT JOIN moved m ON true`,
};

/**
 * A run of a schedule that starts nothing (leader): given up with those before it, or failed with `error`. Does nothing where the schedule does not
 * stand as it was read. Throws `LeadershipLostError`.
 */
export async function passSchedule(
  db: Executor,
  session: LeaderSession,
  request: Pick<FireRequest, 'schedule' | 'run' | 'next' | 'missed' | 'queued'> & {
    error: { code: string; message: string } | null;
  },
): Promise<void> {
  const { schedule, run, next, missed, queued, error } = request;
  const { rows } = await db.run<{ id: string | null }>(PASS_SCHEDULE, [
    session.epoch,
    session.holder,
    schedule.id,
    schedule.revision,
    run,
    next,
    missed,
    queued,
    error === null ? null : JSON.stringify(error),
    schedule.run,
  ]);
  fencedRows(rows);
}

/** Starts one by hand, whatever is planned; part of a transaction. */
export const START_SCHEDULE: Statement = {
  name: 'start_schedule',
  priority: 'hot',
  text: `WITH ${BOUND}, moved AS (
  UPDATE schedule s SET
    last_at = t.now, last_result = 'STARTED', last_result_at = t.now, last_execution_id = $3::uuid, last_error = NULL, last_error_at = NULL,
    started_count = s.started_count + 1
  FROM (SELECT clock_timestamp() AS now) t
  WHERE s.id = $1 AND s.revision = $2 AND ${IS_BOUND}
  RETURNING s.id, s.park_ttl_s, s.priority, s.session_key, s.input, t.now
), ${started('$9::text', 'NULL::timestamptz', 'true')}
SELECT m.id FROM moved m`,
};

/** The values of `START_SCHEDULE`; it changes nothing where the schedule does not stand as it was read, or the variant is gone. */
export function startScheduleValues(
  request: ScheduleStart & { schedule: { id: number; revision: number }; by: string },
): unknown[] {
  const { schedule, by } = request;
  return [schedule.id, schedule.revision, ...startedValues(request), by];
}
