import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from '../clock.ts';
import { describeError } from '../handler-error.ts';
import type { HandlerError } from '../run-host.ts';
import type { StepOutcome } from './operations.ts';
import { backoffMs, type TaskRules } from './task-options.ts';

/** What the function of a task is told. */
export interface TaskContext {
  /** `<executionId>:<position>`: the same in every try of this task, whichever worker makes it. Hand it to what must not act twice. */
  readonly attemptKey: string;
  /** Fires when the try takes too long, and when the execution is aborted. */
  readonly signal: AbortSignal;
  /** Counts the tries in this run of the handler, from 1. */
  readonly attempt: number;
}

export interface TaskParts {
  readonly name: string;
  readonly attemptKey: string;
  readonly rules: TaskRules;
  /** The handler's. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Scope {
  readonly name: string;
  readonly attemptKey: string;
}

const scopes = new AsyncLocalStorage<Scope>();

/** The task that the caller runs in; undefined: none. */
export function currentTask(): Scope | undefined {
  return scopes.getStore();
}

/** The idempotency key of the task that the caller runs in; throws outside of tasks. */
export function currentAttemptKey(): string {
  const task = scopes.getStore();
  if (task === undefined) throw new Error('ctx.attemptKey is there inside of the function of a task only.');
  return task.attemptKey;
}

/** Results of more bytes than this, as JSON, are refused. */
const maxResultBytes = 1024 * 1024;

/**
 * Runs the function of a task, again after failures as its rules say. An abort ends it at the next failure.
 * Its value comes back as replay will give it: passed through JSON, null for undefined.
 */
export async function runTask(fn: (task: TaskContext) => unknown, parts: TaskParts): Promise<StepOutcome> {
  const { rules, signal, clock, random } = parts;
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await tryOnce(fn, parts, attempt);
    if ('result' in outcome || outcome.final || attempt > rules.retries || signal.aborted) return strip(outcome);
    await pause(clock, backoffMs(rules, attempt, random()), signal);
    if (signal.aborted) return strip(outcome);
  }
}

class TaskTimeoutError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TaskTimeoutError';
  }
}

type Tried = { readonly result: unknown } | { readonly error: HandlerError; readonly final: boolean };

function strip(tried: Tried): StepOutcome {
  return 'result' in tried ? tried : { error: tried.error };
}

async function tryOnce(fn: (task: TaskContext) => unknown, parts: TaskParts, attempt: number): Promise<Tried> {
  const { name, attemptKey, rules, signal, clock } = parts;
  const controller = new AbortController();
  const onAbort = (): void => controller.abort(signal.reason);
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  const { timeout } = rules;
  let callOff: (() => void) | undefined;
  const late = new Promise<never>((_, reject) => {
    if (timeout === undefined) return;
    callOff = clock.after(timeout, () => {
      const error = new TaskTimeoutError(`The task "${name}" did not finish within ${timeout} ms.`);
      controller.abort(error);
      reject(error);
    });
  });
  try {
    const task = { attemptKey, signal: controller.signal, attempt };
    const run = scopes.run({ name, attemptKey }, async () => await fn(task));
    return resultOf(name, await Promise.race([run, late]));
  } catch (error) {
    return { error: describeError(error), final: isFinal(error) };
  } finally {
    callOff?.();
    signal.removeEventListener('abort', onAbort);
  }
}

// What cannot be recorded will not be better the next time.
function resultOf(name: string, value: unknown): Tried {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return unrecordable(name, `is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined) {
    return value === undefined ? { result: null } : unrecordable(name, `is not JSON: a ${typeof value} cannot be sent`);
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > maxResultBytes) {
    return unrecordable(name, `has ${bytes} bytes as JSON; at most ${maxResultBytes} (1 MiB) are recorded`);
  }
  return { result: JSON.parse(text) as unknown };
}

function unrecordable(name: string, what: string): Tried {
  const message = `The result of the task "${name}" ${what}. Store it elsewhere and return a reference.`;
  return { error: { type: 'ResultError', message, retryable: false }, final: true };
}

function isFinal(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === false;
}

/** Waits so long, or until the signal fires. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      callOff();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const callOff = clock.after(ms, done);
    signal.addEventListener('abort', done, { once: true });
  });
}
