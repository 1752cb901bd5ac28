import { MusterError } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { decodeUuid, encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import {
  DecisionConnection,
  DecisionRef,
  DeploymentRef,
  ExecutionConnection,
  ExecutionEventConnection,
  ExecutionEventRef,
  ExecutionRef,
  WorkerRef,
  WorkflowRef,
  WorkflowVersionRef,
} from '../../graphql/refs.ts';
import { decisionConnection } from '../decision/decision-list.ts';
import { DispatchPreviewRef } from '../decision/preview-ref.ts';
import { ExecutionFilterInput, ExecutionStateEnum } from './execution-filter.graphql.ts';
import { executionConnection, resolveExecutionFilter } from './execution-list.ts';
import type { AttemptRow, ExecutionRow, StoredError } from './execution-rows.ts';
import { describeWhy, presentAttempt } from './execution-view.ts';

export const ExecutionErrorType = builder.objectRef<StoredError>('ExecutionError').implement({
  fields: (t) => ({
    type: t.exposeString('type'),
    message: t.exposeString('message'),
    stack: t.string({ nullable: true, resolve: (e) => e.stack ?? null }),
    retryable: t.boolean({ resolve: (e) => e.retryable ?? false }),
  }),
});

const AttemptOutcome = builder.enumType('AttemptOutcome', {
  values: [
    'RUNNING',
    'COMPLETED',
    'FAILED',
    'CRASHED',
    'TIMED_OUT',
    'WORKER_LOST',
    'UNCLAIMED',
    'PAUSED',
    'CANCELLED',
  ] as const,
});

const ExecutionAttempt = builder.objectRef<AttemptRow>('ExecutionAttempt').implement({
  fields: (t) => ({
    number: t.exposeInt('number'),
    generation: t.exposeInt('generation'),
    worker: t.exposeString('worker'),
    outcome: t.expose('outcome', { type: AttemptOutcome }),
    error: t.expose('error', { type: ExecutionErrorType, nullable: true }),
    decision: t.field({
      type: DecisionRef,
      nullable: true,
      resolve: ({ executionId, generation }, _args, { loaders }) =>
        loaders.decisionOfGeneration.load({ executionId, generation }),
    }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime' }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime', nullable: true }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true }),
  }),
});

const WaitKind = builder.enumType('WaitKind', { values: ['RESUME', 'TIMER', 'CHILD'] as const });
const Waiting = builder.objectRef<ExecutionRow & { waiting: 'RESUME' | 'TIMER' | 'CHILD' }>('Waiting').implement({
  description: 'What a PAUSED execution waits for. resumeExecution on TIMER or CHILD is a CONFLICT.',
  fields: (t) => ({
    kind: t.field({ type: WaitKind, resolve: (row) => row.waiting }),
    name: t.exposeString('waitingName', { nullable: true }),
    until: t.expose('wakeAt', { type: 'DateTime', nullable: true }),
    child: t.id({
      nullable: true,
      resolve: (row) => (row.waitingChild === null ? null : encodeId('ex', row.waitingChild)),
    }),
  }),
});

ExecutionRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (x) => encodeId('ex', x.id) }),
    workflowRef: t.string({
      description: 'namespace/name, also where workflow is null because the viewer may not read it.',
      resolve: async (x, _args, { loaders }) => (await loaders.versionFacts.load(x.versionId))?.workflowRef ?? '',
    }),
    workflow: t.field({
      type: WorkflowRef,
      nullable: true,
      resolve: async (x, _args, { loaders }) => {
        const version = await loaders.version.load(x.versionId);
        return version && loaders.workflow.load(version.workflowId);
      },
    }),
    version: t.field({
      type: WorkflowVersionRef,
      nullable: true,
      resolve: (x, _args, { loaders }) => loaders.version.load(x.versionId),
    }),
    deployment: t.field({
      type: DeploymentRef,
      nullable: true,
      resolve: (x, _args, { services, viewer }) =>
        x.deploymentId === null ? null : services.deploymentReads.byId(x.deploymentId, viewer),
    }),
    variantLabel: t.exposeString('variant', { nullable: true }),
    targetRoles: t.exposeStringList('targetRoles', {
      description: 'Roles it may run on, from the variant that was picked; empty: any.',
    }),
    sessionKey: t.exposeString('sessionKey', { nullable: true }),
    state: t.expose('state', { type: ExecutionStateEnum }),
    parked: t.exposeBoolean('parked', { description: 'PENDING or RESUMING and no worker can take it now.' }),
    parkedReason: t.exposeString('parkedReason', { nullable: true }),
    parkedSince: t.expose('parkedSince', { type: 'DateTime', nullable: true }),
    parkDeadline: t.expose('parkDeadline', { type: 'DateTime', nullable: true }),
    input: t.field({
      type: 'JSON',
      nullable: true,
      resolve: async (x, _args, { loaders }) => (await loaders.payload.load(x.id)).input,
    }),
    output: t.field({
      type: 'JSON',
      nullable: true,
      resolve: async (x, _args, { loaders }) => (await loaders.payload.load(x.id)).output,
    }),
    error: t.expose('error', { type: ExecutionErrorType, nullable: true }),
    worker: t.field({
      type: WorkerRef,
      nullable: true,
      resolve: (x, _args, { services, viewer }) =>
        x.workerId === null ? null : services.workerReads.byId(x.workerId, viewer),
    }),
    requiredWorker: t.exposeString('requiredWorker', { nullable: true }),
    preferredWorker: t.exposeString('preferredWorker', { nullable: true }),
    priority: t.exposeInt('priority'),
    attempt: t.exposeInt('attempt'),
    maxAttempts: t.int({
      resolve: async (x, _args, { loaders }) => (await loaders.versionFacts.load(x.versionId))?.maxAttempts ?? 1,
    }),
    parent: t.field({
      type: ExecutionRef,
      nullable: true,
      resolve: (x, _args, { loaders }) => (x.parentId === null ? null : loaders.execution.load(x.parentId)),
    }),
    children: t.field({
      type: ExecutionConnection,
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: (x, args, context) => executionConnection(context, args, null, { parentId: x.id }),
    }),
    events: t.field({
      type: ExecutionEventConnection,
      description: 'Oldest first.',
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: async (x, args, context) => {
        const { services, viewer } = context;
        const reader = services.executionReads;
        const page = pageOf(args, 'events', ['int'], context);
        const rows = await reader.events(x.id, Number(page.after?.[0] ?? 0), page.limit + 1, viewer);
        return connectionOf(
          page,
          'events',
          rows.slice(0, page.limit),
          rows.length > page.limit,
          (e) => [e.sequence],
          () => reader.eventCount(x.id),
        );
      },
    }),
    decisions: t.field({
      type: DecisionConnection,
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: (x, args, context) => decisionConnection(context, args, { executionId: x.id }),
    }),
    submittedBy: t.exposeString('submittedBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime', nullable: true }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true }),
    generation: t.exposeInt('generation', { description: 'The fencing token: +1 at every assignment and release.' }),
    revision: t.exposeInt('revision'),
    attempts: t.field({
      type: [ExecutionAttempt],
      description: 'Newest first.',
      resolve: async (x, _args, { loaders }) => {
        const superseded = await loaders.attempts.load(x.id);
        const present = presentAttempt(x);
        return present ? [present, ...superseded] : superseded;
      },
    }),
    workerName: t.exposeString('workerName', {
      nullable: true,
      description: 'Kept when the worker is gone; worker is null then.',
    }),
    why: t.string({
      description: 'One clause: why it is where it is, or why nobody has it.',
      resolve: async (x, _args, { loaders }) => {
        const [latest, version] = await Promise.all([
          loaders.latestDecision.load(x.id),
          loaders.versionFacts.load(x.versionId),
        ]);
        return describeWhy(x, latest, version?.maxAttempts ?? 1);
      },
    }),
    latestDecision: t.field({
      type: DecisionRef,
      nullable: true,
      resolve: (x, _args, { loaders }) => loaders.latestDecision.load(x.id),
    }),
    whyWaiting: t.field({
      type: DispatchPreviewRef,
      nullable: true,
      description: 'Where it waits: evaluated now, all reasons per worker. null once assigned.',
      resolve: async (x, _args, { loaders }) => {
        if (x.state !== 'PENDING' && x.state !== 'RESUMING') return null;
        const decision = await loaders.whyWaiting.load(x.id);
        return decision && { decision, warnings: [] };
      },
    }),
    claimedAt: t.expose('claimedAt', { type: 'DateTime', nullable: true }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    waitingFor: t.field({
      type: Waiting,
      nullable: true,
      resolve: (x) => (x.waiting === null ? null : { ...x, waiting: x.waiting }),
    }),
    retryOf: t.field({
      type: ExecutionRef,
      nullable: true,
      description: 'The execution that this one retries.',
      resolve: (x, _args, { loaders }) => (x.retryOf === null ? null : loaders.execution.load(x.retryOf)),
    }),
  }),
});

ExecutionEventRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (e) => encodeId('ev', `${e.executionId}-${e.sequence}`) }),
    sequence: t.exposeInt('sequence'),
    type: t.exposeString('type'),
    at: t.expose('at', { type: 'DateTime' }),
    worker: t.exposeString('worker', { nullable: true }),
    data: t.field({ type: 'JSON', nullable: true, resolve: (e) => e.data }),
  }),
});

const ExecutionCounts = builder
  .objectRef<{ state: ExecutionRow['state']; count: number; parked: number }>('ExecutionCounts')
  .implement({
    description:
      'Exact to 10,000 a state; 10,001 means more. With a filter, the newest 20,000 executions are looked at.',
    fields: (t) => ({
      state: t.expose('state', { type: ExecutionStateEnum }),
      count: t.exposeInt('count'),
      parked: t.exposeInt('parked'),
    }),
  });

builder.queryFields((t) => ({
  execution: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    type: ExecutionRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_root, { id }, { loaders }) => {
      const raw = decodeUuid('ex', id);
      return raw === null ? null : loaders.execution.load(raw);
    },
  }),
  executions: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    type: ExecutionConnection,
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: ExecutionFilterInput }),
    },
    resolve: (_root, { filter, ...page }, context) => executionConnection(context, page, filter, {}),
  }),
  executionCounts: t.field({
    authScopes: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    type: [ExecutionCounts],
    args: { filter: t.arg({ type: ExecutionFilterInput }) },
    resolve: async (_root, { filter }, context) => {
      const query = await resolveExecutionFilter(filter, context);
      return query === null ? [] : context.services.executionReads.counts(query, context.viewer);
    },
  }),
}));

/** Errors: NOT_FOUND. */
export function requireRow(row: ExecutionRow | null): ExecutionRow {
  if (!row) throw new MusterError('NOT_FOUND', 'There is no such execution.', { field: 'id' });
  return row;
}
