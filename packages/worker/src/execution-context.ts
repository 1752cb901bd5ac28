import type { ExecutionClient } from './execution-client.ts';
import type { TaskContext } from './durable/task-runner.ts';
import type { TaskOptions } from './durable/task-options.ts';
import type { Workflow } from './workflow.ts';

export interface CallOptions {
  /**
   * Matched by the policy of the workflow when the child is dispatched, and kept nowhere else: neither the child nor any
   * event of either execution has it. A JSON object of at most 4,096 bytes.
   */
  readonly routingInput?: Readonly<Record<string, unknown>>;
  /**
   * true: where this worker has the workflow, it runs right here, as a part of this run and without an execution of its
   * own: nothing of it is recorded but its result. Not where `routingInput` or `version` is given, which need a dispatch.
   */
  readonly transient?: boolean;
  /** A version of the workflow; absent: its newest. */
  readonly version?: number;
  /** As of any run: higher is dispatched first; 0 where absent. */
  readonly priority?: number;
}

/**
 * What a handler is told, and what it can say and do while it runs.
 *
 * `task`, `now`, `random`, `sleep`, `pause` and `call` are durable: what they result in is recorded as a step of the
 * execution, and a handler that is run again (its worker was lost, or it had to wait) is given the recorded results
 * instead. So a handler has to make the same durable calls in the same order each time; docs/durable-execution.md has
 * the rules. They may run beside each other, in `Promise.all` for instance.
 */
export interface ExecutionContext<TInput = unknown> {
  /** E.g. `ex_0193…`. In a transient call `<id of the caller>:<position of the call>`. */
  readonly executionId: string;
  /** `namespace/name`. */
  readonly workflow: string;
  /** 0 in a transient call. */
  readonly version: number;
  /** Counts claims, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The fencing token of this claim; hand it to systems that must refuse an older attempt. */
  readonly generation: number;
  readonly input: TInput;
  /**
   * A bearer token of this execution: it may do what whoever submitted the execution may do with workflows and executions, and nothing
   * else, for as long as this claim lasts. Not the worker's own.
   */
  readonly token: string;
  /** Asks the server with that token. What it starts prefers this worker. Not durable: use it in a task. */
  readonly client: ExecutionClient;
  /** Aborts when the execution is cancelled, timed out, taken away, or the worker stops. Pass it on; throw when it fires. */
  readonly signal: AbortSignal;
  /** The idempotency key of the task that is running; throws outside of tasks. The same in every try of the task. */
  readonly attemptKey: string;
  /**
   * Runs a function whose effect must not be repeated, and records what it returns (JSON, at most 1 MiB). Only what runs
   * in a task is never run again once it is recorded; a worker that dies in between runs it once more: at least once.
   * Rejects with StepError when it has failed for the last time, which is recorded as well. A RetryableError is not, as
   * long as the execution has attempts left and the handler lets it through: then the next attempt tries the task again.
   */
  task<T>(name: string, fn: (task: TaskContext) => T | Promise<T>, options?: TaskOptions): Promise<T>;
  /** Milliseconds since 1970; the same in every replay. */
  now(): Promise<number>;
  /** A number in [0, 1); the same in every replay. */
  random(): Promise<number>;
  /** Waits so many milliseconds. More than 30 s: the execution is PAUSED meanwhile and gives its slot back. */
  sleep(ms: number): Promise<void>;
  /** PAUSED until `resumeExecution`, whose input it resolves with. Gives the slot back. */
  pause<T = unknown>(name: string): Promise<T>;
  /**
   * Runs another workflow as a child of this execution and resolves with its output; PAUSED meanwhile, without a slot.
   * Rejects with StepError where the child fails or is cancelled, or cannot be started.
   */
  call<TChildInput, TOutput>(
    workflow: Workflow<TChildInput, TOutput>,
    input: TChildInput,
    options?: CallOptions,
  ): Promise<Awaited<TOutput>>;
  call<TOutput = unknown>(workflow: string, input: unknown, options?: CallOptions): Promise<TOutput>;
  /** Adds a `log` event. Not in a replay. At most 50 events a second are sent; a `log` event counts what was dropped. */
  log(message: string, data?: Readonly<Record<string, unknown>>): void;
  /** Adds a `progress` event: a fraction from 0 to 1, or any JSON. Of too many a second only the newest is sent. */
  progress(value: unknown, message?: string): void;
  /** Adds an event of any type. */
  event(type: string, data?: unknown): void;
}

/** Throw it where another try may succeed: a task or an execution that has attempts left is tried again then. */
export class RetryableError extends Error {
  readonly retryable = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RetryableError';
  }
}
