import { type ClientError, errorFromWire, unavailable, type WireError } from './client-error.ts';
import { graphqlEndpoint } from './http-client.ts';
import { type Sink, toIterable } from './live-iterable.ts';
import { LiveSocket, type WebSocketFactory } from './live-socket.ts';
import { reconnectDelay } from './reconnect-delay.ts';
import type { TypedDocument } from './typed-document.ts';

export interface LiveLinkOptions {
  /** Where the server is, e.g. `http://127.0.0.1:4000`; the scheme becomes ws or wss and `/graphql` is added. */
  readonly url: string;
  /** Bearer token; a function is asked at each connection. Absent: the browser's session cookie. */
  readonly token?: string | (() => string | undefined);
  /** Opens a socket; needed where there is no global WebSocket (Node 20). */
  readonly openSocket?: WebSocketFactory;
  /** Milliseconds between pings; a link that misses two answers in a row is broken. 10,000 where absent. */
  readonly pingMs?: number;
  /** Milliseconds until a request without an answer fails as UNAVAILABLE; 30,000 where absent. */
  readonly requestTimeoutMs?: number;
  readonly onStatus?: (status: LinkStatus) => void;
  /** Longest wait between two tries to connect, asked each time; 30,000 where absent. */
  readonly longestRetryMs?: () => number;
  /** Numbers in [0, 1); injected by tests. */
  readonly random?: () => number;
}

/** `connection` counts the connections made, from 1. `closed` is final; its `error` says who ended it (none: we did). */
export type LinkStatus =
  | { readonly state: 'connecting' }
  | { readonly state: 'connected'; readonly connection: number }
  | { readonly state: 'disconnected'; readonly reason: string; readonly retryInMs: number }
  | { readonly state: 'closed'; readonly error?: ClientError };

export interface SubscribeOptions {
  /**
   * true (the default): subscribed again by itself on every new connection.
   * false: ends with UNAVAILABLE when the connection it was made on breaks.
   */
  readonly resume?: boolean;
}

export interface RequestOptions {
  readonly timeoutMs?: number;
}

interface Operation {
  readonly payload: { readonly query: string; readonly variables: unknown };
  readonly resume: boolean;
  readonly next: (data: unknown) => void;
  readonly end: (error?: ClientError) => void;
  sent: boolean;
}

/**
 * One WebSocket (graphql-transport-ws) for subscriptions and requests, kept up until `close()`.
 * A request that was sent when the connection broke fails as UNAVAILABLE and is never sent again by itself: whoever made
 * it knows whether that is safe. Reconnects within 2 s at random first, then backs off; only a refused token ends it.
 */
export class LiveLink {
  readonly #options: LiveLinkOptions;
  readonly #endpoint: string;
  readonly #operations = new Map<string, Operation>();
  #socket: LiveSocket | undefined;
  #connected = false;
  #closed: { readonly error: ClientError | undefined } | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #connections = 0;
  #lastId = 0;

  constructor(options: LiveLinkOptions) {
    this.#options = options;
    this.#endpoint = graphqlEndpoint(options.url).replace(/^http/, 'ws');
  }

  /** Whether requests would be sent at once. */
  get connected(): boolean {
    return this.#connected;
  }

  /** Opens the link, if it is not open or opening; requests and subscriptions do so by themselves. */
  connect(): void {
    if (this.#closed !== undefined || this.#socket !== undefined || this.#retryTimer !== undefined) return;
    this.#open();
  }

  /** Runs one query or mutation over the socket. Waits for a connection where there is none yet, within the timeout. */
  async request<TResult, TVariables>(
    document: TypedDocument<TResult, TVariables>,
    variables: TVariables,
    options: RequestOptions = {},
  ): Promise<TResult> {
    const timeoutMs = options.timeoutMs ?? this.#options.requestTimeoutMs ?? 30_000;
    return await new Promise<TResult>((resolve, reject) => {
      let answer: { readonly data: unknown } | undefined;
      const timer = setTimeout(() => {
        reject(unavailable(`The server did not answer within ${timeoutMs / 1000} s.`));
        stop();
      }, timeoutMs);
      const stop = this.#start(document.toString(), variables, false, {
        next: (data) => {
          answer = { data };
        },
        end: (error) => {
          clearTimeout(timer);
          if (error !== undefined) reject(error);
          else if (answer === undefined) reject(unavailable('The server ended the request without an answer.'));
          else resolve(answer.data as TResult);
        },
      });
    });
  }

  /** Subscribes; `sink.end` is called once, also after the returned function was used to stop. */
  subscribe<TResult, TVariables>(
    document: TypedDocument<TResult, TVariables>,
    variables: TVariables,
    sink: Sink<TResult>,
    options: SubscribeOptions = {},
  ): () => void {
    const stop = this.#start(document.toString(), variables, options.resume ?? true, {
      next: (data) => sink.next(data as TResult),
      end: (error) => sink.end(error),
    });
    return () => {
      stop();
    };
  }

  /**
   * A subscription as an async iterable. Leaving the loop stops it. A reader that falls more than 1,000 events behind
   * gets an UNAVAILABLE error, instead of a buffer without bound.
   */
  iterate<TResult, TVariables>(
    document: TypedDocument<TResult, TVariables>,
    variables: TVariables,
    options: SubscribeOptions = {},
  ): AsyncGenerator<TResult, void, undefined> {
    return toIterable<TResult>((sink) => this.subscribe(document, variables, sink, options));
  }

  /** Drops the connection and makes another one, e.g. because the token is a new one. What was sent fails as when it breaks. */
  reconnect(reason: string): void {
    if (this.#socket === undefined) return;
    this.#socket.close();
    this.#lost(reason, undefined);
  }

  /** Ends the link for good; everything still under way fails as UNAVAILABLE. */
  close(): void {
    this.#finish(undefined);
  }

  #start(query: string, variables: unknown, resume: boolean, sink: Pick<Operation, 'next' | 'end'>): () => void {
    if (this.#closed !== undefined) {
      const error = this.#closed.error ?? unavailable('The link is closed.');
      queueMicrotask(() => sink.end(error));
      return () => undefined;
    }
    const id = String(++this.#lastId);
    const operation: Operation = { payload: { query, variables }, resume, sent: false, ...sink };
    this.#operations.set(id, operation);
    if (this.#connected) this.#send(id, operation);
    else this.connect();
    return () => {
      if (!this.#operations.delete(id)) return;
      if (operation.sent && this.#connected) this.#socket?.send({ id, type: 'complete' });
      operation.end();
    };
  }

  #send(id: string, operation: Operation): void {
    operation.sent = true;
    this.#socket?.send({ id, type: 'subscribe', payload: operation.payload });
  }

  #open(): void {
    this.#options.onStatus?.({ state: 'connecting' });
    const { token, openSocket, pingMs } = this.#options;
    this.#socket = new LiveSocket({
      url: this.#endpoint,
      token: typeof token === 'function' ? token() : token,
      openSocket,
      pingMs: pingMs ?? 10_000,
      onReady: () => this.#ready(),
      onMessage: (id, type, payload) => this.#receive(id, type, payload),
      onClose: (reason, refused) => this.#lost(reason, refused),
    });
  }

  #ready(): void {
    this.#connected = true;
    this.#failures = 0;
    this.#connections += 1;
    for (const [id, operation] of this.#operations) this.#send(id, operation);
    this.#options.onStatus?.({ state: 'connected', connection: this.#connections });
  }

  #receive(id: string, type: string, payload: unknown): void {
    const operation = this.#operations.get(id);
    if (operation === undefined) return;
    if (type === 'next') {
      const { data, errors } = payload as { data?: unknown; errors?: WireError[] };
      if (errors === undefined || errors.length === 0) {
        operation.next(data);
        return;
      }
      this.#operations.delete(id);
      if (operation.resume) this.#socket?.send({ id, type: 'complete' });
      operation.end(errorFromWire(errors));
    } else {
      this.#operations.delete(id);
      operation.end(type === 'error' ? errorFromWire(payload as WireError[]) : undefined);
    }
  }

  #lost(reason: string, refused: ClientError | undefined): void {
    this.#connected = false;
    this.#socket = undefined;
    if (this.#closed !== undefined) return;
    if (refused !== undefined) {
      this.#finish(refused);
      return;
    }
    const retryInMs = reconnectDelay(
      this.#failures,
      this.#options.random ?? Math.random,
      this.#options.longestRetryMs?.(),
    );
    this.#failures += 1;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = undefined;
      this.#open();
    }, retryInMs);
    const broken: Operation[] = [];
    for (const [id, operation] of this.#operations) {
      if (operation.sent && !operation.resume) {
        this.#operations.delete(id);
        broken.push(operation);
      }
      operation.sent = false;
    }
    this.#options.onStatus?.({ state: 'disconnected', reason, retryInMs });
    for (const operation of broken) operation.end(unavailable(`The connection to the server broke: ${reason}.`));
  }

  #finish(error: ClientError | undefined): void {
    if (this.#closed !== undefined) return;
    this.#closed = { error };
    this.#connected = false;
    clearTimeout(this.#retryTimer);
    this.#socket?.close();
    this.#socket = undefined;
    const operations = [...this.#operations.values()];
    this.#operations.clear();
    this.#options.onStatus?.(error === undefined ? { state: 'closed' } : { state: 'closed', error });
    for (const operation of operations) operation.end(error ?? unavailable('The link was closed.'));
  }
}
