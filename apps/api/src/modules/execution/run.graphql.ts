import type { MusterError } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import type { Context } from '../../graphql/context.ts';
import { encodeId, requireUuid } from '../../graphql/ids.ts';
import { ExecutionRef } from '../../graphql/refs.ts';
import type { ResolvedVariant } from '../deployment/deployment-service.ts';
import { ResolvedDeploymentRef } from '../deployment/deployment-write.graphql.ts';
import { requireRow } from './execution.graphql.ts';
import type { ExecutionRow } from './execution-rows.ts';
import type { SubmitOutcome } from './submission.ts';

const WAIT = 'Answer when it has ended or parked, or after so many seconds (at most 60).';
const PARK_TTL = "0: wait for ever. Absent: the server's default.";
const ROUTING = 'Matched at dispatch, never delivered and never read back. At most 4 KB.';

const RunWorkflowInput = builder.inputType('RunWorkflowInput', {
  fields: (t) => ({
    workflow: t.string({ required: true, description: 'namespace/name' }),
    versionId: t.string(),
    input: t.field({ type: 'JSON' }),
    routingInput: t.field({ type: 'RoutingInput', description: ROUTING }),
    requiredWorker: t.string(),
    preferredWorker: t.string(),
    parkTtlSeconds: t.int({ description: PARK_TTL }),
    priority: t.int({ defaultValue: 0 }),
    idempotencyKey: t.string(),
    waitSeconds: t.int({ defaultValue: 0, description: WAIT }),
  }),
});
const RunWorkflowsInput = builder.inputType('RunWorkflowsInput', {
  description: 'At most 500; each item succeeds or fails by itself, in order.',
  fields: (t) => ({ runs: t.field({ type: [RunWorkflowInput], required: true }) }),
});
const RunDeploymentInput = builder.inputType('RunDeploymentInput', {
  fields: (t) => ({
    deployment: t.string({ required: true }),
    sessionKey: t.string(),
    input: t.field({ type: 'JSON' }),
    routingInput: t.field({ type: 'RoutingInput', description: ROUTING }),
    requiredWorker: t.string(),
    preferredWorker: t.string(),
    parkTtlSeconds: t.int({ description: PARK_TTL }),
    priority: t.int({ defaultValue: 0 }),
    idempotencyKey: t.string(),
    waitSeconds: t.int({ defaultValue: 0, description: WAIT }),
  }),
});
const ResumeExecutionInput = builder.inputType('ResumeExecutionInput', {
  fields: (t) => ({ id: t.id({ required: true }), input: t.field({ type: 'JSON' }) }),
});
const ExecutionIdInput = builder.inputType('ExecutionIdInput', { fields: (t) => ({ id: t.id({ required: true }) }) });

/** A payload names its execution; the row is read when it is asked for. */
interface ById {
  readonly id: string;
}

const loadExecution = async ({ id }: ById, context: Context): Promise<ExecutionRow> =>
  requireRow(await context.loaders.acted.load(id));

const RunPayload = builder.objectRef<ById>('RunPayload').implement({
  fields: (t) => ({
    execution: t.field({ type: ExecutionRef, resolve: (payload, _args, context) => loadExecution(payload, context) }),
  }),
});
const ExecutionPayload = builder.objectRef<ById>('ExecutionPayload').implement({
  fields: (t) => ({
    execution: t.field({ type: ExecutionRef, resolve: (payload, _args, context) => loadExecution(payload, context) }),
  }),
});
const RunDeploymentPayload = builder.objectRef<ById & { resolved: ResolvedVariant }>('RunDeploymentPayload').implement({
  fields: (t) => ({
    execution: t.field({ type: ExecutionRef, resolve: (payload, _args, context) => loadExecution(payload, context) }),
    resolved: t.field({ type: ResolvedDeploymentRef, resolve: (payload) => payload.resolved }),
  }),
});
// Wrapped: graphql-js throws an error that a resolver returns.
const RunError = builder.objectRef<{ error: MusterError }>('RunError').implement({
  fields: (t) => ({
    code: t.string({ resolve: ({ error }) => error.code }),
    message: t.string({ resolve: ({ error }) => error.message }),
    field: t.string({ nullable: true, resolve: ({ error }) => error.field ?? null }),
  }),
});
const RunResult = builder.objectRef<SubmitOutcome>('RunResult').implement({
  fields: (t) => ({
    id: t.id({ nullable: true, resolve: (outcome) => ('id' in outcome ? encodeId('ex', outcome.id) : null) }),
    execution: t.field({
      type: ExecutionRef,
      nullable: true,
      resolve: (outcome, _args, { loaders }) => ('id' in outcome ? loaders.acted.load(outcome.id) : null),
    }),
    error: t.field({
      type: RunError,
      nullable: true,
      resolve: (outcome) => ('error' in outcome ? { error: outcome.error } : null),
    }),
  }),
});
const RunWorkflowsPayload = builder.objectRef<{ results: SubmitOutcome[] }>('RunWorkflowsPayload').implement({
  fields: (t) => ({ results: t.field({ type: [RunResult], resolve: (payload) => payload.results }) }),
});

builder.mutationFields((t) => ({
  runWorkflow: t.field({
    authScopes: { permission: 'workflow:{namespace}:{name}:run' },
    type: RunPayload,
    args: { input: t.arg({ type: RunWorkflowInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      id: await services.runs.runWorkflow(input, viewer, requestId),
    }),
  }),
  runWorkflows: t.field({
    authScopes: { permission: 'workflow:{namespace}:{name}:run' },
    type: RunWorkflowsPayload,
    description: 'Many at once: one request, few statements.',
    args: { input: t.arg({ type: RunWorkflowsInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      results: await services.runs.runWorkflows(input.runs, viewer, requestId),
    }),
  }),
  runDeployment: t.field({
    authScopes: { permission: 'deployment:{slug}:run' },
    type: RunDeploymentPayload,
    args: { input: t.arg({ type: RunDeploymentInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.runs.runDeployment(input, viewer, requestId),
  }),
  resumeExecution: t.field({
    authScopes: { permission: 'workflow:{namespace}:{name}:run' },
    type: ExecutionPayload,
    args: { input: t.arg({ type: ResumeExecutionInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      const id = requireUuid('ex', input.id, 'id');
      await services.executions.resume(id, input.input ?? null, viewer, requestId);
      return { id };
    },
  }),
  cancelExecution: t.field({
    authScopes: { permission: 'execution:*:cancel' },
    type: ExecutionPayload,
    args: { input: t.arg({ type: ExecutionIdInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      const id = requireUuid('ex', input.id, 'id');
      await services.executions.cancel(id, viewer, requestId);
      return { id };
    },
  }),
  retryExecution: t.field({
    authScopes: { permission: 'workflow:{namespace}:{name}:run' },
    type: ExecutionPayload,
    args: { input: t.arg({ type: ExecutionIdInput, required: true }) },
    resolve: (_root, { input }, { services, viewer }) =>
      services.executions.retry(requireUuid('ex', input.id, 'id'), viewer),
  }),
}));
