import DataLoader from 'dataloader';
import { type Decision, type JsonValue, MusterError } from '@muster/core';
import type { ApiTokenRow } from '../modules/access/api-token-store.ts';
import type { LoginSessionRow } from '../modules/access/login-session-store.ts';
import type { PrincipalRow } from '../modules/access/principal-store.ts';
import type { AccessRoleRow } from '../modules/access/role-store.ts';
import type { StoredDecision } from '../modules/decision/stored-decision.ts';
import type { AttemptRow, ExecutionPayload, ExecutionRow } from '../modules/execution/execution-rows.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { ScheduleRow } from '../modules/schedule/schedule-row.ts';
import { isBlind } from '../modules/viewer/readable.ts';
import { roleViews, type RoleView } from '../modules/worker/role-view.ts';
import type { VersionRow, WorkflowRow } from '../modules/workflow/workflow-store.ts';
import type { Services } from '../services.ts';

/**
 * Batched reads, cached for one answer: a page costs a constant number of statements. What the viewer may not read is null, as what is not there; what is
 * loaded by the key of something else is for what is shown already.
 */
export interface Loaders {
  /** Also of a workflow that the viewer may not read: for what an execution or decision that is shown says of it. */
  readonly versionFacts: DataLoader<number, VersionRow | null>;
  readonly version: DataLoader<number, VersionRow | null>;
  readonly latestVersion: DataLoader<number, VersionRow>;
  readonly workflow: DataLoader<number, WorkflowRow | null>;
  readonly workflowByRef: DataLoader<string, WorkflowRow | null>;
  readonly execution: DataLoader<string, ExecutionRow | null>;
  /** What this very request has started, or acted on. */
  readonly acted: DataLoader<string, ExecutionRow | null>;
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
  readonly principal: DataLoader<number, PrincipalRow | null>;
  readonly apiTokensOf: DataLoader<number, readonly ApiTokenRow[] | null>;
  readonly loginSessionsOf: DataLoader<number, readonly LoginSessionRow[] | null>;
  readonly accessRole: DataLoader<string, AccessRoleRow | null>;
  readonly principalsWithRole: DataLoader<string, number | null>;
  /** Executions per variant label in a window of so many minutes, by deployment. */
  observed(minutes: number): DataLoader<number, ReadonlyMap<string, number>>;
  roles(): ReadonlyMap<string, RoleView>;
}

/** `viewerOf` answers who asks, with what he may do now. */
export function createLoaders(services: Services, viewerOf: () => Viewer): Loaders {
  const { workflowStore, workflowReads, executionReads, decisions, deploymentUsage, dispatcher } = services;
  const { scheduleReads, scheduleStore } = services;
  const observed = new Map<number, DataLoader<number, ReadonlyMap<string, number>>>();
  let roles: ReadonlyMap<string, RoleView> | undefined;
  return {
    versionFacts: byMap((ids) => workflowStore.versionsByIds(ids)),
    version: byMap((ids) => workflowReads.versionsByIds(ids, viewerOf())),
    latestVersion: new DataLoader<number, VersionRow>(async (ids) => {
      const found = await workflowStore.latestByWorkflows(ids);
      return ids.map((id) => found.get(id) ?? new Error(`workflow ${id} has no version`));
    }),
    workflow: byMap((ids) => workflowReads.byIds(ids, viewerOf())),
    workflowByRef: byMap((refs) => workflowReads.byRefs(refs, viewerOf())),
    execution: byMap((ids) => executionReads.byIds(ids, viewerOf())),
    acted: byMap((ids) => executionReads.acted(ids, viewerOf())),
    payload: new DataLoader<string, ExecutionPayload>(
      async (ids) => {
        const found = await executionReads.payloads(ids);
        return ids.map((id) => found.get(id) ?? (found.has(id) ? tooLarge() : { input: null, output: null }));
      },
      { maxBatchSize: 200 },
    ),
    attempts: new DataLoader<string, AttemptRow[]>(async (ids) => {
      const found = await executionReads.attempts(ids, viewerOf());
      return ids.map((id) => found.get(id) ?? []);
    }),
    decision: byMap((ids) => decisions.byIds(ids, viewerOf())),
    latestDecision: byMap((ids) => decisions.latestByExecutions(ids, viewerOf())),
    decisionOfGeneration: new DataLoader<{ executionId: string; generation: number }, StoredDecision | null, string>(
      async (keys) => {
        const found = await decisions.byGenerations(keys, viewerOf());
        return keys.map((key) => found.get(generationKey(key)) ?? null);
      },
      { cacheKeyFn: generationKey },
    ),
    whyWaiting: byMap((ids) => (isBlind(viewerOf()) ? Promise.resolve(new Map()) : dispatcher.whyWaiting(ids))),
    lastExecutionAt: byMap((ids) => deploymentUsage.lastExecutions(ids)),
    schedule: byMap((ids) => scheduleReads.byIds(ids, viewerOf())),
    scheduleInput: new DataLoader<number, JsonValue>(
      async (ids) => {
        const found = await scheduleStore.inputs(ids);
        return ids.map((id) => found.get(id) ?? (found.has(id) && found.get(id) === undefined ? tooLarge() : null));
      },
      { maxBatchSize: 200 },
    ),
    scheduleOfExecution: byMap((ids) => scheduleStore.ofExecutions(ids)),
    principal: byMap((ids) => services.principals.byIds(ids, viewerOf())),
    apiTokensOf: byMap((ids) => services.apiTokens.ofPrincipals(ids, viewerOf())),
    loginSessionsOf: byMap((ids) => services.loginSessions.ofPrincipals(ids, viewerOf())),
    accessRole: byMap((names) => services.accessRoles.facts(names)),
    principalsWithRole: byMap((names) => services.accessRoles.principalCounts(names)),
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
