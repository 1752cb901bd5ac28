import { rawId } from '../../dispatch/ids.ts';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import type { StepKind } from './recorded-steps.ts';
import type { HeldItem, Holder } from './report-store.ts';

/** Most steps of one execution. */
export const MAX_STEPS = 10_000;
/** Most bytes that their results and errors may have together. */
export const MAX_STEP_BYTES = 8 * 1_048_576;

/** A step as it is stored: `result` and `error` are JSON texts. */
export interface StepItem extends HeldItem {
  position: number;
  kind: StepKind;
  name: string;
  done: boolean;
  result: string | null;
  error: string | null;
  order: number | null;
  /** Of an open TIMER. */
  delayMs: number | null;
}

/** What became of an item. `held`: the guard let it pass. `fits`: the bounds did. Held, fitting and not written: the step is there already. */
export interface StepVerdict {
  held: boolean;
  fits: boolean;
  written: boolean;
}

/**
 * A step that is not there is inserted; an open one is completed by the same kind and name; a timer's end may also be told again, because the one
 * that counts is when the handler saw it. Bounds are counted under the lock of the execution's row, which is the fence.
 */
const RECORD_STEPS: Statement = {
  name: 'record-steps',
  priority: 'hot',
  text: `
WITH w AS (
  SELECT u.*, coalesce(octet_length(u.result), 0) + coalesce(octet_length(u.error), 0) AS bytes,
    NOT EXISTS (SELECT FROM step s WHERE s.execution_id = u.id AND s.position = u.position) AS fresh
  FROM unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::text[], $6::bool[], $7::text[], $8::text[], $9::int[], $10::float8[])
    WITH ORDINALITY AS u (id, generation, position, kind, name, done, result, error, done_order, delay_ms, n)
), held AS (
  SELECT x.id, x.generation, x.step_count, x.step_bytes
  FROM (SELECT DISTINCT id, generation FROM w) c JOIN execution x ON x.id = c.id
  WHERE x.generation = c.generation AND x.worker_id IS NOT DISTINCT FROM $11 AND x.instance = $12 AND x.state IN ('CLAIMED', 'RUNNING', 'CANCELLING')
  ORDER BY x.id FOR UPDATE OF x
), fitting AS (
  SELECT w.*, (NOT w.fresh OR h.step_count + count(*) FILTER (WHERE w.fresh) OVER place <= ${MAX_STEPS})
    AND (w.bytes = 0 OR h.step_bytes + sum(w.bytes) OVER place <= ${MAX_STEP_BYTES}) AS fits
  FROM w JOIN held h ON h.id = w.id AND h.generation = w.generation
  WINDOW place AS (PARTITION BY w.id ORDER BY w.n)
), written AS (
  INSERT INTO step AS s (execution_id, position, generation, at, kind, name, done, result, error, done_order, wake_at)
  SELECT f.id, f.position, f.generation, clock_timestamp(), f.kind, f.name, f.done, f.result::json, f.error::json, f.done_order,
    clock_timestamp() + make_interval(secs => f.delay_ms / 1000)
  FROM fitting f WHERE f.fits
  ON CONFLICT (execution_id, position) DO UPDATE SET
    done = true, result = excluded.result, error = excluded.error, done_order = excluded.done_order, generation = excluded.generation, at = excluded.at
    WHERE excluded.done AND s.kind = excluded.kind AND s.name = excluded.name AND (NOT s.done OR s.kind = 'TIMER')
  RETURNING s.execution_id, s.position, s.xmax = 0 AS fresh
), counted AS (
  UPDATE execution x SET step_count = x.step_count + c.steps, step_bytes = x.step_bytes + c.bytes
  FROM (
    SELECT r.execution_id, (count(*) FILTER (WHERE r.fresh))::int AS steps, sum(f.bytes)::int AS bytes
    FROM written r JOIN fitting f ON f.id = r.execution_id AND f.position = r.position GROUP BY r.execution_id
  ) c WHERE x.id = c.execution_id
)
SELECT w.n::int, f.n IS NOT NULL AS held, coalesce(f.fits, true) AS fits, r.position IS NOT NULL AS written
FROM w LEFT JOIN fitting f ON f.n = w.n LEFT JOIN written r ON r.execution_id = w.id AND r.position = w.position AND f.n IS NOT NULL
ORDER BY w.n`,
};

/** Records steps of executions that the holder has, one verdict per item. No two items may be about the same step. */
export async function recordSteps(db: Executor, holder: Holder, items: readonly StepItem[]): Promise<StepVerdict[]> {
  const { rows } = await db.run<StepVerdict & { n: number }>(RECORD_STEPS, [
    items.map((item) => item.id),
    items.map((item) => item.generation),
    items.map((item) => item.position),
    items.map((item) => item.kind),
    items.map((item) => item.name),
    items.map((item) => item.done),
    items.map((item) => item.result),
    items.map((item) => item.error),
    items.map((item) => item.order),
    items.map((item) => item.delayMs),
    holder.workerId,
    holder.instance,
  ]);
  return rows.map(({ held, fits, written }) => ({ held, fits, written }));
}

export interface KnownStep {
  id: string;
  position: number;
  kind: StepKind;
  name: string;
  done: boolean;
  generation: number;
  child: string | null;
}

/** What stands at these positions; absent where there is nothing. */
export async function readKnownSteps(
  db: Executor,
  items: readonly { id: string; position: number }[],
): Promise<KnownStep[]> {
  const { rows } = await db.run<KnownStep>(
    {
      name: 'known-steps',
      priority: 'hot',
      text: `
SELECT s.execution_id AS id, s.position, s.kind, s.name, s.done, s.generation, s.child_id AS child
FROM unnest($1::uuid[], $2::int[]) AS w (id, position) JOIN step s ON s.execution_id = w.id AND s.position = w.position`,
    },
    [items.map((item) => item.id), items.map((item) => item.position)],
  );
  return rows.map((row) => ({ ...row, id: rawId(row.id), child: row.child === null ? null : rawId(row.child) }));
}

/** A call as it is stored: `input` and `routingInput` are JSON texts. */
export interface CallItem extends HeldItem {
  position: number;
  name: string;
  /** Raw UUID v7 of the execution to be made. */
  child: string;
  versionId: number;
  input: string | null;
  routingInput: string | null;
  /** null: the caller's. */
  priority: number | null;
}

/** The child is in the queue like any other execution; its hint is the worker that calls. */
const CALL: Statement = {
  name: 'call',
  priority: 'hot',
  text: `
WITH w AS (
  SELECT u.* FROM unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::uuid[], $6::int[], $7::text[], $8::text[], $9::int2[])
    WITH ORDINALITY AS u (id, generation, position, name, child, version_id, input, routing, priority, n)
), held AS (
  SELECT x.id, x.generation, x.step_count, x.priority, x.submitted_by, x.worker_name
  FROM (SELECT DISTINCT id, generation FROM w) c JOIN execution x ON x.id = c.id
  WHERE x.generation = c.generation AND x.worker_id IS NOT DISTINCT FROM $10 AND x.instance = $11 AND x.state IN ('CLAIMED', 'RUNNING')
  ORDER BY x.id FOR UPDATE OF x
), fitting AS (
  SELECT w.n, w.id, w.generation, w.position, w.name, w.child, w.version_id, w.input, w.routing, coalesce(w.priority, h.priority) AS priority,
    h.submitted_by, h.worker_name, h.step_count + row_number() OVER (PARTITION BY w.id ORDER BY w.n) <= ${MAX_STEPS} AS fits
  FROM w JOIN held h ON h.id = w.id AND h.generation = w.generation
), opened AS (
  INSERT INTO step (execution_id, position, generation, at, kind, name, done, child_id)
  SELECT f.id, f.position, f.generation, clock_timestamp(), 'CALL', f.name, false, f.child FROM fitting f WHERE f.fits
  ON CONFLICT DO NOTHING
  RETURNING execution_id, position, child_id
), children AS (
  INSERT INTO execution (id, parent_id, parent_position, created_at, queued_at, updated_at, park_deadline, version_id, priority, submitted_by,
    preferred_worker, input)
  SELECT f.child, f.id, f.position, t.now, t.now, t.now, CASE WHEN $12::int > 0 THEN t.now + make_interval(secs => $12::int) END,
    f.version_id, f.priority, f.submitted_by, f.worker_name, f.input::json
  FROM opened o JOIN fitting f ON f.child = o.child_id, (SELECT clock_timestamp() AS now) t
), routed AS (
  INSERT INTO execution_routing (execution_id, value)
  SELECT f.child, f.routing::json FROM opened o JOIN fitting f ON f.child = o.child_id WHERE f.routing IS NOT NULL
), counted AS (
  UPDATE execution x SET step_count = x.step_count + c.calls, child_count = x.child_count + c.calls
  FROM (SELECT execution_id, count(*)::int AS calls FROM opened GROUP BY execution_id) c WHERE x.id = c.execution_id
)
SELECT w.n::int, f.n IS NOT NULL AS held, coalesce(f.fits, true) AS fits, o.child_id IS NOT NULL AS written
FROM w LEFT JOIN fitting f ON f.n = w.n LEFT JOIN opened o ON o.child_id = w.child ORDER BY w.n`,
};

/** Makes child executions and their parents' open steps, one verdict per item. No two items may be about the same step. */
export async function callExecutions(
  db: Executor,
  holder: Holder,
  items: readonly CallItem[],
  parkTtlSeconds: number,
): Promise<StepVerdict[]> {
  const { rows } = await db.run<StepVerdict & { n: number }>(CALL, [
    items.map((item) => item.id),
    items.map((item) => item.generation),
    items.map((item) => item.position),
    items.map((item) => item.name),
    items.map((item) => item.child),
    items.map((item) => item.versionId),
    items.map((item) => item.input),
    items.map((item) => item.routingInput),
    items.map((item) => item.priority),
    holder.workerId,
    holder.instance,
    parkTtlSeconds,
  ]);
  return rows.map(({ held, fits, written }) => ({ held, fits, written }));
}

/** Calls may be nested so deep; a workflow that calls itself without end stops there. */
export const MAX_CALL_DEPTH = 64;

/** Which of the holder's executions are that deep already, each with the workflows that called each other last, the innermost last. Ids are raw. */
export async function readDeepest(db: Executor, holder: Holder, ids: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.run<{ id: string; path: string }>(
    {
      name: 'call-depth',
      priority: 'hot',
      text: `
WITH RECURSIVE up (start, parent_id, version_id, depth) AS (
  SELECT x.id, x.parent_id, x.version_id, 1 FROM unnest($1::uuid[]) AS w (id) JOIN execution x ON x.id = w.id
  WHERE x.worker_id IS NOT DISTINCT FROM $2 AND x.instance = $3
  UNION ALL
  SELECT u.start, x.parent_id, x.version_id, u.depth + 1 FROM up u JOIN execution x ON x.id = u.parent_id WHERE u.depth < ${MAX_CALL_DEPTH}
), deep AS (
  SELECT start FROM up WHERE depth = ${MAX_CALL_DEPTH}
)
SELECT u.start AS id, string_agg(f.namespace || '/' || f.name, ' → ' ORDER BY u.depth DESC) AS path
FROM deep d JOIN up u ON u.start = d.start AND u.depth <= 4
  JOIN workflow_version v ON v.id = u.version_id JOIN workflow f ON f.id = v.workflow_id
GROUP BY u.start`,
    },
    [ids, holder.workerId, holder.instance],
  );
  return new Map(rows.map(({ id, path }) => [rawId(id), path]));
}
