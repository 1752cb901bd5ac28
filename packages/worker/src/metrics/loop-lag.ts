import { performance } from 'node:perf_hooks';
import { RecentValues } from './recent-values.ts';

const intervalMs = 1_000;
/** So many late probes in a row make the loop unhealthy, so many punctual ones healthy again. */
const probesToFlip = 3;

export interface LoopLagOptions {
  /** A probe as late as this counts as late, in seconds; 0: the loop is never called unhealthy. */
  readonly thresholdSeconds: number;
  /** `healthy` has changed. */
  readonly onChange: () => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * Probes once a second how late this process's event loop is, in seconds. Late three times in a row, it is unhealthy, until
 * three probes were punctual. A loop that stands still runs no probes: one that comes after some seconds stands for all that
 * were due meanwhile.
 */
export class LoopLag {
  readonly #options: LoopLagOptions;
  readonly #now: () => number;
  readonly #lags = new RecentValues();
  #timer: ReturnType<typeof setInterval> | undefined;
  #seconds: number | null = null;
  #healthy = true;
  /** Probes in a row that say the opposite of `healthy`. */
  #contrary = 0;

  constructor(options: LoopLagOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Of the last probe; null before the first. */
  get seconds(): number | null {
    return this.#seconds;
  }

  /** Of the last 128 probes; null before the first. */
  get p95Seconds(): number | null {
    return this.#lags.p95 ?? null;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  start(): void {
    let due = this.#now() + intervalMs;
    this.#timer = setInterval(() => {
      const now = this.#now();
      this.#probed(Math.max(0, now - due) / 1_000);
      due = now + intervalMs;
    }, intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #probed(seconds: number): void {
    this.#seconds = seconds;
    this.#lags.add(seconds);
    const { thresholdSeconds, onChange } = this.#options;
    const late = thresholdSeconds > 0 && seconds >= thresholdSeconds;
    if (late !== this.#healthy) this.#contrary = 0;
    else this.#contrary += late ? Math.max(1, Math.floor(seconds)) : 1;
    if (this.#contrary < probesToFlip) return;
    this.#contrary = 0;
    this.#healthy = !late;
    onChange();
  }
}
