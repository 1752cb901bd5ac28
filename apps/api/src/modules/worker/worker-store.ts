import type { WorkerAvailability, WorkerPackage, WorkerResources } from '@muster/core';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { MetadataValue, Pulse, WorkerRow } from '../../fleet/worker-record.ts';

/** What a worker says about itself when it registers. */
export interface Registration {
  name: string;
  instance: string;
  role: string;
  hostname: string;
  version: string;
  startedAt: Date;
  labels: ReadonlyMap<string, string>;
  resources: WorkerResources | null;
  packages: readonly WorkerPackage[];
  runners: readonly string[];
  workflows: readonly string[];
  capacity: number | null;
  /** Granted by its credential. */
  services: readonly string[];
  /** Who registers it. */
  principal: string;
  /** The credential that it does that with, which must be good at that moment; null: it has none of its own. */
  credentialId: number | null;
}

export interface Registered {
  id: number;
  /** The instance that had the name before, where it is another one. */
  replacedInstance: string | null;
}

interface StoredRow {
  id: number;
  name: string;
  instance: string;
  role: string;
  hostname: string;
  version: string;
  labels: Record<string, string>;
  services: string[];
  resources: WorkerResources | null;
  packages: WorkerPackage[];
  runners: string[];
  workflows: string[];
  capacity: number | null;
  availability: WorkerAvailability;
  replica: string | null;
  startedAt: Date;
  registeredAt: Date;
  connectedAt: Date | null;
  disconnectedAt: Date | null;
  leftAt: Date | null;
  metadata: { key: string; value: string | number; at: string; by: string }[];
}

/**
 * Writes a registration; it replaces everything the worker said before (ruling 24). An instance that a newer one has replaced stays
 * out, and so does one whose credential has ended.
 * A new process ends a drain, which was for the old one; a cordon stays, it is for the name.
 */
export async function registerWorker(
  db: Executor,
  registration: Registration,
): Promise<Registered | 'replaced' | 'not-good'> {
  const { rows } = await db.run<{ id: number; before: string | null }>(
    {
      name: 'worker-register',
      priority: 'hot',
      text: `
WITH before AS (
  SELECT id, instance FROM worker WHERE name = $1 FOR UPDATE
), good AS (
  -- Waits for whoever ends it just now, and then sees that.
  SELECT FROM worker_credential c WHERE c.id = $15 AND c.revoked_at IS NULL AND c.expires_at > clock_timestamp() FOR SHARE
)
INSERT INTO worker AS w (name, instance, role, hostname, version, labels, resources, packages, runners, workflows, capacity, started_at, disconnected_at, services,
  principal)
-- The join reads the row before it is replaced; a subquery in RETURNING would come too late.
SELECT $1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9::text[], $10::text[], $11::int, $12::timestamptz, clock_timestamp(), $13::text[], $14
FROM (VALUES (1)) AS one LEFT JOIN before ON true
WHERE $15::int IS NULL OR EXISTS (SELECT FROM good)
ON CONFLICT (name) DO UPDATE SET
  instance = excluded.instance, role = excluded.role, hostname = excluded.hostname, version = excluded.version,
  labels = excluded.labels, services = excluded.services, principal = excluded.principal, resources = excluded.resources, packages = excluded.packages, runners = excluded.runners,
  workflows = excluded.workflows, capacity = excluded.capacity, started_at = excluded.started_at,
  registered_at = clock_timestamp(),
  connected_at = CASE WHEN w.instance = excluded.instance THEN w.connected_at END,
  disconnected_at = CASE WHEN w.instance = excluded.instance THEN w.disconnected_at ELSE clock_timestamp() END,
  left_at = NULL,
  removed_at = NULL,
  availability = CASE
    WHEN w.removed_at IS NOT NULL THEN 'ACTIVE'
    WHEN w.availability = 'DRAINING' AND w.instance <> excluded.instance THEN 'ACTIVE'
    ELSE w.availability END,
  replaced = CASE WHEN w.instance = excluded.instance THEN w.replaced ELSE (w.instance || w.replaced)[1:8] END,
  revision = w.revision + 1
WHERE NOT (excluded.instance = ANY (w.replaced))
RETURNING w.id, (SELECT instance FROM before) AS before`,
    },
    [
      registration.name,
      registration.instance,
      registration.role,
      registration.hostname,
      registration.version,
      JSON.stringify(Object.fromEntries(registration.labels)),
      registration.resources === null ? null : JSON.stringify(registration.resources),
      JSON.stringify(registration.packages),
      registration.runners,
      registration.workflows,
      registration.capacity,
      registration.startedAt,
      registration.services,
      registration.principal,
      registration.credentialId,
    ],
  );
  const row = rows[0];
  if (row === undefined) return (await isGood(db, registration.credentialId)) ? 'replaced' : 'not-good';
  return { id: row.id, replacedInstance: row.before === registration.instance ? null : row.before };
}

async function isGood(db: Executor, credentialId: number | null): Promise<boolean> {
  if (credentialId === null) return true;
  const { rowCount } = await db.run(
    {
      name: 'worker-credential-good',
      priority: 'hot',
      text: 'SELECT FROM worker_credential WHERE id = $1 AND revoked_at IS NULL AND expires_at > clock_timestamp()',
    },
    [credentialId],
  );
  return rowCount === 1;
}

/** The worker's inbox is open at this replica. Answers whether the instance is still the one that has the name. */
export async function markConnected(db: Executor, id: number, instance: string, replica: string): Promise<boolean> {
  const { rowCount } = await db.run(
    {
      name: 'worker-connected',
      priority: 'hot',
      text: `
UPDATE worker SET replica = $3, connected_at = clock_timestamp(), disconnected_at = NULL, left_at = NULL, revision = revision + 1
WHERE id = $1 AND instance = $2 AND removed_at IS NULL`,
    },
    [id, instance, replica],
  );
  return rowCount === 1;
}

/** The connection is gone, unless it has moved to another replica or process meanwhile. */
export async function markDisconnected(db: Executor, id: number, instance: string, replica: string): Promise<boolean> {
  const { rowCount } = await db.run(
    {
      name: 'worker-disconnected',
      priority: 'hot',
      text: `
UPDATE worker SET disconnected_at = clock_timestamp(), revision = revision + 1
WHERE id = $1 AND instance = $2 AND replica = $3 AND disconnected_at IS NULL`,
    },
    [id, instance, replica],
  );
  return rowCount === 1;
}

/** A process that starts holds no connection yet; `everyone` where no other process can hold one. */
export async function markAllDisconnected(db: Executor, replica: string, everyone: boolean): Promise<void> {
  await db.run(
    {
      name: 'workers-disconnected',
      priority: 'hot',
      text: `
UPDATE worker SET disconnected_at = clock_timestamp(), revision = revision + 1
WHERE disconnected_at IS NULL AND ($2 OR replica = $1)`,
    },
    [replica, everyone],
  );
}

/** Off duty, whatever process has the name. Answers the worker's id; null: there is none. */
export async function markDismissed(db: Executor, name: string): Promise<number | null> {
  const { rows } = await db.run<{ id: number }>(
    {
      name: 'worker-dismissed',
      priority: 'hot',
      text: `
UPDATE worker SET left_at = clock_timestamp(), disconnected_at = coalesce(disconnected_at, clock_timestamp()), revision = revision + 1
WHERE name = $1 AND removed_at IS NULL RETURNING id`,
    },
    [name],
  );
  return rows[0]?.id ?? null;
}

/** The worker has said goodbye. */
export async function markLeft(db: Executor, id: number, instance: string): Promise<boolean> {
  const { rowCount } = await db.run(
    {
      name: 'worker-left',
      priority: 'hot',
      text: `
UPDATE worker SET left_at = clock_timestamp(), disconnected_at = coalesce(disconnected_at, clock_timestamp()), revision = revision + 1
WHERE id = $1 AND instance = $2`,
    },
    [id, instance],
  );
  return rowCount === 1;
}

/** All registered workers, or those with these names; removed ones are left out. */
export async function readWorkers(db: Executor, names: readonly string[] | null): Promise<WorkerRow[]> {
  const { rows } = await db.run<StoredRow>(
    {
      name: 'workers-read',
      priority: 'hot',
      text: `
SELECT w.id, w.name, w.instance, w.role, w.hostname, w.version, w.labels, w.services, w.resources, w.packages, w.runners, w.workflows,
  w.capacity, w.availability, w.replica, w.started_at AS "startedAt", w.registered_at AS "registeredAt",
  w.connected_at AS "connectedAt", w.disconnected_at AS "disconnectedAt", w.left_at AS "leftAt",
  coalesce((
    SELECT json_agg(json_build_object('key', m.key, 'value', m.value, 'at', m.at, 'by', m.by))
    FROM worker_metadata m WHERE m.worker_id = w.id
  ), '[]') AS metadata
FROM worker w WHERE w.removed_at IS NULL AND ($1::text[] IS NULL OR w.name = ANY ($1))`,
    },
    [names],
  );
  return rows.map((row) => ({
    ...row,
    metadata: new Map<string, MetadataValue>(
      row.metadata.map(({ key, value, at, by }) => [key, { value, updatedAt: new Date(at), updatedBy: by }]),
    ),
  }));
}

/** A heartbeat on its way to the table. */
export interface PulseRow {
  workerId: number;
  pulse: Pulse;
}

/** One statement for all heartbeats of the last second. */
export async function writePulses(db: Executor, pulses: readonly PulseRow[]): Promise<void> {
  await db.run(
    {
      name: 'pulses-write',
      priority: 'background',
      text: `
INSERT INTO worker_pulse (worker_id, instance, seen_at, healthy, draining, checks, metrics, metrics_at)
SELECT u.worker_id, u.instance, u.seen_at, u.healthy, u.draining, u.checks::jsonb, u.metrics::jsonb, u.metrics_at
FROM unnest($1::int[], $2::text[], $3::timestamptz[], $4::bool[], $5::bool[], $6::text[], $7::text[], $8::timestamptz[])
  AS u (worker_id, instance, seen_at, healthy, draining, checks, metrics, metrics_at)
ON CONFLICT (worker_id) DO UPDATE SET
  instance = excluded.instance, seen_at = excluded.seen_at, healthy = excluded.healthy, draining = excluded.draining,
  checks = excluded.checks, metrics = excluded.metrics, metrics_at = excluded.metrics_at`,
    },
    [
      pulses.map(({ workerId }) => workerId),
      pulses.map(({ pulse }) => pulse.instance),
      pulses.map(({ pulse }) => new Date(pulse.seenAt)),
      pulses.map(({ pulse }) => pulse.healthy),
      pulses.map(({ pulse }) => pulse.draining),
      pulses.map(({ pulse }) => JSON.stringify(pulse.checks)),
      pulses.map(({ pulse }) => (pulse.metrics === null ? null : JSON.stringify(Object.fromEntries(pulse.metrics)))),
      pulses.map(({ pulse }) => (pulse.metricsAt === null ? null : new Date(pulse.metricsAt))),
    ],
  );
}

/** Last heartbeats by worker id. */
export async function readPulses(db: Executor): Promise<Map<number, Pulse>> {
  const { rows } = await db.run<{
    workerId: number;
    instance: string;
    seenAt: Date;
    healthy: boolean;
    draining: boolean;
    checks: Pulse['checks'];
    metrics: Record<string, number> | null;
    metricsAt: Date | null;
  }>(
    {
      name: 'pulses-read',
      priority: 'hot',
      text: `
SELECT worker_id AS "workerId", instance, seen_at AS "seenAt", healthy, draining, checks, metrics, metrics_at AS "metricsAt"
FROM worker_pulse`,
    },
    [],
  );
  return new Map(
    rows.map((row) => [
      row.workerId,
      {
        instance: row.instance,
        seenAt: row.seenAt.getTime(),
        healthy: row.healthy,
        draining: row.draining,
        checks: row.checks,
        metrics: row.metrics === null ? null : new Map(Object.entries(row.metrics)),
        metricsAt: row.metricsAt?.getTime() ?? null,
      },
    ]),
  );
}
