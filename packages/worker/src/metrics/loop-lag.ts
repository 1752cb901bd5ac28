import { performance } from 'node:perf_hooks';
import { RecentValues } from './recent-values.ts';

const intervalMs = 1_000;

/** Probes once a second how late this process's event loop is, in seconds. */
export class LoopLag {
  readonly #now: () => number;
  readonly #lags = new RecentValues();
  #timer: ReturnType<typeof setInterval> | undefined;
  #seconds: number | null = null;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Of the last probe; null before the first. */
  get seconds(): number | null {
    return this.#seconds;
  }

  /** Of the last 128 probes; null before the first. */
  get p95Seconds(): number | null {
    return this.#lags.p95 ?? null;
  }

  start(): void {
    let due = this.#now() + intervalMs;
    this.#timer = setInterval(() => {
      const now = this.#now();
      this.#seconds = Math.max(0, now - due) / 1_000;
      this.#lags.add(this.#seconds);
      due = now + intervalMs;
    }, intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
