import { builder } from '../../graphql/builder.ts';
import { decodeUuid, encodeId } from '../../graphql/ids.ts';
import { ExecutionErrorType } from '../execution/execution.graphql.ts';
import type { CallAnswer, CallReport, StepReport } from './durable-reports.ts';
import type { ItemResult } from './refusals.ts';
import type { EndError } from './report-service.ts';
import type { HeldItem } from './report-store.ts';
import { type RecordedStep, STEP_KINDS, type StepPage } from './recorded-steps.ts';

/** The durable part of the worker protocol (docs/worker-protocol.md): steps, calls and pauses. */

export const ExecutionErrorInput = builder.inputType('ExecutionErrorInput', {
  fields: (t) => ({
    type: t.string({ required: true }),
    message: t.string({ required: true }),
    stack: t.string(),
    retryable: t.boolean({ defaultValue: false }),
  }),
});
export const StepKind = builder.enumType('StepKind', { values: STEP_KINDS });
export const StepInput = builder.inputType('StepInput', {
  description:
    'What a handler did, or waits for, at its call position. Done: TASK, NOW, RANDOM, a timer or call that the worker saw the end of. Open: TIMER, RESUME.',
  fields: (t) => ({
    id: t.id({ required: true }),
    generation: t.int({ required: true }),
    position: t.int({ required: true, description: 'From 0, in the order of the synchronous calls of the handler.' }),
    kind: t.field({ type: StepKind, required: true }),
    name: t.string({ required: true }),
    done: t.boolean({ defaultValue: true }),
    result: t.field({ type: 'JSON' }),
    error: t.field({ type: ExecutionErrorInput }),
    order: t.int({
      description: 'Of a done step: its place among the results that reached the handler. Stored and given back.',
    }),
    delayMs: t.float({ description: 'Of an open TIMER: the server notes the end by its own clock.' }),
  }),
});
export const CallInput = builder.inputType('CallInput', {
  description:
    'Starts an execution of another workflow and records the open CALL step, in one. Sent again it answers the same child.',
  fields: (t) => ({
    id: t.id({ required: true }),
    generation: t.int({ required: true }),
    position: t.int({ required: true }),
    workflow: t.string({ required: true, description: 'namespace/name' }),
    version: t.int({ description: 'Absent: the newest.' }),
    name: t.string({ description: "The step's name; absent: the workflow." }),
    input: t.field({ type: 'JSON' }),
    routingInput: t.field({
      type: 'RoutingInput',
      description: 'Matched at the dispatch of the child, never delivered and never read back. At most 4 KB.',
    }),
    priority: t.int({ description: "Absent: the caller's." }),
  }),
});
export const SuspendInput = builder.inputType('SuspendInput', {
  description: 'Gives the slot back until any of these open steps is done.',
  fields: (t) => ({
    id: t.id({ required: true }),
    generation: t.int({ required: true }),
    positions: t.intList({ required: true }),
  }),
});

export const ReportResult = builder.objectRef<ItemResult>('ReportResult').implement({
  description:
    'code is null where the item was taken; FORBIDDEN, CONFLICT, NOT_FOUND, BAD_INPUT or TOO_LARGE otherwise.',
  fields: (t) => ({
    id: t.id({ resolve: (result) => encodeId('ex', result.id) }),
    code: t.exposeString('code', { nullable: true }),
    message: t.exposeString('message', { nullable: true }),
  }),
});
export const CallResult = builder.objectRef<CallAnswer>('CallResult').implement({
  fields: (t) => ({
    id: t.id({ resolve: (result) => encodeId('ex', result.id) }),
    code: t.exposeString('code', { nullable: true }),
    message: t.exposeString('message', { nullable: true }),
    child: t.id({ nullable: true, resolve: ({ child }) => (child === null ? null : encodeId('ex', child)) }),
  }),
});
export const RecordedStepRef = builder.objectRef<RecordedStep>('RecordedStep').implement({
  fields: (t) => ({
    position: t.exposeInt('position'),
    kind: t.expose('kind', { type: StepKind }),
    name: t.exposeString('name'),
    done: t.exposeBoolean('done'),
    result: t.expose('result', { type: 'JSON', nullable: true }),
    error: t.expose('error', { type: ExecutionErrorType, nullable: true }),
    child: t.id({ nullable: true, resolve: ({ child }) => (child === null ? null : encodeId('ex', child)) }),
    order: t.exposeInt('order', { nullable: true }),
    generation: t.exposeInt('generation', {
      nullable: true,
      description: 'Of a done step: the first generation whose handler sees it as done.',
    }),
    remainingMs: t.exposeFloat('remainingMs', { nullable: true, description: 'Of an open TIMER.' }),
  }),
});
const StepPageRef = builder.objectRef<StepPage>('StepPage').implement({
  fields: (t) => ({
    steps: t.expose('steps', { type: [RecordedStepRef] }),
    after: t.exposeInt('after', {
      nullable: true,
      description: 'Ask for more after this position; null: that was all.',
    }),
  }),
});

builder.queryField('workerSteps', (t) =>
  t.field({
    authScopes: { serves: 'worker:{name}:serve' },
    type: StepPageRef,
    description: 'Further recorded steps of a claim. At most 500 and about 256 KiB at once.',
    args: {
      worker: t.arg.string({ required: true }),
      instanceId: t.arg.id({ required: true }),
      id: t.arg.id({ required: true }),
      generation: t.arg.int({ required: true }),
      after: t.arg.int({ required: true }),
    },
    resolve: (_root, { worker, instanceId, after, ...held }, { services, viewer }) =>
      services.workerProtocol.steps(viewer, worker, instanceId, toHeld(held), after),
  }),
);

/** No execution has this id: what names none of ours is answered as not found, item by item. */
const NOBODY = '0'.repeat(32);

export function toHeld(item: { id: string; generation: number }): HeldItem {
  return { id: decodeUuid('ex', item.id) ?? NOBODY, generation: item.generation };
}

export function toError(error: typeof ExecutionErrorInput.$inferInput): EndError {
  return { type: error.type, message: error.message, stack: error.stack ?? null, retryable: error.retryable ?? false };
}

export function toStep(item: typeof StepInput.$inferInput): StepReport {
  return {
    ...toHeld(item),
    position: item.position,
    kind: item.kind,
    name: item.name,
    done: item.done ?? true,
    result: item.result,
    error: item.error ? toError(item.error) : null,
    order: item.order ?? null,
    delayMs: item.delayMs ?? null,
  };
}

export function toCall(item: typeof CallInput.$inferInput): CallReport {
  return {
    ...toHeld(item),
    position: item.position,
    workflow: item.workflow,
    version: item.version ?? null,
    name: item.name ?? item.workflow,
    input: item.input,
    routingInput: item.routingInput,
    priority: item.priority ?? null,
  };
}
