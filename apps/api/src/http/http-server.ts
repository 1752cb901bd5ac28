import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Config } from '../config.ts';
import type { CreateContext } from '../graphql/context.ts';
import type { Pipeline } from '../graphql/pipeline.ts';
import { databaseTrouble } from '../lib/database-trouble.ts';
import type { Log } from '../log.ts';
import type { Access } from '../modules/access/access.ts';
import { type AccessRule, requireAccess } from '../modules/viewer/access-rule.ts';
import { createAuthenticator, peerAddress, unauthenticated } from './authenticate.ts';
import type { BoundPort } from './bound-port.ts';
import { type GraphQLTransport, handleGraphQL } from './graphql-http.ts';
import { createWebSocketEndpoint } from './graphql-ws.ts';
import { createOriginCheck } from './own-origin.ts';
import { requestIdOf, sendError, sendJson } from './respond.ts';
import { createSessionCookies } from './session-cookie.ts';
import { handleSession } from './session-route.ts';
import { createRest } from './rest/handle-rest.ts';
import { createStaticApp, findAdminDir } from './static-app.ts';

export interface HttpServerOptions {
  readonly bound: BoundPort;
  readonly config: Config;
  readonly log: Log;
  readonly access: Access;
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
  const { config, log, access, pipeline } = options;
  const { server, port } = options.bound;
  let stopping = false;
  const stop = new AbortController();
  const refusal = (): MusterError | null =>
    stopping ? new MusterError('UNAVAILABLE', 'The server stops; try again in a moment.') : null;
  const isOwn = createOriginCheck({ host: config.host, port, publicUrl: config.publicUrl });
  const cookies = createSessionCookies(port, config.publicUrl?.startsWith('https:') ?? false);
  const addressOf = peerAddress;
  const authenticator = createAuthenticator({ access, cookies, isOwn, addressOf });
  const transport: GraphQLTransport = {
    pipeline,
    authenticator,
    createContext: options.createContext,
    streams: new Set(),
  };
  const rest = createRest({
    authenticator,
    createContext: options.createContext,
    streams: transport.streams,
    stop: stop.signal,
    refusal,
    keepAliveMs: options.pingMs,
  });
  const staticApp = createStaticApp(findAdminDir(config.adminDir));

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    switch (path) {
      case '/graphql': {
        const problem = refusal();
        if (problem !== null) throw problem;
        return handleGraphQL(request, response, transport);
      }
      case '/session':
        return handleSession(request, response, { access, cookies, isOwn, addressOf });
      case '/healthz':
        return sendJson(response, 200, { status: 'ok' });
      case '/readyz':
        return sendReadiness(response, stopping ? 'stopping' : await options.readiness());
      case '/metrics':
        requireAccess(METRICS_ACCESS, await authenticator.viewerOf(request));
        return sendMetrics(response, await options.metrics());
      default: {
        const answered = rest(request, response, path);
        if (answered !== null) return answered;
        staticApp(request, response);
      }
    }
  }

  server.removeAllListeners('request').on('request', (request, response) => {
    if (stopping) response.setHeader('connection', 'close');
    route(request, response).catch((error: unknown) => {
      const requestId = requestIdOf(request);
      const known =
        error instanceof MusterError
          ? error
          : (databaseTrouble(error) ?? new MusterError('INTERNAL', 'Unexpected error.'));
      if (known !== error && !response.destroyed) log.error({ requestId, err: error }, 'a request failed unexpectedly');
      if (response.headersSent) response.destroy();
      else sendError(response, known, requestId);
    });
  });
  // Event streams live long; what bounds a slow sender is the time for its headers and body.
  server.requestTimeout = 60_000;
  server.headersTimeout = 20_000;
  const sockets = createWebSocketEndpoint({ transport, access, log, pingMs: options.pingMs ?? 12_000 });
  server.on('upgrade', (request, socket, head) => {
    if (stopping || (request.url ?? '').split('?', 1)[0] !== '/graphql') {
      socket.end(`HTTP/1.1 ${stopping ? '503 Service Unavailable' : '404 Not Found'}\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.upgrade(request, socket, head);
  });

  return {
    port,
    url: config.publicUrl ?? `http://${shownHost(config.host)}:${port}`,
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
