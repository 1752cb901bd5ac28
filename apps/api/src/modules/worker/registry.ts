import { MusterError } from '@muster/core';
import type { Bus, WorkerHeartbeat } from '../../bus/bus.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker, Pulse, WorkerRow } from '../../fleet/worker-record.ts';
import type { Log } from '../../log.ts';
import type { ReleaseWorker } from './release-worker.ts';
import {
  markAllDisconnected,
  markConnected,
  markDisconnected,
  markDismissed,
  markLeft,
  type PulseRow,
  type Registration,
  readPulses,
  readWorkers,
  registerWorker,
  writePulses,
} from './worker-store.ts';

const TICK_MS = 1_000;
/** Processes known only by their heartbeats; more than this are not listed. */
const MAX_FOREIGN = 10_000;

export interface RegistryOptions {
  executor: Executor;
  fleet: Fleet;
  bus: Bus;
  log: Log;
  /** ms by the database's clock. */
  now: () => number;
  /** Name of this replica, stable over restarts. */
  replica: string;
  /** No other process can hold a connection of a worker (embedded database). */
  alone: boolean;
  releaseWorker: ReleaseWorker;
}

/** A heartbeat as it arrived, checked. `metrics` undefined: not sent, the last snapshot stays. */
export interface ArrivedHeartbeat {
  healthy: boolean;
  draining: boolean;
  checks: Pulse['checks'];
  metrics: ReadonlyMap<string, number> | undefined;
}

/**
 * Keeps the fleet view of this replica: reads the tables at start and whenever the bus says that something changed, stamps heartbeats
 * as they arrive, writes them once a second, and tells the fleet that time has passed.
 */
export class Registry {
  readonly #o: RegistryOptions;
  readonly #unwritten = new Map<number, PulseRow>();
  readonly #toRead = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #reading: Promise<void> | null = null;
  #readAll = false;
  /** Negative, so that it is never a registered worker's. */
  #nextForeignId = -1;
  #writing: Promise<void> | null = null;

  constructor(options: RegistryOptions) {
    this.#o = options;
  }

  async start(): Promise<void> {
    const { bus, fleet } = this.#o;
    this.#stops.push(
      bus.subscribe('worker', ({ name }) => this.#refresh(name)),
      bus.subscribe('heartbeat', (heartbeat) => this.#heard(heartbeat)),
      bus.subscribe('live', ({ items }) => {
        for (const { id, workerId, generation } of items) {
          if (workerId === null) fleet.clearLive(id, generation);
          else fleet.setLive(id, workerId, generation);
        }
      }),
      bus.subscribe('resync', () => this.#refreshAll()),
    );
    await markAllDisconnected(this.#o.executor, this.#o.replica, this.#o.alone);
    await this.#load(null);
    const timer = setInterval(() => this.#tick(), TICK_MS);
    this.#stops.push(() => clearInterval(timer));
  }

  /** Writes what was heard but not written. */
  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    await this.#reading;
    await this.#writing;
    await this.#writePulses();
  }

  /**
   * Takes a worker on duty. The newer process wins a name: the older one is told to stop, and what it held is released at once (ruling 25).
   * Errors: CONFLICT where this instance was replaced before; UNAUTHENTICATED where its credential has ended.
   */
  async register(registration: Registration): Promise<FleetWorker> {
    const registered = await registerWorker(this.#o.executor, registration);
    if (registered === 'not-good') throw new MusterError('UNAUTHENTICATED', 'The credential of this worker has ended.');
    if (registered === 'replaced') {
      throw new MusterError(
        'CONFLICT',
        `A newer process has registered as ${registration.name}: this one is replaced.`,
        {
          field: 'instanceId',
          details: { replaced: true },
        },
      );
    }
    const { id, replacedInstance } = registered;
    await this.#load([registration.name]);
    this.#o.bus.publish('worker', { name: registration.name });
    this.#o.log.info(
      { worker: registration.name, role: registration.role, instance: registration.instance },
      'worker registered',
    );
    if (replacedInstance !== null) {
      this.#o.bus.publish('replaced', { worker: registration.name, instanceId: replacedInstance });
      await this.#o.releaseWorker({
        workerId: id,
        instance: replacedInstance,
        cause: 'REPLACED',
        message: 'replaced by a newer process of the same name',
      });
    }
    return this.#required(registration.name);
  }

  /** The worker's inbox is open here. Errors: CONFLICT where the instance has been replaced meanwhile. */
  async connected(worker: FleetWorker): Promise<void> {
    const { name, instanceId } = worker.facts;
    const done = await markConnected(this.#o.executor, worker.id, instanceId, this.#o.replica);
    if (!done)
      throw new MusterError('CONFLICT', `${name} is registered by another process now.`, {
        details: { replaced: true },
      });
    await this.#load([name]);
    this.#o.bus.publish('worker', { name });
  }

  /** The worker's inbox here is closed. */
  async disconnected(worker: FleetWorker): Promise<void> {
    const { name, instanceId } = worker.facts;
    if (!(await markDisconnected(this.#o.executor, worker.id, instanceId, this.#o.replica))) return;
    await this.#load([name]);
    this.#o.bus.publish('worker', { name });
  }

  /** Stamps a heartbeat with the server's time and tells everybody. */
  heartbeat(worker: FleetWorker, arrived: ArrivedHeartbeat): void {
    const { name, instanceId } = worker.facts;
    const seenAt = this.#o.now();
    const before = this.#o.fleet.record(name)?.pulse ?? null;
    const kept = before?.instance === instanceId ? before : null;
    const pulse: Pulse = {
      instance: instanceId,
      seenAt,
      healthy: arrived.healthy,
      draining: arrived.draining,
      checks: arrived.checks,
      metrics: arrived.metrics ?? kept?.metrics ?? null,
      metricsAt: arrived.metrics === undefined ? (kept?.metricsAt ?? null) : seenAt,
    };
    this.#o.fleet.putPulse(name, pulse);
    this.#unwritten.set(worker.id, { workerId: worker.id, pulse });
    this.#o.bus.publish('heartbeat', toWire(worker, pulse));
  }

  /** The worker says goodbye: off duty at once, its executions released. Answers how many those were. */
  async leave(worker: FleetWorker): Promise<number> {
    const { name, instanceId } = worker.facts;
    await markLeft(this.#o.executor, worker.id, instanceId);
    await this.#load([name]);
    this.#o.bus.publish('worker', { name });
    this.#o.log.info({ worker: name, instance: instanceId }, 'worker left');
    const released = await this.#o.releaseWorker({
      workerId: worker.id,
      instance: instanceId,
      cause: 'LEFT',
      message: 'the worker said goodbye',
    });
    return released.length;
  }

  /** Off duty at once, whatever process has the name; what it holds is released. `why`: one clause. */
  async dismiss(name: string, why: string): Promise<void> {
    const id = await markDismissed(this.#o.executor, name);
    if (id === null) return;
    await this.changed(name);
    this.#o.log.warn({ worker: name }, `worker dismissed: ${why}`);
    await this.#o.releaseWorker({ workerId: id, instance: null, cause: 'LEFT', message: why });
  }

  /** Reads the worker again after an operator's change, and tells everybody. */
  async changed(name: string): Promise<FleetWorker | undefined> {
    await this.#load([name]);
    this.#o.bus.publish('worker', { name });
    return this.#o.fleet.get(name);
  }

  #required(name: string): FleetWorker {
    const worker = this.#o.fleet.get(name);
    if (worker === undefined) throw new MusterError('NOT_FOUND', 'There is no such worker.');
    return worker;
  }

  async #load(names: readonly string[] | null): Promise<void> {
    const { executor, fleet } = this.#o;
    const rows = await readWorkers(executor, names);
    for (const row of rows) fleet.putRow(row);
    const present = new Set(rows.map((row) => row.name));
    for (const name of names ?? fleet.names()) {
      if (!present.has(name) && fleet.record(name)?.registered !== false) fleet.remove(name);
    }
    if (names !== null) return;
    const pulses = await readPulses(executor);
    for (const row of rows) {
      const pulse = pulses.get(row.id);
      if (pulse !== undefined) fleet.putPulse(row.name, pulse);
    }
  }

  /** Rows are read in one query for all names that arrive while one is under way. */
  #refresh(name: string): void {
    this.#toRead.add(name);
    this.#read();
  }

  #refreshAll(): void {
    this.#readAll = true;
    this.#read();
  }

  #read(): void {
    this.#reading ??= this.#readLoop()
      .catch((error: unknown) => this.#o.log.error({ err: error }, 'workers could not be read'))
      .finally(() => {
        this.#reading = null;
      });
  }

  async #readLoop(): Promise<void> {
    while (this.#readAll || this.#toRead.size > 0) {
      const names = this.#readAll ? null : [...this.#toRead];
      this.#readAll = false;
      this.#toRead.clear();
      await this.#load(names);
    }
  }

  #heard(heartbeat: WorkerHeartbeat): void {
    const { fleet } = this.#o;
    const pulse = fromWire(heartbeat, this.#o.now());
    if (heartbeat.name !== undefined) {
      fleet.putPulse(heartbeat.name, pulse);
      return;
    }
    const known = fleet.record(heartbeat.instance_id);
    if (known === undefined && this.#foreignCount() >= MAX_FOREIGN) return;
    fleet.putForeign(known?.row ?? foreignRow(heartbeat, this.#nextForeignId--, this.#o.now()), pulse);
  }

  #foreignCount(): number {
    return this.#o.fleet.all().filter((worker) => !worker.registered).length;
  }

  #tick(): void {
    const { fleet } = this.#o;
    fleet.tick();
    for (const worker of fleet.all()) {
      if (!worker.registered && worker.facts.status === 'OFFLINE') fleet.remove(worker.facts.name);
    }
    this.#writing ??= this.#writePulses()
      .catch((error: unknown) =>
        this.#o.log.warn({ err: error }, 'heartbeats could not be written; they are tried again'),
      )
      .finally(() => {
        this.#writing = null;
      });
  }

  async #writePulses(): Promise<void> {
    const pulses = [...this.#unwritten.values()];
    if (pulses.length === 0) return;
    this.#unwritten.clear();
    try {
      await writePulses(this.#o.executor, pulses);
    } catch (error) {
      for (const row of pulses) if (!this.#unwritten.has(row.workerId)) this.#unwritten.set(row.workerId, row);
      throw error;
    }
  }
}

function toWire(worker: FleetWorker, pulse: Pulse): WorkerHeartbeat {
  return {
    instance_id: pulse.instance,
    hostname: worker.hostname,
    role: worker.facts.role,
    version: worker.version,
    started_at: worker.startedAt.toISOString(),
    healthy: pulse.healthy && pulse.checks.every((check) => check.healthy),
    checks: pulse.checks.map(({ name, healthy, message }) =>
      message === null ? { name, healthy } : { name, healthy, message },
    ),
    name: worker.facts.name,
    seen_at: pulse.seenAt,
    draining: pulse.draining,
    ...(pulse.metrics === null
      ? {}
      : { metrics: Object.fromEntries(pulse.metrics), metrics_at: pulse.metricsAt ?? pulse.seenAt }),
  };
}

function fromWire(heartbeat: WorkerHeartbeat, now: number): Pulse {
  const seenAt = heartbeat.seen_at ?? now;
  return {
    instance: heartbeat.instance_id,
    seenAt,
    healthy: heartbeat.healthy,
    draining: heartbeat.draining ?? false,
    checks: heartbeat.checks.map(({ name, healthy, message }) => ({ name, healthy, message: message ?? null })),
    metrics: heartbeat.metrics === undefined ? null : new Map(Object.entries(heartbeat.metrics)),
    metricsAt: heartbeat.metrics === undefined ? null : (heartbeat.metrics_at ?? seenAt),
  };
}

/** What a heartbeat says of a process that never registered; its name is its instance id (ruling 29). */
function foreignRow(heartbeat: WorkerHeartbeat, id: number, now: number): WorkerRow {
  return {
    id,
    name: heartbeat.instance_id,
    instance: heartbeat.instance_id,
    role: heartbeat.role,
    hostname: heartbeat.hostname,
    version: heartbeat.version,
    labels: {},
    services: [],
    resources: null,
    packages: [],
    runners: [],
    workflows: [],
    capacity: null,
    availability: 'ACTIVE',
    replica: null,
    startedAt: new Date(heartbeat.started_at),
    registeredAt: new Date(now),
    connectedAt: null,
    disconnectedAt: null,
    leftAt: null,
    metadata: new Map(),
  };
}
