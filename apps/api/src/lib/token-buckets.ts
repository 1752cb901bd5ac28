/**
 * One bucket a key, each filled at a steady rate up to its size. At most `maxKeys` are kept: those that were used longest ago are forgotten,
 * and a forgotten bucket is full again, so that a limit is never too strict for somebody new. Ours, because the usual library keeps every key that it
 * meets, with a timer each, and lets twice the limit through where two of its windows meet (docs/decisions/0018).
 */
export class TokenBuckets {
  readonly #size: number;
  readonly #perMs: number;
  readonly #maxKeys: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { tokens: number; at: number }>();

  /** `size`: what a full one holds. `perMinute`: how much is added. `now`: ms that only rise. */
  constructor(options: { size: number; perMinute: number; maxKeys: number; now: () => number }) {
    this.#size = options.size;
    this.#perMs = options.perMinute / 60_000;
    this.#maxKeys = options.maxKeys;
    this.#now = options.now;
  }

  /** Takes so many out. Answers 0, or in how many seconds there will be enough; nothing is taken then. */
  take(key: string, tokens: number): number {
    const bucket = this.#filled(key);
    // What is dearer than a full bucket takes a full one.
    const wanted = Math.min(tokens, this.#size);
    if (bucket.tokens < wanted) return Math.max(1, Math.ceil((wanted - bucket.tokens) / this.#perMs / 1_000));
    bucket.tokens -= wanted;
    return 0;
  }

  /** In how many seconds `take` would give so many; 0: now. */
  wait(key: string, tokens: number): number {
    const missing = Math.min(tokens, this.#size) - this.#filled(key).tokens;
    return missing <= 0 ? 0 : Math.max(1, Math.ceil(missing / this.#perMs / 1_000));
  }

  get keys(): number {
    return this.#buckets.size;
  }

  #filled(key: string): { tokens: number; at: number } {
    const now = this.#now();
    const known = this.#buckets.get(key);
    const bucket = known ?? { tokens: this.#size, at: now };
    bucket.tokens = Math.min(this.#size, bucket.tokens + (now - bucket.at) * this.#perMs);
    bucket.at = now;
    if (known !== undefined) this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > this.#maxKeys) this.#buckets.delete(this.#buckets.keys().next().value as string);
    return bucket;
  }
}
