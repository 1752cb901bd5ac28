import { livenessWindows } from '@muster/core';
import type { Database } from '@muster/db';
import type { Bus } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { DispatchFigures } from './dispatch/figures.ts';
import type { UuidSource } from './dispatch/ids.ts';
import { Releaser } from './dispatch/release.ts';
import type { Executor } from './dispatch/statements/executor.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { Log } from './log.ts';
import type { DecisionStore } from './modules/decision/decision-store.ts';
import type { WorkflowStore } from './modules/workflow/workflow-store.ts';

export interface DispatchDeps {
  config: Config;
  log: Log;
  clock: Clock;
  /** Uniform in [0, 1). */
  random: () => number;
  database: Database;
  executor: Executor;
  ids: UuidSource;
  bus: Bus;
  fleet: Fleet;
  workflowStore: WorkflowStore;
  decisions: DecisionStore;
  /** Names this process in the leadership row. */
  holder: string;
}

export interface Dispatch {
  /** Not started yet. */
  dispatcher: Dispatcher;
  releaser: Releaser;
  figures: DispatchFigures;
  /** Gives the connection of the lease back, after the dispatcher was closed. */
  close(): Promise<void>;
}

/** The dispatcher and what it shares with the workers' side: releases and figures. */
export async function createDispatch(deps: DispatchDeps): Promise<Dispatch> {
  const { config, log, clock, random, database, executor, ids, bus, fleet, workflowStore, decisions, holder } = deps;
  const figures = new DispatchFigures(clock.monotonic, random);
  const releaser = new Releaser({
    executor,
    bus,
    figures,
    settings: {
      parkTtlSeconds: config.parkTtlSeconds,
      claimSeconds: config.claimSeconds,
      cancelSeconds: config.cancelSeconds,
      offlineSeconds: livenessWindows(config).offlineMs / 1_000,
    },
  });
  const lease = await database.dedicated();
  const dispatcher = new Dispatcher({
    executor,
    leaseExecutor: leaseExecutor(database, lease),
    bus,
    fleet,
    versions: workflowStore,
    decisions,
    releaser,
    figures,
    ids,
    clock,
    now: () => database.now(),
    log,
    settings: {
      claimSeconds: config.claimSeconds,
      cancelSeconds: config.cancelSeconds,
      parkTtlSeconds: config.parkTtlSeconds,
      mayLead: config.mayLead,
      exclusive: database.kind === 'embedded',
      holder,
    },
  });
  return { dispatcher, releaser, figures, close: () => lease.close() };
}

/** The lease is renewed on a connection of its own, so that no queue of statements can delay it. */
function leaseExecutor(database: Database, lease: Awaited<ReturnType<Database['dedicated']>>): Executor {
  return {
    run: async (statement, values) => {
      const result = await lease.query(statement.text, values, database.prepare ? { name: statement.name } : {});
      return { rows: result.rows as never[], rowCount: result.rowCount };
    },
  };
}
