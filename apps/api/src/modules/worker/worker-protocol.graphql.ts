import { builder } from '../../graphql/builder.ts';
import { encodeId } from '../../graphql/ids.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { InboxEvent } from './inbox.ts';
import type { ClaimAnswer, ReportAnswer } from './report-service.ts';
import type { HeldItem } from './report-store.ts';
import { requireSpeaker } from './speaker.ts';
import { KeyValueInput } from '../../graphql/key-value.ts';
import { WorkerRef } from '../../graphql/refs.ts';
import {
  CallInput,
  CallResult,
  ExecutionErrorInput,
  RecordedStepRef,
  ReportResult,
  StepInput,
  SuspendInput,
  toCall,
  toError,
  toHeld,
  toStep,
} from './worker-steps.graphql.ts';

/** The worker protocol as GraphQL (docs/worker-protocol.md): thin, the rules are in worker-protocol.ts and report-service.ts. */

const GpuInput = builder.inputType('GpuInput', {
  fields: (t) => ({ name: t.string({ required: true }), memoryTotal: t.float(), memoryAvailable: t.float() }),
});
const WorkerResourcesInput = builder.inputType('WorkerResourcesInput', {
  description: 'Measured when the worker registers. Amounts in bytes, cpu in cores.',
  fields: (t) => ({
    cpuTotal: t.float(),
    cpuAvailable: t.float(),
    memoryTotal: t.float(),
    memoryAvailable: t.float(),
    diskTotal: t.float(),
    diskFree: t.float(),
    gpus: t.field({ type: [GpuInput], defaultValue: [] }),
  }),
});
const PackageInput = builder.inputType('PackageInput', {
  fields: (t) => ({ name: t.string({ required: true }), version: t.string({ required: true }) }),
});
const HealthCheckInput = builder.inputType('HealthCheckInput', {
  fields: (t) => ({ name: t.string({ required: true }), healthy: t.boolean({ required: true }), message: t.string() }),
});
const ClaimInput = builder.inputType('ClaimInput', {
  description: 'An execution and the generation under which the worker has it.',
  fields: (t) => ({ id: t.id({ required: true }), generation: t.int({ required: true }) }),
});
const ClaimRequest = builder.inputType('ClaimRequest', {
  fields: (t) => ({
    id: t.id({ required: true }),
    generation: t.int({ required: true }),
    started: t.boolean({ defaultValue: true, description: 'true: SCHEDULED to RUNNING in one write.' }),
    again: t.boolean({
      defaultValue: false,
      description: 'true: answer also where this instance holds the claim already, because the answer to it was lost.',
    }),
  }),
});
const EventInput = builder.inputType('EventInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    generation: t.int({ required: true }),
    type: t.string({ required: true }),
    data: t.field({ type: 'JSON' }),
  }),
});
const EndState = builder.enumType('EndState', { values: ['COMPLETED', 'FAILED', 'CANCELLED'] as const });
const EndInput = builder.inputType('EndInput', {
  fields: (t) => ({
    id: t.id({ required: true }),
    generation: t.int({ required: true }),
    state: t.field({ type: EndState, required: true }),
    output: t.field({ type: 'JSON' }),
    error: t.field({ type: ExecutionErrorInput }),
  }),
});
const ReleaseInput = builder.inputType('ReleaseInput', {
  description: 'Gives an execution back, e.g. because the worker is busy or drains.',
  fields: (t) => ({ id: t.id({ required: true }), generation: t.int({ required: true }), reason: t.string() }),
});

const WorkerRegisterInput = builder.inputType('WorkerRegisterInput', {
  description: 'Replaces everything that the worker said about itself before.',
  fields: (t) => ({
    name: t.string({ required: true }),
    instanceId: t.id({ required: true, description: 'New with every process start.' }),
    role: t.string({ required: true }),
    hostname: t.string({ required: true }),
    version: t.string({ required: true }),
    startedAt: t.field({ type: 'DateTime', required: true }),
    labels: t.field({ type: [KeyValueInput], defaultValue: [] }),
    capacity: t.int({ description: 'Most executions at once; null: no limit.' }),
    runners: t.stringList({ defaultValue: ['inprocess'] }),
    workflows: t.stringList({ defaultValue: [], description: 'namespace/name of its handlers; empty: any.' }),
    resources: t.field({ type: WorkerResourcesInput }),
    packages: t.field({ type: [PackageInput], defaultValue: [] }),
  }),
});
const WorkerHeartbeatInput = builder.inputType('WorkerHeartbeatInput', {
  fields: (t) => ({
    worker: t.string({ required: true }),
    instanceId: t.id({ required: true }),
    healthy: t.boolean({ required: true }),
    checks: t.field({ type: [HealthCheckInput], defaultValue: [] }),
    metrics: t.field({
      type: 'JSON',
      description: 'Object of numbers; a bad one is dropped whole and the last snapshot stays. Absent: unchanged.',
    }),
    draining: t.boolean({ defaultValue: false }),
    claims: t.field({ type: [ClaimInput], description: 'What it believes to hold; the answer says what it has lost.' }),
  }),
});
const WorkerReportInput = builder.inputType('WorkerReportInput', {
  description:
    'At most 200 items of a kind, taken in the order claims, starts, calls, steps, events, suspends, ends, releases.',
  fields: (t) => ({
    worker: t.string({ required: true }),
    instanceId: t.id({ required: true }),
    claims: t.field({ type: [ClaimRequest], defaultValue: [] }),
    starts: t.field({ type: [ClaimInput], defaultValue: [] }),
    calls: t.field({ type: [CallInput], defaultValue: [] }),
    steps: t.field({ type: [StepInput], defaultValue: [] }),
    events: t.field({ type: [EventInput], defaultValue: [] }),
    suspends: t.field({ type: [SuspendInput], defaultValue: [] }),
    ends: t.field({ type: [EndInput], defaultValue: [] }),
    releases: t.field({ type: [ReleaseInput], defaultValue: [] }),
  }),
});
const WorkerLeaveInput = builder.inputType('WorkerLeaveInput', {
  fields: (t) => ({ worker: t.string({ required: true }), instanceId: t.id({ required: true }) }),
});

const Claim = builder.objectRef<NonNullable<ClaimAnswer['claim']>>('Claim').implement({
  description: 'What to run.',
  fields: (t) => ({
    workflow: t.exposeString('workflow'),
    version: t.exposeInt('version'),
    input: t.expose('input', { type: 'JSON', nullable: true }),
    attempt: t.exposeInt('attempt'),
    maxAttempts: t.exposeInt('maxAttempts'),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { nullable: true }),
    token: t.exposeString('token', {
      description:
        'By which the handler is known: it may do with workflows and executions what the submitter may, while this claim lasts. Kept nowhere.',
    }),
    workflowRunner: t.exposeString('workflowRunner', {
      nullable: true,
      description: 'The runner that the version asks for.',
    }),
    steps: t.expose('steps', {
      type: [RecordedStepRef],
      description: 'What earlier claims recorded, in order of position: the first page.',
    }),
    stepsAfter: t.exposeInt('stepsAfter', {
      nullable: true,
      description: 'There are more steps: ask workerSteps for those after this position. null: that was all.',
    }),
  }),
});
const ClaimResult = builder.objectRef<ClaimAnswer>('ClaimResult').implement({
  fields: (t) => ({
    id: t.id({ resolve: (result) => encodeId('ex', result.id) }),
    code: t.exposeString('code', { nullable: true }),
    message: t.exposeString('message', { nullable: true }),
    claim: t.expose('claim', { type: Claim, nullable: true, description: 'What to run; null where refused.' }),
  }),
});
const WorkerReportPayload = builder.objectRef<ReportAnswer>('WorkerReportPayload').implement({
  description: 'One answer per item, in order.',
  fields: (t) => ({
    claims: t.expose('claims', { type: [ClaimResult] }),
    starts: t.expose('starts', { type: [ReportResult] }),
    calls: t.expose('calls', { type: [CallResult] }),
    steps: t.expose('steps', { type: [ReportResult] }),
    events: t.expose('events', { type: [ReportResult] }),
    suspends: t.expose('suspends', { type: [ReportResult] }),
    ends: t.expose('ends', { type: [ReportResult] }),
    releases: t.expose('releases', { type: [ReportResult] }),
  }),
});
const WorkerRegisterPayload = builder
  .objectRef<{ worker: FleetWorker; heartbeatSeconds: number }>('WorkerRegisterPayload')
  .implement({
    fields: (t) => ({
      worker: t.expose('worker', { type: WorkerRef }),
      heartbeatSeconds: t.exposeInt('heartbeatSeconds'),
    }),
  });
const WorkerHeartbeatPayload = builder
  .objectRef<{ lost: string[]; heartbeatSeconds: number; warnings: string[] }>('WorkerHeartbeatPayload')
  .implement({
    fields: (t) => ({
      lost: t.idList({
        description: "Claims that are no longer this worker's: abort them.",
        resolve: (payload) => payload.lost.map((id) => encodeId('ex', id)),
      }),
      heartbeatSeconds: t.exposeInt('heartbeatSeconds'),
      warnings: t.exposeStringList('warnings'),
    }),
  });
const WorkerLeavePayload = builder.objectRef<{ released: number }>('WorkerLeavePayload').implement({
  fields: (t) => ({ released: t.exposeInt('released') }),
});
const Assignment = builder.objectRef<InboxEvent['assignments'][number]>('Assignment').implement({
  fields: (t) => ({
    id: t.id({ resolve: (item) => encodeId('ex', item.id) }),
    generation: t.exposeInt('generation'),
    workflow: t.exposeString('workflow'),
  }),
});
const HeldClaim = builder.objectRef<HeldItem>('HeldClaim').implement({
  fields: (t) => ({ id: t.id({ resolve: (item) => encodeId('ex', item.id) }), generation: t.exposeInt('generation') }),
});
const WorkerInbox = builder.objectRef<InboxEvent>('WorkerInbox').implement({
  description: 'Everything that is scheduled to the worker or held by it first, then what changes.',
  fields: (t) => ({
    assignments: t.expose('assignments', { type: [Assignment] }),
    cancels: t.expose('cancels', { type: [HeldClaim], description: 'Executions to cancel.' }),
    replaced: t.exposeBoolean('replaced', { description: 'A newer process has registered under this name: stop.' }),
    drain: t.exposeBoolean('drain', { description: 'Finish what runs, take nothing new, leave.' }),
  }),
});

builder.mutationField('workerRegister', (t) =>
  t.field({
    authScopes: { serves: 'worker:{name}:serve' },
    type: WorkerRegisterPayload,
    args: { input: t.arg({ type: WorkerRegisterInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer }) => {
      const { labels, runners, workflows, packages, resources, capacity, ...rest } = input;
      const worker = await services.workerProtocol.register(viewer, {
        ...rest,
        labels: labels ?? [],
        runners: runners ?? [],
        workflows: workflows ?? [],
        packages: packages ?? [],
        capacity: capacity ?? null,
        resources: resources ? toResources(resources) : null,
      });
      return { worker, heartbeatSeconds: services.workerProtocol.heartbeatSeconds };
    },
  }),
);

builder.mutationField('workerHeartbeat', (t) =>
  t.field({
    authScopes: { serves: 'worker:{name}:serve' },
    type: WorkerHeartbeatPayload,
    args: { input: t.arg({ type: WorkerHeartbeatInput, required: true }) },
    resolve: (_root, { input }, { services, viewer }) =>
      services.workerProtocol.heartbeat(viewer, input.worker, input.instanceId, {
        healthy: input.healthy,
        draining: input.draining ?? false,
        checks: (input.checks ?? []).map((check) => ({ ...check, message: check.message ?? null })),
        metrics: input.metrics ?? undefined,
        claims: input.claims?.map(toHeld) ?? null,
      }),
  }),
);

builder.mutationField('workerReport', (t) =>
  t.field({
    authScopes: { serves: 'worker:{name}:serve' },
    type: WorkerReportPayload,
    args: { input: t.arg({ type: WorkerReportInput, required: true }) },
    resolve: (_root, { input }, { services, viewer }) =>
      services.workerProtocol.report(viewer, input.worker, input.instanceId, {
        claims: (input.claims ?? []).map((item) => ({
          ...toHeld(item),
          started: item.started ?? true,
          again: item.again ?? false,
        })),
        starts: (input.starts ?? []).map(toHeld),
        calls: (input.calls ?? []).map(toCall),
        steps: (input.steps ?? []).map(toStep),
        events: (input.events ?? []).map((item) => ({
          ...toHeld(item),
          type: item.type,
          data: item.data,
        })),
        suspends: (input.suspends ?? []).map((item) => ({ ...toHeld(item), positions: item.positions })),
        ends: (input.ends ?? []).map((item) => ({
          ...toHeld(item),
          state: item.state,
          output: item.output,
          error: item.error ? toError(item.error) : null,
        })),
        releases: (input.releases ?? []).map((item) => ({ ...toHeld(item), reason: item.reason ?? null })),
      }),
  }),
);

builder.mutationField('workerLeave', (t) =>
  t.field({
    authScopes: { serves: 'worker:{name}:serve' },
    type: WorkerLeavePayload,
    args: { input: t.arg({ type: WorkerLeaveInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer }) => ({
      released: await services.workerProtocol.leave(viewer, input.worker, input.instanceId),
    }),
  }),
);

builder.subscriptionField('workerInbox', (t) =>
  t.field({
    authScopes: { serves: 'worker:{name}:serve' },
    type: WorkerInbox,
    args: { worker: t.arg.string({ required: true }), instanceId: t.arg.id({ required: true }) },
    subscribe: (_root, { worker, instanceId }, { services, viewer }) =>
      services.workerProtocol.inbox(viewer, worker, instanceId),
    // Who asks is asked again with every event.
    resolve: (event, { worker }, { viewer }) => {
      requireSpeaker(viewer, worker);
      return event;
    },
  }),
);

function toResources(input: typeof WorkerResourcesInput.$inferInput) {
  return {
    cpu_total: input.cpuTotal ?? null,
    cpu_available: input.cpuAvailable ?? null,
    memory_total: input.memoryTotal ?? null,
    memory_available: input.memoryAvailable ?? null,
    disk_total: input.diskTotal ?? null,
    disk_free: input.diskFree ?? null,
    gpus: (input.gpus ?? []).map(({ name, memoryTotal, memoryAvailable }) => ({
      name,
      memory_total: memoryTotal ?? null,
      memory_available: memoryAvailable ?? null,
    })),
  };
}
