import { MusterError } from '@muster/core';
import type { FleetWorker } from '../fleet/worker-record.ts';
import { builder } from '../graphql/builder.ts';
import type { Context } from '../graphql/context.ts';
import { decodeUuid, requireUuid } from '../graphql/ids.ts';
import {
  DecisionRef,
  DeploymentRef,
  ExecutionEventRef,
  ExecutionRef,
  RoleHealthRef,
  WorkerRef,
} from '../graphql/refs.ts';
import { DecisionFilterInput } from '../modules/decision/decision.graphql.ts';
import type { DeploymentRow } from '../modules/deployment/deployment-store.ts';
import { ExecutionFilterInput } from '../modules/execution/execution-filter.graphql.ts';
import { resolveExecutionFilter } from '../modules/execution/execution-list.ts';
import type { ExecutionRow } from '../modules/execution/execution-rows.ts';
import { FleetMetricsRef } from '../modules/metrics/metrics.graphql.ts';
import type { RoleView } from '../modules/worker/role-view.ts';
import { WorkerFilterInput } from '../modules/worker/worker.graphql.ts';
import { workerMatcher } from '../modules/worker/worker-list.ts';
import { type LiveEvent, type LiveSource, liveView } from './live-view.ts';
import { decisionStream, executionEventStream, metricsStream } from './plain-streams.ts';
import { deploymentSource, executionSource, roleSource, workerSource } from './sources.ts';
import { stream } from './stream.ts';

const ChangeKind = builder.enumType('ChangeKind', {
  description: 'RESYNC: a new SNAPSHOT follows.',
  values: ['SNAPSHOT', 'ADDED', 'UPDATED', 'REMOVED', 'RESYNC'] as const,
});
const COMPLETE = 'false: more of this snapshot follows (at most 250 an event).';

const WorkerEvent = builder.objectRef<LiveEvent<FleetWorker>>('WorkerEvent').implement({
  description:
    'SNAPSHOT carries every matching worker once; later events carry only what changed, at most one event per worker per second.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ChangeKind }),
    workers: t.field({ type: [WorkerRef], resolve: (event) => [...event.items] }),
    at: t.expose('at', { type: 'DateTime' }),
    sequence: t.exposeInt('sequence'),
    removed: t.idList({ resolve: (event) => [...event.removed] }),
    complete: t.exposeBoolean('complete', { description: COMPLETE }),
  }),
});
const RoleHealthEvent = builder.objectRef<LiveEvent<RoleView>>('RoleHealthEvent').implement({
  fields: (t) => ({
    kind: t.expose('kind', { type: ChangeKind }),
    roles: t.field({ type: [RoleHealthRef], resolve: (event) => [...event.items] }),
    at: t.expose('at', { type: 'DateTime' }),
    sequence: t.exposeInt('sequence'),
    removed: t.stringList({ resolve: (event) => [...event.removed] }),
    complete: t.exposeBoolean('complete', { description: COMPLETE }),
  }),
});
const ExecutionChange = builder.objectRef<LiveEvent<ExecutionRow>>('ExecutionChange').implement({
  description: 'The snapshot holds the newest 10,000 executions that match.',
  fields: (t) => ({
    kind: t.expose('kind', { type: ChangeKind }),
    sequence: t.exposeInt('sequence'),
    executions: t.field({ type: [ExecutionRef], resolve: (event) => [...event.items] }),
    removed: t.idList({ resolve: (event) => [...event.removed] }),
    at: t.expose('at', { type: 'DateTime' }),
    complete: t.exposeBoolean('complete', { description: COMPLETE }),
  }),
});
const DeploymentEvent = builder.objectRef<LiveEvent<DeploymentRow>>('DeploymentEvent').implement({
  fields: (t) => ({
    kind: t.expose('kind', { type: ChangeKind }),
    sequence: t.exposeInt('sequence'),
    deployments: t.field({ type: [DeploymentRef], resolve: (event) => [...event.items] }),
    removed: t.idList({ resolve: (event) => [...event.removed] }),
    at: t.expose('at', { type: 'DateTime' }),
    complete: t.exposeBoolean('complete', { description: COMPLETE }),
  }),
});

function view<T>(source: LiveSource<T>, context: Context): AsyncGenerator<LiveEvent<T>, void, void> {
  return liveView(source, { unsentBytes: context.unsentBytes, now: context.services.now });
}

builder.subscriptionFields((t) => ({
  workerEvents: t.field({
    authScopes: { reads: 'worker:{name}:read' },
    type: WorkerEvent,
    args: { filter: t.arg({ type: WorkerFilterInput }) },
    subscribe: (_root, { filter }, context) =>
      view(workerSource(context.services, workerMatcher(filter), context), context),
    resolve: (event) => event,
  }),
  roleHealth: t.field({
    authScopes: { signedIn: true },
    type: RoleHealthEvent,
    subscribe: (_root, _args, context) => view(roleSource(context.services), context),
    resolve: (event) => event,
  }),
  deploymentChanges: t.field({
    authScopes: { reads: 'deployment:{slug}:read' },
    type: DeploymentEvent,
    subscribe: (_root, _args, context) => view(deploymentSource(context.services, context), context),
    resolve: (event) => event,
  }),
  executionChanges: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    type: ExecutionChange,
    args: { filter: t.arg({ type: ExecutionFilterInput }) },
    subscribe: async (_root, { filter }, context) => {
      const resolve = (): ReturnType<typeof resolveExecutionFilter> => resolveExecutionFilter(filter, context);
      // What is wrong with it is told at once.
      await resolve();
      return view(executionSource(context.services, resolve, context), context);
    },
    resolve: (event) => event,
  }),
  executionEvents: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    type: ExecutionEventRef,
    description: 'From the first event, or from after `afterSequence`, to the end state; then it completes.',
    args: { id: t.arg.id({ required: true }), afterSequence: t.arg.int({ defaultValue: 0 }) },
    subscribe: async (_root, { id, afterSequence }, context) => {
      const { services, viewer } = context;
      const raw = requireUuid('ex', id, 'id');
      if (!(await services.executionReads.byIds([raw], viewer)).has(raw))
        throw new MusterError('NOT_FOUND', 'There is no such execution.', { field: 'id' });
      return executionEventStream(services, raw, afterSequence ?? 0, context);
    },
    resolve: (event) => event,
  }),
  dispatchDecisions: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'], blind: true },
    type: DecisionRef,
    description: 'Every decision as it is made; sampled to at most 50 a second unless an execution is named.',
    args: { filter: t.arg({ type: DecisionFilterInput }) },
    subscribe: (_root, { filter }, context) => {
      const { services, viewer } = context;
      const { workflow, deployment, execution } = filter ?? {};
      const executionId = execution == null ? null : decodeUuid('ex', execution);
      const deploymentId = deployment == null ? null : services.deploymentReads.get(deployment, viewer)?.id;
      // Something is named that does not exist: nothing will match, and the stream stays open as any other.
      if (deploymentId === undefined || (execution != null && executionId === null)) return nothing();
      const workflowRef = workflow == null ? null : workflow.includes('/') ? workflow : `default/${workflow}`;
      return decisionStream(services, { args: filter ?? {}, executionId, workflowRef, deploymentId }, context);
    },
    resolve: (decision) => decision,
  }),
  fleetMetrics: t.field({
    authScopes: { signedIn: true },
    type: FleetMetricsRef,
    args: { intervalMs: t.arg.int({ defaultValue: 1000 }) },
    subscribe: (_root, { intervalMs }, context) => {
      const interval = intervalMs ?? 1000;
      if (interval < 250 || interval > 60_000)
        throw new MusterError('BAD_INPUT', 'intervalMs must be from 250 to 60000.', { field: 'intervalMs' });
      return metricsStream(context.services, interval, context);
    },
    resolve: (figures) => figures,
  }),
}));

function nothing(): AsyncGenerator<never, void, void> {
  return stream(async function* (signal) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    yield* [];
  });
}
