import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import type { Server } from '../support/server.ts';

interface Change {
  readonly executionChanges: {
    readonly kind: string;
    readonly complete: boolean;
    readonly executions: readonly { readonly id: string; readonly state: string }[];
    readonly removed: readonly string[];
  };
}

const document = `subscription Tail { executionChanges(filter: { namespace: "soak" }) {
  kind complete executions { id state } removed
} }`;

/** A dashboard's view of the executions over one server, which comes back whenever its connection is lost. */
export class LiveTail {
  readonly #client: Client;
  readonly #states = new Map<string, string>();
  #snapshotting = false;
  #failure: unknown;

  constructor(server: Server) {
    this.#client = createClient({
      url: `${server.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { token: server.token },
      keepAlive: 2_000,
      retryAttempts: Number.POSITIVE_INFINITY,
      retryWait: () => new Promise((resolve) => setTimeout(resolve, 200)),
      shouldRetry: () => true,
    });
    this.#client.subscribe<Change & Record<string, unknown>>(
      { query: document },
      {
        next: ({ data }) => {
          if (data) this.#take(data.executionChanges);
        },
        error: (error) => {
          this.#failure = error;
        },
        complete: () => undefined,
      },
    );
  }

  /** Ids and states of what it shows and what has not ended. Throws where the subscription was refused. */
  open(): string[] {
    if (this.#failure !== undefined) throw new Error(`the tail has ended: ${JSON.stringify(this.#failure)}`);
    return [...this.#states].filter(([, state]) => !ended.has(state)).map(([id, state]) => `${id} ${state}`);
  }

  /** How many executions it has been told of. */
  get size(): number {
    return this.#states.size;
  }

  async close(): Promise<void> {
    await this.#client.dispose();
  }

  #take(change: Change['executionChanges']): void {
    if (change.kind === 'SNAPSHOT' && !this.#snapshotting) this.#states.clear();
    this.#snapshotting = change.kind === 'SNAPSHOT' && !change.complete;
    for (const { id, state } of change.executions) this.#states.set(id, state);
    for (const id of change.removed) this.#states.delete(id);
  }
}

const ended = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);
