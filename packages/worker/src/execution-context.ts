/** What a handler is told, and what it can say while it runs. */
export interface ExecutionContext<TInput = unknown> {
  /** E.g. `ex_0193…`. */
  readonly executionId: string;
  /** `namespace/name`. */
  readonly workflow: string;
  readonly version: number;
  /** Counts claims, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The fencing token of this claim; hand it to systems that must refuse an older attempt. */
  readonly generation: number;
  readonly input: TInput;
  /** Aborts when the execution is cancelled, timed out, taken away, or the worker stops. Pass it on; throw when it fires. */
  readonly signal: AbortSignal;
  /** Adds a `log` event. */
  log(message: string, data?: Readonly<Record<string, unknown>>): void;
  /** Adds a `progress` event; `fraction` from 0 to 1. */
  progress(fraction: number, message?: string): void;
  /** Adds an event of any type. */
  event(type: string, data?: unknown): void;
}

/** Throw it where another try may succeed: the failure says `retryable: true` then, for whoever decides about a retry. */
export class RetryableError extends Error {
  readonly retryable = true;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RetryableError';
  }
}
