import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { MusterError } from '@muster/core';
import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import { toGraphQLError } from '../graphql/errors.ts';
import { checkBodyShape } from '../graphql/limits.ts';
import { isWorkerProtocol } from '../graphql/open-operation.ts';
import type { GraphQLRequest, Operation } from '../graphql/pipeline.ts';
import type { Log } from '../log.ts';
import type { Access } from '../modules/access/access.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import { MAX_UNSENT_BYTES } from './event-stream.ts';
import type { GraphQLTransport } from './graphql-http.ts';

const MAX_MESSAGE_BYTES = 16 * 1_048_576;
/** What is taken of somebody who has not said who he is. */
const ANONYMOUS_MESSAGE_LENGTH = 8_192;
/** Close codes: the protocol's own, and "service restart", after which clients come back. */
const UNAUTHORIZED = 4401;
const FORBIDDEN = 4403;
const INTERNAL = 4500;
const BAD_REQUEST = 4400;
const TOO_MANY = 4429;
const SERVICE_RESTART = 1012;
const CLOSE_REASONS = {
  [UNAUTHORIZED]: 'Unauthorized',
  [FORBIDDEN]: 'Forbidden',
  [INTERNAL]: 'Internal server error',
  [TOO_MANY]: 'Too many requests',
} as const;

export interface WebSocketOptions {
  readonly transport: GraphQLTransport;
  readonly access: Access;
  readonly log: Log;
  /** A peer that does not answer a ping within this time is gone. */
  readonly pingMs: number;
}

interface Peer {
  readonly socket: WebSocket;
  readonly viewer: Viewer | null;
  readonly address: string | null;
  /** Set when the connection is acknowledged. */
  admitted: Viewer | null;
  /** The message that is being handled. */
  message: string;
}

interface RunnableArgs extends ExecutionArgs {
  operation: Operation;
  requestId: string;
}

export interface WebSocketEndpoint {
  /** Takes over an upgrade request for /graphql. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Tells every peer to come back and ends what does not go by itself. */
  close(): void;
}

/**
 * graphql-transport-ws on /graphql. The caller is known by the upgrade's Authorization or cookie (own Host and Origin only), or by
 * `connectionParams.token` or `connectionParams.authorization`. No message of a caller, and no error text of a library, ever gets into a close reason or the log.
 */
export function createWebSocketEndpoint(options: WebSocketOptions): WebSocketEndpoint {
  const { transport, log } = options;
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    handleProtocols: (protocols) => (protocols.has('graphql-transport-ws') ? 'graphql-transport-ws' : false),
  });

  const { admit, viewerOfToken, failureCode } = createAdmission(options);
  const server = makeServer<{ token?: unknown; authorization?: unknown }, Peer>({
    onConnect: ({ extra, connectionParams }) => {
      const { token = bearerOf(connectionParams?.authorization) } = connectionParams ?? {};
      // Whoever is known already is let in at once: some say what they want without waiting to hear it.
      if (token === undefined && extra.viewer !== null) return admit(extra, extra.viewer);
      return viewerOfToken(extra, token).then(
        (viewer) => (viewer === null ? turnAway(extra, UNAUTHORIZED) : admit(extra, viewer)),
        (error: unknown) => turnAway(extra, failureCode(error)),
      );
    },
    onSubscribe: ({ extra }, _id, payload) => argumentsOf(extra, payload, transport),
    execute: (args) => runFor(args as RunnableArgs),
    subscribe: (args) => runFor(args as RunnableArgs),
  });

  async function runFor(args: RunnableArgs): Promise<ExecutionResult | AsyncGenerator<ExecutionResult, void, void>> {
    const peer = args.contextValue as Peer;
    const context = transport.createContext({
      viewer: peer.admitted,
      address: peer.address,
      requestId: args.requestId,
      unsentBytes: () => peer.socket.bufferedAmount,
    });
    return (await transport.pipeline.run(args.operation, context)).result;
  }

  sockets.on('connection', (socket: WebSocket, request: IncomingMessage, viewer: Viewer | null) => {
    const ping = pingUntilSilent(socket, options.pingMs);
    socket.on('error', (error) => log.debug({ code: (error as { code?: string }).code }, 'a WebSocket failed'));
    const address = transport.authenticator.addressOf(request);
    const peer: Peer = { socket, viewer, address, admitted: null, message: '' };
    const closed = server.opened(
      {
        protocol: socket.protocol,
        send: (data) =>
          new Promise((resolve) => {
            if (socket.readyState !== socket.OPEN) return resolve();
            if (socket.bufferedAmount > MAX_UNSENT_BYTES) socket.terminate();
            socket.send(data, () => resolve());
          }),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (handle) =>
          socket.on('message', (data) => {
            // The library calls `onSubscribe` before it first waits, so this is the message that is meant there.
            peer.message = String(data);
            if (!mayBeRead(peer)) return socket.close(BAD_REQUEST, 'Invalid message received');
            handle(peer.message).catch((error: unknown) => {
              log.error({ err: error }, 'a WebSocket message could not be handled');
              socket.close(INTERNAL, 'Internal server error');
            });
          }),
      },
      peer,
    );
    socket.once('close', (code) => {
      clearInterval(ping);
      closed(code, '').catch((error: unknown) => log.error({ err: error }, 'a WebSocket did not close cleanly'));
    });
  });

  return {
    upgrade(request, socket, head) {
      // Until the socket is taken over nobody else listens.
      const failed = (): void => void socket.destroy();
      socket.on('error', failed);
      const takeOver = (then: (opened: WebSocket) => void): void => {
        socket.removeListener('error', failed);
        if (!socket.destroyed) sockets.handleUpgrade(request, socket, head, then);
      };
      transport.authenticator.viewerOf(request).then(
        (viewer) => takeOver((opened) => sockets.emit('connection', opened, request, viewer)),
        (error: unknown) => {
          const code = failureCode(error);
          takeOver((opened) => opened.close(code, CLOSE_REASONS[code]));
        },
      );
    },
    close() {
      for (const socket of sockets.clients) socket.close(SERVICE_RESTART, 'Service restart');
      setTimeout(() => {
        for (const socket of sockets.clients) socket.terminate();
      }, 2_000).unref();
    },
  };
}

/** What is run for a message, or the errors that it is answered with. */
function argumentsOf(
  peer: Peer,
  payload: GraphQLRequest,
  { pipeline, limits }: GraphQLTransport,
): RunnableArgs | readonly GraphQLError[] {
  const requestId = randomUUID();
  const { message, admitted, address } = peer;
  try {
    const operation = pipeline.prepare(payload, message, admitted);
    limits.operation(admitted, address, operation.price, isWorkerProtocol(pipeline.schema, operation.node));
    const { document, operationName } = operation;
    return {
      schema: pipeline.schema,
      document,
      operationName,
      operation,
      requestId,
      contextValue: peer,
      rootValue: null,
    };
  } catch (error) {
    if (!(error instanceof MusterError)) throw error;
    return [toGraphQLError(error, { requestId })];
  }
}

interface Admission {
  /** null: nobody's. Errors: RATE_LIMITED. */
  viewerOfToken(peer: Peer, token: unknown): Promise<Viewer | null>;
  /** Until the credential ends. */
  admit(peer: Peer, viewer: Viewer): true;
  /** How a socket is closed whose peer could not be told who he is. */
  failureCode(error: unknown): keyof typeof CLOSE_REASONS;
}

function createAdmission({ transport, access, log }: WebSocketOptions): Admission {
  return {
    async viewerOfToken({ address }, token) {
      if (typeof token === 'string')
        return transport.limits.knowing(address, token, () => access.viewerOfToken(token, address));
      transport.limits.stranger(address);
      return null;
    },
    admit(peer, viewer) {
      peer.admitted = viewer;
      const stop = access.onEnd(viewer, () => peer.socket.close(FORBIDDEN, CLOSE_REASONS[FORBIDDEN]));
      peer.socket.once('close', stop);
      return true;
    },
    failureCode(error) {
      const code = closeCodeOf(error);
      if (code === INTERNAL) log.error({ err: error }, 'a WebSocket could not be opened');
      return code;
    },
  };
}

/** Answers nothing: the socket is closing already, with a code that says why. */
function turnAway({ socket }: Peer, code: keyof typeof CLOSE_REASONS): Promise<boolean> {
  socket.close(code, CLOSE_REASONS[code]);
  return new Promise<boolean>(() => {});
}

function closeCodeOf(error: unknown): keyof typeof CLOSE_REASONS {
  if (!(error instanceof MusterError)) return INTERNAL;
  if (error.code === 'RATE_LIMITED') return TOO_MANY;
  return error.code === 'FORBIDDEN' ? FORBIDDEN : UNAUTHORIZED;
}

/** Whether a message is worth being parsed. */
function mayBeRead({ admitted, message }: Peer): boolean {
  if (admitted === null && message.length > ANONYMOUS_MESSAGE_LENGTH) return false;
  try {
    checkBodyShape(message);
    return true;
  } catch {
    return false;
  }
}

/** The token in `Bearer …`; what is anything else stays what it is, and is refused. */
function bearerOf(authorization: unknown): unknown {
  return typeof authorization === 'string' ? authorization.replace(/^Bearer +/i, '') : authorization;
}

/** Ends a socket whose peer does not answer a ping until the next one, or does not read. */
function pingUntilSilent(socket: WebSocket, everyMs: number): NodeJS.Timeout {
  let answered = true;
  socket.on('pong', () => (answered = true));
  return setInterval(() => {
    if (!answered || socket.bufferedAmount > MAX_UNSENT_BYTES) return socket.terminate();
    answered = false;
    socket.ping();
  }, everyMs);
}
