import { performance } from 'node:perf_hooks';
import type { Outcome } from '../outcome.ts';
import type { AbortCause } from '../run-host.ts';
import { crashType } from '../runners/runner-crashed.ts';
import { RecentValues } from './recent-values.ts';
import { rounded } from './rounded.ts';

/**
 * How a handler came to its end: `crashed` with its process, `timed out` at the limit of its workflow, `failed` for any
 * other reason. What was cancelled, given back or suspended says nothing about the worker and is not an outcome.
 */
export type RunOutcome = 'completed' | 'failed' | 'crashed' | 'timed out';

const outcomeWindow = 128;
const minuteMs = 60_000;
const mostStamps = 4_096;

/** What the built-in metrics tell about the handlers that ended here lately. All times in milliseconds. */
export class RunStatistics {
  readonly #now: () => number;
  readonly #outcomes: RunOutcome[] = [];
  readonly #stamps: number[] = [];
  readonly #durations = new RecentValues();
  readonly #startGaps = new RecentValues();

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** A handler has ended. Its duration counts where it came to its own end, not where it crashed or was cut off. */
  ended(outcome: RunOutcome, durationMs: number): void {
    push(this.#outcomes, outcome, outcomeWindow);
    push(this.#stamps, this.#now(), mostStamps);
    if (outcome === 'completed' || outcome === 'failed') this.#durations.add(durationMs);
  }

  /** A handler, other than a transient child, has handed over the first thing that is not its end: a step, an event, a wait. */
  firstCheckpoint(gapMs: number): void {
    this.#startGaps.add(gapMs);
  }

  /** The metrics of those kinds there is data for. */
  read(): Record<string, number> {
    const metrics: Record<string, number> = {};
    const total = this.#outcomes.length;
    if (total > 0) {
      const crashed = this.#outcomes.filter((outcome) => outcome === 'crashed').length;
      const completed = this.#outcomes.filter((outcome) => outcome === 'completed').length;
      metrics['flux.failure_rate'] = rounded((total - completed) / total, 4);
      metrics['flux.crash_rate'] = rounded(crashed / total, 4);
      const since = this.#now() - minuteMs;
      metrics['flux.executions_per_minute'] = this.#stamps.filter((stamp) => stamp >= since).length;
    }
    const duration = this.#durations.p95;
    if (duration !== undefined) metrics['flux.execution_duration_p95_seconds'] = rounded(duration / 1_000, 4);
    const gap = this.#startGaps.median;
    if (gap !== undefined) metrics['flux.startup_overhead_seconds'] = rounded(gap / 1_000, 4);
    return metrics;
  }
}

/** What the end of a run counts as; undefined where it is no outcome. `cause`: why it was aborted, if it was. */
export function runOutcomeOf(outcome: Outcome, cause: AbortCause | undefined): RunOutcome | undefined {
  if (outcome.kind !== 'end') return undefined;
  if (outcome.end.state === 'COMPLETED') return 'completed';
  if (cause === 'timed out') return 'timed out';
  if (outcome.end.state !== 'FAILED' || cause !== undefined) return undefined;
  return outcome.end.error?.type === crashType ? 'crashed' : 'failed';
}

function push<T>(list: T[], item: T, limit: number): void {
  list.push(item);
  if (list.length > limit) list.shift();
}
