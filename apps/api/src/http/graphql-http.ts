import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { ExecutionResult } from 'graphql';
import type { CreateContext } from '../graphql/context.ts';
import { toGraphQLError } from '../graphql/errors.ts';
import { isOpen, isWorkerProtocol } from '../graphql/open-operation.ts';
import type { GraphQLRequest, Operation, Pipeline } from '../graphql/pipeline.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import { type Authenticator, unauthenticated } from './authenticate.ts';
import type { RateLimits } from './rate-limits.ts';
import { readJsonBody, requestIdOf, retryHeaders, statusOf } from './respond.ts';
import { beginEventStream, eventFrame, sendEvents } from './event-stream.ts';

/** A request may carry 500 runs; what one of them may hold is bounded by the scalars. */
const MAX_BODY_BYTES = 16 * 1_048_576;
/** What is read of somebody who has not said who he is. */
const ANONYMOUS_BODY_BYTES = 65_536;

export interface GraphQLTransport {
  readonly pipeline: Pipeline;
  readonly authenticator: Authenticator;
  readonly createContext: CreateContext;
  readonly limits: RateLimits;
  /** Open event streams, ended at a stop. */
  readonly streams: Set<ServerResponse>;
}

/** GraphQL over HTTP: POST, GET for queries and event streams, and Server-Sent Events where the caller accepts them. */
export async function handleGraphQL(
  request: IncomingMessage,
  response: ServerResponse,
  transport: GraphQLTransport,
): Promise<void> {
  const requestId = requestIdOf(request);
  response.setHeader('x-request-id', requestId);
  const accept = request.headers.accept ?? '';
  const mediaType = accept.includes('application/graphql-response+json')
    ? 'application/graphql-response+json'
    : 'application/json';
  const send = (status: number, result: ExecutionResult): void => {
    const text = JSON.stringify(result);
    response.writeHead(status, {
      'content-type': `${mediaType}; charset=utf-8`,
      'content-length': String(Buffer.byteLength(text)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    response.end(text);
  };
  const address = transport.authenticator.addressOf(request);
  try {
    transport.limits.request(address);
    const method = request.method ?? 'GET';
    if (method !== 'POST' && method !== 'GET') {
      response.setHeader('allow', 'GET, POST');
      throw new MusterError('BAD_INPUT', 'Use POST, or GET for queries.');
    }
    const viewer = await transport.authenticator.viewerOf(request, response);
    if (viewer === null) transport.limits.stranger(address);
    const operation = await prepare(request, viewer, response, transport);
    const protocol = isWorkerProtocol(transport.pipeline.schema, operation.node);
    transport.limits.operation(viewer, address, operation.price, protocol);
    const wantsStream = accept.includes('text/event-stream');
    if (operation.node.operation === 'subscription' && !wantsStream) {
      throw new MusterError(
        'BAD_INPUT',
        'Subscriptions are answered with Accept: text/event-stream, or over WebSocket.',
        { field: 'Accept' },
      );
    }
    const context = transport.createContext({
      viewer,
      address,
      requestId,
      unsentBytes: () => response.writableLength,
    });
    const { result, refused } = await transport.pipeline.run(operation, context);
    if (wantsStream && !refused) return await sendResults(response, result, transport.streams);
    send(refused ? 400 : 200, result as ExecutionResult);
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    if (error.code === 'TOO_LARGE') response.setHeader('connection', 'close');
    if (error.code === 'UNAUTHENTICATED') response.setHeader('www-authenticate', 'Bearer');
    for (const [name, value] of Object.entries(retryHeaders(error))) response.setHeader(name, value);
    send(statusOf(error), { errors: [toGraphQLError(error, { requestId })] });
  }
}

/** Errors: UNAUTHENTICATED for nobody who asks for anything but what is for anybody, whatever is wrong with it. */
async function prepare(
  request: IncomingMessage,
  viewer: Viewer | null,
  response: ServerResponse,
  { pipeline }: GraphQLTransport,
): Promise<Operation> {
  try {
    const byPost = request.method === 'POST';
    const limit = viewer === null ? ANONYMOUS_BODY_BYTES : MAX_BODY_BYTES;
    const { body, text } = byPost ? await bodyOf(request, limit) : { body: queryOf(request), text: null };
    const operation = pipeline.prepare(body, text, viewer);
    if (!byPost) refuseByGet(operation, body, response);
    if (viewer === null && !isOpen(pipeline.schema, operation.node)) throw unauthenticated();
    return operation;
  } catch (error) {
    if (viewer !== null || !(error instanceof MusterError)) throw error;
    if (error.code === 'TOO_LARGE') response.setHeader('connection', 'close');
    throw unauthenticated();
  }
}

/** `next` with a result each, `complete` at the end. */
async function sendResults(
  response: ServerResponse,
  result: ExecutionResult | AsyncGenerator<ExecutionResult, void, void>,
  open: Set<ServerResponse>,
): Promise<void> {
  const format = (item: ExecutionResult): string => eventFrame('next', JSON.stringify(item));
  const last = eventFrame('complete', '');
  beginEventStream(response);
  if (Symbol.asyncIterator in result) return sendEvents(response, result, { format, last, open });
  response.end(format(result) + last);
}

function refuseByGet({ node }: Operation, body: GraphQLRequest, response: ServerResponse): void {
  if (node.operation === 'mutation') {
    response.setHeader('allow', 'POST');
    throw new MusterError('BAD_INPUT', 'Mutations are sent by POST.');
  }
  if (carriesRoutingInput(body)) {
    throw new MusterError(
      'BAD_INPUT',
      'An operation that carries routing input is sent by POST: addresses end up in logs.',
      { field: 'routingInput' },
    );
  }
}

async function bodyOf(request: IncomingMessage, limit: number): Promise<{ body: GraphQLRequest; text: string }> {
  const { value, text } = await readJsonBody(request, limit);
  if (Array.isArray(value))
    throw new MusterError('BAD_INPUT', 'Send one operation a request: batches are not accepted.');
  if (typeof value !== 'object' || value === null)
    throw new MusterError('BAD_INPUT', 'The body must be an object with query, variables and operationName.');
  return { body: value, text };
}

function queryOf(request: IncomingMessage): GraphQLRequest {
  const parameters = new URL(request.url ?? '/', 'http://localhost').searchParams;
  const variables = parameters.get('variables');
  let parsed: unknown;
  try {
    parsed = variables === null ? undefined : JSON.parse(variables);
  } catch {
    throw new MusterError('BAD_INPUT', 'variables must be a JSON object.', { field: 'variables' });
  }
  return {
    query: parameters.get('query') ?? undefined,
    operationName: parameters.get('operationName') ?? undefined,
    variables: parsed,
  };
}

/** Judged by the name alone: nothing else in the schema is called so. */
function carriesRoutingInput(body: GraphQLRequest): boolean {
  return /routingInput/i.test(String(body.query)) || /"routingInput"/i.test(JSON.stringify(body.variables ?? null));
}
