import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

type Fields = Record<string, unknown>;
export interface SentItem extends Fields {
  readonly id: string;
  readonly generation: number;
}
const lists = ['claims', 'calls', 'steps', 'events', 'suspends', 'ends', 'releases'] as const;
export type ReportList = (typeof lists)[number];
export type Failure = { readonly code: string; readonly message?: string; readonly extensions?: Fields };

/** What each operation answers; tests put their own in. A `Failure` becomes a GraphQL error. */
export interface Behaviour {
  registerWorkflow: (input: Fields) => Failure | undefined;
  register: (input: Fields) => Failure | undefined;
  heartbeat: (input: Fields) => Failure | { readonly lost?: readonly string[]; readonly warnings?: readonly string[] };
  /** The answer to one item; a claim's `claim` comes from `claims`. undefined: taken. */
  item: (list: ReportList, item: SentItem) => Failure | undefined;
  /** Fails the report as a whole; undefined: per item. A promise holds the answer back. */
  report: (list: ReportList, items: readonly SentItem[]) => Failure | undefined | Promise<Failure | undefined>;
  /** Refuses a page of steps. */
  stepPage: (variables: Fields) => Failure | undefined;
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
  /** What is recorded of each execution; claims are told of it, in pages of `pageSize` steps. */
  readonly steps = new Map<string, Fields[]>();
  pageSize = 500;
  /** Sent as the first event of each inbox. */
  standing: Fields[] = [];
  heartbeatSeconds = 60;
  behaviour: Behaviour = {
    registerWorkflow: () => undefined,
    register: () => undefined,
    heartbeat: () => ({}),
    item: () => undefined,
    report: () => undefined,
    stepPage: () => undefined,
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

  /** Completes an open step as the server does, and assigns the execution again. */
  wake(id: string, workflow: string, generation: number, position: number, done: Fields, claim: Fields = {}): void {
    const steps = this.steps.get(id) ?? [];
    const index = steps.findIndex((step) => step['position'] === position);
    steps[index] = { ...steps[index], done: true, generation, ...done };
    this.assign([id], workflow, { generation, claim });
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
      const operation = /(?:mutation|subscription|query) (\w+)/.exec(payload.query)?.[1] ?? '';
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
        const { variables } = payload;
        const answer =
          operation === 'WorkerSteps'
            ? this.#stepPage(variables)
            : await this.#answer(operation, variables['input'] as Fields);
        send({ id, type: 'next', payload: answer });
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
    const answers: Fields = Object.fromEntries(lists.map((list) => [list, []]));
    for (const list of lists) {
      const items = (input[list] ?? []) as SentItem[];
      if (items.length === 0) continue;
      this.reports.push({ list, items });
      const failure = await this.behaviour.report(list, items);
      if (failure !== undefined) return result(failure, {});
      answers[list] = items.map((item) => {
        const refused = this.behaviour.item(list, item);
        const answer = { id: item.id, code: refused?.code ?? null, message: refused?.message ?? null };
        if (refused === undefined && (list === 'steps' || list === 'calls')) this.#record(list, item);
        if (list !== 'claims') return answer;
        return { ...answer, claim: refused === undefined ? this.#claim(item.id) : null };
      });
    }
    return result(undefined, { workerReport: answers });
  }

  #claim(id: string): Fields {
    const page = this.#page(id, -1);
    return { steps: page.steps, stepsAfter: page.after, ...this.claims.get(id) };
  }

  #stepPage(variables: Fields): object {
    this.log.push('WorkerSteps');
    const failure = this.behaviour.stepPage(variables);
    if (failure !== undefined) return result(failure, {});
    return result(undefined, { workerSteps: this.#page(String(variables['id']), Number(variables['after'])) });
  }

  #page(id: string, after: number): { steps: Fields[]; after: number | null } {
    const all = (this.steps.get(id) ?? [])
      .filter((step) => Number(step['position']) > after)
      .toSorted((a, b) => Number(a['position']) - Number(b['position']));
    const steps = all.slice(0, this.pageSize);
    return { steps, after: steps.length < all.length ? Number(steps.at(-1)?.['position'] ?? after) : null };
  }

  #record(list: 'steps' | 'calls', item: SentItem): void {
    const steps = this.steps.get(item.id) ?? [];
    this.steps.set(item.id, steps);
    const { position, kind, name, result: value, error, order, delayMs, generation } = item;
    const done = list === 'steps' && item['done'] !== false;
    const step = {
      position,
      kind: list === 'calls' ? 'CALL' : kind,
      name,
      done,
      result: value ?? null,
      error: error ?? null,
      remainingMs: done ? null : (delayMs ?? null),
      generation: done ? generation : null,
      order: order ?? null,
    };
    const index = steps.findIndex((one) => one['position'] === position);
    if (index < 0) steps.push(step);
    else steps[index] = step;
  }
}

function claimOf(workflow: string, claim: Fields = {}): Fields {
  return {
    workflow,
    version: 1,
    input: null,
    attempt: 1,
    maxAttempts: 3,
    timeoutSeconds: null,
    token: 'msx_test',
    workflowRunner: null,
    ...claim,
  };
}

function inboxEvent(event: Fields): Fields {
  return { assignments: [], cancels: [], replaced: false, drain: false, ...event };
}

function result(failure: Failure | undefined, data: object): object {
  if (failure === undefined) return { data };
  const { code, message = code, extensions } = failure;
  return { data: null, errors: [{ message, extensions: { code, ...extensions } }] };
}
