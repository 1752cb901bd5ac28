import type { JsonObject } from '@muster/core';
import { rawId } from '../../dispatch/ids.ts';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import { auditOthers, type OperatorNote } from '../../dispatch/statements/operator-audit.ts';
import { toResuming } from '../../dispatch/statements/wake.ts';

/** What a retry copies. */
export interface RetrySource {
  id: string;
  state: string;
  versionId: number;
  deploymentId: number | null;
  variant: string | null;
  targetRoles: string[];
  sessionKey: string | null;
  requiredWorker: string | null;
  preferredWorker: string | null;
  parkTtlSeconds: number | null;
  priority: number;
  /** JSON text. */
  input: string | null;
  routingInput: JsonObject | null;
}

const READ_FOR_RETRY: Statement = {
  name: 'execution_for_retry',
  priority: 'hot',
  text: `SELECT x.id, x.state, x.version_id AS "versionId", x.deployment_id AS "deploymentId", x.variant, x.target_roles AS "targetRoles",
  x.session_key AS "sessionKey", x.required_worker AS "requiredWorker", x.preferred_worker AS "preferredWorker",
  x.park_ttl_s AS "parkTtlSeconds", x.priority, x.input::text AS input, r.value AS "routingInput"
FROM execution x LEFT JOIN execution_routing r ON r.execution_id = x.id WHERE x.id = $1`,
};

export async function readForRetry(db: Executor, id: string): Promise<RetrySource | null> {
  const { rows } = await db.run<RetrySource>(READ_FOR_RETRY, [id]);
  const row = rows[0];
  return row === undefined ? null : { ...row, id: rawId(row.id) };
}

const WORKFLOW_OF: Statement = {
  name: 'workflow_of_execution',
  priority: 'hot',
  text: `SELECT w.namespace || '/' || w.name AS ref FROM execution x JOIN workflow_version v ON v.id = x.version_id JOIN workflow w ON w.id = v.workflow_id
WHERE x.id = $1`,
};

/** namespace/name of what it runs; null where there is no such execution. */
export async function workflowOfExecution(db: Executor, id: string): Promise<string | null> {
  const { rows } = await db.run<{ ref: string }>(WORKFLOW_OF, [id]);
  return rows[0]?.ref ?? null;
}

const READ_STATES: Statement = {
  name: 'execution_states',
  priority: 'hot',
  text: `SELECT x.id, x.state, x.parked, x.waiting FROM unnest($1::uuid[]) AS i (id) JOIN execution x ON x.id = i.id`,
};

export interface StateRow {
  state: string;
  parked: boolean;
  /** What a PAUSED execution waits for. */
  waiting: 'RESUME' | 'TIMER' | 'CHILD' | null;
}

/** By raw id; unknown ones are left out. */
export async function readStates(db: Executor, ids: readonly string[]): Promise<Map<string, StateRow>> {
  const { rows } = await db.run<StateRow & { id: string }>(READ_STATES, [ids]);
  return new Map(rows.map(({ id, ...row }) => [rawId(id), row]));
}

export const RESUME: Statement = {
  name: 'execution_resume',
  priority: 'hot',
  text: `WITH held AS (
  SELECT x.id, x.generation, x.waiting_position FROM execution x WHERE x.id = $1 AND x.state = 'PAUSED' AND x.waiting IS NOT DISTINCT FROM 'RESUME' FOR UPDATE
), moved AS (
  UPDATE execution x SET ${toResuming('x', { now: 'clock_timestamp()', parkTtl: '$5' })},
    step_bytes = least(x.step_bytes + octet_length($4::text), 2147483647)
  FROM held h WHERE x.id = h.id AND x.state = 'PAUSED'
  RETURNING x.id, x.generation, x.revision, x.event_seq, x.state, x.submitted_by,
    $3::text AS by, $6::uuid AS audit_id, $7::text AS address, $8::text AS request_id
), answered AS (
  UPDATE step s SET done = true, at = clock_timestamp(), generation = h.generation + 1, result = $4::json
  FROM held h WHERE s.execution_id = h.id AND s.position = h.waiting_position AND NOT s.done
), told AS (
  INSERT INTO event (id, execution_id, at, sequence, generation, type, data)
  SELECT $2::uuid, m.id, clock_timestamp(), m.event_seq, m.generation, 'RESUMED', json_build_object('kind', 'RESUME', 'by', $3::text, 'input', $4::json)
  FROM moved m
), ${auditOthers('moved', 'execution.resume')}
SELECT m.id, m.revision FROM moved m`,
};

/**
 * PAUSED for a resume → RESUMING; its step has what it was resumed with, and an event tells who did it, as does the audit where it is somebody else's. Null where
 * it does not stand so.
 */
export async function resumeExecution(
  db: Executor,
  request: {
    id: string;
    eventId: string;
    by: string;
    input: string;
    parkTtlSeconds: number;
    note: OperatorNote | null;
  },
): Promise<{ id: string; revision: number } | null> {
  const { rows } = await db.run<{ id: string; revision: number }>(RESUME, [
    request.id,
    request.eventId,
    request.by,
    request.input,
    request.parkTtlSeconds,
    request.note?.id ?? null,
    request.note?.address ?? null,
    request.note?.requestId ?? null,
  ]);
  const row = rows[0];
  return row === undefined ? null : { ...row, id: rawId(row.id) };
}
