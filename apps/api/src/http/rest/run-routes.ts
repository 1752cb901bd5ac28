import { type ErrorCode, isTerminal, type JsonValue } from '@muster/core';
import { encodeId } from '../../graphql/ids.ts';
import type { AccessRule } from '../../modules/viewer/access-rule.ts';
import * as examples from './examples.ts';
import { sendExecutionEvents } from './execution-events.ts';
import { executionJson } from './execution-json.ts';
import { pathParameter, preferWait, runParameters, sessionKey, versionNumber } from './parameters.ts';
import {
  hintHeader,
  IDEMPOTENCY_KEY,
  MAX_WAIT_SECONDS,
  onceHeader,
  preferredWait,
  readInput,
  REQUIRE_WORKER,
  routingInputHeader,
  runNumbers,
  SESSION_KEY,
} from './read-call.ts';
import type { Body, DocumentedAnswer, Parameter, RestAnswer, RestCall, Route } from './route.ts';
import { ref } from './schemas.ts';

const MODES = ['async', 'sync', 'stream'] as const;
type Mode = (typeof MODES)[number];

/** Starts the execution of a call and answers its raw id. */
type Start = (call: RestCall) => Promise<string>;

interface Target {
  readonly tag: string;
  readonly noun: string;
  readonly operation: string;
  readonly path: string;
  readonly access: AccessRule;
  readonly parameters: readonly Parameter[];
  readonly errors: readonly ErrorCode[];
  readonly start: Start;
}

const RUN_ERRORS: readonly ErrorCode[] = [
  'ROUTING_INPUT_INVALID',
  'UNKNOWN_WORKER',
  'NOT_FOUND',
  'CONFLICT',
  'TOO_LARGE',
];

const inputBody: Body = {
  description: 'The input, any JSON value, whatever the Content-Type; empty: null.',
  required: false,
  schema: {},
  example: { region: 'eu' },
};

const LOCATION = { Location: 'Where the execution is read.' };

const ANSWERS: Record<Mode, Record<number, DocumentedAnswer>> = {
  async: {
    202: {
      description: 'It is stored and will run.',
      schema: ref('Execution'),
      example: examples.pendingExecution,
      headers: LOCATION,
    },
  },
  sync: {
    200: {
      description: 'It has ended; `state` says how.',
      schema: ref('Execution'),
      example: examples.execution,
      headers: LOCATION,
    },
    202: {
      description: `It has not ended within the wait (${MAX_WAIT_SECONDS} s, or what \`Prefer\` says): the execution so far. It goes on.`,
      schema: ref('Execution'),
      example: examples.pendingExecution,
      headers: LOCATION,
    },
  },
  stream: {
    200: {
      description:
        'Server-sent events from CREATED to the terminal event, which brings the execution along. A stream that breaks off goes on at the events of the execution.',
      schema: { type: 'string' },
      example: examples.stream,
      contentType: 'text/event-stream',
      headers: LOCATION,
    },
  },
};

const SUMMARIES: Record<Mode, string> = {
  async: 'and answer at once',
  sync: 'and wait for its end',
  stream: 'and stream its events',
};

/** Directives first: a call that would be routed elsewhere than it says is refused before its body is read. */
async function readRun(call: RestCall): Promise<{
  input: JsonValue;
  routingInput: JsonValue | undefined;
  requiredWorker: string | undefined;
  preferredWorker: string | undefined;
  parkTtlSeconds: number | undefined;
  priority: number;
  idempotencyKey: string | undefined;
  version: number | undefined;
}> {
  const { request, query } = call;
  const routingInput = routingInputHeader(request);
  const requiredWorker = onceHeader(request, REQUIRE_WORKER);
  const idempotencyKey = onceHeader(request, IDEMPOTENCY_KEY);
  const numbers = runNumbers(query);
  const input = await readInput(call);
  return { input, routingInput, requiredWorker, preferredWorker: hintHeader(request), idempotencyKey, ...numbers };
}

async function startWorkflow(call: RestCall): Promise<string> {
  const { services, viewer, requestId } = call.context;
  const { version, ...options } = await readRun(call);
  const workflow = `${call.params['ns']}/${call.params['name']}`;
  const use = { viewer, action: 'run' } as const;
  const versionId =
    version === undefined
      ? undefined
      : encodeId('wv', (await services.workflows.versionNumbered(workflow, version, 'workflow', use)).id);
  return services.runs.runWorkflow({ ...options, workflow, versionId }, viewer, requestId);
}

async function startDeployment(call: RestCall): Promise<string> {
  const { services, viewer, requestId } = call.context;
  const key = onceHeader(call.request, SESSION_KEY);
  const { version: _none, ...options } = await readRun(call);
  const args = { ...options, deployment: call.params['slug'] ?? '', sessionKey: key };
  return (await services.runs.runDeployment(args, viewer, requestId)).id;
}

const TARGETS: readonly Target[] = [
  {
    tag: 'Workflows',
    noun: 'a workflow',
    operation: 'runWorkflow',
    path: '/workflows/{ns}/{name}/run',
    access: { permission: 'workflow:{namespace}:{name}:run' },
    parameters: [
      pathParameter('ns', 'The namespace of the workflow.', 'default'),
      pathParameter('name', 'The name of the workflow.', 'train'),
      versionNumber,
      ...runParameters,
    ],
    errors: RUN_ERRORS,
    start: startWorkflow,
  },
  {
    tag: 'Deployments',
    noun: 'the variant that a deployment gives',
    operation: 'runDeployment',
    path: '/deployments/{slug}/run',
    access: { permission: 'deployment:{slug}:run' },
    parameters: [pathParameter('slug', 'The deployment.', 'assistant'), ...runParameters, sessionKey],
    errors: [...RUN_ERRORS, 'NO_HEALTHY_VARIANT'],
    start: startDeployment,
  },
];

export const runRoutes: readonly Route[] = TARGETS.flatMap((target) =>
  MODES.map(
    (mode): Route => ({
      method: 'POST',
      path: `${target.path}/${mode}`,
      operationId: `${target.operation}${mode.charAt(0).toUpperCase()}${mode.slice(1)}`,
      tag: target.tag,
      summary: `Run ${target.noun} ${SUMMARIES[mode]}`,
      access: target.access,
      parameters: mode === 'sync' ? [...target.parameters, preferWait] : target.parameters,
      body: inputBody,
      answers: ANSWERS[mode],
      errors: target.errors,
      handle: async (call) => answerRun(call, await target.start(call), mode),
    }),
  ),
);

async function answerRun(call: RestCall, id: string, mode: Mode): Promise<RestAnswer | null> {
  const { context, signal } = call;
  const location = `/executions/${encodeId('ex', id)}`;
  if (mode === 'stream') {
    await sendExecutionEvents(call, id, 0, true);
    return null;
  }
  if (mode === 'async') return { status: 202, body: await executionJson(id, context, 'acted'), headers: { location } };
  const { seconds, stated } = preferredWait(call);
  await context.services.executions.waitUntilEnded(id, seconds, signal);
  context.renew();
  const row = await context.loaders.acted.load(id);
  return {
    status: row !== null && isTerminal(row.state) ? 200 : 202,
    body: await executionJson(id, context, 'acted'),
    headers: { location, ...(stated ? { 'preference-applied': `wait=${seconds}` } : {}) },
  };
}
