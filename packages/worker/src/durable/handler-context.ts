import type { Clock } from '../clock.ts';
import type { CallOptions, ExecutionContext } from '../execution-context.ts';
import { createExecutionClient, type ExecutionClient } from '../execution-client.ts';
import type { RunJob } from '../run-host.ts';
import { checkCall, checkFunction, checkJson, checkOutsideTask, checkSleep, checkStepName } from './call-checks.ts';
import type { EventThrottle } from './event-throttle.ts';
import type { Operation, Operations, StepOutcome } from './operations.ts';
import { type TaskOptions, taskRules } from './task-options.ts';
import { currentAttemptKey, currentTask, pause, runTask, type TaskContext } from './task-runner.ts';

export interface ContextParts {
  readonly job: RunJob;
  readonly signal: AbortSignal;
  /** Of the tasks: fires also when the handler has ended. */
  readonly taskSignal: AbortSignal;
  readonly operations: Operations;
  readonly events: EventThrottle;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds; longer sleeps give the slot back. */
  readonly longSleepMs: number;
  /** Runs a child right here; undefined where it has to be dispatched. */
  readonly transient: (ref: string, input: unknown, position: number) => Promise<StepOutcome> | undefined;
  /** This handler is such a child itself: it has nobody who could wait for a dispatched one. */
  readonly isTransient: boolean;
}

/** What one handler is given. Wrong usage rejects, or throws where there is no promise, and says what would be right. */
export class HandlerContext implements ExecutionContext {
  readonly executionId: string;
  readonly workflow: string;
  readonly version: number;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly generation: number;
  readonly input: unknown;
  readonly signal: AbortSignal;
  readonly token: string;
  readonly #parts: ContextParts;
  #client: ExecutionClient | undefined;

  constructor(parts: ContextParts) {
    const { job } = parts;
    this.#parts = parts;
    this.executionId = job.executionId;
    this.workflow = job.workflow;
    this.version = job.version;
    this.attempt = job.attempt;
    this.maxAttempts = job.maxAttempts;
    this.generation = job.generation;
    this.input = job.input;
    this.signal = parts.signal;
    this.token = job.access.token;
  }

  get attemptKey(): string {
    return currentAttemptKey();
  }

  get client(): ExecutionClient {
    this.#client ??= createExecutionClient(this.#parts.job.access);
    return this.#client;
  }

  readonly task = <T>(name: string, fn: (task: TaskContext) => T | Promise<T>, options: TaskOptions = {}) =>
    checked(() => {
      checkOutsideTask('task');
      checkStepName('task', name);
      checkFunction(name, fn);
      const rules = taskRules(options);
      const { operations, taskSignal: signal, clock, random, job } = this.#parts;
      return operations.begin<T>('TASK', name, async (operation) => {
        const attemptKey = `${job.executionId}:${operation.position}`;
        const outcome = await runTask(fn, { name, attemptKey, rules, signal, clock, random });
        const again = 'error' in outcome && outcome.error.retryable && job.attempt < job.maxAttempts;
        if (again) await operations.failForNow(operation, outcome.error);
        else await operations.complete(operation, outcome);
      });
    });

  readonly now = () =>
    checked(() => {
      checkOutsideTask('now');
      const { operations, clock } = this.#parts;
      return operations.begin<number>('NOW', 'now', (operation) =>
        operations.complete(operation, { result: clock.now() }),
      );
    });

  readonly random = () =>
    checked(() => {
      checkOutsideTask('random');
      const { operations, random } = this.#parts;
      return operations.begin<number>('RANDOM', 'random', (operation) =>
        operations.complete(operation, { result: random() }),
      );
    });

  readonly sleep = (ms: number) =>
    checked(() => {
      checkOutsideTask('sleep');
      checkSleep(ms);
      return this.#parts.operations.begin<void>('TIMER', 'sleep', (operation) => this.#sleep(operation, ms));
    });

  readonly pause = <T>(name: string) =>
    checked(() => {
      checkOutsideTask('pause');
      checkStepName('pause', name);
      const { operations } = this.#parts;
      return operations.begin<T>('RESUME', name, async (operation) => {
        if (operation.recorded !== undefined || (await operations.open(operation))) operations.wait(operation);
      });
    });

  readonly call = (workflow: unknown, input: unknown, options: CallOptions = {}) =>
    checked(() => {
      checkOutsideTask('call');
      const ref = checkCall(workflow, options);
      const json = checkJson('the input of ctx.call', input);
      return this.#parts.operations.begin<never>('CALL', ref, (operation) => this.#call(operation, ref, json, options));
    });

  readonly log = (message: string, data?: Readonly<Record<string, unknown>>): void => {
    this.event('log', { ...data, message });
  };

  readonly progress = (value: unknown, message?: string): void => {
    const said = typeof value === 'number' ? { fraction: value } : { value };
    this.event('progress', message === undefined ? said : { ...said, message });
  };

  /** What a handler says while it does again what was done before has been said before. */
  readonly event = (type: string, data?: unknown): void => {
    const { operations, events } = this.#parts;
    if (operations.closed || (operations.replaying && currentTask() === undefined)) return;
    try {
      events.add({ type, data: checkJson(`the data of the event ${JSON.stringify(type)}`, data) });
    } catch (error) {
      // Saying something is no reason to fail.
      events.add({ type: 'log', data: { message: (error as Error).message } });
    }
  };

  async #sleep(operation: Operation, ms: number): Promise<void> {
    const { operations, clock, taskSignal: signal, longSleepMs } = this.#parts;
    const { recorded } = operation;
    if (recorded === undefined && !(await operations.open(operation, ms))) return;
    const leftMs = recorded?.remainingMs ?? ms;
    if (leftMs > longSleepMs) {
      operations.wait(operation);
      return;
    }
    await pause(clock, leftMs, signal);
    if (!signal.aborted) await operations.complete(operation, { result: null });
  }

  async #call(operation: Operation, ref: string, input: unknown, options: CallOptions): Promise<void> {
    const { operations, transient, isTransient } = this.#parts;
    if (operation.recorded !== undefined) {
      operations.wait(operation);
      return;
    }
    const { position } = operation;
    const { routingInput, version, priority } = options;
    const wanted = isTransient || options.transient === true;
    const here =
      wanted && routingInput === undefined && version === undefined ? transient(ref, input, position) : undefined;
    if (here !== undefined) {
      const outcome = await here;
      const recorded = 'error' in outcome ? { error: { ...outcome.error, retryable: false } } : outcome;
      await operations.complete(operation, recorded);
      return;
    }
    const answer = await operations.call({
      position,
      workflow: ref,
      input,
      ...(version === undefined ? {} : { version }),
      ...(routingInput === undefined ? {} : { routingInput }),
      ...(priority === undefined ? {} : { priority }),
    });
    if (answer.status === 'taken') operations.wait(operation);
    if (answer.status !== 'refused') return;
    // Recorded, so that a replay sees the same although the workflow is there by then.
    const error = { type: 'CallError', message: `${ref} cannot be called: ${answer.message}`, retryable: false };
    await operations.complete(operation, { error });
  }
}

// Wrong usage reaches the handler the same way as any failure: where the call is awaited.
function checked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return call();
  } catch (error) {
    const refused = Promise.reject<T>(error);
    refused.catch(() => undefined);
    return refused;
  }
}
