/** How many values the windows of the built-in metrics keep. */
const windowSize = 128;

/** The newest 128 of some numbers; the oldest makes room. */
export class RecentValues {
  readonly #values: number[] = [];
  #next = 0;

  add(value: number): void {
    this.#values[this.#next] = value;
    this.#next = (this.#next + 1) % windowSize;
  }

  /** The value that 95 % of the others do not exceed: sorted, at ⌊0.95·(n−1)⌋; undefined where there is none. */
  get p95(): number | undefined {
    return this.#sorted[Math.floor(0.95 * (this.#values.length - 1))];
  }

  /** The upper median: sorted, at ⌊n/2⌋; undefined where there is none. */
  get median(): number | undefined {
    return this.#sorted[Math.floor(this.#values.length / 2)];
  }

  get #sorted(): number[] {
    return this.#values.toSorted((left, right) => left - right);
  }
}
