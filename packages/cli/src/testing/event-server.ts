import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { ExecutionEvent } from '../output/event-text.ts';

/** What a server says of the events of one execution, and how often it breaks off. */
export interface EventScript {
  readonly events: readonly ExecutionEvent[];
  /** The connection breaks after so many events, connection by connection; none: it goes on to the end. */
  readonly breaks?: readonly number[];
  /** The stream ends by itself after so many events although the execution goes on, stream by stream. */
  readonly stops?: readonly number[];
  /** Refuses the subscription. */
  readonly error?: { readonly code: string; readonly message: string };
  /** Refuses the connection, with that close code. */
  readonly closeCode?: number;
  /** Answers of HTTP operations, by name. */
  readonly answers: Readonly<Record<string, () => unknown>>;
}

/** A server for one execution: graphql-transport-ws for its events, HTTP for the rest. */
export async function eventServer(script: EventScript) {
  const asked: number[] = [];
  const breaks = [...(script.breaks ?? [])];
  const stops = [...(script.stops ?? [])];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { query } = JSON.parse(Buffer.concat(chunks).toString()) as { query: string };
    const operation = /(?:query|mutation) (\w+)/.exec(query)?.[1] ?? '';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ data: script.answers[operation]?.() ?? null }));
  });
  const sockets = new WebSocketServer({ server, path: '/graphql' });
  sockets.on('connection', (socket) => {
    if (script.closeCode !== undefined) socket.close(script.closeCode, 'no such token');
    else serveSocket(socket);
  });

  function serveSocket(socket: WebSocket): void {
    socket.on('message', (text: Buffer) => {
      const message = JSON.parse(text.toString()) as {
        type: string;
        id: string;
        payload: { variables: { afterSequence: number } };
      };
      if (message.type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack' }));
      else if (message.type === 'ping') socket.send(JSON.stringify({ type: 'pong' }));
      else if (message.type === 'subscribe') stream(socket, message.id, message.payload.variables.afterSequence);
    });
  }

  function stream(socket: WebSocket, id: string, after: number): void {
    asked.push(after);
    const { error } = script;
    if (error !== undefined) {
      const payload = [{ message: error.message, extensions: { code: error.code } }];
      socket.send(JSON.stringify({ id, type: 'error', payload }));
      return;
    }
    const rest = script.events.filter((event) => event.sequence > after);
    const broken = breaks.shift();
    const stopped = broken === undefined ? stops.shift() : undefined;
    for (const event of rest.slice(0, broken ?? stopped ?? rest.length)) {
      socket.send(JSON.stringify({ id, type: 'next', payload: { data: { executionEvents: event } } }));
    }
    if (broken !== undefined) socket.close(1011, 'broken');
    else socket.send(JSON.stringify({ id, type: 'complete' }));
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** `afterSequence` of each subscription. */
    asked,
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
