export interface GrowingDelaysOptions {
  /** So many attempts are free; each one after them doubles what the next has to wait, from one second up to `maxMs`. */
  readonly free: number;
  readonly maxMs: number;
  /** A key without attempts for so long is as new. */
  readonly forgetMs: number;
  readonly maxKeys: number;
  /** ms that only rise. */
  readonly now: () => number;
}

interface Attempts {
  count: number;
  at: number;
  until: number;
}

const FIRST_MS = 1_000;

/** How long the next attempt of a key has to wait. At most `maxKeys` are kept: those without attempts for longest are forgotten. */
export class GrowingDelays {
  readonly #options: GrowingDelaysOptions;
  readonly #keys = new Map<string, Attempts>();

  constructor(options: GrowingDelaysOptions) {
    this.#options = options;
  }

  /** ms until another attempt; 0: now. */
  wait(key: string): number {
    return Math.max(0, (this.#known(key)?.until ?? 0) - this.#options.now());
  }

  /** Counts an attempt, before it is known how it ends: many at once count as many. Answers what takes it back. */
  note(key: string): () => void {
    const { free, maxMs, maxKeys, now } = this.#options;
    const at = now();
    const known = this.#known(key) ?? { count: 0, at, until: 0 };
    const before = known.until;
    known.count += 1;
    known.at = at;
    const over = known.count - free;
    const until = over < 0 ? before : at + Math.min(maxMs, FIRST_MS * 2 ** Math.min(over, 30));
    known.until = until;
    this.#keys.delete(key);
    this.#keys.set(key, known);
    if (this.#keys.size > maxKeys) this.#keys.delete(this.#keys.keys().next().value as string);
    return () => {
      known.count = Math.max(0, known.count - 1);
      if (known.until === until) known.until = before;
    };
  }

  forget(key: string): void {
    this.#keys.delete(key);
  }

  get keys(): number {
    return this.#keys.size;
  }

  #known(key: string): Attempts | undefined {
    const known = this.#keys.get(key);
    if (known === undefined || this.#options.now() - known.at < this.#options.forgetMs) return known;
    this.#keys.delete(key);
    return undefined;
  }
}
