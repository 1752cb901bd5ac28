import { randomBytes, randomUUID } from 'node:crypto';
import { livenessWindows } from '@muster/core';
import type { Database } from '@muster/db';
import type { Bus, BusMessages, BusTopic } from '../../bus/bus.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { type Clock, systemClock } from '../../clock.ts';
import { Fleet } from '../../fleet/fleet.ts';
import type { WorkerRow } from '../../fleet/worker-record.ts';
import { createLog } from '../../log.ts';
import { DecisionStore } from '../../modules/decision/decision-store.ts';
import { ExecutionService } from '../../modules/execution/execution-service.ts';
import type { SubmitItem } from '../../modules/execution/submission.ts';
import { administrator, type Viewer } from '../../modules/viewer/viewer.ts';
import { claimExecutions, type EndItem, endExecutions } from '../../modules/worker/report-store.ts';
import { WorkflowStore } from '../../modules/workflow/workflow-store.ts';
import { Dispatcher } from '../dispatcher.ts';
import { DispatchFigures } from '../figures.ts';
import { uuidSource } from '../ids.ts';
import { Releaser } from '../release.ts';
import { createExecutor, type Executor } from '../statements/executor.ts';

export interface HarnessOptions {
  claimSeconds?: number;
  cancelSeconds?: number;
  offlineSeconds?: number;
  staleSeconds?: number;
  parkTtlSeconds?: number;
  clock?: Clock;
}

export interface TestWorker {
  id: number;
  name: string;
  instance: string;
}

export const operator: Viewer = { ...administrator, name: 'operator' };

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** One replica's dispatching side on a real database: everything but the network. Workers are rows, and act through the report statements. */
export async function createHarness(database: Database, options: HarnessOptions = {}) {
  const {
    claimSeconds = 5,
    cancelSeconds = 30,
    offlineSeconds = 60,
    staleSeconds = 30,
    parkTtlSeconds = 0,
    clock = systemClock,
  } = options;
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const statements = new Map<string, number>();
  const counted = createExecutor(database);
  const executor: Executor = {
    run: (statement, values) => {
      statements.set(statement.name, (statements.get(statement.name) ?? 0) + 1);
      return counted.run(statement, values);
    },
  };
  const failures: unknown[] = [];
  const bus: Bus = createInProcessBus((_topic, error) => failures.push(error));
  const ids = uuidSource(database);
  const fleet = new Fleet({
    now: () => database.now(),
    windows: livenessWindows({ heartbeatSeconds: 1, staleSeconds, offlineSeconds }),
    onError: (error) => failures.push(error),
  });
  bus.subscribe('live', ({ items }) => {
    for (const { id, workerId, generation } of items) {
      if (workerId === null) fleet.clearLive(id, generation);
      else fleet.setLive(id, workerId, generation);
    }
  });
  const figures = new DispatchFigures(() => clock.monotonic(), Math.random);
  const releaser = new Releaser({
    executor,
    bus,
    figures,
    settings: { parkTtlSeconds, claimSeconds, cancelSeconds, offlineSeconds },
  });
  const decisions = new DecisionStore(executor);
  const lease = await database.dedicated();
  const dispatcher = new Dispatcher({
    executor,
    leaseExecutor: createExecutor(lease),
    bus,
    fleet,
    versions: new WorkflowStore({
      prisma: database.prisma,
      executor,
      newId: () => ids.next(),
      now: () => clock.monotonic(),
    }),
    decisions,
    releaser,
    figures,
    ids,
    clock,
    now: () => database.now(),
    log,
    settings: { claimSeconds, cancelSeconds, parkTtlSeconds, mayLead: true, exclusive: true, holder: randomUUID() },
  });
  const executions = new ExecutionService({
    executor,
    bus,
    ids,
    parkTtlSeconds,
    queue: dispatcher,
    binding: { exists: (name) => fleet.get(name)?.registered === true },
    onError: (error) => failures.push(error),
  });
  const heartbeats = new Map<string, NodeJS.Timeout>();
  const aging = setInterval(() => fleet.tick(), 200);

  const harness = {
    database,
    executor,
    bus,
    ids,
    fleet,
    figures,
    releaser,
    decisions,
    dispatcher,
    executions,
    lines,
    failures,
    /** How often each statement was run, by name. */
    statements,

    /** A workflow with one version. Specs are stored as given. */
    async version(spec: { routing?: unknown; affinity?: unknown; requests?: unknown; maxAttempts?: number } = {}) {
      const name = `w${randomBytes(6).toString('hex')}`;
      const { rows } = await database.query<{ id: number }>(
        `WITH w AS (INSERT INTO workflow (namespace, name, created_by) VALUES ('test', $1, 'test') RETURNING id)
         INSERT INTO workflow_version (workflow_id, number, routing, affinity, requests, max_attempts, fingerprint, created_by)
         SELECT id, 1, $2::json, $3::json, $4::json, $5, '\\x00', 'test' FROM w RETURNING id`,
        [name, json(spec.routing), json(spec.affinity), json(spec.requests), spec.maxAttempts ?? 3],
      );
      return { versionId: rows[0]?.id ?? 0, workflowRef: `test/${name}` };
    },

    /** Registers a connected worker whose heartbeats keep coming until `silence`. */
    async worker(name: string, more: Partial<WorkerRow> = {}): Promise<TestWorker> {
      const instance = more.instance ?? randomUUID();
      const at = new Date(database.now());
      const role = more.role ?? 'worker';
      const { rows } = await database.query<{ id: number }>(
        `INSERT INTO worker (name, instance, role, hostname, version, capacity, started_at, registered_at, connected_at)
         VALUES ($1, $2, $3, 'h', '1', $4, now(), clock_timestamp(), clock_timestamp())
         ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, registered_at = excluded.registered_at,
           connected_at = excluded.connected_at, disconnected_at = NULL, left_at = NULL, removed_at = NULL RETURNING id`,
        [name, instance, role, more.capacity ?? null],
      );
      const row: WorkerRow = {
        id: rows[0]?.id ?? 0,
        name,
        instance,
        role,
        hostname: 'h',
        version: '1',
        labels: {},
        services: [],
        resources: null,
        packages: [],
        runners: ['inprocess'],
        workflows: [],
        capacity: null,
        availability: 'ACTIVE',
        replica: 'test',
        startedAt: at,
        registeredAt: at,
        connectedAt: at,
        disconnectedAt: null,
        leftAt: null,
        metadata: new Map(),
        ...more,
      };
      fleet.putRow(row);
      const beat = (): void => {
        fleet.putPulse(name, {
          instance,
          seenAt: database.now(),
          healthy: true,
          draining: false,
          checks: [],
          metrics: null,
          metricsAt: null,
        });
      };
      beat();
      clearInterval(heartbeats.get(name));
      heartbeats.set(name, setInterval(beat, 100));
      return { id: row.id, name, instance };
    },

    /** Changes what is known of a worker, in the registry and in its row. */
    async changeWorker(name: string, change: Partial<WorkerRow>): Promise<void> {
      const known = fleet.record(name);
      if (known === undefined) throw new Error(`no worker ${name}`);
      const row = { ...known.row, ...change };
      await database.query(
        'UPDATE worker SET disconnected_at = $2, left_at = $3, availability = $4, instance = $5 WHERE name = $1',
        [name, row.disconnectedAt, row.leftAt, row.availability, row.instance],
      );
      fleet.putRow(row);
    },

    /** Its heartbeats stop. */
    silence(name: string): void {
      clearInterval(heartbeats.get(name));
    },

    async submit(item: Pick<SubmitItem, 'versionId' | 'workflowRef'> & Partial<SubmitItem>): Promise<string> {
      const [outcome] = await executions.submit([{ targetRoles: [], priority: 0, input: null, ...item }], operator);
      if (outcome === undefined || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
      return outcome.id;
    },

    async row(id: string): Promise<Record<string, unknown>> {
      const { rows } = await database.query('SELECT * FROM execution WHERE id = $1', [id]);
      return rows[0] ?? {};
    },

    async state(id: string): Promise<unknown> {
      return (await harness.row(id)).state;
    },

    /** Claims what is scheduled to the worker, as its SDK would; answers what it got. */
    async claim(worker: TestWorker, items: readonly { id: string; generation: number }[]) {
      const rows = await claimExecutions(
        executor,
        { workerId: worker.id, instance: worker.instance },
        items.map((item) => ({ ...item, started: true })),
      );
      for (const row of rows) bus.publish('execution', { id: row.id, revision: row.revision });
      return rows;
    },

    async end(worker: TestWorker, items: readonly (Pick<EndItem, 'id' | 'generation'> & Partial<EndItem>)[]) {
      const rows = await endExecutions(
        executor,
        { workerId: worker.id, instance: worker.instance },
        items.map((item) => ({ state: 'COMPLETED', output: null, error: null, ...item })),
        parkTtlSeconds,
      );
      bus.publish('live', { items: rows.map(({ id, generation }) => ({ id, workerId: null, generation })) });
      for (const row of rows) bus.publish('execution', { id: row.id, revision: row.revision });
      return rows;
    },

    /** What the worker is given from now on, claimed and ended at once. Ends with the harness. */
    serve(worker: TestWorker, handle?: (item: { id: string; generation: number }) => Promise<void>): void {
      bus.subscribe('assigned', ({ worker: name, items }) => {
        if (name !== worker.name) return;
        const work = async (): Promise<void> => {
          const claimed = await harness.claim(worker, items);
          if (handle === undefined) await harness.end(worker, claimed);
          else await Promise.all(claimed.map((item) => handle(item)));
        };
        work().catch((error: unknown) => failures.push(error));
      });
    },

    /** The first message of this topic, from now on, that fits. */
    next<K extends BusTopic>(topic: K, fits: (message: BusMessages[K]) => boolean): Promise<BusMessages[K]> {
      return new Promise((resolve) => {
        const stop = bus.subscribe(topic, (message) => {
          if (!fits(message)) return;
          stop();
          resolve(message);
        });
      });
    },

    async close(): Promise<void> {
      clearInterval(aging);
      for (const timer of heartbeats.values()) clearInterval(timer);
      await executions.close();
      await dispatcher.close();
      await lease.close();
      await bus.close();
    },
  };
  return harness;
}

function json(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** Looks again until it is so; fails after `timeoutMs`. */
export async function eventually(check: () => Promise<boolean> | boolean, timeoutMs = 10_000): Promise<void> {
  const until = Date.now() + timeoutMs;
  while (!(await check())) {
    if (Date.now() > until) throw new Error(`did not become so within ${timeoutMs} ms: ${check.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
