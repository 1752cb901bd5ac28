import { performance } from 'node:perf_hooks';
import type { Log } from './log.ts';
import { type Outcome, outcomeOf } from './outcome.ts';
import { ReportingHost } from './reporting-host.ts';
import type { Reporter } from './reporter.ts';
import type { AbortCause, RunJob, Runner, RunningHandler } from './run-host.ts';

export interface RunOptions {
  readonly job: RunJob;
  readonly runner: Runner;
  readonly reporter: Reporter;
  /** Milliseconds that an aborted handler has to come to its end before its outcome is reported without it. */
  readonly graceMs: number;
  /** The handler has handed over the first thing that is not its end, so many milliseconds after it was started. */
  readonly onFirstCheckpoint: (gapMs: number) => void;
  /** The server has given the claim to others. */
  readonly onLost: () => void;
  readonly log: Log;
}

/** One claim at work: its handler in a runner, its timeout, and the reports of what it does. */
export class Run {
  readonly #options: RunOptions;
  readonly #host: ReportingHost;
  #handler: RunningHandler | undefined;
  #cause: AbortCause | undefined;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RunOptions) {
    const { job, reporter, onFirstCheckpoint, onLost, log } = options;
    this.#options = options;
    const startedAt = performance.now();
    this.#host = new ReportingHost({
      id: job.executionId,
      generation: job.generation,
      reporter,
      onFirst: () => onFirstCheckpoint(performance.now() - startedAt),
      onLost,
      log,
    });
  }

  /** Why it was aborted, if it was. */
  get cause(): AbortCause | undefined {
    return this.#cause;
  }

  /** It only waits, and is about to let go of its claim: the slot is as good as free. */
  get suspending(): boolean {
    return this.#host.suspending;
  }

  /** What came after it shows that the claim was let go, although the answer to that has not come. */
  suspended(): void {
    this.#host.suspended();
  }

  /** Runs the handler and says what to report. Never throws. All events have been answered when it resolves. */
  async outcome(): Promise<Outcome> {
    const { job, runner } = this.#options;
    const { timeoutSeconds } = job;
    const timer =
      timeoutSeconds === null ? undefined : setTimeout(() => this.abort('timed out'), timeoutSeconds * 1_000);
    this.#handler = runner.start(job, this.#host);
    const settled = await this.#handler.settled;
    clearTimeout(timer);
    clearTimeout(this.#graceTimer);
    return outcomeOf(settled, this.#cause, timeoutSeconds);
  }

  /**
   * Aborts the handler's signal; the first cause counts. A handler that goes on regardless is left behind after the
   * grace time: its outcome is reported without it. Not so where the claim is lost: there is nothing to report then
   * before it has ended.
   */
  abort(cause: AbortCause): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    this.#handler?.abort(cause);
    if (cause === 'lost') return;
    const { job, graceMs, log } = this.#options;
    this.#graceTimer = setTimeout(() => {
      log('warn', 'A handler ignores its abort signal and is left behind.', {
        execution: job.executionId,
        workflow: job.workflow,
        cause,
      });
      this.#handler?.giveUp();
    }, graceMs);
    this.#graceTimer.unref();
  }
}
