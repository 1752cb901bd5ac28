import type { HandlerError } from '../run-host.ts';

/**
 * How the failure of a task or a child reaches the handler, the first time as in every replay: `name` and `message` are
 * those of the error that was thrown. Tell failures apart by `name`, not by class: the class is not recorded.
 */
export class StepError extends Error {
  readonly retryable: boolean;

  constructor({ type, message, stack, retryable }: HandlerError) {
    super(message);
    this.name = type;
    this.retryable = retryable;
    if (typeof stack === 'string') this.stack = stack;
  }
}
