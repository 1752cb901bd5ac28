import {
  type LivenessWindows,
  type Fleet as PreparedFleet,
  prepareFleet,
  type RoleSummary,
  roleHealth,
} from '@muster/core';
import { type LiveRow, LiveMap } from './live-map.ts';
import {
  describeWorker,
  isOutdated,
  type FleetWorker,
  type MetadataValue,
  type Pulse,
  type WorkerRecord,
  type WorkerRow,
} from './worker-record.ts';

export interface RoleHealthFacts extends RoleSummary {
  /** Since when `healthy` has had its present value, as far as this process knows. */
  since: Date;
}

/** What changed at once. `helpful`: something may be placeable now that was not before. */
export interface FleetChange {
  names: ReadonlySet<string>;
  removed: ReadonlySet<string>;
  helpful: boolean;
  /** Roles whose health or counts may have changed. */
  roles: ReadonlySet<string>;
}

interface PendingChange {
  names: Set<string>;
  removed: Set<string>;
  roles: Set<string>;
  helpful: boolean;
}

export interface FleetOptions {
  /** ms by the database's clock; never goes back. */
  now: () => number;
  windows: LivenessWindows;
  /** Listeners that throw are reported here and stop nobody else. */
  onError: (error: unknown) => void;
}

/**
 * Everything this replica knows of workers, in memory: registrations, heartbeats, connections, and which execution is live
 * where. One instance, written by the registry (modules/worker) and read by everybody. Lists and decisions come from it.
 */
export class Fleet {
  readonly #records = new Map<string, WorkerRecord>();
  readonly #described = new Map<string, FleetWorker>();
  readonly #names = new Map<number, string>();
  readonly #live: LiveMap;
  readonly #prepared: PreparedFleet = prepareFleet([]);
  readonly #listeners = new Set<(change: FleetChange) => void>();
  readonly #since = new Map<string, { healthy: boolean; since: number }>();
  readonly #options: FleetOptions;
  /** Since when this replica listens, ms by the database's clock: connections lost before or soon after say nothing of their workers. */
  readonly listeningSince: number;
  #roles: ReadonlyMap<string, RoleSummary> | null = null;
  #pending: PendingChange | null = null;

  constructor(options: FleetOptions) {
    this.#options = options;
    this.listeningSince = options.now();
    this.#live = new LiveMap((workerId, load) => this.#loadChanged(workerId, load));
  }

  get(name: string): FleetWorker | undefined {
    return this.#described.get(name);
  }

  byId(id: number): FleetWorker | undefined {
    const name = this.#names.get(id);
    return name === undefined ? undefined : this.#described.get(name);
  }

  /** In no order. */
  all(): FleetWorker[] {
    return [...this.#described.values()];
  }

  /** Registered workers in core's columns, kept up to date; indexes change when a worker is removed. */
  prepared(): PreparedFleet {
    return this.#prepared;
  }

  loadOf(workerId: number): number {
    return this.#live.load(workerId);
  }

  /** Raw ids of the executions that are live on the worker. */
  executionsOf(workerId: number): ReadonlySet<string> {
    return this.#live.executionsOf(workerId);
  }

  /** Whether exactly this assignment is known to be live. */
  isLive(executionId: string, generation: number, workerId: number): boolean {
    return this.#live.has(executionId, generation, workerId);
  }

  liveCount(): number {
    return this.#live.size;
  }

  /** Registered workers only (ruling 29); a role stays listed while any worker, alive or not, has it. */
  roleHealth(): RoleHealthFacts[] {
    const now = this.#options.now();
    return [...this.#roleMap().values()].map((role) => ({
      ...role,
      since: new Date(this.#since.get(role.role)?.since ?? now),
    }));
  }

  isRoleHealthy(role: string): boolean {
    return this.#roleMap().get(role)?.healthy ?? false;
  }

  /** How many are told of changes; a test sees here that nobody is forgotten. */
  get listenerCount(): number {
    return this.#listeners.size;
  }

  /** Changes are gathered for the rest of the present task and told once. */
  onChange(listener: (change: FleetChange) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Takes a registration as the table has it; a heartbeat already heard of the same instance stays. */
  putRow(row: WorkerRow): void {
    const known = this.#records.get(row.name);
    const pulse = known?.pulse?.instance === row.instance ? known.pulse : null;
    this.#put({ row, registered: true, pulse });
  }

  putMetadata(name: string, metadata: ReadonlyMap<string, MetadataValue>): void {
    const known = this.#records.get(name);
    if (known?.registered) this.#put({ ...known, row: { ...known.row, metadata } });
  }

  /** Takes a heartbeat of a registered worker; older news than what is known is dropped. */
  putPulse(name: string, pulse: Pulse): void {
    const known = this.#records.get(name);
    if (!known?.registered || known.row.instance !== pulse.instance) return;
    if (known.pulse !== null && known.pulse.instance === pulse.instance && known.pulse.seenAt > pulse.seenAt) return;
    this.#put({ ...known, pulse });
  }

  /** A process known only by its heartbeats; its name is its instance id. Ignored where a registered worker has that name. */
  putForeign(row: WorkerRow, pulse: Pulse): void {
    if (this.#records.get(row.name)?.registered) return;
    this.#put({ row, registered: false, pulse });
  }

  remove(name: string): void {
    const known = this.#records.get(name);
    if (known === undefined) return;
    this.#records.delete(name);
    this.#described.delete(name);
    this.#names.delete(known.row.id);
    if (known.registered) this.#prepared.remove(name);
    this.#changed(name, known.row.role, false);
    this.#pending?.names.delete(name);
    this.#pending?.removed.add(name);
  }

  names(): string[] {
    return [...this.#records.keys()];
  }

  record(name: string): WorkerRecord | undefined {
    return this.#records.get(name);
  }

  /** The execution is live on the worker. Older generations than what is known are dropped. */
  setLive(executionId: string, workerId: number, generation: number): void {
    this.#live.set(executionId, workerId, generation);
  }

  clearLive(executionId: string, generation: number): void {
    if (this.#live.clear(executionId, generation)) this.#note().helpful = true;
  }

  /** Rebuild of the live map: `recordLive()`, read the rows, `replaceLive(rows)`. */
  recordLive(): void {
    this.#live.record();
  }

  replaceLive(rows: readonly LiveRow[]): void {
    this.#live.replace(rows);
  }

  /** Reads the clock again: statuses follow from ages. Once a second is often enough. */
  tick(): void {
    const moment = this.#moment();
    for (const [name, record] of this.#records) {
      const known = this.#described.get(name);
      if (known === undefined || isOutdated(known, record, moment)) this.#put(record);
    }
  }

  #moment(): { now: number; listeningSince: number; windows: LivenessWindows } {
    return { now: this.#options.now(), listeningSince: this.listeningSince, windows: this.#options.windows };
  }

  #put(record: WorkerRecord): void {
    const { name, id, role } = record.row;
    const before = this.#described.get(name);
    const after = describeWorker(record, this.#moment(), this.#live.load(id));
    this.#records.set(name, record);
    this.#described.set(name, after);
    this.#names.set(id, name);
    if (record.registered) {
      const index = this.#prepared.indexOf(name);
      if (index < 0) this.#prepared.add(after.facts);
      else this.#prepared.update(index, after.facts);
    }
    const helpful = after.eligible && (before === undefined || !before.eligible || mayAttract(before, after));
    this.#changed(name, role, helpful);
    if (before !== undefined && before.facts.role !== role) this.#pending?.roles.add(before.facts.role);
  }

  #loadChanged(workerId: number, load: number): void {
    const name = this.#names.get(workerId);
    const known = name === undefined ? undefined : this.#described.get(name);
    if (name === undefined || known === undefined) return;
    const utilization = known.facts.capacity === null ? null : load / known.facts.capacity;
    this.#described.set(name, { ...known, facts: { ...known.facts, load }, utilization });
    const index = this.#prepared.indexOf(name);
    if (index >= 0) this.#prepared.setLoad(index, load);
    this.#note().names.add(name);
  }

  #changed(name: string, role: string, helpful: boolean): void {
    this.#roles = null;
    const pending = this.#note();
    pending.names.add(name);
    pending.removed.delete(name);
    pending.roles.add(role);
    pending.helpful ||= helpful;
  }

  #note(): PendingChange {
    if (this.#pending !== null) return this.#pending;
    const pending = { names: new Set<string>(), removed: new Set<string>(), roles: new Set<string>(), helpful: false };
    this.#pending = pending;
    queueMicrotask(() => this.#tell());
    return pending;
  }

  #tell(): void {
    const change = this.#pending;
    this.#pending = null;
    if (change === null) return;
    this.#roleMap();
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#options.onError(error);
      }
    }
  }

  #roleMap(): ReadonlyMap<string, RoleSummary> {
    if (this.#roles !== null) return this.#roles;
    const roles = roleHealth(
      this.all()
        .filter((worker) => worker.registered)
        .map(({ facts, lastSeenAt }) => ({ ...facts, lastSeenAt: lastSeenAt.getTime() })),
    );
    const now = this.#options.now();
    for (const { role, healthy } of roles.values()) {
      if (this.#since.get(role)?.healthy !== healthy) this.#since.set(role, { healthy, since: now });
    }
    for (const role of this.#since.keys()) if (!roles.has(role)) this.#since.delete(role);
    this.#roles = roles;
    return roles;
  }
}

/** Whether a worker that was eligible before may be so for more now: what it says or what is said of it changed. */
function mayAttract(before: FleetWorker, after: FleetWorker): boolean {
  return (
    before.facts.instanceId !== after.facts.instanceId ||
    before.facts.role !== after.facts.role ||
    before.facts.capacity !== after.facts.capacity ||
    before.metadata !== after.metadata ||
    before.metrics.length !== after.metrics.length ||
    before.metrics.some((metric, i) => metric.value !== after.metrics[i]?.value || metric.key !== after.metrics[i]?.key)
  );
}
