import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import type { Server } from './server.ts';

/** A graphql-transport-ws client that signs in with the server's token. */
export function liveClient(server: Server): Client {
  return createClient({
    url: `${server.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: server.token },
    retryAttempts: 0,
  });
}

/** Events of one subscription as they came; `stop` ends it. */
export interface Recording<T> {
  readonly events: readonly T[];
  readonly ended: Promise<void>;
  readonly stop: () => void;
}

/** Subscribes and keeps everything. */
export function record<T extends Record<string, unknown>>(
  client: Client,
  query: string,
  variables?: Record<string, unknown>,
): Recording<T> {
  const events: T[] = [];
  let stop = () => {};
  const ended = new Promise<void>((resolve, reject) => {
    stop = client.subscribe<T>(
      { query, variables },
      {
        next: ({ data, errors }) => {
          if (errors) reject(new Error(JSON.stringify(errors)));
          else if (data) events.push(data);
        },
        error: reject,
        complete: resolve,
      },
    );
  });
  return { events, ended, stop: () => stop() };
}
