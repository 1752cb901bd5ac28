import { rawId } from '../ids.ts';

/** Where a statement has its time and its default park time, as SQL. */
export interface WakeTerms {
  /** The one time of the statement, e.g. `clock_timestamp()`. */
  now: string;
  /** Parameter of the park time of executions that bring none, in seconds; 0: for ever. */
  parkTtl: string;
}

/**
 * The SET list of PAUSED → RESUMING for a row `x`: it waits for a worker like new work, and its park clock starts again (ruling 18). It names every column
 * that the state's CHECK looks at: where the row was changed meanwhile, PostgreSQL checks the new row that it first made of the old one.
 */
export function toResuming(x: string, { now, parkTtl }: WakeTerms): string {
  return `state = 'RESUMING', queued = true, live = false, worker_id = NULL, resumed = true,
    waiting = NULL, waiting_name = NULL, waiting_child = NULL, waiting_position = NULL, awaited = NULL, wake_at = NULL,
    queued_at = ${now}, updated_at = ${now},
    park_deadline = CASE WHEN coalesce(${x}.park_ttl_s, ${parkTtl}::int) > 0 THEN ${now} + make_interval(secs => coalesce(${x}.park_ttl_s, ${parkTtl}::int)) END,
    revision = ${x}.revision + 1, event_seq = ${x}.event_seq + 1`;
}

/**
 * For the statement that ends executions: their parents' CALL steps get the result, and a parent that awaits one of them goes on, all of it at
 * once. `ended` must have id, state, parent_id, parent_position, output and error of what has ended (the last two where there is a parent). Adds
 * `parent_woken`, with id and revision.
 *
 * The parent's row is found by id alone and judged after its lock was got, because then it is the newest: one that was suspended after this
 * statement began is woken. One that runs has its `signals` counted, by which a suspension that began before this statement
 * committed sees that it has read the steps too early. A parent that this very statement has changed is skipped by the lock: it does not
 * run any more, so it will read the steps again.
 */
export function wakeParents(ended: string, terms: WakeTerms): string {
  const { now } = terms;
  return `child AS (
  SELECT e.*, coalesce(octet_length(e.output::text), 0) + coalesce(octet_length(e.error::text), 0) AS bytes
  FROM ${ended} e WHERE e.parent_id IS NOT NULL AND e.parent_position IS NOT NULL
), parent AS (
  SELECT p.id, p.state, p.generation, c.positions, c.bytes, p.state = 'PAUSED' AND p.awaited && c.positions AS wakes
  FROM (SELECT parent_id, array_agg(parent_position) AS positions, sum(bytes) AS bytes FROM child GROUP BY parent_id) c
    JOIN execution p ON p.id = c.parent_id
  WHERE p.finished_state IS NULL
  ORDER BY p.id FOR UPDATE OF p
), parent_woken AS (
  UPDATE execution x SET ${toResuming('x', terms)}, step_bytes = least(x.step_bytes + h.bytes, 2147483647)
  FROM parent h WHERE x.id = h.id AND h.wakes
  RETURNING x.id, x.revision, x.generation, x.event_seq, h.positions
), parent_signalled AS (
  UPDATE execution x SET signals = x.signals + 1, step_bytes = least(x.step_bytes + h.bytes, 2147483647)
  FROM parent h WHERE x.id = h.id AND NOT coalesce(h.wakes, false)
), parent_answered AS (
  UPDATE step s SET done = true, at = ${now},
    generation = coalesce(CASE WHEN h.state = 'SCHEDULED' THEN h.generation ELSE h.generation + 1 END, s.generation + 1),
    result = CASE WHEN c.state = 'COMPLETED' THEN c.output END,
    error = CASE c.state WHEN 'FAILED' THEN c.error
      WHEN 'CANCELLED' THEN json_build_object('type', 'CancelledError', 'message', 'The called execution was cancelled.', 'retryable', false) END
  FROM child c LEFT JOIN parent h ON h.id = c.parent_id
  WHERE s.execution_id = c.parent_id AND s.position = c.parent_position AND s.kind = 'CALL' AND NOT s.done
), parent_told AS (
  INSERT INTO event (id, execution_id, at, sequence, generation, type, data)
  SELECT uuid_v7_at(${now}), w.id, ${now}, w.event_seq, w.generation, 'RESUMED', json_build_object('kind', 'CHILD', 'positions', w.positions)
  FROM parent_woken w
)`;
}

/** Columns for the answer, of a row `e` of what has ended; `parent_woken` must be joined as `pw`. */
export const WOKEN_COLUMNS = `pw.id AS "wokenId", pw.revision AS "wokenRevision"`;

/** A row of an ended execution, and its parent where that goes on because of it. */
export interface WakingRow {
  wokenId: string | null;
  wokenRevision: number | null;
}

/** What has ended. */
export interface EndedRow extends WakingRow {
  /** Raw UUID. */
  id: string;
  generation: number;
  revision: number;
}

export interface Woken {
  /** Raw UUID. */
  id: string;
  revision: number;
}

/** Who goes on, each once. */
export function wokenBy(rows: readonly WakingRow[]): Woken[] {
  const woken = new Map<string, Woken>();
  for (const { wokenId, wokenRevision } of rows) {
    if (wokenId === null || wokenRevision === null) continue;
    const id = rawId(wokenId);
    woken.set(id, { id, revision: wokenRevision });
  }
  return [...woken.values()];
}
