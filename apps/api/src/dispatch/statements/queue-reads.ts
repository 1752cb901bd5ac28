import type { JsonObject, JsonValue } from '@muster/core';
import { rawId } from '../ids.ts';
import type { QueuePosition } from '../pending.ts';
import type { Executor, Statement } from './executor.ts';

/** A queued execution without its inputs. */
export interface QueuedRow {
  id: string;
  generation: number;
  revision: number;
  priority: number;
  versionId: number;
  attempt: number;
  queuedAt: Date;
  notBefore: Date | null;
  targetRoles: string[];
  requiredWorker: string | null;
  /** After a pause: the worker that it was paused on, before the caller's. */
  preferredWorker: string | null;
  /** Name of the worker that did not claim it. */
  skipWorker: string | null;
  parkedReason: string | null;
}

const QUEUED_COLUMNS = `x.id, x.generation, x.revision, x.priority, x.version_id AS "versionId", x.attempt, x.queued_at AS "queuedAt",
  x.not_before AS "notBefore", x.target_roles AS "targetRoles", x.required_worker AS "requiredWorker",
  CASE WHEN x.resumed THEN coalesce(x.last_worker, x.preferred_worker) ELSE x.preferred_worker END AS "preferredWorker", w.name AS "skipWorker", x.parked_reason AS "parkedReason"`;

export const READ_QUEUED_BY_IDS: Statement = {
  name: 'queued_by_ids',
  priority: 'hot',
  text: `SELECT ${QUEUED_COLUMNS} FROM unnest($1::uuid[]) AS i (id)
JOIN execution x ON x.id = i.id LEFT JOIN worker w ON w.id = x.skip_worker_id
WHERE x.state IN ('PENDING', 'RESUMING')`,
};

/** Those of these executions that are queued now. */
export async function readQueuedByIds(db: Executor, ids: readonly string[]): Promise<QueuedRow[]> {
  const { rows } = await db.run<QueuedRow>(READ_QUEUED_BY_IDS, [ids]);
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}

/**
 * Two branches, so that each is one range of the queue's index: a row comparison cannot be used with one column falling and the other rising.
 */
export const READ_QUEUE_IDS: Statement = {
  name: 'queue_ids',
  priority: 'hot',
  text: `SELECT id, generation, priority, version_id AS "versionId" FROM (
  (SELECT id, generation, priority, version_id FROM execution WHERE queued AND priority = $1 AND id > $2 ORDER BY priority DESC, id LIMIT $3)
  UNION ALL
  (SELECT id, generation, priority, version_id FROM execution WHERE queued AND priority < $1 ORDER BY priority DESC, id LIMIT $3)
) q ORDER BY priority DESC, id LIMIT $3`,
};

export interface QueueId extends QueuePosition {
  generation: number;
  versionId: number;
}

/** Before everything in the queue. */
export const QUEUE_START: QueuePosition = { priority: 32_767, id: '00000000000000000000000000000000' };

/** What stands behind a position, in queue order. */
export async function readQueueIds(db: Executor, after: QueuePosition, limit: number): Promise<QueueId[]> {
  const { rows } = await db.run<QueueId>(READ_QUEUE_IDS, [after.priority, after.id, limit]);
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}

const READ_INPUTS: Statement = {
  name: 'queued_inputs',
  priority: 'hot',
  text: `SELECT x.id, x.input FROM unnest($1::uuid[]) AS i (id) JOIN execution x ON x.id = i.id`,
};

/** Inputs by raw id; none where there is none. */
export async function readInputs(db: Executor, ids: readonly string[]): Promise<Map<string, JsonValue>> {
  const { rows } = await db.run<{ id: string; input: JsonValue }>(READ_INPUTS, [ids]);
  return new Map(rows.map((row) => [rawId(row.id), row.input]));
}

const READ_ROUTING: Statement = {
  name: 'queued_routing',
  priority: 'hot',
  text: `SELECT r.execution_id AS id, r.value FROM unnest($1::uuid[]) AS i (id) JOIN execution_routing r ON r.execution_id = i.id`,
};

/** Routing inputs by raw id. For matching and for a retry, nothing else. */
export async function readRoutingInputs(db: Executor, ids: readonly string[]): Promise<Map<string, JsonObject>> {
  const { rows } = await db.run<{ id: string; value: JsonObject }>(READ_ROUTING, [ids]);
  return new Map(rows.map((row) => [rawId(row.id), row.value]));
}

export interface LiveExecution {
  id: string;
  workerId: number;
  generation: number;
  revision: number;
  state: string;
  instance: string;
  versionId: number;
  claimedAt: Date | null;
  cancelRequestedAt: Date | null;
}

const LIVE_COLUMNS = `id, worker_id AS "workerId", generation, revision, state, instance, version_id AS "versionId", claimed_at AS "claimedAt",
  cancel_requested_at AS "cancelRequestedAt"`;

export const READ_LIVE: Statement = {
  name: 'live_page',
  priority: 'hot',
  text: `SELECT ${LIVE_COLUMNS} FROM execution WHERE live AND id > $1 ORDER BY id LIMIT $2`,
};

/** Everything that is on a worker, in pages of at most 10,000 rows. */
export async function readLive(db: Executor): Promise<LiveExecution[]> {
  const limit = 10_000;
  const all: LiveExecution[] = [];
  let after = QUEUE_START.id;
  for (;;) {
    const { rows } = await db.run<LiveExecution>(READ_LIVE, [after, limit]);
    for (const row of rows) all.push({ ...row, id: rawId(row.id) });
    const last = rows.at(-1);
    if (last === undefined || rows.length < limit) return all;
    after = last.id;
  }
}

const READ_LIVE_OF_WORKER: Statement = {
  name: 'live_of_worker',
  priority: 'hot',
  text: `SELECT ${LIVE_COLUMNS} FROM execution
WHERE worker_id = $1 AND live ORDER BY id LIMIT $2`,
};

/** What is on one worker now, the oldest first. */
export async function readLiveOfWorker(db: Executor, workerId: number, limit: number): Promise<LiveExecution[]> {
  const { rows } = await db.run<LiveExecution>(READ_LIVE_OF_WORKER, [workerId, limit]);
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}
