import { type Client, createClient } from 'graphql-ws';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { type ApiError, toApiError } from './client.ts';
import {
  type ConnectionInput,
  type ConnectionState,
  type ConnectionStatus,
  connectionStatus,
  initialConnection,
  nextConnection,
} from './connection.ts';
import type { TypedDocumentString } from './generated/graphql.ts';
import { signedOut } from './session.ts';

/** What the badge and the freeze button read. */
export interface LiveView {
  status: ConnectionStatus;
  /** When the data stopped coming; epoch milliseconds. */
  downSince: number;
  /** Events held back while frozen. */
  held: number;
}

/** Held events of one subscription beyond this are dropped and a new snapshot is asked for on resume. */
const MAX_HELD = 500;

interface Entry {
  held: Array<() => void>;
  overflow: boolean;
  restart: () => void;
}

let state: ConnectionState = initialConnection(Date.now());
let view: LiveView = { status: 'CONNECTING', downSince: state.downSince, held: 0 };
let client: Client | null = null;
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();
const entries = new Set<Entry>();

function refresh(): void {
  const held = [...entries].reduce((sum, entry) => sum + entry.held.length, 0);
  const status = connectionStatus(state, Date.now());
  if (status === view.status && held === view.held && state.downSince === view.downSince) return;
  view = { status, held, downSince: state.downSince };
  for (const listener of listeners) listener();
}

function step(input: ConnectionInput): void {
  state = nextConnection(state, input);
  refresh();
}

function connect(): Client {
  if (client) return client;
  state = initialConnection(Date.now());
  timer = setInterval(refresh, 1_000);
  const protocol = location.protocol === 'https:' ? 'wss:' : 'ws:';
  client = createClient({
    url: `${protocol}//${location.host}/graphql`,
    lazy: false,
    keepAlive: 10_000,
    connectionAckWaitTimeout: 10_000,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: (tries) =>
      new Promise((resolve) => setTimeout(resolve, Math.min(8_000, 300 * 2 ** tries) * (0.5 + Math.random() / 2))),
    onNonLazyError: () => undefined,
    on: {
      connected: () => step({ type: 'opened' }),
      closed: (event) => {
        step({ type: 'closed', at: Date.now() });
        if (closeCode(event) === 4401 || closeCode(event) === 4403) signedOut();
      },
    },
  });
  return client;
}

function closeCode(event: unknown): number | null {
  return typeof event === 'object' && event !== null && 'code' in event && typeof event.code === 'number'
    ? event.code
    : null;
}

/** Closes the socket; the next subscription opens a new one (after another sign-in). */
export function disconnect(): void {
  // It may be connecting still, and be refused after this.
  void Promise.resolve(client?.dispose()).catch(() => undefined);
  client = null;
  if (timer) clearInterval(timer);
  timer = null;
}

/** Holds all events back (true) or lets them through in order (false). */
export function freeze(on: boolean): void {
  step({ type: on ? 'paused' : 'resumed' });
  if (on) return;
  for (const entry of entries) {
    const held = entry.held.splice(0);
    if (entry.overflow) entry.restart();
    else for (const run of held) run();
    entry.overflow = false;
  }
  refresh();
}

export function useLiveView(): LiveView {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => view,
  );
}

/** What a subscription tells its owner. `restarted` comes before the first event of a new stream: forget the old sequence. */
export interface Sink<T> {
  next: (data: T) => void;
  error?: (error: ApiError) => void;
  complete?: () => void;
}

/**
 * Subscribes over the one socket of the page. Survives reconnects (the server sends a new SNAPSHOT), respects the freeze
 * button. Returns the way to stop.
 */
export function subscribe<TResult, TVariables>(
  document: TypedDocumentString<TResult, TVariables>,
  variables: TVariables,
  sink: Sink<TResult>,
): () => void {
  const entry: Entry = { held: [], overflow: false, restart: () => undefined };
  let stop = (): void => undefined;
  const start = (): void => {
    stop = connect().subscribe<TResult>(
      { query: document.toString(), variables: variables as Record<string, unknown> },
      {
        next: (result) => {
          const run = (): void => {
            if (result.errors) sink.error?.(toApiError(result.errors));
            else if (result.data) sink.next(result.data);
          };
          if (!state.paused) return run();
          if (entry.held.length < MAX_HELD) entry.held.push(run);
          else entry.overflow = true;
          refresh();
        },
        error: (error) => sink.error?.(toApiError(error)),
        complete: () => sink.complete?.(),
      },
    );
  };
  entry.restart = () => {
    stop();
    start();
  };
  entries.add(entry);
  start();
  return () => {
    entries.delete(entry);
    stop();
  };
}

/** Subscribes while the component is mounted. `key` says when to start anew; the handler may change without that. */
export function useSubscription<TResult, TVariables>(
  document: TypedDocumentString<TResult, TVariables>,
  variables: TVariables,
  sink: Sink<TResult>,
  enabled = true,
): void {
  const latest = useRef(sink);
  useEffect(() => {
    latest.current = sink;
  });
  const key = JSON.stringify(variables);
  useEffect(() => {
    if (!enabled) return undefined;
    return subscribe(document, JSON.parse(key) as TVariables, {
      next: (data) => latest.current.next(data),
      error: (error) => latest.current.error?.(error),
      complete: () => latest.current.complete?.(),
    });
  }, [document, key, enabled]);
}
