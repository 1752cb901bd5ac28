import { encodeId } from '../../graphql/ids.ts';
import type { FleetWorker, MetadataValue, Pulse } from '../../fleet/worker-record.ts';
import { isoTime } from './iso-time.ts';

/** A worker as the REST routes show it: the words of the GraphQL type, labels, metadata and metrics as objects. */
export function workerJson(worker: FleetWorker): Record<string, unknown> {
  const { facts, metrics } = worker;
  const { resources } = facts;
  return {
    id: encodeId('wk', worker.registered ? worker.id : facts.name),
    name: facts.name,
    instanceId: facts.instanceId,
    role: facts.role,
    hostname: worker.hostname,
    version: worker.version,
    status: facts.status,
    statusReasons: facts.statusReasons,
    availability: facts.availability,
    eligible: worker.eligible,
    registered: worker.registered,
    connected: facts.connected,
    checks: worker.checks.map(({ name, healthy, message }) => ({ name, healthy, message })),
    labels: Object.fromEntries(facts.labels),
    metadata: metadataJson(worker.metadata),
    metrics: Object.fromEntries(metrics.map(({ key, value }) => [key, value])),
    metricsAt: isoTime(metrics[0]?.at ?? null),
    metricsStale: metrics[0]?.stale ?? false,
    resources: {
      cpuTotal: resources?.cpu_total ?? null,
      cpuAvailable: resources?.cpu_available ?? null,
      memoryTotal: resources?.memory_total ?? null,
      memoryAvailable: resources?.memory_available ?? null,
      diskTotal: resources?.disk_total ?? null,
      diskFree: resources?.disk_free ?? null,
      gpus: (resources?.gpus ?? []).map((gpu) => ({
        name: gpu.name,
        memoryTotal: gpu.memory_total ?? null,
        memoryAvailable: gpu.memory_available ?? null,
      })),
    },
    runners: facts.runners,
    workflows: facts.workflows,
    packages: facts.packages.map(({ name, version }) => ({ name, version })),
    capacity: facts.capacity,
    load: facts.load,
    utilization: worker.utilization,
    startedAt: isoTime(worker.startedAt),
    registeredAt: isoTime(worker.registeredAt),
    lastSeenAt: isoTime(worker.lastSeenAt),
  };
}

/** One process of the raw registry, in the field names of `worker.heartbeat`. `pulse`: its last heartbeat, if there was one. */
export function heartbeatJson(worker: FleetWorker, pulse: Pulse | null): Record<string, unknown> {
  const { facts } = worker;
  return {
    instance_id: facts.instanceId,
    hostname: worker.hostname,
    role: facts.role,
    version: worker.version,
    started_at: isoTime(worker.startedAt),
    // Connecting counts as a heartbeat.
    healthy: (pulse?.healthy ?? true) && worker.checks.every((check) => check.healthy),
    checks: worker.checks.map(({ name, healthy, message }) =>
      message === null ? { name, healthy } : { name, healthy, message },
    ),
    status: facts.status,
    last_seen: isoTime(worker.lastSeenAt),
    registered: worker.registered,
    name: facts.name,
    connected: facts.connected,
    draining: facts.availability === 'DRAINING',
    metrics: Object.fromEntries(worker.metrics.map(({ key, value }) => [key, value])),
  };
}

/** Metadata without who wrote it when. */
export function metadataJson(metadata: ReadonlyMap<string, MetadataValue>): Record<string, string | number> {
  return Object.fromEntries([...metadata].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, { value }]) => [key, value]));
}
