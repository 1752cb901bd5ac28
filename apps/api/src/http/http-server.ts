import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Clock } from '../clock.ts';
import type { LoginServices } from '../compose-login.ts';
import type { Config } from '../config.ts';
import type { CreateContext } from '../graphql/context.ts';
import type { Pipeline } from '../graphql/pipeline.ts';
import { databaseTrouble } from '../lib/database-trouble.ts';
import type { Log } from '../log.ts';
import type { Access } from '../modules/access/access.ts';
import { type AccessRule, requireAccess } from '../modules/viewer/access-rule.ts';
import { createAuthenticator } from './authenticate.ts';
import type { BoundPort } from './bound-port.ts';
import { createClientAddress } from './client-address.ts';
import { type GraphQLTransport, handleGraphQL } from './graphql-http.ts';
import { createWebSocketEndpoint } from './graphql-ws.ts';
import { createOriginCheck } from './own-origin.ts';
import { createRateLimits, limitAuthenticator } from './rate-limits.ts';
import { requestIdOf, retryHeaders, sendError, sendJson } from './respond.ts';
import { securityHeaders } from './security-headers.ts';
import { createSessionCookies } from './session-cookie.ts';
import { handleOidc } from './login/oidc-routes.ts';
import { type Entrance, handleSession } from './login/session-route.ts';
import { createRest } from './rest/handle-rest.ts';
import { createStaticApp, findAdminDir } from './static-app.ts';

export interface HttpServerOptions {
  readonly bound: BoundPort;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly access: Access;
  readonly login: LoginServices;
  readonly pipeline: Pipeline;
  readonly createContext: CreateContext;
  /** Whether the server can do its work now; a clause that says why not. */
  readiness(): Promise<string | null>;
  /** Prometheus text. */
  metrics(): Promise<string>;
  readonly pingMs?: number;
}

export interface HttpServer {
  readonly url: string;
  readonly port: number;
  /** Answers UNAVAILABLE to new requests and refuses new sockets; those that are open go on. */
  refuse(): void;
  /** Takes no new work, tells streams to come back, and resolves when what is in flight has ended, or after `graceMs`. */
  close(graceMs: number): Promise<void>;
}

/** As the figures of the fleet. */
const METRICS_ACCESS: AccessRule = { signedIn: true };

/** Everything on one port: /graphql (HTTP, events, WebSocket), /session, /healthz, /readyz, /metrics, the REST routes and the admin app. */
export function startHttpServer(options: HttpServerOptions): HttpServer {
  const { config, log, access, login, pipeline } = options;
  const { server, port } = options.bound;
  let stopping = false;
  const stop = new AbortController();
  const refusal = (): MusterError | null =>
    stopping ? new MusterError('UNAVAILABLE', 'The server stops; try again in a moment.') : null;
  const { addressOf, hostOf, isTls } = createClientAddress(config.trustedProxies);
  const isOwn = createOriginCheck({ host: config.host, port, publicUrl: config.publicUrl, hostOf });
  const publicTls = config.publicUrl?.startsWith('https:') ?? false;
  const origin = config.publicUrl ?? `http://${shownHost(config.host)}:${port}`;
  const cookies = createSessionCookies(port, publicTls);
  const entrance: Entrance = { access, ...login, cookies, origin, isOwn, addressOf, hostOf };
  const limits = createRateLimits(config.rates, () => options.clock.monotonic());
  const authenticator = limitAuthenticator(createAuthenticator({ access, cookies, isOwn, addressOf }), limits);
  const transport: GraphQLTransport = {
    pipeline,
    authenticator,
    createContext: options.createContext,
    limits,
    streams: new Set(),
  };
  const rest = createRest({
    authenticator,
    limits,
    createContext: options.createContext,
    streams: transport.streams,
    stop: stop.signal,
    refusal,
    keepAliveMs: options.pingMs,
  });
  const staticApp = createStaticApp(findAdminDir(config.adminDir));

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    // GraphQL has a shape of its own for errors, and health is asked for by who has to know it.
    if (!['/graphql', '/healthz', '/readyz'].includes(path)) limits.request(addressOf(request));
    switch (path) {
      case '/graphql': {
        const problem = refusal();
        if (problem !== null) throw problem;
        return handleGraphQL(request, response, transport);
      }
      case '/session':
        return handleSession(request, response, entrance);
      case '/healthz':
        return sendJson(response, 200, { status: 'ok' });
      case '/readyz':
        return sendReadiness(response, stopping ? 'stopping' : await options.readiness());
      case '/metrics':
        requireAccess(METRICS_ACCESS, await authenticator.viewerOf(request));
        return sendMetrics(response, await options.metrics());
      default: {
        const answered = handleOidc(request, response, entrance) ?? rest(request, response, path);
        if (answered !== null) return answered;
        staticApp(request, response);
      }
    }
  }

  server.removeAllListeners('request').on('request', (request, response) => {
    if (stopping) response.setHeader('connection', 'close');
    for (const [name, value] of Object.entries(securityHeaders(publicTls || isTls(request))))
      response.setHeader(name, value);
    route(request, response).catch((error: unknown) => answerFailure(request, response, error, log));
  });
  // Event streams live long; what bounds a slow sender is the time for its headers and body.
  server.requestTimeout = 60_000;
  server.headersTimeout = 20_000;
  const sockets = createWebSocketEndpoint({ transport, access, log, pingMs: options.pingMs ?? 12_000 });
  server.on('upgrade', (request, socket, head) => {
    const refused = stopping
      ? '503 Service Unavailable'
      : upgradeRefusal(request, () => limits.request(addressOf(request)));
    if (refused !== null) {
      socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.upgrade(request, socket, head);
  });

  return {
    port,
    url: origin,
    refuse() {
      stopping = true;
    },
    async close(graceMs) {
      stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sockets.close();
      stop.abort();
      for (const stream of transport.streams) stream.end();
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** What no route has answered: a typed error in its shape, and everything else masked, under the request's id in the log. */
function answerFailure(request: IncomingMessage, response: ServerResponse, error: unknown, log: Log): void {
  const requestId = requestIdOf(request);
  const known =
    error instanceof MusterError ? error : (databaseTrouble(error) ?? new MusterError('INTERNAL', 'Unexpected error.'));
  if (known !== error && !response.destroyed) log.error({ requestId, err: error }, 'a request failed unexpectedly');
  if (response.headersSent) response.destroy();
  else sendError(response, known, requestId);
}

/** Status line and headers for a socket that is not opened; null: it is. */
function upgradeRefusal(request: IncomingMessage, count: () => void): string | null {
  if ((request.url ?? '').split('?', 1)[0] !== '/graphql') return '404 Not Found';
  try {
    count();
    return null;
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return `429 Too Many Requests\r\nRetry-After: ${retryHeaders(error)['retry-after'] ?? '1'}`;
  }
}

function sendMetrics(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' });
  response.end(text);
}

function sendReadiness(response: ServerResponse, problem: string | null): void {
  if (problem === null) sendJson(response, 200, { status: 'ready' });
  else sendJson(response, 503, { status: 'not ready', reason: problem });
}

/** The host as it stands in an address that works here. */
function shownHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
