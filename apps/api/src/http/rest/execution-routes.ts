import * as examples from './examples.ts';
import { hasNothingAfter, sendExecutionEvents } from './execution-events.ts';
import { executionIdOf, executionJson } from './execution-json.ts';
import { executionId, lastEventIdHeader } from './parameters.ts';
import { lastEventId, readInput } from './read-call.ts';
import type { DocumentedAnswer, RestAnswer, RestCall, Route } from './route.ts';
import { ref } from './schemas.ts';

const one: DocumentedAnswer = { description: 'The execution.', schema: ref('Execution'), example: examples.execution };

function idOf({ params }: RestCall): string {
  return executionIdOf(params['id'] ?? '');
}

async function changed(id: string, { context }: RestCall): Promise<RestAnswer> {
  context.renew();
  return { status: 200, body: await executionJson(id, context, 'acted') };
}

export const executionRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/executions/{id}',
    operationId: 'getExecution',
    tag: 'Executions',
    summary: 'Read an execution',
    access: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    parameters: [executionId],
    answers: { 200: one },
    errors: ['NOT_FOUND'],
    sharedWithPage: true,
    handle: async (call) => ({ status: 200, body: await executionJson(idOf(call), call.context) }),
  },
  {
    method: 'GET',
    path: '/executions/{id}/events',
    operationId: 'streamExecutionEvents',
    tag: 'Executions',
    summary: 'Follow an execution',
    description:
      'Server-sent events: the history, then what happens, to the terminal event; comments keep the connection alive. Each event has its sequence as id; a client that comes back with `Last-Event-ID` misses nothing.',
    access: { reads: ['execution:*:read', 'workflow:{namespace}:{name}:read'] },
    parameters: [executionId, lastEventIdHeader],
    answers: {
      200: {
        description: 'The events; the data of each is an ExecutionEvent.',
        schema: { type: 'string' },
        example: examples.stream,
        contentType: 'text/event-stream',
      },
      204: {
        description: 'It has ended and nothing came after that event: there is nothing to come back for.',
        schema: {},
        example: undefined,
      },
    },
    errors: ['NOT_FOUND'],
    async handle(call) {
      const id = idOf(call);
      const after = lastEventId(call);
      if (await hasNothingAfter(call, id, after)) return { status: 204, body: undefined };
      await sendExecutionEvents(call, id, after);
      return null;
    },
  },
  {
    method: 'POST',
    path: '/executions/{id}/cancel',
    operationId: 'cancelExecution',
    tag: 'Executions',
    summary: 'Cancel an execution',
    description:
      'What nobody works on ends at once; what runs becomes CANCELLING until its worker answers. Cancelling twice is fine.',
    access: { permission: 'execution:*:cancel' },
    parameters: [executionId],
    answers: { 200: one },
    errors: ['ROUTING_INPUT_INVALID', 'NOT_FOUND', 'CONFLICT'],
    async handle(call) {
      const id = idOf(call);
      const { services, viewer, requestId } = call.context;
      await services.executions.cancel(id, viewer, requestId);
      return changed(id, call);
    },
  },
  {
    method: 'POST',
    path: '/executions/{id}/resume',
    operationId: 'resumeExecution',
    tag: 'Executions',
    summary: 'Resume a paused execution',
    access: { permission: 'workflow:{namespace}:{name}:run' },
    parameters: [executionId],
    body: {
      description: 'What the pause gives to the workflow, any JSON value; empty: null.',
      required: false,
      schema: {},
      example: { approved: true },
    },
    answers: { 200: one },
    errors: ['ROUTING_INPUT_INVALID', 'NOT_FOUND', 'CONFLICT', 'TOO_LARGE'],
    async handle(call) {
      const id = idOf(call);
      const { services, viewer, requestId } = call.context;
      await services.executions.resume(id, await readInput(call), viewer, requestId);
      return changed(id, call);
    },
  },
];
