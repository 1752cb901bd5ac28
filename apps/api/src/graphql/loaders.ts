import DataLoader from 'dataloader';
import { type Decision, type JsonValue, MusterError } from '@muster/core';
import type { StoredDecision } from '../modules/decision/stored-decision.ts';
import type { AttemptRow, ExecutionPayload, ExecutionRow } from '../modules/execution/execution-rows.ts';
import type { ScheduleRow } from '../modules/schedule/schedule-row.ts';
import { roleViews, type RoleView } from '../modules/worker/role-view.ts';
import type { VersionRow, WorkflowRow } from '../modules/workflow/workflow-store.ts';
import type { Services } from '../services.ts';

/** Batched reads, cached for one answer: a page costs a constant number of statements. */
export interface Loaders {
  readonly version: DataLoader<number, VersionRow | null>;
  readonly latestVersion: DataLoader<number, VersionRow>;
  readonly workflow: DataLoader<number, WorkflowRow | null>;
  readonly workflowByRef: DataLoader<string, WorkflowRow | null>;
  readonly execution: DataLoader<string, ExecutionRow | null>;
  readonly payload: DataLoader<string, ExecutionPayload>;
  readonly attempts: DataLoader<string, AttemptRow[]>;
  readonly decision: DataLoader<string, StoredDecision | null>;
  readonly latestDecision: DataLoader<string, StoredDecision | null>;
  readonly decisionOfGeneration: DataLoader<{ executionId: string; generation: number }, StoredDecision | null, string>;
  readonly whyWaiting: DataLoader<string, Decision | null>;
  readonly lastExecutionAt: DataLoader<number, Date | null>;
  readonly schedule: DataLoader<number, ScheduleRow | null>;
  readonly scheduleInput: DataLoader<number, JsonValue>;
  readonly scheduleOfExecution: DataLoader<string, { scheduleId: number; run: Date | null } | null>;
  /** Executions per variant label in a window of so many minutes, by deployment. */
  observed(minutes: number): DataLoader<number, ReadonlyMap<string, number>>;
  roles(): ReadonlyMap<string, RoleView>;
}

export function createLoaders(services: Services): Loaders {
  const { workflowStore, executionReader, decisions, deploymentUsage, dispatcher, scheduleStore } = services;
  const observed = new Map<number, DataLoader<number, ReadonlyMap<string, number>>>();
  let roles: ReadonlyMap<string, RoleView> | undefined;
  return {
    version: byMap((ids) => workflowStore.versionsByIds(ids)),
    latestVersion: new DataLoader<number, VersionRow>(async (ids) => {
      const found = await workflowStore.latestByWorkflows(ids);
      return ids.map((id) => found.get(id) ?? new Error(`workflow ${id} has no version`));
    }),
    workflow: byMap((ids) => workflowStore.byIds(ids)),
    workflowByRef: byMap((refs) => workflowStore.byRefs(refs)),
    execution: byMap((ids) => executionReader.byIds(ids)),
    payload: new DataLoader<string, ExecutionPayload>(
      async (ids) => {
        const found = await executionReader.payloads(ids);
        return ids.map((id) => found.get(id) ?? (found.has(id) ? tooLarge() : { input: null, output: null }));
      },
      { maxBatchSize: 200 },
    ),
    attempts: new DataLoader<string, AttemptRow[]>(async (ids) => {
      const found = await executionReader.attempts(ids);
      return ids.map((id) => found.get(id) ?? []);
    }),
    decision: byMap((ids) => decisions.byIds(ids)),
    latestDecision: byMap((ids) => decisions.latestByExecutions(ids)),
    decisionOfGeneration: new DataLoader<{ executionId: string; generation: number }, StoredDecision | null, string>(
      async (keys) => {
        const found = await decisions.byGenerations(keys);
        return keys.map((key) => found.get(generationKey(key)) ?? null);
      },
      { cacheKeyFn: generationKey },
    ),
    whyWaiting: byMap((ids) => dispatcher.whyWaiting(ids)),
    lastExecutionAt: byMap((ids) => deploymentUsage.lastExecutions(ids)),
    schedule: byMap((ids) => scheduleStore.byIds(ids)),
    scheduleInput: new DataLoader<number, JsonValue>(
      async (ids) => {
        const found = await scheduleStore.inputs(ids);
        return ids.map((id) => found.get(id) ?? (found.has(id) && found.get(id) === undefined ? tooLarge() : null));
      },
      { maxBatchSize: 200 },
    ),
    scheduleOfExecution: byMap((ids) => scheduleStore.ofExecutions(ids)),
    observed(minutes) {
      let loader = observed.get(minutes);
      if (!loader) {
        const none: ReadonlyMap<string, number> = new Map();
        loader = new DataLoader(async (ids) => {
          const found = await deploymentUsage.observed(ids, minutes);
          return ids.map((id) => found.get(id) ?? none);
        });
        observed.set(minutes, loader);
      }
      return loader;
    },
    roles() {
      roles ??= new Map(
        roleViews(services.fleet.roleHealth(), services.deployments.all()).map((role) => [role.role, role]),
      );
      return roles;
    },
  };
}

function byMap<K, V>(load: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>): DataLoader<K, V | null> {
  return new DataLoader<K, V | null>(
    async (keys) => {
      const found = await load(keys);
      return keys.map((key) => found.get(key) ?? null);
    },
    { maxBatchSize: 500 },
  );
}

function generationKey(key: { executionId: string; generation: number }): string {
  return `${key.executionId}:${key.generation}`;
}

function tooLarge(): MusterError {
  return new MusterError(
    'TOO_LARGE',
    'The inputs and outputs of this page have more than 32 MiB; ask for smaller pages.',
  );
}
