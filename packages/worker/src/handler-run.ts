import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import { EventThrottle } from './durable/event-throttle.ts';
import { HandlerContext } from './durable/handler-context.ts';
import { Operations, type StepOutcome } from './durable/operations.ts';
import { transientHost, transientJob } from './durable/transient-host.ts';
import type { ExecutionContext } from './execution-context.ts';
import { describeError } from './handler-error.ts';
import { settleValue } from './outcome.ts';
import type { AbortCause, RunHost, RunJob, RunningHandler, Settled } from './run-host.ts';
import type { Workflow } from './workflow.ts';

export interface HandlerRunOptions {
  readonly workflow: Workflow;
  readonly job: RunJob;
  readonly host: RunHost;
  readonly clock: Clock;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  /** Sleeps of more milliseconds than this give the slot back. */
  readonly longSleepMs: number;
  /** The workflows that a transient call runs as a part of the caller's run. */
  readonly transient: (ref: string) => Workflow | undefined;
  /** It is such a part itself. */
  readonly isTransient?: boolean;
}

/** A handler at work on one claim, in the process that calls this; all it does outside goes through its host. */
export class HandlerRun implements RunningHandler {
  readonly settled: Promise<Settled>;
  readonly #options: HandlerRunOptions;
  readonly #controller = new AbortController();
  /** Of the tasks: fires also when the handler has left them behind. */
  readonly #tasks = new AbortController();
  readonly #events: EventThrottle;
  readonly #operations: Operations;
  readonly #children = new Set<HandlerRun>();
  #settle: (settled: Settled) => void = () => undefined;

  constructor(options: HandlerRunOptions) {
    const { job, host, clock } = options;
    this.#options = options;
    // One listener per task under way: many are no leak.
    setMaxListeners(0, this.#controller.signal, this.#tasks.signal);
    this.#events = new EventThrottle({ send: (event) => host.event(event), clock });
    this.#operations = new Operations({
      job,
      host,
      clock,
      beforeSuspend: () => this.#events.flush(),
      onSuspended: () => this.#settle({ kind: 'suspended' }),
      onFatal: (error) => this.#settle({ kind: 'threw', error: describeError(error) }),
    });
    const settled = new Promise<Settled>((resolve) => {
      this.#settle = resolve;
    });
    this.settled = this.#finish(settled);
    void this.#handle().then((end) => this.#settle(end));
  }

  abort(cause: AbortCause): void {
    const reason = new DOMException(abortMessages[cause], cause === 'timed out' ? 'TimeoutError' : 'AbortError');
    // What a task has done already need not be done again by the attempt after this one.
    this.#operations.abort(reason, cause === 'stopping' || cause === 'timed out');
    this.#controller.abort(reason);
    this.#tasks.abort(reason);
    for (const child of this.#children) child.abort(cause);
  }

  giveUp(): void {
    this.#settle({ kind: 'threw', error: describeError(this.#controller.signal.reason) });
  }

  // All events have been answered when it resolves.
  async #finish(settling: Promise<Settled>): Promise<Settled> {
    const settled = await settling;
    this.#operations.close();
    // Tasks and children that the handler has left behind are told so.
    this.#tasks.abort(new DOMException('The handler has ended.', 'AbortError'));
    for (const child of this.#children) child.giveUp();
    await this.#events.flush();
    return settled;
  }

  async #handle(): Promise<Settled> {
    const { workflow, job } = this.#options;
    try {
      const value: unknown = await workflow.handler(
        this.#context() as ExecutionContext as ExecutionContext<never>,
        job.input as never,
      );
      await this.#operations.end('returned');
      return settleValue(value);
    } catch (error) {
      const described = describeError(error);
      const again = described.retryable && job.attempt < job.maxAttempts;
      await this.#operations.end(again ? 'to be tried again' : 'failed');
      return { kind: 'threw', error: described };
    }
  }

  #context(): HandlerContext {
    const { job, clock, random, longSleepMs, isTransient = false } = this.#options;
    return new HandlerContext({
      job,
      signal: this.#controller.signal,
      taskSignal: this.#tasks.signal,
      operations: this.#operations,
      events: this.#events,
      clock,
      random,
      longSleepMs,
      isTransient,
      transient: (ref, input, position) => {
        const workflow = this.#options.transient(ref);
        return workflow === undefined ? undefined : this.#runChild(workflow, input, position);
      },
    });
  }

  async #runChild(workflow: Workflow, input: unknown, position: number): Promise<StepOutcome> {
    const { job, clock, longSleepMs } = this.#options;
    const { timeoutSeconds } = workflow.options;
    const child = new HandlerRun({
      ...this.#options,
      workflow,
      job: transientJob(workflow, job, input, position),
      host: transientHost(workflow.ref, longSleepMs, (event) => this.#events.add(event)),
      isTransient: true,
    });
    this.#children.add(child);
    const callOff =
      timeoutSeconds === undefined
        ? undefined
        : clock.after(timeoutSeconds * 1_000, () => {
            child.abort('timed out');
            child.giveUp();
          });
    const settled = await child.settled;
    callOff?.();
    this.#children.delete(child);
    if (settled.kind === 'returned') return { result: settled.output };
    if (settled.kind === 'threw') return { error: settled.error };
    throw new Error('A transient call cannot be suspended.');
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
