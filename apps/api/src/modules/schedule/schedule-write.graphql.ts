import { MusterError } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { ExecutionRef, ScheduleRef } from '../../graphql/refs.ts';
import { requireRow } from '../execution/execution.graphql.ts';
import { PlannedRunRef, ScheduleOverlap } from './schedule.graphql.ts';
import type { PlannedRun, StartedSchedule, WrittenSchedule } from './schedule-service.ts';

const CRON = '5 fields (minute hour day-of-month month day-of-week), or 6 with seconds first.';
const TIMING = 'Exactly one of cron, intervalSeconds and at says when it runs.';
const START_AT = 'The first run of an interval. Absent: a moment of the first interval that chance picks.';
const PARK_TTL = "0: wait for ever. Absent: the server's default.";
const CATCH_UP = '0…100';
const SESSION = 'For a deployment: the same variant every time. Absent: a draw for each run.';
const VERSION = 'A version of the workflow that it always runs. Absent: the newest.';

const CreateScheduleInput = builder.inputType('CreateScheduleInput', {
  description: `${TIMING} Either a workflow or a deployment is what it runs.`,
  fields: (t) => ({
    name: t.string({ required: true }),
    description: t.string(),
    cron: t.string({ description: CRON }),
    intervalSeconds: t.int(),
    startAt: t.field({ type: 'DateTime', description: START_AT }),
    at: t.field({ type: 'DateTime' }),
    timeZone: t.string({ defaultValue: 'UTC' }),
    workflow: t.string({ description: 'namespace/name' }),
    versionId: t.string({ description: VERSION }),
    deployment: t.string(),
    sessionKey: t.string({ description: SESSION }),
    input: t.field({ type: 'JSON' }),
    routingInput: t.field({
      type: 'RoutingInput',
      description: 'Matched at dispatch, never delivered and never read back. At most 4 KB.',
    }),
    priority: t.int({ defaultValue: 0 }),
    parkTtlSeconds: t.int({ description: PARK_TTL }),
    overlap: t.field({ type: ScheduleOverlap, defaultValue: 'SKIP' }),
    catchUpLimit: t.int({ defaultValue: 1, description: CATCH_UP }),
    paused: t.boolean({ defaultValue: false }),
    idempotencyKey: t.string(),
  }),
});
const UpdateScheduleInput = builder.inputType('UpdateScheduleInput', {
  description:
    'What is absent stays, its pause too; null empties description, versionId, sessionKey, input and parkTtlSeconds. A timing or a target that is given replaces the one before.',
  fields: (t) => ({
    name: t.string({ required: true }),
    expectedRevision: t.int({ required: true }),
    newName: t.string(),
    description: t.string(),
    cron: t.string({ description: CRON }),
    intervalSeconds: t.int(),
    startAt: t.field({ type: 'DateTime', description: START_AT }),
    at: t.field({ type: 'DateTime' }),
    timeZone: t.string(),
    workflow: t.string({ description: 'namespace/name' }),
    versionId: t.string({ description: VERSION }),
    deployment: t.string(),
    sessionKey: t.string({ description: SESSION }),
    input: t.field({ type: 'JSON' }),
    routingInput: t.field({ type: 'RoutingInput', description: 'Absent or null keeps it, {} clears it.' }),
    priority: t.int(),
    parkTtlSeconds: t.int({ description: PARK_TTL }),
    overlap: t.field({ type: ScheduleOverlap }),
    catchUpLimit: t.int({ description: CATCH_UP }),
  }),
});
const PauseScheduleInput = builder.inputType('PauseScheduleInput', {
  fields: (t) => ({
    name: t.string({ required: true }),
    expectedRevision: t.int({ description: 'Absent: whatever it is.' }),
  }),
});
const RunScheduleInput = builder.inputType('RunScheduleInput', {
  fields: (t) => ({ name: t.string({ required: true }), idempotencyKey: t.string() }),
});
const DeleteScheduleInput = builder.inputType('DeleteScheduleInput', {
  fields: (t) => ({ name: t.string({ required: true }), expectedRevision: t.int({ required: true }) }),
});
const PreviewScheduleInput = builder.inputType('PreviewScheduleInput', {
  description: TIMING,
  fields: (t) => ({
    cron: t.string({ description: CRON }),
    intervalSeconds: t.int(),
    startAt: t.field({ type: 'DateTime' }),
    at: t.field({ type: 'DateTime' }),
    timeZone: t.string({ defaultValue: 'UTC' }),
    count: t.int({ defaultValue: 5, description: 'At most 100.' }),
  }),
});

const SchedulePayload = builder.objectRef<WrittenSchedule>('SchedulePayload').implement({
  fields: (t) => ({
    schedule: t.field({ type: ScheduleRef, resolve: (payload) => payload.schedule }),
    warnings: t.stringList({
      description: 'E.g. that nothing could be started now.',
      resolve: (payload) => payload.warnings,
    }),
  }),
});
const RunSchedulePayload = builder.objectRef<StartedSchedule>('RunSchedulePayload').implement({
  fields: (t) => ({
    schedule: t.field({ type: ScheduleRef, resolve: (payload) => payload.schedule }),
    execution: t.field({
      type: ExecutionRef,
      resolve: async ({ executionId }, _args, { loaders }) => requireRow(await loaders.acted.load(executionId)),
    }),
  }),
});
const DeleteSchedulePayload = builder.objectRef<{ name: string }>('DeleteSchedulePayload').implement({
  fields: (t) => ({ name: t.exposeString('name') }),
});
const SchedulePreview = builder.objectRef<{ runs: PlannedRun[] }>('SchedulePreview').implement({
  fields: (t) => ({ runs: t.field({ type: [PlannedRunRef], resolve: (preview) => preview.runs }) }),
});

/** Errors: BAD_INPUT naming the fields that may be left out and not be null. */
function refuseNull(input: Record<string, unknown>, fields: readonly string[]): void {
  const found = fields.filter((field) => input[field] === null);
  if (found.length === 0) return;
  const issues: MusterError['issues'] = found.map((path) => ({
    path,
    code: 'NULL',
    message: `${path} has no empty value; leave it out to keep it`,
  }));
  throw new MusterError('BAD_INPUT', issues[0]?.message ?? '', { issues });
}

const NEVER_EMPTY = ['newName', 'cron', 'intervalSeconds', 'at', 'timeZone', 'workflow', 'deployment', 'overlap'];

builder.mutationFields((t) => ({
  createSchedule: t.field({
    authScopes: { permission: 'schedule:{name}:write' },
    type: SchedulePayload,
    args: { input: t.arg({ type: CreateScheduleInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) => services.schedules.create(input, viewer, requestId),
  }),
  updateSchedule: t.field({
    authScopes: { permission: 'schedule:{name}:write' },
    type: SchedulePayload,
    args: { input: t.arg({ type: UpdateScheduleInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) => {
      refuseNull({ ...input }, NEVER_EMPTY);
      return services.schedules.update(input, viewer, requestId);
    },
  }),
  pauseSchedule: t.field({
    authScopes: { permission: 'schedule:{name}:write' },
    type: SchedulePayload,
    description: 'Nothing starts until it is resumed, whatever else is changed meanwhile.',
    args: { input: t.arg({ type: PauseScheduleInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.schedules.pause(input.name, input.expectedRevision ?? null, viewer, requestId),
  }),
  resumeSchedule: t.field({
    authScopes: { permission: 'schedule:{name}:write' },
    type: SchedulePayload,
    description: 'Goes on with the next run from now.',
    args: { input: t.arg({ type: PauseScheduleInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.schedules.resume(input.name, input.expectedRevision ?? null, viewer, requestId),
  }),
  runSchedule: t.field({
    authScopes: { permission: 'schedule:{name}:write' },
    type: RunSchedulePayload,
    description: 'Starts one now, whatever its plan, its overlap policy and its pause say.',
    args: { input: t.arg({ type: RunScheduleInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) => services.schedules.run(input, viewer, requestId),
  }),
  deleteSchedule: t.field({
    authScopes: { permission: 'schedule:{name}:write' },
    type: DeleteSchedulePayload,
    description: 'Executions that it started go on.',
    args: { input: t.arg({ type: DeleteScheduleInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      await services.schedules.delete(input.name, input.expectedRevision, viewer, requestId);
      return { name: input.name };
    },
  }),
}));

builder.queryField('previewSchedule', (t) =>
  t.field({
    authScopes: { signedIn: true },
    type: SchedulePreview,
    description: 'When such a schedule would run; nothing is stored.',
    args: { input: t.arg({ type: PreviewScheduleInput, required: true }) },
    resolve: (_root, { input }, { services }) => ({ runs: services.schedules.preview(input, input.count ?? 5) }),
  }),
);
