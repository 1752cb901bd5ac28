import { randomUUID } from 'node:crypto';
import { parseWorkflowRef } from '@muster/core';
import { type Database, migrate, openDatabase } from '@muster/db';
import type { Bus } from './bus/bus.ts';
import { createBus } from './bus/create-bus.ts';
import type { Clock } from './clock.ts';
import { createDispatch } from './compose-dispatch.ts';
import type { Config } from './config.ts';
import type { Dispatcher } from './dispatch/dispatcher.ts';
import { Housekeeping } from './dispatch/housekeeping.ts';
import { type UuidSource, uuidSource } from './dispatch/ids.ts';
import { createExecutor, type Executor } from './dispatch/statements/executor.ts';
import type { Fleet } from './fleet/fleet.ts';
import { invariant } from './lib/invariant.ts';
import type { Log } from './log.ts';
import { AuditChainStore } from './modules/audit/audit-chain-store.ts';
import { AuditSealer } from './modules/audit/audit-sealer.ts';
import { DecisionStore } from './modules/decision/decision-store.ts';
import { ExecutionService } from './modules/execution/execution-service.ts';
import { ExecutionTokens } from './modules/execution-token/execution-tokens.ts';
import { WorkerCredentialStore } from './modules/join-token/worker-credential-store.ts';
import { OperatorStore } from './modules/worker/operator-store.ts';
import { createFleet, createWorkforce, type Workforce } from './modules/worker/workforce.ts';
import { WorkflowStore } from './modules/workflow/workflow-store.ts';

export interface ControlPlaneOptions {
  config: Config;
  log: Log;
  clock: Clock;
  /** Uniform in [0, 1). */
  random: () => number;
}

/** The working parts behind the API: database, bus, fleet, dispatcher, and the services that write. */
export interface ControlPlane {
  database: Database;
  executor: Executor;
  ids: UuidSource;
  bus: Bus;
  fleet: Fleet;
  workforce: Workforce;
  workflowStore: WorkflowStore;
  executions: ExecutionService;
  decisions: DecisionStore;
  dispatcher: Dispatcher;
  /** Key of the HMACs that idempotency keys are compared by. */
  idempotencyKey: Uint8Array;
  executionTokens: ExecutionTokens;
  workerCredentialStore: WorkerCredentialStore;
  /** Ends the inboxes, so that workers turn to another replica, and takes no new work. */
  drain(): Promise<void>;
  /** After `drain`: lets writes in flight finish, gives leadership up, closes the database. */
  close(): Promise<void>;
}

/** Opens and migrates the database and starts everything that stands on it. What fails half-way is closed again. */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { config, log } = options;
  const closers: (() => Promise<unknown>)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) {
      await close().catch((error: unknown) => log.error({ err: error }, 'a part could not be closed properly'));
    }
  };
  try {
    const database = await open(config, log);
    closers.push(() => database.close());
    await migrate(database, config.migrationsDir === null ? {} : { migrationsDir: config.migrationsDir });
    return await assemble(options, database, closers, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

function open(config: Config, log: Log): Promise<Database> {
  const onError = (error: Error): void => log.warn({ err: error }, 'a database connection broke');
  if (config.databaseUrl === null) return openDatabase({ dataDir: config.dataDir }, { onError });
  return openDatabase(config.databaseUrl, {
    directUrl: config.databaseDirectUrl ?? config.databaseUrl,
    prepare: config.prepare,
    onError,
  });
}

async function assemble(
  { config, log, clock, random }: ControlPlaneOptions,
  database: Database,
  closers: (() => Promise<unknown>)[],
  closeAll: () => Promise<void>,
): Promise<ControlPlane> {
  const executor = createExecutor(database);
  const ids = uuidSource(database);
  const now = (): number => database.now();
  const holder = randomUUID();
  const bus = await createBus(database, holder, log);
  closers.push(() => bus.close());

  const fleet = createFleet(config, now, log);
  const workflowStore = new WorkflowStore({
    prisma: database.prisma,
    executor,
    newId: () => ids.next(),
    now: clock.monotonic,
  });
  const decisions = new DecisionStore(executor);
  const dispatch = await createDispatch({
    config,
    log,
    clock,
    random,
    database,
    executor,
    ids,
    bus,
    fleet,
    workflowStore,
    decisions,
    holder,
  });
  closers.push(() => dispatch.close());
  const { dispatcher, releaser, figures } = dispatch;
  const executionTokens = new ExecutionTokens(await readSecret(database, 'execution-token'));
  const workerCredentialStore = new WorkerCredentialStore({
    prisma: database.prisma,
    newId: () => ids.next(),
    now,
    lifetimeMs: config.workerCredentialSeconds * 1_000,
  });
  const workforce = createWorkforce({
    config,
    executor,
    fleet,
    bus,
    log,
    ids,
    now,
    versionById: async (id) => invariant(await workflowStore.versionById(id), `version ${id} is gone`),
    findVersion: async (workflow, number) => {
      const parsed = parseWorkflowRef(workflow);
      const latest = parsed && (await workflowStore.latestByRef(`${parsed.namespace}/${parsed.name}`));
      return latest === null || number === null ? latest : workflowStore.versionByNumber(latest.workflowId, number);
    },
    tokenFor: (claim) => executionTokens.sign(claim),
    parkTtlSeconds: config.parkTtlSeconds,
    releaseWorker: (request) => releaser.releaseWorker(request),
    recordEnd: (state, count) => figures.recordEnd(state, count),
    operatorStore: new OperatorStore(database.prisma, () => ids.next(), now, workerCredentialStore),
    wake: (reason) => bus.publish('wake', { reason }),
  });
  await workforce.start();
  closers.push(() => workforce.close());
  await dispatcher.start();
  closers.push(() => dispatcher.close());
  closers.push(startUpkeep({ config, executor, bus, database, dispatcher, clock, log }));
  const executions = new ExecutionService({
    executor,
    bus,
    ids,
    parkTtlSeconds: config.parkTtlSeconds,
    queue: dispatcher,
    binding: { exists: (name) => fleet.get(name)?.registered === true },
    onError: (error) => log.error({ err: error }, 'waiting executions could not be read'),
  });
  closers.push(() => executions.close());
  return {
    database,
    executor,
    ids,
    bus,
    fleet,
    workforce,
    workflowStore,
    executions,
    decisions,
    dispatcher,
    idempotencyKey: await readSecret(database, 'idempotency'),
    executionTokens,
    workerCredentialStore,
    drain: () => workforce.endInboxes(),
    close: closeAll,
  };
}

/** What the leader does beside dispatching. Answers what ends it. */
function startUpkeep(parts: {
  config: Config;
  executor: Executor;
  bus: Bus;
  database: Database;
  dispatcher: Dispatcher;
  clock: Clock;
  log: Log;
}): () => Promise<void> {
  const { config, executor, bus, database, dispatcher, clock, log } = parts;
  const session = (): ReturnType<Dispatcher['session']> => dispatcher.session();
  const housekeeping = new Housekeeping({
    executor,
    bus,
    kind: database.kind,
    retention: config.retention,
    session,
    clock,
    now: () => database.now(),
    log,
  });
  housekeeping.start();
  const sealer = new AuditSealer({ chain: new AuditChainStore(executor), session, log });
  sealer.start();
  return async () => {
    await sealer.close();
    await housekeeping.close();
  };
}

async function readSecret(database: Database, name: string): Promise<Uint8Array> {
  const { rows } = await database.query<{ value: Uint8Array }>('SELECT value FROM secret WHERE name = $1', [name]);
  return invariant(rows[0], `secret ${name} is missing`).value;
}
