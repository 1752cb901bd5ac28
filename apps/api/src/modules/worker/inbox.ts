import type { AssignedItem, Bus } from '../../bus/bus.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { HeldItem } from './report-store.ts';

/** What is pushed to a worker, as one list of each kind. */
export interface InboxEvent {
  assignments: AssignedItem[];
  cancels: HeldItem[];
  replaced: boolean;
  drain: boolean;
}

/** What is scheduled to a worker or held by it, for the first event. */
export interface InboxSnapshot {
  assignments: AssignedItem[];
  cancels: HeldItem[];
}

export interface InboxOptions {
  bus: Bus;
  fleet: Fleet;
  /** Marks the connection open or closed in the registry. */
  connected: (worker: FleetWorker) => Promise<void>;
  disconnected: (worker: FleetWorker) => Promise<void>;
  /** Reads what the tables say is on the worker. */
  snapshot: (worker: FleetWorker) => Promise<InboxSnapshot>;
  onError: (error: unknown) => void;
}

/**
 * A worker's inbox: first everything that is on the worker, then what changes. It listens before it reads, so that nothing falls between. What
 * waits for a slow reader is merged per execution and so bounded by what can be live on one worker. The connection counts as
 * up while this is open; a newer inbox of the same instance takes over from an older one that has not noticed its end.
 */
export class Inboxes {
  readonly #o: InboxOptions;
  readonly #open = new Map<string, Inbox>();

  constructor(options: InboxOptions) {
    this.#o = options;
  }

  async *open(worker: FleetWorker): AsyncGenerator<InboxEvent, void, undefined> {
    const { name } = worker.facts;
    const inbox = new Inbox(worker);
    const stops = this.#listen(inbox);
    this.#open.get(name)?.end();
    this.#open.set(name, inbox);
    try {
      await this.#o.connected(worker);
      const snapshot = await this.#o.snapshot(worker);
      inbox.first(snapshot);
      for (let event = await inbox.next(); event !== null; event = await inbox.next()) yield event;
    } finally {
      for (const stop of stops) stop();
      inbox.end();
      if (this.#open.get(name) === inbox) {
        this.#open.delete(name);
        await this.#o.disconnected(worker).catch(this.#o.onError);
      }
    }
  }

  /** Ends all of them and says so in the registry: the server stops, workers connect to another replica. */
  async close(): Promise<void> {
    const inboxes = [...this.#open.values()];
    this.#open.clear();
    for (const inbox of inboxes) inbox.end();
    await Promise.all(inboxes.map((inbox) => this.#o.disconnected(inbox.worker).catch(this.#o.onError)));
  }

  get size(): number {
    return this.#open.size;
  }

  #listen(inbox: Inbox): (() => void)[] {
    const { bus, fleet } = this.#o;
    const { name, instanceId } = inbox.worker.facts;
    return [
      bus.subscribe('assigned', ({ worker, items }) => {
        if (worker === name) inbox.assign(items);
      }),
      bus.subscribe('cancel', ({ worker, items }) => {
        if (worker === name) inbox.cancel(items);
      }),
      bus.subscribe('replaced', (message) => {
        if (message.worker === name && message.instanceId === instanceId) inbox.replace();
      }),
      fleet.onChange(({ names, removed }) => {
        if (removed.has(name)) inbox.end();
        else if (names.has(name)) inbox.setDrain(fleet.record(name)?.row.availability === 'DRAINING');
      }),
    ];
  }
}

class Inbox {
  readonly worker: FleetWorker;
  readonly #assignments = new Map<string, AssignedItem>();
  readonly #cancels = new Map<string, HeldItem>();
  #replaced = false;
  #drain = false;
  #fresh = false;
  #started = false;
  #ended = false;
  #wake: (() => void) | null = null;

  constructor(worker: FleetWorker) {
    this.worker = worker;
  }

  first({ assignments, cancels }: InboxSnapshot): void {
    // What the bus said meanwhile is newer than what was read.
    for (const item of assignments) if (!this.#assignments.has(item.id)) this.#assignments.set(item.id, item);
    for (const item of cancels) this.#cancels.set(item.id, item);
    this.#started = true;
    this.#notify();
  }

  assign(items: readonly AssignedItem[]): void {
    for (const item of items) {
      this.#assignments.set(item.id, item);
      this.#cancels.delete(item.id);
    }
    this.#notify();
  }

  cancel(items: readonly HeldItem[]): void {
    for (const item of items) {
      this.#cancels.set(item.id, item);
      this.#assignments.delete(item.id);
    }
    this.#notify();
  }

  setDrain(drain: boolean): void {
    if (this.#drain === drain) return;
    this.#drain = drain;
    this.#notify();
  }

  replace(): void {
    this.#replaced = true;
    this.#notify();
  }

  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** The next event, null where the inbox has ended; a replaced one ends after it has said so. */
  async next(): Promise<InboxEvent | null> {
    while (!(this.#fresh && this.#started) && !this.#ended) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = null;
    }
    if (!(this.#fresh && this.#started)) return null;
    const event = {
      assignments: [...this.#assignments.values()],
      cancels: [...this.#cancels.values()],
      replaced: this.#replaced,
      drain: this.#drain,
    };
    this.#assignments.clear();
    this.#cancels.clear();
    this.#fresh = false;
    if (this.#replaced) this.#ended = true;
    return event;
  }

  #notify(): void {
    this.#fresh = true;
    this.#wake?.();
  }
}
