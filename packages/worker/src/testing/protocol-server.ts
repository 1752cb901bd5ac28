import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

type Fields = Record<string, unknown>;
export interface SentItem extends Fields {
  readonly id: string;
  readonly generation: number;
}
export type ReportList = 'claims' | 'events' | 'ends' | 'releases';
export type Failure = { readonly code: string; readonly message?: string };

/** What each operation answers; tests put their own in. A `Failure` becomes a GraphQL error. */
export interface Behaviour {
  registerWorkflow: (input: Fields) => Failure | undefined;
  register: (input: Fields) => Failure | undefined;
  heartbeat: (input: Fields) => Failure | { readonly lost?: readonly string[]; readonly warnings?: readonly string[] };
  /** The answer to one item; a claim's `claim` comes from `claims`. undefined: taken. */
  item: (list: ReportList, item: SentItem) => Failure | undefined;
  /** Fails the report as a whole; undefined: per item. A promise holds the answer back. */
  report: (list: ReportList, items: readonly SentItem[]) => Failure | undefined | Promise<Failure | undefined>;
}

/**
 * The server's side of the worker protocol over real sockets, as far as a worker can see it: it remembers what it was
 * sent and answers as the test says.
 */
export class ProtocolServer {
  readonly workflows: Fields[] = [];
  readonly registrations: Fields[] = [];
  readonly heartbeats: Fields[] = [];
  readonly reports: { readonly list: ReportList; readonly items: readonly SentItem[] }[] = [];
  readonly leaves: Fields[] = [];
  readonly inboxes: Fields[] = [];
  /** Order of everything that arrived, by operation. */
  readonly log: string[] = [];
  /** What a claim of that execution is told. */
  readonly claims = new Map<string, Fields>();
  /** Sent as the first event of each inbox. */
  standing: Fields[] = [];
  heartbeatSeconds = 60;
  behaviour: Behaviour = {
    registerWorkflow: () => undefined,
    register: () => undefined,
    heartbeat: () => ({}),
    item: () => undefined,
    report: () => undefined,
  };
  #server: WebSocketServer | undefined;
  #port = 0;
  #push = new Set<(event: Fields) => void>();
  #early: Fields[] = [];

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens on a free port at first, on the same one after `stop`. */
  async start(): Promise<void> {
    const server = new WebSocketServer({ host: '127.0.0.1', port: this.#port, path: '/graphql' });
    this.#server = server;
    server.on('connection', (socket) => this.#serve(socket));
    await new Promise<void>((resolve) => server.once('listening', resolve));
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Cuts all connections; the server stays. */
  cut(): void {
    for (const socket of this.#server?.clients ?? []) socket.terminate();
  }

  async stop(): Promise<void> {
    this.cut();
    const server = this.#server;
    this.#server = undefined;
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  /** Pushes one event into every inbox, or into the first one that opens. */
  push(event: Fields): void {
    if (this.#push.size === 0) this.#early.push(inboxEvent(event));
    for (const send of this.#push) send(inboxEvent(event));
  }

  /** Assigns executions of a workflow, generation 1 unless said otherwise. */
  assign(ids: readonly string[], workflow: string, options: { generation?: number; claim?: Fields } = {}): void {
    for (const id of ids) this.claims.set(id, claimOf(workflow, options.claim));
    this.push({ assignments: ids.map((id) => ({ id, generation: options.generation ?? 1, workflow })) });
  }

  /** Everything reported of one kind so far. */
  items(list: ReportList): SentItem[] {
    return this.reports.filter((report) => report.list === list).flatMap((report) => report.items);
  }

  #serve(socket: WebSocket): void {
    const pushes = new Map<string, (event: Fields) => void>();
    socket.on('error', () => undefined);
    socket.on('close', () => {
      for (const push of pushes.values()) this.#push.delete(push);
    });
    const send = (message: object): void => socket.send(JSON.stringify(message));
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as {
        type: string;
        id: string;
        payload: { query: string; variables: Fields };
      };
      if (message.type === 'connection_init') send({ type: 'connection_ack' });
      if (message.type === 'ping') send({ type: 'pong' });
      if (message.type === 'complete') {
        const push = pushes.get(message.id);
        if (push !== undefined) this.#push.delete(push);
      }
      if (message.type !== 'subscribe') return;
      const { id, payload } = message;
      const operation = /(?:mutation|subscription) (\w+)/.exec(payload.query)?.[1] ?? '';
      if (operation === 'WorkerInbox') {
        this.log.push(operation);
        this.inboxes.push(payload.variables);
        const push = (event: Fields): void => send({ id, type: 'next', payload: { data: { workerInbox: event } } });
        pushes.set(id, push);
        this.#push.add(push);
        push(inboxEvent({ assignments: this.standing }));
        for (const event of this.#early.splice(0)) push(event);
        return;
      }
      void (async () => {
        send({ id, type: 'next', payload: await this.#answer(operation, payload.variables['input'] as Fields) });
        send({ id, type: 'complete' });
      })();
    });
  }

  async #answer(operation: string, input: Fields): Promise<object> {
    this.log.push(operation);
    switch (operation) {
      case 'RegisterWorkflow': {
        this.workflows.push(input);
        const version = {
          id: 'wv_1',
          number: 1,
          workflowRef: `${String(input['namespace'])}/${String(input['name'])}`,
        };
        return result(this.behaviour.registerWorkflow(input), { registerWorkflow: { created: true, version } });
      }
      case 'WorkerRegister':
        this.registrations.push(input);
        return result(this.behaviour.register(input), { workerRegister: { heartbeatSeconds: this.heartbeatSeconds } });
      case 'WorkerHeartbeat': {
        this.heartbeats.push(input);
        const answer = this.behaviour.heartbeat(input);
        if ('code' in answer) return result(answer, {});
        const { lost = [], warnings = [] } = answer;
        return result(undefined, { workerHeartbeat: { lost, warnings, heartbeatSeconds: this.heartbeatSeconds } });
      }
      case 'WorkerReport':
        return await this.#report(input);
      default:
        this.leaves.push(input);
        return result(undefined, { workerLeave: { released: 0 } });
    }
  }

  async #report(input: Fields): Promise<object> {
    const answers: Fields = { claims: [], events: [], ends: [], releases: [] };
    for (const list of ['claims', 'events', 'ends', 'releases'] as const) {
      const items = (input[list] ?? []) as SentItem[];
      if (items.length === 0) continue;
      this.reports.push({ list, items });
      const failure = await this.behaviour.report(list, items);
      if (failure !== undefined) return result(failure, {});
      answers[list] = items.map((item) => {
        const refused = this.behaviour.item(list, item);
        const answer = { id: item.id, code: refused?.code ?? null, message: refused?.message ?? null };
        return list === 'claims'
          ? { ...answer, claim: refused === undefined ? this.claims.get(item.id) : null }
          : answer;
      });
    }
    return result(undefined, { workerReport: answers });
  }
}

function claimOf(workflow: string, claim: Fields = {}): Fields {
  return { workflow, version: 1, input: null, attempt: 1, maxAttempts: 3, timeoutSeconds: null, ...claim };
}

function inboxEvent(event: Fields): Fields {
  return { assignments: [], cancels: [], replaced: false, drain: false, ...event };
}

function result(failure: Failure | undefined, data: object): object {
  if (failure === undefined) return { data };
  const { code, message = code } = failure;
  return { data: null, errors: [{ message, extensions: { code } }] };
}
