import { ClientError } from './client-error.ts';

/** What is used of a WebSocket: the browser's and the `ws` package's both fit. */
export interface WebSocketLike {
  onopen: ((event: never) => unknown) | null;
  onmessage: ((event: never) => unknown) | null;
  onclose: ((event: never) => unknown) | null;
  onerror: ((event: never) => unknown) | null;
  readonly readyState: number;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  /** Only `ws` has it: drops the connection without a closing handshake. */
  terminate?(): void;
}

/** Opens a socket with that subprotocol; `headers` where the platform allows them (browsers do not). */
export type WebSocketFactory = (
  url: string,
  protocol: string,
  headers: Readonly<Record<string, string>>,
) => WebSocketLike;

export interface LiveSocketOptions {
  readonly url: string;
  readonly token: string | undefined;
  readonly openSocket: WebSocketFactory | undefined;
  readonly pingMs: number;
  /** The server has acknowledged the connection. */
  readonly onReady: () => void;
  readonly onMessage: (id: string, type: 'next' | 'error' | 'complete', payload: unknown) => void;
  /** Called once. `refused` where the server does not take us (4401, 4403): trying again is of no use. */
  readonly onClose: (reason: string, refused: ClientError | undefined) => void;
}

const protocol = 'graphql-transport-ws';
const openState = 1;
const acknowledgeTimeoutMs = 10_000;

/** One connection of the graphql-transport-ws protocol: handshake, pings both ways, and its end. */
export class LiveSocket {
  readonly #options: LiveSocketOptions;
  readonly #socket: WebSocketLike;
  readonly #acknowledgeTimer: ReturnType<typeof setTimeout>;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  #unanswered = 0;
  #ended = false;

  constructor(options: LiveSocketOptions) {
    this.#options = options;
    const authorization: Record<string, string> =
      options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    const open = options.openSocket ?? openGlobalSocket;
    this.#socket = open(options.url, protocol, authorization);
    this.#acknowledgeTimer = setTimeout(() => this.#drop('no answer to the handshake'), acknowledgeTimeoutMs);
    this.#socket.onopen = () =>
      this.send({
        type: 'connection_init',
        ...(options.token === undefined ? {} : { payload: { token: options.token } }),
      });
    this.#socket.onmessage = (event: { data: unknown }) => this.#receive(event.data);
    this.#socket.onerror = (event: { message?: string }) =>
      this.#end(event.message ?? 'it cannot be reached', undefined);
    this.#socket.onclose = (event: { code: number; reason: string }) => this.#closed(event.code, event.reason);
  }

  send(message: object): void {
    if (this.#socket.readyState === openState) this.#socket.send(JSON.stringify(message));
  }

  close(): void {
    this.#stop();
    this.#socket.close(1000, 'done');
  }

  #receive(data: unknown): void {
    this.#unanswered = 0;
    let message: { type?: string; id?: string; payload?: unknown };
    try {
      message = JSON.parse(String(data)) as typeof message;
    } catch {
      this.#drop('the server sent something that is not JSON');
      return;
    }
    switch (message.type) {
      case 'connection_ack':
        clearTimeout(this.#acknowledgeTimer);
        this.#pingTimer = setInterval(() => this.#ping(), this.#options.pingMs);
        this.#options.onReady();
        return;
      case 'ping':
        this.send({ type: 'pong' });
        return;
      case 'next':
      case 'error':
      case 'complete':
        this.#options.onMessage(message.id ?? '', message.type, message.payload);
        return;
      default:
    }
  }

  // Counts pings instead of comparing times: a process that was stopped for minutes must first read what has arrived.
  #ping(): void {
    if (this.#unanswered >= 2) {
      this.#drop('no answer to two pings');
      return;
    }
    this.#unanswered += 1;
    this.send({ type: 'ping' });
  }

  #drop(reason: string): void {
    this.#end(reason, undefined);
    if (this.#socket.terminate === undefined) this.#socket.close(4408, 'timed out');
    else this.#socket.terminate();
  }

  #closed(code: number, reason: string): void {
    const said = reason === '' ? `closed with code ${code}` : reason;
    if (code === 4401) this.#end(said, new ClientError('UNAUTHENTICATED', `The server refused the token: ${said}.`));
    else if (code === 4403)
      this.#end(said, new ClientError('FORBIDDEN', `The server refused the connection: ${said}.`));
    else this.#end(said, undefined);
  }

  #end(reason: string, refused: ClientError | undefined): void {
    if (this.#ended) return;
    this.#stop();
    this.#options.onClose(reason, refused);
  }

  #stop(): void {
    this.#ended = true;
    clearTimeout(this.#acknowledgeTimer);
    clearInterval(this.#pingTimer);
    this.#socket.onmessage = null;
    // An aborted handshake reports an error after the fact; `ws` throws it where nobody listens.
    this.#socket.onerror = () => undefined;
  }
}

function openGlobalSocket(url: string, subprotocol: string): WebSocketLike {
  if (typeof WebSocket === 'undefined') {
    throw new ClientError(
      'BAD_INPUT',
      'There is no global WebSocket here: pass openSocket (e.g. from the ws package).',
    );
  }
  return new WebSocket(url, subprotocol);
}
