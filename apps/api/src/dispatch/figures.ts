import type { PercentileFigures } from './dispatch-api.ts';

const WINDOW_SECONDS = 60;
/** Enough for stable percentiles; a fuller second keeps a uniform sample. */
const SAMPLES_PER_SECOND = 200;

interface Second {
  at: number;
  dispatched: number;
  completed: number;
  failed: number;
  decisions: number;
  degraded: number;
  latencies: number[];
  durations: number[];
}

/** Counts and percentiles of the last minute, in a ring of seconds: bounded, whatever the load. */
export class DispatchFigures {
  readonly #ring: (Second | undefined)[] = new Array(WINDOW_SECONDS).fill(undefined);
  readonly #now: () => number;
  readonly #random: () => number;
  readonly #startedAt: number;

  /** `now`: monotonic ms. `random`: 0 ≤ x < 1. */
  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
    this.#startedAt = now();
  }

  /** An execution was assigned so many ms after it became dispatchable. */
  recordAssigned(latencyMs: number): void {
    const second = this.#second();
    second.dispatched += 1;
    this.#sample(second.latencies, second.dispatched, latencyMs);
  }

  /** A decision was made in so many µs. */
  recordDecision(durationUs: number, degraded: boolean): void {
    const second = this.#second();
    second.decisions += 1;
    if (degraded) second.degraded += 1;
    this.#sample(second.durations, second.decisions, durationUs);
  }

  recordEnd(state: 'COMPLETED' | 'FAILED', count = 1): void {
    const second = this.#second();
    if (state === 'COMPLETED') second.completed += count;
    else second.failed += count;
  }

  read(): {
    dispatchedPerSecond: number;
    completedPerSecond: number;
    failedPerSecond: number;
    degradedDecisionsPerMinute: number;
    dispatchLatencyMs: PercentileFigures;
    decisionUs: PercentileFigures;
  } {
    const now = this.#now();
    const oldest = Math.floor(now / 1000) - WINDOW_SECONDS;
    const seconds = this.#ring.filter((second): second is Second => second !== undefined && second.at > oldest);
    const sum = (read: (second: Second) => number): number =>
      seconds.reduce((total, second) => total + read(second), 0);
    // A process that has just started has seen less than a minute.
    const span = Math.min(WINDOW_SECONDS, Math.max(1, (now - this.#startedAt) / 1000));
    return {
      dispatchedPerSecond: sum((second) => second.dispatched) / span,
      completedPerSecond: sum((second) => second.completed) / span,
      failedPerSecond: sum((second) => second.failed) / span,
      degradedDecisionsPerMinute: sum((second) => second.degraded),
      dispatchLatencyMs: percentiles(seconds.flatMap((second) => second.latencies)),
      decisionUs: percentiles(seconds.flatMap((second) => second.durations)),
    };
  }

  #second(): Second {
    const at = Math.floor(this.#now() / 1000);
    const index = at % WINDOW_SECONDS;
    const known = this.#ring[index];
    if (known?.at === at) return known;
    const fresh: Second = {
      at,
      dispatched: 0,
      completed: 0,
      failed: 0,
      decisions: 0,
      degraded: 0,
      latencies: [],
      durations: [],
    };
    this.#ring[index] = fresh;
    return fresh;
  }

  #sample(samples: number[], seen: number, value: number): void {
    if (samples.length < SAMPLES_PER_SECOND) {
      samples.push(value);
      return;
    }
    const place = Math.floor(this.#random() * seen);
    if (place < SAMPLES_PER_SECOND) samples[place] = value;
  }
}

function percentiles(values: number[]): PercentileFigures {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number): number | null => sorted[Math.ceil(part * sorted.length) - 1] ?? null;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
