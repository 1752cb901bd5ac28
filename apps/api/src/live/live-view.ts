import { Bell, pause, stream } from './stream.ts';

/** What a live view shows. Keys name entities; `load` and `snapshot` give only those that match. */
export interface LiveSource<T> {
  /** Tells which entities may have changed (`all`: any, for sources in memory), and when news were lost. Returns the end of it. */
  watch(changed: (keys: Iterable<string> | 'all') => void, lost: () => void): () => void;
  /** Everything that matches, in chunks of at most `size`. */
  snapshot(size: number): AsyncIterable<readonly T[]>;
  /** The present state of these entities; those that are gone or do not match are left out. */
  load(keys: readonly string[]): Promise<readonly T[]>;
  /** Keys that exist now; needed where `watch` says `all`. */
  keys?(): Iterable<string>;
  keyOf(item: T): string;
  /** What `removed` names it by. */
  idOf(item: T): string;
  /** Equal marks (===): nothing new about it. */
  markOf(item: T): unknown;
}

export interface LiveEvent<T> {
  kind: 'SNAPSHOT' | 'ADDED' | 'UPDATED' | 'REMOVED' | 'RESYNC';
  items: readonly T[];
  removed: readonly string[];
  at: Date;
  sequence: number;
  complete: boolean;
}

export interface LiveOptions {
  /** Bytes that the reader's connection has not sent yet. */
  unsentBytes: () => number;
  /** ms by the database's clock, for `at`. */
  now: () => number;
  /** Least time between two events about one entity. */
  coalesceMs?: number;
  /** Changed entities that are remembered for a reader that is slow. */
  maxPending?: number;
}

export const CHUNK = 250;
/** Unsent bytes at which a reader gets a new snapshot instead of more changes. */
const SLOW_BYTES = 1_048_576;
/** Changes that come together go out together. */
const GATHER_MS = 25;

/**
 * Snapshot, then changes. It watches before it reads, so that nothing is lost in between; what the snapshot already had is not told again. At most one
 * event per entity and second; a reader that falls behind, and lost news, get RESYNC and a new snapshot. Memory is bounded by what matches.
 */
export function liveView<T>(source: LiveSource<T>, options: LiveOptions): AsyncGenerator<LiveEvent<T>, void, void> {
  return stream((signal) => new LiveView(source, options, signal).run());
}

interface Known {
  mark: unknown;
  id: string;
}

class LiveView<T> {
  readonly #source: LiveSource<T>;
  readonly #options: Required<LiveOptions>;
  readonly #signal: AbortSignal;
  readonly #bell = new Bell();
  readonly #pending = new Set<string>();
  /** When an entity was last told of, ms; those of the last second only. */
  readonly #told = new Map<string, number>();
  #known = new Map<string, Known>();
  #lost = false;
  #sequence = 0;

  constructor(source: LiveSource<T>, options: LiveOptions, signal: AbortSignal) {
    this.#source = source;
    this.#options = { coalesceMs: 1_000, maxPending: 5_000, ...options };
    this.#signal = signal;
  }

  async *run(): AsyncGenerator<LiveEvent<T>, void, void> {
    const stop = this.#source.watch(
      (keys) => this.#changed(keys),
      () => this.#lose(),
    );
    try {
      yield* this.#snapshot();
      while (!this.#signal.aborted) {
        if (this.#options.unsentBytes() > SLOW_BYTES) await this.#waitForReader();
        if (this.#lost) {
          yield this.#event('RESYNC', [], []);
          yield* this.#snapshot();
          continue;
        }
        const { due, waitMs } = this.#due();
        if (due.length === 0) await this.#bell.wait(waitMs, this.#signal);
        else yield* this.#tell(due);
        await pause(GATHER_MS, this.#signal);
      }
    } finally {
      stop();
    }
  }

  #changed(keys: Iterable<string> | 'all'): void {
    if (this.#lost) return;
    const these = keys === 'all' ? [...this.#known.keys(), ...(this.#source.keys?.() ?? [])] : keys;
    for (const key of these) this.#pending.add(key);
    if (this.#pending.size > this.#options.maxPending) this.#lose();
    this.#bell.ring();
  }

  #lose(): void {
    this.#pending.clear();
    this.#lost = true;
    this.#bell.ring();
  }

  async *#snapshot(): AsyncGenerator<LiveEvent<T>, void, void> {
    // From here on changes are kept again: what comes while the snapshot is read is looked at after it.
    this.#lost = false;
    this.#known = new Map();
    this.#told.clear();
    let held: readonly T[] = [];
    for await (const chunk of this.#source.snapshot(CHUNK)) {
      if (this.#signal.aborted) return;
      if (held.length > 0) yield this.#event('SNAPSHOT', held, [], false);
      held = chunk;
      for (const item of chunk) this.#know(item);
    }
    yield this.#event('SNAPSHOT', held, []);
  }

  /** Pending entities that may be told of now, and how long the next one has to wait. */
  #due(): { due: string[]; waitMs: number | null } {
    const now = performance.now();
    const due: string[] = [];
    let waitMs: number | null = null;
    for (const key of this.#pending) {
      const rest = (this.#told.get(key) ?? Number.NEGATIVE_INFINITY) + this.#options.coalesceMs - now;
      if (rest <= 0) due.push(key);
      else waitMs = Math.min(waitMs ?? rest, rest);
      if (due.length === CHUNK) break;
    }
    return { due, waitMs };
  }

  async *#tell(keys: readonly string[]): AsyncGenerator<LiveEvent<T>, void, void> {
    for (const key of keys) this.#pending.delete(key);
    const items = await this.#source.load(keys);
    const found = new Set<string>();
    const added: T[] = [];
    const updated: T[] = [];
    for (const item of items) {
      const key = this.#source.keyOf(item);
      found.add(key);
      const known = this.#known.get(key);
      if (known?.mark === this.#source.markOf(item)) continue;
      (known ? updated : added).push(item);
      this.#know(item);
      this.#told.set(key, performance.now());
    }
    const removed: string[] = [];
    for (const key of keys) {
      const known = this.#known.get(key);
      if (!known || found.has(key)) continue;
      removed.push(known.id);
      this.#known.delete(key);
      this.#told.set(key, performance.now());
    }
    if (this.#told.size > CHUNK) this.#forgetTold();
    if (added.length > 0) yield this.#event('ADDED', added, []);
    if (updated.length > 0) yield this.#event('UPDATED', updated, []);
    if (removed.length > 0) yield this.#event('REMOVED', [], removed);
  }

  /** The reader has enough to do: it gets a new snapshot when it has caught up. */
  async #waitForReader(): Promise<void> {
    this.#lose();
    while (!this.#signal.aborted && this.#options.unsentBytes() > SLOW_BYTES / 4) await pause(100, this.#signal);
  }

  #know(item: T): void {
    this.#known.set(this.#source.keyOf(item), { mark: this.#source.markOf(item), id: this.#source.idOf(item) });
  }

  #forgetTold(): void {
    const old = performance.now() - this.#options.coalesceMs;
    for (const [key, at] of this.#told) if (at <= old) this.#told.delete(key);
  }

  #event(kind: LiveEvent<T>['kind'], items: readonly T[], removed: readonly string[], complete = true): LiveEvent<T> {
    this.#sequence += 1;
    return { kind, items, removed, at: new Date(this.#options.now()), sequence: this.#sequence, complete };
  }
}
