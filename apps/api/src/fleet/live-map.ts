/** One live execution as the tables have it. */
export interface LiveRow {
  id: string;
  workerId: number;
  generation: number;
}

type Message = { id: string; workerId: number | null; generation: number };

/**
 * Which live execution is on which worker. A worker's load is the size of its set, never a counter, so that a repeated, lost
 * or late message cannot make it drift for longer than the next rebuild.
 *
 * Rebuild: `record()`, read the live rows, `replace(rows)`: what arrived while the rows were read is played again on top.
 */
export class LiveMap {
  #byExecution = new Map<string, { workerId: number; generation: number }>();
  readonly #byWorker = new Map<number, Set<string>>();
  readonly #onLoad: (workerId: number, load: number) => void;
  #recorded: Message[] | null = null;

  /** `onLoad` hears every change of a worker's load. */
  constructor(onLoad: (workerId: number, load: number) => void) {
    this.#onLoad = onLoad;
  }

  load(workerId: number): number {
    return this.#byWorker.get(workerId)?.size ?? 0;
  }

  /** The ids of a worker's live executions. */
  executionsOf(workerId: number): ReadonlySet<string> {
    return this.#byWorker.get(workerId) ?? new Set();
  }

  /** Whether exactly this assignment is known to be live. */
  has(id: string, generation: number, workerId: number): boolean {
    const known = this.#byExecution.get(id);
    return known?.generation === generation && known.workerId === workerId;
  }

  get size(): number {
    return this.#byExecution.size;
  }

  /** The execution is live on the worker with this generation; older news than what is known is dropped. */
  set(id: string, workerId: number, generation: number): void {
    this.#recorded?.push({ id, workerId, generation });
    const known = this.#byExecution.get(id);
    if (known !== undefined) {
      if (known.generation > generation) return;
      if (known.workerId === workerId) {
        known.generation = generation;
        return;
      }
      this.#leave(id, known.workerId);
    }
    this.#byExecution.set(id, { workerId, generation });
    let set = this.#byWorker.get(workerId);
    if (set === undefined) {
      set = new Set();
      this.#byWorker.set(workerId, set);
    }
    set.add(id);
    this.#onLoad(workerId, set.size);
  }

  /** The execution is live nowhere any more, as of this generation. Returns whether that freed a slot. */
  clear(id: string, generation: number): boolean {
    this.#recorded?.push({ id, workerId: null, generation });
    const known = this.#byExecution.get(id);
    if (known === undefined || known.generation > generation) return false;
    this.#byExecution.delete(id);
    this.#leave(id, known.workerId);
    return true;
  }

  /** Starts to keep the messages that arrive, for `replace`. */
  record(): void {
    this.#recorded = [];
  }

  /** Takes the rows for the truth, then plays what arrived since `record()`. */
  replace(rows: readonly LiveRow[]): void {
    const recorded = this.#recorded ?? [];
    this.#recorded = null;
    const next = new Map(rows.map((row) => [row.id, row]));
    for (const [id, known] of [...this.#byExecution]) {
      if (!next.has(id)) this.clear(id, known.generation);
    }
    for (const row of rows) {
      const known = this.#byExecution.get(row.id);
      if (known !== undefined && known.workerId !== row.workerId) this.clear(row.id, known.generation);
      this.set(row.id, row.workerId, row.generation);
    }
    for (const message of recorded) {
      if (message.workerId === null) this.clear(message.id, message.generation);
      else this.set(message.id, message.workerId, message.generation);
    }
  }

  #leave(id: string, workerId: number): void {
    const set = this.#byWorker.get(workerId);
    if (set === undefined) return;
    set.delete(id);
    this.#onLoad(workerId, set.size);
    if (set.size === 0) this.#byWorker.delete(workerId);
  }
}
