import {
  compareCodePoints,
  effectiveAvailability,
  type Liveness,
  liveness,
  type LivenessWindows,
  METRICS_MAX_AGE_MS,
  RESERVED_PREFIX,
  type WorkerAvailability,
  type WorkerFacts,
  type WorkerPackage,
  type WorkerResources,
} from '@muster/core';

export interface HealthCheck {
  name: string;
  healthy: boolean;
  message: string | null;
}

export interface MetadataValue {
  value: string | number;
  updatedAt: Date;
  updatedBy: string;
}

/** A registration as the `worker` table has it, with its metadata. */
export interface WorkerRow {
  id: number;
  name: string;
  instance: string;
  role: string;
  hostname: string;
  version: string;
  labels: Readonly<Record<string, string>>;
  services: readonly string[];
  resources: WorkerResources | null;
  packages: readonly WorkerPackage[];
  runners: readonly string[];
  workflows: readonly string[];
  capacity: number | null;
  availability: WorkerAvailability;
  /** Which replica holds its connection, or held it last. */
  replica: string | null;
  startedAt: Date;
  registeredAt: Date;
  connectedAt: Date | null;
  disconnectedAt: Date | null;
  leftAt: Date | null;
  metadata: ReadonlyMap<string, MetadataValue>;
}

/** The last heartbeat. Times are ms by the database's clock. */
export interface Pulse {
  instance: string;
  seenAt: number;
  healthy: boolean;
  draining: boolean;
  checks: readonly HealthCheck[];
  /** null: never sent. */
  metrics: ReadonlyMap<string, number> | null;
  metricsAt: number | null;
}

export interface MetricEntry {
  key: string;
  value: number;
  at: Date;
  stale: boolean;
  builtin: boolean;
}

/** One worker as this replica knows it at one instant. */
export interface FleetWorker {
  readonly facts: WorkerFacts;
  /** worker.id; negative for a process that never registered. */
  readonly id: number;
  readonly version: string;
  readonly hostname: string;
  readonly startedAt: Date;
  readonly registeredAt: Date;
  readonly lastSeenAt: Date;
  /** false: known only by its heartbeats on the bus; it cannot take work (ruling 29). */
  readonly registered: boolean;
  /** HEALTHY, ACTIVE and connected. */
  readonly eligible: boolean;
  readonly checks: readonly HealthCheck[];
  readonly metrics: readonly MetricEntry[];
  readonly metadata: ReadonlyMap<string, MetadataValue>;
  readonly replica: string | null;
  /** When its connection was lost, ms by the database's clock; null while connected. */
  readonly disconnectedAt: number | null;
  /** When it said goodbye, ms by the database's clock. */
  readonly leftAt: number | null;
  /** Load ÷ capacity; null without a capacity. */
  readonly utilization: number | null;
}

/** What is known of one worker, before a clock is read. */
export interface WorkerRecord {
  row: WorkerRow;
  registered: boolean;
  pulse: Pulse | null;
}

/** What follows from the clock alone. */
interface Moment {
  /** ms by the database's clock. */
  now: number;
  /** Since when this replica has been able to hear heartbeats. */
  listeningSince: number;
  windows: LivenessWindows;
}

/** The worker at one moment, with its load. */
export function describeWorker(record: WorkerRecord, moment: Moment, load: number): FleetWorker {
  const { row } = record;
  const pulse = currentPulse(record);
  const verdict = judge(record, moment);
  const metricsAgeMs = freshMetricsAge(pulse, moment.now);
  const capacity = row.capacity === 0 ? null : row.capacity;
  const facts: WorkerFacts = {
    name: row.name,
    instanceId: row.instance,
    role: row.role,
    status: verdict.status,
    statusReasons: record.registered ? verdict.reasons : [...verdict.reasons, 'known only by its heartbeats'],
    connected: isConnected(record),
    availability: availabilityOf(record),
    labels: labelsWithServices(row),
    metadata: new Map([...row.metadata].map(([key, entry]) => [key, entry.value])),
    metrics: metricsAgeMs === null ? new Map() : (pulse?.metrics ?? new Map()),
    metricsAgeMs,
    resources: row.resources,
    packages: row.packages,
    runners: row.runners,
    workflows: row.workflows,
    capacity,
    load,
  };
  return {
    facts,
    id: row.id,
    version: row.version,
    hostname: row.hostname,
    startedAt: row.startedAt,
    registeredAt: row.registeredAt,
    lastSeenAt: new Date(Math.max(row.registeredAt.getTime(), pulse?.seenAt ?? 0)),
    registered: record.registered,
    eligible: verdict.eligible,
    checks: pulse?.checks ?? [],
    metrics: describeMetrics(pulse, metricsAgeMs === null),
    metadata: row.metadata,
    replica: row.replica,
    disconnectedAt: row.disconnectedAt?.getTime() ?? null,
    leftAt: row.leftAt?.getTime() ?? null,
    utilization: capacity === null ? null : load / capacity,
  };
}

/** Whether time alone has changed what is known: the verdict, the seconds of silence in its reason, or metrics that are too old by now. */
export function isOutdated(known: FleetWorker, record: WorkerRecord, moment: Moment): boolean {
  if (known.facts.metricsAgeMs !== null && freshMetricsAge(currentPulse(record), moment.now) === null) return true;
  const verdict = judge(record, moment);
  return (
    verdict.status !== known.facts.status ||
    verdict.eligible !== known.eligible ||
    (verdict.status === 'STALE' && verdict.reasons[0] !== known.facts.statusReasons[0])
  );
}

function currentPulse({ row, pulse }: WorkerRecord): Pulse | null {
  return pulse?.instance === row.instance ? pulse : null;
}

function judge(record: WorkerRecord, { now, listeningSince, windows }: Moment): Liveness {
  const { row } = record;
  const pulse = currentPulse(record);
  return liveness(
    {
      registeredAt: row.registeredAt.getTime(),
      lastSeenAt: pulse?.seenAt ?? null,
      observedSince: listeningSince,
      leftAt: row.leftAt?.getTime() ?? null,
      healthy: pulse?.healthy ?? true,
      checks: pulse?.checks ?? [],
      connected: isConnected(record),
      availability: availabilityOf(record),
    },
    now,
    windows,
  );
}

function isConnected({ row, registered }: WorkerRecord): boolean {
  return registered && row.connectedAt !== null && row.disconnectedAt === null;
}

function availabilityOf(record: WorkerRecord): WorkerAvailability {
  return effectiveAvailability(record.row.availability, currentPulse(record)?.draining ?? false);
}

/** Age of the metrics; null where there are none, or none that still count (ruling 26). */
function freshMetricsAge(pulse: Pulse | null, now: number): number | null {
  if (pulse?.metrics == null || pulse.metricsAt === null) return null;
  const age = Math.max(0, now - pulse.metricsAt);
  return age <= METRICS_MAX_AGE_MS ? age : null;
}

function labelsWithServices(row: WorkerRow): ReadonlyMap<string, string> {
  const labels = new Map(Object.entries(row.labels));
  for (const service of row.services) labels.set(`flux.service.${service}`, 'true');
  return labels;
}

function describeMetrics(pulse: Pulse | null, stale: boolean): MetricEntry[] {
  if (pulse?.metrics == null || pulse.metricsAt === null) return [];
  const at = new Date(pulse.metricsAt);
  return [...pulse.metrics]
    .map(([key, value]) => ({ key, value, at, stale, builtin: key.startsWith(RESERVED_PREFIX) }))
    .sort((a, b) => compareCodePoints(a.key, b.key));
}
