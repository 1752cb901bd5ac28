import type { Claim } from './executions.ts';
import type { ExecutionContext } from './execution-context.ts';
import type { Log } from './log.ts';
import { type AbortCause, type Outcome, outcomeOf, type Settled } from './outcome.ts';
import type { EventItem, ReportAnswer } from './reporter.ts';
import type { Workflow } from './workflow.ts';

/** Events of one execution that may wait for the server; further ones are dropped, and counted in the log. */
const maxWaitingEvents = 1_000;

export interface RunOptions {
  readonly id: string;
  readonly generation: number;
  readonly claim: Claim;
  readonly workflow: Workflow;
  readonly addEvent: (event: EventItem) => Promise<ReportAnswer>;
  /** Milliseconds that an aborted handler has to come to its end before its outcome is reported without it. */
  readonly graceMs: number;
  readonly log: Log;
}

/** One handler at work on one claim. */
export class Run {
  readonly #options: RunOptions;
  readonly #controller = new AbortController();
  readonly #events = new Set<Promise<unknown>>();
  #dropped = 0;
  #cause: AbortCause | undefined;
  #giveUp: (() => void) | undefined;
  #graceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: RunOptions) {
    this.#options = options;
  }

  /** Runs the handler and says what to report. Never throws. All events have been answered when it resolves. */
  async outcome(): Promise<Outcome> {
    const { timeoutSeconds } = this.#options.claim;
    const timer =
      timeoutSeconds === null ? undefined : setTimeout(() => this.abort('timed out'), timeoutSeconds * 1_000);
    const abandoned = new Promise<Settled>((resolve) => {
      this.#giveUp = () => resolve({ kind: 'threw', error: this.#controller.signal.reason });
    });
    const settled = await Promise.race([this.#handle(), abandoned]);
    clearTimeout(timer);
    await Promise.all(this.#events);
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
    this.#controller.abort(
      new DOMException(abortMessages[cause], cause === 'timed out' ? 'TimeoutError' : 'AbortError'),
    );
    if (cause === 'lost') return;
    const { id, workflow, graceMs, log } = this.#options;
    const timer = setTimeout(() => {
      log('warn', 'A handler ignores its abort signal and is left behind.', {
        execution: id,
        workflow: workflow.ref,
        cause,
      });
      this.#giveUp?.();
    }, graceMs);
    timer.unref();
    this.#graceTimer = timer;
  }

  async #handle(): Promise<Settled> {
    const { workflow, claim } = this.#options;
    try {
      const context = this.#context();
      const value: unknown = await workflow.handler(context as ExecutionContext<never>, claim.input as never);
      return { kind: 'returned', value };
    } catch (error) {
      return { kind: 'threw', error };
    } finally {
      clearTimeout(this.#graceTimer);
    }
  }

  #context(): ExecutionContext {
    const { id, generation, claim } = this.#options;
    return {
      executionId: id,
      workflow: claim.workflow,
      version: claim.version,
      attempt: claim.attempt,
      maxAttempts: claim.maxAttempts,
      generation,
      input: claim.input,
      signal: this.#controller.signal,
      log: (message, data) => this.#emit('log', { message, ...data }),
      progress: (fraction, message) =>
        this.#emit('progress', message === undefined ? { fraction } : { fraction, message }),
      event: (type, data) => this.#emit(type, data ?? null),
    };
  }

  #emit(type: string, data: unknown): void {
    const { id, generation, log } = this.#options;
    if (this.#events.size >= maxWaitingEvents) {
      this.#dropped += 1;
      if (this.#dropped === 1)
        log('warn', 'Events are dropped: the server is slower than the handler.', { execution: id });
      return;
    }
    const answered = this.#send({ id, generation, type, data }).finally(() => this.#events.delete(answered));
    this.#events.add(answered);
  }

  async #send(event: EventItem): Promise<void> {
    const { id, addEvent, log } = this.#options;
    const { code, message } = await addEvent(event);
    if (code === 'BAD_INPUT' || code === 'TOO_LARGE') {
      log('warn', `An event was refused: ${message ?? code}`, { execution: id, type: event.type });
    }
  }
}

const abortMessages: Readonly<Record<AbortCause, string>> = {
  cancelled: 'The execution was cancelled.',
  'timed out': 'The execution ran longer than its timeout.',
  lost: 'The execution was given to another attempt.',
  silence: 'The server has not acknowledged a heartbeat for too long.',
  stopping: 'The worker stops.',
  replaced: 'A newer worker of this name has taken over.',
};
