import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';

/** One row to insert; everything is checked already. */
export interface SubmitRow {
  /** Raw UUID v7. */
  id: string;
  versionId: number;
  deploymentId: number | null;
  variant: string | null;
  targetRoles: readonly string[];
  sessionKey: string | null;
  parentId: string | null;
  retryOf: string | null;
  submittedBy: string;
  priority: number;
  requiredWorker: string | null;
  preferredWorker: string | null;
  /** null: the server's default; 0: for ever. */
  parkTtlSeconds: number | null;
  /** JSON text; null: none. */
  input: string | null;
  /** JSON text; null: none. */
  routingInput: string | null;
  idempotency: { mutation: string; key: string; hmac: Buffer } | null;
}

/** Idempotency keys live so long. */
export const IDEMPOTENCY_DAYS = 7;

/**
 * A row of a deployment must find its variant still there; its lock makes whoever removes the variant wait, and then count the row. A retry brings the variant
 * that the first had. Keys first: a row whose key is taken is not inserted. A key that has outlived its time is taken over. What another transaction is
 * inserting under the same key at this moment is waited for.
 */
export const SUBMIT: Statement = {
  name: 'submit',
  priority: 'hot',
  text: `WITH item AS (
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::int[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::text[], $10::int2[],
    $11::text[], $12::text[], $13::int[], $14::text[], $15::text[], $16::text[], $17::text[], $18::bytea[])
    AS i (id, version_id, deployment_id, variant, target_roles, session_key, parent_id, retry_of, submitted_by, priority,
      required_worker, preferred_worker, park_ttl_s, input, routing, mutation, key, hmac)
), held AS (
  SELECT d.id, d.variants FROM deployment d WHERE d.id = ANY ($3::int[]) FOR SHARE
), label AS (
  SELECT h.id, v.value->>'label' AS label FROM held h, jsonb_array_elements(h.variants) v
), allowed AS (
  SELECT i.* FROM item i
  WHERE i.deployment_id IS NULL OR i.retry_of IS NOT NULL OR (i.deployment_id, i.variant) IN (SELECT l.id, l.label FROM label l)
), keyed AS (
  INSERT INTO idempotency AS known (principal, mutation, key, hmac, execution_id, at)
  SELECT i.submitted_by, i.mutation, i.key, i.hmac, i.id, clock_timestamp() FROM allowed i WHERE i.key IS NOT NULL
  ON CONFLICT (principal, mutation, key) DO UPDATE SET hmac = excluded.hmac, execution_id = excluded.execution_id, at = excluded.at
    WHERE known.at < clock_timestamp() - make_interval(days => ${IDEMPOTENCY_DAYS})
  RETURNING execution_id
), inserted AS (
  INSERT INTO execution (id, parent_id, retry_of, created_at, queued_at, updated_at, park_deadline, version_id, deployment_id, park_ttl_s,
    priority, variant, target_roles, session_key, submitted_by, required_worker, preferred_worker, input)
  SELECT i.id, i.parent_id, i.retry_of, t.now, t.now, t.now,
    CASE WHEN coalesce(i.park_ttl_s, $19) > 0 THEN t.now + make_interval(secs => coalesce(i.park_ttl_s, $19)) END,
    i.version_id, i.deployment_id, i.park_ttl_s, i.priority, i.variant, i.target_roles::text[], i.session_key, i.submitted_by,
    i.required_worker, i.preferred_worker, i.input::json
  FROM allowed i, (SELECT clock_timestamp() AS now) t
  WHERE i.key IS NULL OR i.id IN (SELECT execution_id FROM keyed)
  RETURNING id, created_at
), routed AS (
  INSERT INTO execution_routing (execution_id, value)
  SELECT i.id, i.routing::json FROM item i JOIN inserted n ON n.id = i.id WHERE i.routing IS NOT NULL
)
SELECT id, created_at AS "createdAt" FROM inserted`,
};

/** Inserts a batch with its keys and routing inputs. Rows that are not in the answer had a known idempotency key, or their variant is gone. */
export async function submitExecutions(
  db: Executor,
  rows: readonly SubmitRow[],
  defaultParkTtlSeconds: number,
): Promise<{ id: string; createdAt: Date }[]> {
  const result = await db.run<{ id: string; createdAt: Date }>(SUBMIT, [
    rows.map((row) => row.id),
    rows.map((row) => row.versionId),
    rows.map((row) => row.deploymentId),
    rows.map((row) => row.variant),
    rows.map((row) => textArray(row.targetRoles)),
    rows.map((row) => row.sessionKey),
    rows.map((row) => row.parentId),
    rows.map((row) => row.retryOf),
    rows.map((row) => row.submittedBy),
    rows.map((row) => row.priority),
    rows.map((row) => row.requiredWorker),
    rows.map((row) => row.preferredWorker),
    rows.map((row) => row.parkTtlSeconds),
    rows.map((row) => row.input),
    rows.map((row) => row.routingInput),
    rows.map((row) => row.idempotency?.mutation ?? null),
    rows.map((row) => row.idempotency?.key ?? null),
    rows.map((row) => row.idempotency?.hmac ?? null),
    defaultParkTtlSeconds,
  ]);
  return result.rows.map((row) => ({ ...row, id: rawId(row.id) }));
}

const READ_CREATED: Statement = {
  name: 'read_created',
  priority: 'hot',
  text: `SELECT x.id, x.created_at AS "createdAt" FROM unnest($1::uuid[]) AS i (id) JOIN execution x ON x.id = i.id`,
};

/** When these executions were made, by raw id; those that do not exist are left out. */
export async function readCreated(db: Executor, ids: readonly string[]): Promise<Map<string, Date>> {
  const { rows } = await db.run<{ id: string; createdAt: Date }>(READ_CREATED, [ids]);
  return new Map(rows.map((row) => [rawId(row.id), row.createdAt]));
}

/** A text array inside an array: `unnest` would flatten it, so it travels as PostgreSQL's array literal. */
function textArray(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`;
}

export interface IdempotencyKey {
  principal: string;
  mutation: string;
  key: string;
}

export interface KnownKey extends IdempotencyKey {
  hmac: Buffer;
  /** Raw UUID of the first result; null where the key belongs to something else than an execution. */
  executionId: string | null;
  /** The execution is still there. */
  exists: boolean;
}

const READ_KEYS: Statement = {
  name: 'idempotency_read',
  priority: 'hot',
  text: `SELECT k.principal, k.mutation, k.key, k.hmac, k.execution_id AS "executionId", x.id IS NOT NULL AS "exists"
FROM unnest($1::text[], $2::text[], $3::text[]) AS i (principal, mutation, key)
JOIN idempotency k ON k.principal = i.principal AND k.mutation = i.mutation AND k.key = i.key
LEFT JOIN execution x ON x.id = k.execution_id`,
};

export async function readIdempotencyKeys(db: Executor, keys: readonly IdempotencyKey[]): Promise<KnownKey[]> {
  const { rows } = await db.run<KnownKey>(READ_KEYS, [
    keys.map((key) => key.principal),
    keys.map((key) => key.mutation),
    keys.map((key) => key.key),
  ]);
  return rows.map((row) => ({ ...row, executionId: row.executionId === null ? null : rawId(row.executionId) }));
}
