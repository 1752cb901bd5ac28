import { livenessWindows } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { Config } from '../../config.ts';
import type { UuidSource } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { Log } from '../../log.ts';
import { type InboxSnapshot, Inboxes } from './inbox.ts';
import { readOnWorker } from './inbox-store.ts';
import type { OperatorStore } from './operator-store.ts';
import { Registry } from './registry.ts';
import { ReportService, type ReportServiceOptions } from './report-service.ts';
import { UnlistedClaims } from './unlisted-claims.ts';
import { WorkerProtocol } from './worker-protocol.ts';
import { WorkerService } from './worker-service.ts';

export interface WorkforceOptions
  extends Pick<
    ReportServiceOptions,
    'versionById' | 'tokenFor' | 'findVersion' | 'releaseWorker' | 'recordEnd' | 'parkTtlSeconds'
  > {
  config: Pick<Config, 'heartbeatSeconds' | 'workerName' | 'databaseUrl'>;
  executor: Executor;
  fleet: Fleet;
  bus: Bus;
  log: Log;
  ids: UuidSource;
  operatorStore: OperatorStore;
  /** ms by the database's clock. */
  now: () => number;
  wake: (reason: string) => void;
}

export interface Workforce {
  registry: Registry;
  protocol: WorkerProtocol;
  workers: WorkerService;
  /** Reads the tables and begins to listen. */
  start(): Promise<void>;
  /** Workers turn to another replica; what they report here until then is still taken. */
  endInboxes(): Promise<void>;
  close(): Promise<void>;
}

/** The fleet view of one replica; the dispatcher reads it, the workforce writes it. */
export function createFleet(
  config: Pick<Config, 'heartbeatSeconds' | 'staleSeconds' | 'offlineSeconds'>,
  now: () => number,
  log: Log,
): Fleet {
  return new Fleet({
    now,
    windows: livenessWindows(config),
    onError: (error) => log.error({ err: error }, 'a listener of the fleet failed'),
  });
}

/** Puts together everything that has to do with workers. */
export function createWorkforce(options: WorkforceOptions): Workforce {
  const { executor, fleet, bus, log, now, config } = options;
  const registry = new Registry({
    executor,
    fleet,
    bus,
    log,
    now,
    replica: config.workerName,
    alone: config.databaseUrl === null,
    releaseWorker: options.releaseWorker,
  });
  const inboxes = new Inboxes({
    bus,
    fleet,
    connected: (worker) => registry.connected(worker),
    disconnected: (worker) => registry.disconnected(worker),
    snapshot: (worker) => readSnapshot(options, worker),
    onError: (error) => log.error({ err: error }, 'an inbox could not be closed properly'),
  });
  const reports = new ReportService(options);
  const unlisted = new UnlistedClaims(options);
  return {
    registry,
    protocol: new WorkerProtocol({
      registry,
      inboxes,
      reports,
      unlisted,
      fleet,
      log,
      heartbeatSeconds: config.heartbeatSeconds,
    }),
    workers: new WorkerService({
      fleet,
      registry,
      store: options.operatorStore,
      wake: options.wake,
      credentialsEnded: (ids) => {
        for (const workerCredentialId of ids) bus.publish('access', { workerCredentialId });
      },
      releaseWorker: options.releaseWorker,
    }),
    start: () => registry.start(),
    endInboxes: () => inboxes.close(),
    close: async () => {
      await inboxes.close();
      await registry.close();
    },
  };
}

async function readSnapshot({ executor, versionById }: WorkforceOptions, worker: FleetWorker): Promise<InboxSnapshot> {
  const rows = await readOnWorker(executor, { workerId: worker.id, instance: worker.facts.instanceId });
  const cancelling = rows.filter((row) => row.state === 'CANCELLING');
  const others = rows.filter((row) => row.state !== 'CANCELLING');
  return {
    assignments: await Promise.all(
      others.map(async ({ id, generation, versionId }) => ({
        id,
        generation,
        workflow: (await versionById(versionId)).workflowRef,
      })),
    ),
    cancels: cancelling.map(({ id, generation }) => ({ id, generation })),
  };
}
