import { localTime } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf, spendNodes } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import {
  DeploymentRef,
  ExecutionConnection,
  ExecutionRef,
  ScheduleConnection,
  ScheduleRef,
  WorkflowRef,
  WorkflowVersionRef,
} from '../../graphql/refs.ts';
import { executionConnection } from '../execution/execution-list.ts';
import type { PlannedRun } from './schedule-service.ts';
import type { ScheduleRow } from './schedule-row.ts';

/** Finding a run in its time zone costs as much as some nodes of other lists. */
const NODES_PER_RUN = 4;

const ScheduleKind = builder.enumType('ScheduleKind', { values: ['CRON', 'INTERVAL', 'ONCE'] as const });
export const ScheduleOverlap = builder.enumType('ScheduleOverlap', {
  description:
    'What becomes of a run while an execution of the schedule has not ended. SKIP: it is left out. QUEUE_ONE: it waits; further ones are left out. ALLOW: it starts beside it. REPLACE: the other is cancelled, and it starts.',
  values: ['SKIP', 'QUEUE_ONE', 'ALLOW', 'REPLACE'] as const,
});
const ScheduleResult = builder.enumType('ScheduleResult', {
  description:
    'STARTED: an execution was made. SKIPPED: the one before had not ended. QUEUED: it waits for that. MISSED: it lay in a downtime, beyond the catch-up limit. FAILED: nothing could be started, lastError says why.',
  values: ['STARTED', 'SKIPPED', 'QUEUED', 'MISSED', 'FAILED'] as const,
});

const ScheduleError = builder.objectRef<{ code: string; message: string; at: Date }>('ScheduleError').implement({
  fields: (t) => ({
    code: t.exposeString('code', { description: 'As the call would answer, e.g. NO_HEALTHY_VARIANT.' }),
    message: t.exposeString('message'),
    at: t.expose('at', { type: 'DateTime' }),
  }),
});

export const PlannedRunRef = builder.objectRef<PlannedRun>('PlannedRun').implement({
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime' }),
    local: t.string({
      description: 'What clocks in the time zone show then, with their offset: 2026-11-01T01:30:00-04:00.',
      resolve: ({ at, timeZone }) => localTime(at.getTime(), timeZone),
    }),
    timeZone: t.exposeString('timeZone'),
  }),
});

ScheduleRef.implement({
  description: 'Starts executions by a plan. Its routing input can be written and never read.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (s) => encodeId('sd', s.id) }),
    name: t.exposeString('name'),
    description: t.exposeString('description', { nullable: true }),
    kind: t.expose('kind', { type: ScheduleKind }),
    cron: t.exposeString('cron', { nullable: true }),
    intervalSeconds: t.exposeInt('intervalSeconds', { nullable: true }),
    startAt: t.expose('anchorAt', {
      type: 'DateTime',
      nullable: true,
      description: "An interval's runs lie at whole multiples of it from here.",
    }),
    at: t.expose('onceAt', { type: 'DateTime', nullable: true }),
    timeZone: t.exposeString('timeZone', { description: 'A name of the IANA database.' }),
    workflowRef: t.exposeString('workflow', {
      nullable: true,
      description: 'namespace/name; null: it runs a deployment.',
    }),
    workflow: t.field({
      type: WorkflowRef,
      nullable: true,
      description: 'null where it is gone, or the viewer may not read it.',
      resolve: (s, _args, { loaders }) => (s.workflow === null ? null : loaders.workflowByRef.load(s.workflow)),
    }),
    version: t.field({
      type: WorkflowVersionRef,
      nullable: true,
      description: 'The version that it always runs; null: the newest, or a deployment.',
      resolve: (s, _args, { loaders }) => (s.versionId === null ? null : loaders.version.load(s.versionId)),
    }),
    deploymentSlug: t.exposeString('deployment', { nullable: true }),
    deployment: t.field({
      type: DeploymentRef,
      nullable: true,
      resolve: (s, _args, { services, viewer }) =>
        s.deployment === null ? null : services.deploymentReads.get(s.deployment, viewer),
    }),
    sessionKey: t.exposeString('sessionKey', { nullable: true }),
    input: t.field({
      type: 'JSON',
      nullable: true,
      resolve: (s, _args, { loaders }) => loaders.scheduleInput.load(s.id),
    }),
    priority: t.exposeInt('priority'),
    parkTtlSeconds: t.exposeInt('parkTtlSeconds', { nullable: true }),
    overlap: t.expose('overlap', { type: ScheduleOverlap }),
    catchUpLimit: t.exposeInt('catchUpLimit', {
      description:
        'So many of the runs that were missed in a downtime are made up for, the newest; the rest is counted.',
    }),
    paused: t.exposeBoolean('paused'),
    pausedBy: t.exposeString('pausedBy', { nullable: true }),
    pausedAt: t.expose('pausedAt', { type: 'DateTime', nullable: true }),
    nextAt: t.expose('nextAt', {
      type: 'DateTime',
      nullable: true,
      description: 'null while paused, after the last run, and where the timing cannot be read any more.',
    }),
    nextRuns: t.field({
      type: [PlannedRunRef],
      description: 'From now, as if it were not paused; at most 100.',
      args: { count: t.arg.int({ defaultValue: 5 }) },
      resolve: async (s, args, context) => {
        const count = args.count ?? 5;
        spendNodes(context, Math.max(0, count) * NODES_PER_RUN);
        // A list of schedules asks many times: others get their turn between them.
        await new Promise((resolve) => setImmediate(resolve));
        return context.services.schedules.plannedRuns(s, count);
      },
    }),
    queuedAt: t.expose('queuedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The run that waits for the one before (QUEUE_ONE).',
    }),
    lastAt: t.expose('lastAt', {
      type: 'DateTime',
      nullable: true,
      description: 'The newest run that lastResult is about, as it was planned.',
    }),
    lastResult: t.expose('lastResult', { type: ScheduleResult, nullable: true }),
    lastResultAt: t.expose('lastResultAt', { type: 'DateTime', nullable: true }),
    lastExecution: t.field({
      type: ExecutionRef,
      nullable: true,
      description: 'The newest that it started; null: none, or retention took it.',
      resolve: (s, _args, { loaders }) =>
        s.lastExecutionId === null ? null : loaders.execution.load(s.lastExecutionId),
    }),
    executions: t.field({
      type: ExecutionConnection,
      description: 'What it started, newest first.',
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: (s, args, context) => executionConnection(context, args, null, { scheduleId: s.id }),
    }),
    lastError: t.field({
      type: ScheduleError,
      nullable: true,
      description: 'Why the newest run could start nothing; the next that starts something clears it.',
      resolve: (s) => errorOf(s),
    }),
    startedCount: t.exposeInt('startedCount'),
    skippedCount: t.exposeInt('skippedCount'),
    missedCount: t.exposeInt('missedCount', {
      description: 'Of cron expressions at most 500 are counted for one downtime.',
    }),
    failedCount: t.exposeInt('failedCount'),
    revision: t.exposeInt('revision', { description: 'Counts changes by users; runs leave it alone.' }),
    createdBy: t.exposeString('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedBy: t.exposeString('updatedBy', { description: 'Its executions are submitted in this name.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
  }),
});

function errorOf({ lastError, lastErrorAt }: ScheduleRow): { code: string; message: string; at: Date } | null {
  return lastError && lastErrorAt && { ...lastError, at: lastErrorAt };
}

builder.objectFields(ExecutionRef, (t) => ({
  schedule: t.field({
    type: ScheduleRef,
    nullable: true,
    description: 'What started it; null: somebody else did, or it is gone.',
    resolve: async (x, _args, { loaders }) => {
      const found = await loaders.scheduleOfExecution.load(x.id);
      return found && loaders.schedule.load(found.scheduleId);
    },
  }),
  scheduleRun: t.field({
    type: 'DateTime',
    nullable: true,
    description: 'The run of the schedule, as it was planned; null: started by hand.',
    resolve: async (x, _args, { loaders }) => {
      const found = await loaders.scheduleOfExecution.load(x.id);
      return found && (await loaders.schedule.load(found.scheduleId)) ? found.run : null;
    },
  }),
}));

const ScheduleFilterInput = builder.inputType('ScheduleFilter', {
  fields: (t) => ({
    search: t.string({ description: 'Part of name, description, workflow or deployment.' }),
    paused: t.boolean(),
    failing: t.boolean({ description: 'Its newest run could start nothing.' }),
    workflow: t.string({ description: 'namespace/name' }),
    deployment: t.string(),
  }),
});

builder.queryFields((t) => ({
  schedule: t.field({
    authScopes: { reads: 'schedule:{name}:read' },
    type: ScheduleRef,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_root, { name }, { services, viewer }) => services.scheduleReads.byName(name, viewer),
  }),
  schedules: t.field({
    authScopes: { reads: 'schedule:{name}:read' },
    type: ScheduleConnection,
    description: 'By name.',
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: ScheduleFilterInput }),
    },
    resolve: async (_root, args, context) => {
      const { services, viewer } = context;
      const { search, paused, failing, workflow, deployment } = args.filter ?? {};
      const filter = {
        search: search?.trim() || null,
        paused: paused ?? null,
        failing: failing ?? null,
        workflow: workflow ?? null,
        deployment: deployment ?? null,
      };
      const page = pageOf(args, 'schedules', ['text'], context);
      const { items, more } = await services.scheduleReads.page(page, filter, viewer);
      return connectionOf(
        page,
        'schedules',
        items,
        more,
        (s) => [s.name],
        () => services.scheduleReads.count(filter, viewer),
      );
    },
  }),
}));
