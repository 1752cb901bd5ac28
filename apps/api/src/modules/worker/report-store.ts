import { rawId } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import { WOKEN_COLUMNS, type WakingRow, wakeParents } from '../../dispatch/statements/wake.ts';

/** Which worker process writes: every write is fenced by it and by the generation of the item. */
export interface Holder {
  workerId: number;
  instance: string;
}

export interface HeldItem {
  id: string;
  generation: number;
}

export interface ClaimedRow {
  id: string;
  generation: number;
  revision: number;
  versionId: number;
  submittedBy: string;
  attempt: number;
  /** How many steps earlier claims recorded. */
  stepCount: number;
  /** JSON text, null where there is none or where it is left out for its size (`inputOmitted`). */
  input: string | null;
  inputOmitted: boolean;
}

export interface ChangedRow {
  id: string;
  generation: number;
  revision: number;
  state: string;
}

/** What an execution's fence says now, for the answer to a refused write. */
export interface FenceRow {
  id: string;
  state: string;
  generation: number;
  workerId: number | null;
  instance: string | null;
  /** Whether this worker had an earlier assignment of it, which was superseded. */
  hadItBefore: boolean;
}

/*
 * The guards say `worker_id IS NOT DISTINCT FROM`: with `=` the planner finds rows through the index of a worker's executions, which has an entry for each of their
 * dead versions. Rows are to be found by primary key alone (report-plans.test.ts).
 */

/** Inputs beyond this are read one by one, so that one answer does not carry 200 MiB. */
const INLINE_INPUT_BYTES = 8_192;

/**
 * SCHEDULED → RUNNING (or CLAIMED) for the worker that it is scheduled to: the attempt starts here (ruling 31), or goes on where it comes back from
 * a pause. One statement for the batch; a row that is not returned was refused by the guard.
 */
export async function claimExecutions(
  db: Executor,
  holder: Holder,
  items: readonly (HeldItem & { started: boolean })[],
): Promise<ClaimedRow[]> {
  const { rows } = await db.run<ClaimedRow>(
    {
      name: 'claim',
      text: `
UPDATE execution x SET
  state = CASE WHEN w.started THEN 'RUNNING' ELSE 'CLAIMED' END,
  attempt = x.attempt + CASE WHEN x.resumed THEN 0 ELSE 1 END,
  resumed = false,
  claimed_at = clock_timestamp(),
  claimed_seq = x.event_seq + 1,
  started_at = CASE WHEN w.started THEN clock_timestamp() END,
  started_seq = CASE WHEN w.started THEN x.event_seq + 2 END,
  event_seq = x.event_seq + CASE WHEN w.started THEN 2 ELSE 1 END,
  revision = x.revision + 1,
  updated_at = clock_timestamp()
FROM unnest($1::uuid[], $2::int[], $3::bool[]) AS w (id, generation, started)
WHERE x.id = w.id AND x.generation = w.generation AND x.worker_id IS NOT DISTINCT FROM $4 AND x.instance = $5 AND x.state = 'SCHEDULED'
RETURNING x.id, x.generation, x.revision, x.version_id AS "versionId", x.submitted_by AS "submittedBy", x.attempt,
  x.step_count AS "stepCount",
  CASE WHEN octet_length(x.input::text) <= ${INLINE_INPUT_BYTES} THEN x.input::text END AS input,
  coalesce(octet_length(x.input::text) > ${INLINE_INPUT_BYTES}, false) AS "inputOmitted"`,
      priority: 'hot',
    },
    [
      items.map((item) => item.id),
      items.map((item) => item.generation),
      items.map((item) => item.started),
      holder.workerId,
      holder.instance,
    ],
  );
  return rows.map(withRawId);
}

/** The claims that this instance holds already, for one whose answer was lost. */
export async function readHeldClaims(db: Executor, holder: Holder, items: readonly HeldItem[]): Promise<ClaimedRow[]> {
  const { rows } = await db.run<ClaimedRow>(
    {
      name: 'held-claims',
      text: `
SELECT x.id, x.generation, x.revision, x.version_id AS "versionId", x.submitted_by AS "submittedBy", x.attempt, x.step_count AS "stepCount", NULL::text AS input,
  x.input IS NOT NULL AS "inputOmitted"
FROM unnest($1::uuid[], $2::int[]) AS w (id, generation)
JOIN execution x ON x.id = w.id AND x.generation = w.generation
WHERE x.worker_id IS NOT DISTINCT FROM $3 AND x.instance = $4 AND x.state IN ('CLAIMED', 'RUNNING')`,
      priority: 'hot',
    },
    [items.map((item) => item.id), items.map((item) => item.generation), holder.workerId, holder.instance],
  );
  return rows.map(withRawId);
}

/** One execution's input as JSON text. */
export async function readInput(db: Executor, id: string): Promise<string | null> {
  const { rows } = await db.run<{ input: string | null }>(
    { name: 'read-input', text: 'SELECT input::text AS input FROM execution WHERE id = $1', priority: 'hot' },
    [id],
  );
  return rows[0]?.input ?? null;
}

/** CLAIMED → RUNNING. */
export async function startExecutions(db: Executor, holder: Holder, items: readonly HeldItem[]): Promise<ChangedRow[]> {
  const { rows } = await db.run<ChangedRow>(
    {
      name: 'start',
      text: `
UPDATE execution x SET
  state = 'RUNNING',
  started_at = clock_timestamp(),
  started_seq = x.event_seq + 1,
  event_seq = x.event_seq + 1,
  revision = x.revision + 1,
  updated_at = clock_timestamp()
FROM unnest($1::uuid[], $2::int[]) AS w (id, generation)
WHERE x.id = w.id AND x.generation = w.generation AND x.worker_id IS NOT DISTINCT FROM $3 AND x.instance = $4 AND x.state = 'CLAIMED'
RETURNING x.id, x.generation, x.revision, x.state`,
      priority: 'hot',
    },
    [items.map((item) => item.id), items.map((item) => item.generation), holder.workerId, holder.instance],
  );
  return rows.map(withRawId);
}

/** An end as it is stored: `output` and `error` are JSON texts. */
export interface EndItem extends HeldItem {
  state: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  output: string | null;
  error: string | null;
}

/**
 * CLAIMED, RUNNING or CANCELLING → its end; a parent that waits for it goes on in the same statement. The routing row of a completed execution goes
 * with it too (ruling 32 keeps it for those that may be retried). `parkTtlSeconds`: of parents that bring none; 0: for ever.
 */
export async function endExecutions(
  db: Executor,
  holder: Holder,
  items: readonly EndItem[],
  parkTtlSeconds: number,
): Promise<(ChangedRow & WakingRow)[]> {
  const { rows } = await db.run<ChangedRow & WakingRow>(
    {
      name: 'end',
      text: `
WITH ended AS (
  UPDATE execution x SET
    state = w.state,
    finished_state = w.state,
    live = false,
    finished_at = clock_timestamp(),
    finished_seq = x.event_seq + 1,
    event_seq = x.event_seq + 1,
    revision = x.revision + 1,
    updated_at = clock_timestamp(),
    output = w.output::json,
    error = w.error::json
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[]) AS w (id, generation, state, output, error)
  WHERE x.id = w.id AND x.generation = w.generation AND x.worker_id IS NOT DISTINCT FROM $6 AND x.instance = $7
    AND x.state IN ('CLAIMED', 'RUNNING', 'CANCELLING')
  RETURNING x.id, x.generation, x.revision, x.state, x.parent_id, x.parent_position,
    CASE WHEN x.parent_id IS NOT NULL THEN x.output END AS output, CASE WHEN x.parent_id IS NOT NULL THEN x.error END AS error
), ${wakeParents('ended', { now: 'clock_timestamp()', parkTtl: '$8' })}, forgotten AS (
  DELETE FROM execution_routing r USING ended WHERE r.execution_id = ended.id AND ended.state = 'COMPLETED'
)
SELECT e.id, e.generation, e.revision, e.state, ${WOKEN_COLUMNS} FROM ended e LEFT JOIN parent_woken pw ON pw.id = e.parent_id`,
      priority: 'hot',
    },
    [
      items.map((item) => item.id),
      items.map((item) => item.generation),
      items.map((item) => item.state),
      items.map((item) => item.output),
      items.map((item) => item.error),
      holder.workerId,
      holder.instance,
      parkTtlSeconds,
    ],
  );
  return rows.map(withRawId);
}

/** An event as it is stored: `eventId` is a UUID v7, `data` a JSON text. */
export interface EventItem extends HeldItem {
  eventId: string;
  type: string;
  data: string | null;
}

/** Appends events to executions that the holder has; their sequences come from the guarded row. */
export async function appendEvents(
  db: Executor,
  holder: Holder,
  workerName: string,
  items: readonly EventItem[],
): Promise<ChangedRow[]> {
  const { rows } = await db.run<ChangedRow>(
    {
      name: 'append-events',
      text: `
WITH w AS (
  SELECT id, generation, event_id, type, data, row_number() OVER (PARTITION BY id ORDER BY n) AS place
  FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[], $5::text[]) WITH ORDINALITY AS u (id, generation, event_id, type, data, n)
), counted AS (
  SELECT id, generation, count(*)::int AS events FROM w GROUP BY id, generation
), held AS (
  UPDATE execution x SET
    event_seq = x.event_seq + c.events,
    revision = x.revision + 1,
    updated_at = clock_timestamp()
  FROM counted c
  WHERE x.id = c.id AND x.generation = c.generation AND x.worker_id IS NOT DISTINCT FROM $6 AND x.instance = $7
    AND x.state IN ('CLAIMED', 'RUNNING', 'CANCELLING')
  RETURNING x.id, x.generation, x.revision, x.state, x.event_seq - c.events AS base
), written AS (
  INSERT INTO event (id, execution_id, at, sequence, generation, type, worker, data)
  SELECT w.event_id, w.id, clock_timestamp(), held.base + w.place, w.generation, w.type, $8, w.data::json
  FROM w JOIN held ON held.id = w.id AND held.generation = w.generation
)
SELECT id, generation, revision, state FROM held`,
      priority: 'hot',
    },
    [
      items.map((item) => item.id),
      items.map((item) => item.generation),
      items.map((item) => item.eventId),
      items.map((item) => item.type),
      items.map((item) => item.data),
      holder.workerId,
      holder.instance,
      workerName,
    ],
  );
  return rows.map(withRawId);
}

/** Why a write was refused: what the fence of each execution says now. Absent rows are unknown executions. */
export async function readFences(db: Executor, workerId: number, ids: readonly string[]): Promise<FenceRow[]> {
  const { rows } = await db.run<FenceRow>(
    {
      name: 'read-fences',
      text: `
SELECT x.id, x.state, x.generation, x.worker_id AS "workerId", x.instance,
  EXISTS (SELECT FROM attempt a WHERE a.execution_id = x.id AND a.worker_id = $2) AS "hadItBefore"
FROM execution x WHERE x.id = ANY ($1::uuid[])`,
      priority: 'hot',
    },
    [ids, workerId],
  );
  return rows.map(withRawId);
}

/** A refused write that is kept as an event, once per execution and generation. */
export interface LateWrite extends HeldItem {
  eventId: string;
  /** What it tried to write, e.g. COMPLETED. */
  wrote: string;
}

/** The event type of a write that came after its claim was revoked. */
export const LATE_WRITE_EVENT = 'LATE_WRITE_REFUSED';

/**
 * Keeps late writes as events. `data.afterMs` is how long after the end of that assignment it came. The sequence comes from the row, which is
 * otherwise left alone.
 */
export async function recordLateWrites(
  db: Executor,
  workerName: string,
  items: readonly LateWrite[],
): Promise<ChangedRow[]> {
  const { rows } = await db.run<ChangedRow>(
    {
      name: 'late-writes',
      text: `
WITH w AS (
  SELECT DISTINCT ON (u.id) u.id, u.generation, u.event_id, u.wrote,
    round(extract(epoch FROM clock_timestamp() - a.ended_at) * 1000)::bigint AS after_ms
  FROM unnest($1::uuid[], $2::int[], $3::uuid[], $4::text[]) AS u (id, generation, event_id, wrote)
  LEFT JOIN attempt a ON a.execution_id = u.id AND a.generation = u.generation
  WHERE NOT EXISTS (
    SELECT FROM event e
    WHERE e.execution_id = u.id AND e.id >= u.id AND e.generation = u.generation AND e.type = '${LATE_WRITE_EVENT}'
  )
), numbered AS (
  UPDATE execution x SET event_seq = x.event_seq + 1, revision = x.revision + 1, updated_at = clock_timestamp()
  FROM w WHERE x.id = w.id
  RETURNING x.id, x.generation, x.revision, x.state, x.event_seq
), written AS (
  INSERT INTO event (id, execution_id, at, sequence, generation, type, worker, data)
  SELECT w.event_id, w.id, clock_timestamp(), numbered.event_seq, w.generation, '${LATE_WRITE_EVENT}', $5,
    json_build_object('wrote', w.wrote, 'afterMs', w.after_ms)
  FROM w JOIN numbered ON numbered.id = w.id
)
SELECT id, generation, revision, state FROM numbered`,
      priority: 'hot',
    },
    [
      items.map((item) => item.id),
      items.map((item) => item.generation),
      items.map((item) => item.eventId),
      items.map((item) => item.wrote),
      workerName,
    ],
  );
  return rows.map(withRawId);
}

function withRawId<R extends { id: string }>(row: R): R {
  return { ...row, id: rawId(row.id) };
}
