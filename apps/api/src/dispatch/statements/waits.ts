import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';
import { FENCE, fencedRows, type LeaderSession } from './fence.ts';
import { toResuming, type Woken } from './wake.ts';

const TERMS = { now: 'f.now', parkTtl: '$4' };
const TOLD = `INSERT INTO event (id, execution_id, at, sequence, generation, type, data)
  SELECT uuid_v7_at(f.now), m.id, f.now, m.event_seq, m.generation, 'RESUMED'`;

/** As `READ_EXPIRED`: a time that stands still for the statement can be looked up in the index. */
export const READ_DUE: Statement = {
  name: 'read_due',
  priority: 'hot',
  text: `SELECT id FROM execution WHERE wake_at IS NOT NULL AND wake_at <= statement_timestamp() ORDER BY wake_at LIMIT 200`,
};

/** Executions whose timer has run out, at most 200, the longest overdue first. */
export async function readDue(db: Executor): Promise<string[]> {
  const { rows } = await db.run<{ id: string }>(READ_DUE, []);
  return rows.map(({ id }) => rawId(id));
}

/**
 * Only what is PAUSED: a worker that runs one with a short sleep ends that itself. `coalesce` hides the time from the planner, which would look
 * through the index of all that sleeps for rows that it is given by id.
 */
export const WAKE_DUE: Statement = {
  name: 'wake_due',
  priority: 'hot',
  text: `WITH ${FENCE}, held AS (
  SELECT x.id, x.generation, x.awaited FROM fence f, unnest($3::uuid[]) AS i (id) JOIN execution x ON x.id = i.id
  WHERE x.state = 'PAUSED' AND coalesce(x.wake_at <= f.now, false) ORDER BY x.id FOR UPDATE OF x
), moved AS (
  UPDATE execution x SET ${toResuming('x', TERMS)} FROM fence f, held h WHERE x.id = h.id AND x.state = 'PAUSED'
  RETURNING x.id, x.revision, x.generation, x.event_seq
), answered AS (
  UPDATE step s SET done = true, at = f.now, generation = h.generation + 1
  FROM fence f, (SELECT id, generation, unnest(awaited) AS position FROM held) h
  WHERE s.execution_id = h.id AND s.position = h.position AND s.kind = 'TIMER' AND NOT s.done AND s.wake_at <= f.now
), told AS (
  ${TOLD}, json_build_object('kind', 'TIMER') FROM fence f, moved m
)
SELECT m.id, m.revision FROM fence LEFT JOIN moved m ON true`,
};

/** PAUSED with a timer that has run out → RESUMING; the timers' steps are done (leader). Throws `LeadershipLostError`. */
export async function wakeDue(
  db: Executor,
  session: LeaderSession,
  ids: readonly string[],
  parkTtlSeconds: number,
): Promise<Woken[]> {
  const { rows } = await db.run<{ id: string | null; revision: number }>(WAKE_DUE, [
    session.epoch,
    session.holder,
    ids,
    parkTtlSeconds,
  ]);
  return fencedRows(rows).map((row) => ({ id: rawId(row.id), revision: row.revision }));
}

/** So many waiting executions are looked at in one read. */
export const WAITS_PAGE = 500;

const MISSED = `EXISTS (
    SELECT FROM unnest(x.awaited) AS a (position) JOIN step s ON s.execution_id = x.id AND s.position = a.position
      LEFT JOIN execution c ON c.id = s.child_id AND NOT s.done
    WHERE s.done OR c.finished_state IS NOT NULL)`;

export const READ_WAITS: Statement = {
  name: 'read_waits',
  priority: 'background',
  text: `SELECT x.id, ${MISSED} AS missed
FROM (SELECT id, awaited FROM execution WHERE waiting IS NOT NULL AND id > $1 ORDER BY id LIMIT ${WAITS_PAGE}) x ORDER BY x.id`,
};

/** Waiting executions behind an id, oldest first, and whether what they wait for has come without anybody noticing. */
export async function readWaits(db: Executor, after: string): Promise<{ id: string; missed: boolean }[]> {
  const { rows } = await db.run<{ id: string; missed: boolean }>(READ_WAITS, [after]);
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}

export const HEAL_WAITS: Statement = {
  name: 'heal_waits',
  priority: 'background',
  text: `WITH ${FENCE}, held AS (
  SELECT x.id, x.generation, x.awaited FROM fence f, unnest($3::uuid[]) AS i (id) JOIN execution x ON x.id = i.id
  WHERE x.state = 'PAUSED' AND ${MISSED} ORDER BY x.id FOR UPDATE OF x
), moved AS (
  UPDATE execution x SET ${toResuming('x', TERMS)} FROM fence f, held h WHERE x.id = h.id AND x.state = 'PAUSED'
  RETURNING x.id, x.revision, x.generation, x.event_seq
), answered AS (
  UPDATE step s SET done = true, at = f.now, generation = h.generation + 1,
    result = CASE WHEN c.state = 'COMPLETED' THEN c.output END,
    error = CASE c.state WHEN 'FAILED' THEN c.error
      WHEN 'CANCELLED' THEN json_build_object('type', 'CancelledError', 'message', 'The called execution was cancelled.', 'retryable', false) END
  FROM fence f, (SELECT id, generation, unnest(awaited) AS position FROM held) h JOIN step w ON w.execution_id = h.id AND w.position = h.position
    JOIN execution c ON c.id = w.child_id
  WHERE s.execution_id = h.id AND s.position = h.position AND s.kind = 'CALL' AND NOT s.done AND c.finished_state IS NOT NULL
), told AS (
  ${TOLD}, json_build_object('kind', 'HEALED') FROM fence f, moved m
)
SELECT m.id, m.revision FROM fence LEFT JOIN moved m ON true`,
};

/** Lets executions go on that were not told that their wait is over (leader). Throws `LeadershipLostError`. */
export async function healWaits(
  db: Executor,
  session: LeaderSession,
  ids: readonly string[],
  parkTtlSeconds: number,
): Promise<Woken[]> {
  const { rows } = await db.run<{ id: string | null; revision: number }>(HEAL_WAITS, [
    session.epoch,
    session.holder,
    ids,
    parkTtlSeconds,
  ]);
  return fencedRows(rows).map((row) => ({ id: rawId(row.id), revision: row.revision }));
}
