import { MusterError } from '@muster/core';

/** Waits between the tries of a task: `firstMs × factor ^ (try - 1)`, at most `maxMs`, each ± `jitter` of itself. */
export interface Backoff {
  /** 1,000 where absent. */
  readonly firstMs?: number;
  /** 2 where absent. */
  readonly factor?: number;
  /** 60,000 where absent; at most 600,000, because the task keeps its slot meanwhile. */
  readonly maxMs?: number;
  /** From 0 (none) to 1; 0.2 where absent. */
  readonly jitter?: number;
}

export interface TaskOptions {
  /** How often a task that failed is tried again, from 0 (the default) to 100. Errors with `retryable: false` are not. */
  readonly retries?: number;
  /** Waits between the tries; a number is `firstMs`. */
  readonly backoff?: number | Backoff;
  /** Milliseconds that one try may take; then its signal fires and the try has failed with TaskTimeoutError. Absent: no limit. */
  readonly timeout?: number;
}

/** The options with every default filled in. */
export interface TaskRules {
  readonly retries: number;
  readonly timeout: number | undefined;
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  readonly jitter: number;
}

/** Longest timer of the platform. */
const maxTimerMs = 2 ** 31 - 1;

/** Fills in the defaults; throws BAD_INPUT for what makes no sense, with the name of the option. */
export function taskRules(options: TaskOptions): TaskRules {
  const { retries = 0, backoff = {}, timeout } = options;
  const {
    firstMs = 1_000,
    factor = 2,
    maxMs = 60_000,
    jitter = 0.2,
  } = typeof backoff === 'number' ? { firstMs: backoff } : backoff;
  within('retries', retries, 0, 100);
  if (!Number.isInteger(retries)) throw badOption('retries', 'must be a whole number', retries);
  if (timeout !== undefined) within('timeout', timeout, 1, maxTimerMs);
  within('backoff.firstMs', firstMs, 0, 600_000);
  within('backoff.factor', factor, 1, 10);
  within('backoff.maxMs', maxMs, 0, 600_000);
  within('backoff.jitter', jitter, 0, 1);
  return { retries, timeout, firstMs, factor, maxMs, jitter };
}

/** Milliseconds to wait after so many failed tries. `random`: a number in [0, 1). */
export function backoffMs({ firstMs, factor, maxMs, jitter }: TaskRules, failed: number, random: number): number {
  const plain = Math.min(maxMs, firstMs * factor ** (failed - 1));
  return Math.round(plain * (1 + jitter * (2 * random - 1)));
}

function within(name: string, value: number, least: number, most: number): void {
  if (typeof value !== 'number' || !(value >= least && value <= most))
    throw badOption(name, `must be a number from ${least} to ${most}`, value);
}

function badOption(name: string, rule: string, value: unknown): MusterError {
  return new MusterError('BAD_INPUT', `${name} ${rule}, not ${String(value)}.`);
}
