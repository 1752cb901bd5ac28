import { performance } from 'node:perf_hooks';

/** How often the loop is looked at: a stretch is measured to this, never as longer than it was. */
const intervalMs = 100;
/** So long after a stand-still the loop counts as healthy again. */
const recoveryMs = 5_000;

export interface LoopHealthOptions {
  /** A stand-still as long as this, in one stretch and in seconds, makes the loop unhealthy; 0: it never is. */
  readonly thresholdSeconds: number;
  /** `healthy` has changed. */
  readonly onChange: () => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * Whether this process's event loop runs: unhealthy from the end of a stand-still, the first moment at which anything can be told, until it has
 * run for five seconds without another one. (What `flux.loop_lag_seconds` measures is the lag of one probe a second, see `LoopLag`.)
 */
export class LoopHealth {
  readonly #options: LoopHealthOptions;
  readonly #now: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #blockedSeconds = 0;
  #blockedAt: number | null = null;

  constructor(options: LoopHealthOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  get healthy(): boolean {
    return this.#blockedAt === null;
  }

  /** How long it last stood still for too long; 0: never yet. */
  get blockedSeconds(): number {
    return this.#blockedSeconds;
  }

  start(): void {
    if (this.#options.thresholdSeconds === 0) return;
    let due = this.#now() + intervalMs;
    this.#timer = setInterval(() => {
      const now = this.#now();
      this.#looked(now, (now - due) / 1_000);
      due = now + intervalMs;
    }, intervalMs);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #looked(now: number, lateSeconds: number): void {
    const { healthy } = this;
    if (lateSeconds >= this.#options.thresholdSeconds) {
      this.#blockedSeconds = lateSeconds;
      this.#blockedAt = now;
    } else if (this.#blockedAt !== null && now - this.#blockedAt >= recoveryMs) this.#blockedAt = null;
    if (healthy !== this.healthy) this.#options.onChange();
  }
}
