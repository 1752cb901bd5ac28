import type { Clock } from '../clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to go on. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Timers that have been set and not called off. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Goes on by so many milliseconds and calls what is due, in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= until).toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
    }
    this.#now = until;
  }

  /** Goes on to the next timer, waiting until there is one, and says how many milliseconds that were. */
  async next(): Promise<number> {
    while (this.#timers.size === 0) await new Promise((resolve) => setImmediate(resolve));
    const ms = Math.min(...[...this.#timers].map((timer) => timer.at)) - this.#now;
    this.advance(ms);
    return ms;
  }
}
