import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { CreateContext } from '../../graphql/context.ts';
import { requireAccess } from '../../modules/viewer/access-rule.ts';
import { unauthenticated, type Authenticator } from '../authenticate.ts';
import { CALL_PRICE, type RateLimits } from '../rate-limits.ts';
import { requestIdOf, sendError, sendJson } from '../respond.ts';
import { readQuery, refuseRoutingInput, ROUTING_INPUT } from './read-call.ts';
import { inRestWords } from './rest-errors.ts';
import { matchRoute, type RestCall, type Route } from './route.ts';
import { openApiText, routes } from './routes.ts';

export interface RestOptions {
  readonly authenticator: Authenticator;
  readonly limits: RateLimits;
  readonly createContext: CreateContext;
  /** Open event streams, ended at a stop. */
  readonly streams: Set<ServerResponse>;
  /** Aborted at a stop: who waits is answered with what is known. */
  readonly stop: AbortSignal;
  /** Why nothing is taken now, or null. */
  refusal(): MusterError | null;
  readonly keepAliveMs: number | undefined;
}

/** Answers what belongs to the REST routes; null for every other address. */
export type RestHandler = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void> | null;

const OPENAPI = '/openapi.json';
/** First segments that the routes have. Below them the admin app has pages too, except below `admin`. */
const PREFIXES: ReadonlySet<string> = new Set(['workflows', 'deployments', 'executions', 'workers', 'admin']);

/** Route, token, query, then the route's own work; one shape for every error. */
export function createRest(options: RestOptions): RestHandler {
  // One listener for each request that is open.
  setMaxListeners(0, options.stop);
  return (request, response, path) => {
    if (path === OPENAPI) return answering(request, response, async () => sendOpenApi(request, response));
    const prefix = path.split('/', 2)[1] ?? '';
    if (!PREFIXES.has(prefix)) return null;
    const match = matchRoute(routes, request.method ?? 'GET', path);
    if (match === null) {
      const mayBePage = prefix !== 'admin' && isRead(request) && request.headers.authorization === undefined;
      return mayBePage ? null : answering(request, response, () => Promise.reject(noRoute()));
    }
    if ('allow' in match) return answering(request, response, () => Promise.reject(notAllowed(response, match.allow)));
    const { route, rawParams } = match;
    if (route.sharedWithPage && wantsPage(request)) return null;
    return answering(request, response, (requestId) =>
      run({ request, response, route, rawParams, requestId }, options),
    );
  };
}

interface Matched {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: Route;
  readonly rawParams: Readonly<Record<string, string>>;
  readonly requestId: string;
}

async function run({ request, response, route, rawParams, requestId }: Matched, options: RestOptions): Promise<void> {
  const refusal = options.refusal();
  if (refusal !== null) throw refusal;
  const viewer = await options.authenticator.viewerOfToken(request);
  const address = options.authenticator.addressOf(request);
  if (!viewer) options.limits.stranger(address);
  if (!viewer) throw unauthenticated('Send Authorization: Bearer with the token of this installation.');
  options.limits.operation(viewer, address, CALL_PRICE, false);
  requireAccess(route.access, viewer);
  const names = route.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const takesRouting = route.parameters.some(({ name }) => name === ROUTING_INPUT);
  if (route.method === 'POST' && !takesRouting) refuseRoutingInput(request);
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  options.stop.addEventListener('abort', leave);
  const context = options.createContext({
    viewer,
    address,
    requestId,
    unsentBytes: () => response.writableLength,
  });
  // A stream ends with the credential that it was asked for with; whoever comes back is told why.
  const stopWatching = context.onEnd(() => {
    if (!response.headersSent) return;
    if (route.partsAreUseless) response.destroy();
    else response.end();
  });
  response.once('close', () => {
    options.stop.removeEventListener('abort', leave);
    stopWatching();
    leave();
  });
  const call: RestCall = {
    request,
    response,
    params: decodeParams(rawParams),
    query: readQuery(request.url ?? '', names),
    context,
    signal: gone.signal,
    streams: options.streams,
    keepAliveMs: options.keepAliveMs,
  };
  const answer = await route.handle(call).catch((error: unknown) => {
    // A stream that asked what its viewer may do now, before it was told that his credential has ended.
    const isOver = error instanceof MusterError && error.code === 'UNAUTHENTICATED' && response.headersSent;
    if (!isOver || route.partsAreUseless) throw error;
    response.end();
    return null;
  });
  if (answer === null || response.destroyed) return;
  if (answer.body === undefined) response.writeHead(answer.status, { 'cache-control': 'no-store' }).end();
  else sendJson(response, answer.status, answer.body, answer.headers);
}

/** Runs and answers a typed error in its shape; what is a bug is the server's to log and mask. */
async function answering(
  request: IncomingMessage,
  response: ServerResponse,
  work: (requestId: string) => Promise<void>,
): Promise<void> {
  const requestId = requestIdOf(request);
  response.setHeader('x-request-id', requestId);
  response.setHeader('vary', 'accept, authorization');
  try {
    await work(requestId);
  } catch (error) {
    if (!(error instanceof MusterError) || response.headersSent) throw error;
    if (error.code === 'TOO_LARGE') response.setHeader('connection', 'close');
    if (error.code === 'UNAUTHENTICATED') response.setHeader('www-authenticate', 'Bearer');
    sendError(response, inRestWords(error), requestId, {}, error instanceof NotAllowed ? 405 : undefined);
  }
}

/** The statuses follow from the codes, and this one has no code of its own. */
class NotAllowed extends MusterError {}

function notAllowed(response: ServerResponse, allow: readonly string[]): MusterError {
  response.setHeader('allow', allow.join(', '));
  return new NotAllowed('BAD_INPUT', `This address takes ${allow.join(', ')}.`);
}

function noRoute(): MusterError {
  return new MusterError('NOT_FOUND', `There is no such address; ${OPENAPI} lists those that there are.`);
}

function sendOpenApi(request: IncomingMessage, response: ServerResponse): void {
  if (!isRead(request)) throw notAllowed(response, ['GET', 'HEAD']);
  response.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(openApiText)),
    'cache-control': 'no-cache',
    'x-content-type-options': 'nosniff',
  });
  response.end(openApiText);
}

function isRead({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** A browser that opens an address asks for HTML and has no token; scripts do not ask for it. */
function wantsPage(request: IncomingMessage): boolean {
  const { accept = '', authorization } = request.headers;
  return isRead(request) && authorization === undefined && accept.includes('text/html');
}

function decodeParams(rawParams: Readonly<Record<string, string>>): Record<string, string> {
  try {
    return Object.fromEntries(Object.entries(rawParams).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch {
    throw new MusterError('BAD_INPUT', 'The address must be percent-encoded UTF-8.');
  }
}
