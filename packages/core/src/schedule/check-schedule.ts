import type { Issue } from '../lib/errors.ts';
import { checkInteger } from '../worker/guardrails.ts';
import { checkCron } from './cron.ts';
import { MAX_CATCH_UP } from './due.ts';
import { checkTimeZone } from './time-zone.ts';

/** Longest interval: a year. */
export const MAX_INTERVAL_SECONDS = 31_536_000;
/** Runs that may be listed at once. */
export const MAX_LISTED_RUNS = 100;

/** When a schedule shall run, as a caller says it: exactly one of `cron`, `intervalSeconds` and `at`. */
export interface TimingInput {
  readonly cron?: string | null | undefined;
  readonly intervalSeconds?: number | null | undefined;
  readonly at?: Date | null | undefined;
  readonly timeZone: string;
}

/** The issues of a timing, with the paths of its parts; `now` in ms. */
export function checkTiming(input: TimingInput, now: number): Issue[] {
  const { cron, intervalSeconds, at, timeZone } = input;
  const issues: Issue[] = [];
  const given = [cron, intervalSeconds, at].filter((part) => part !== null && part !== undefined).length;
  if (given !== 1) {
    const message = `give exactly one of cron, intervalSeconds and at, not ${given === 0 ? 'none' : given}`;
    issues.push({ path: 'cron', code: 'TIMING_KIND', message });
  }
  issues.push(...checkTimeZone(timeZone, 'timeZone'));
  if (cron !== null && cron !== undefined) issues.push(...checkCron(cron, 'cron', now));
  if (intervalSeconds !== null && intervalSeconds !== undefined) {
    issues.push(
      ...checkInteger(intervalSeconds, 'intervalSeconds', 'the interval in seconds', 1, MAX_INTERVAL_SECONDS),
    );
  }
  if (at !== null && at !== undefined && at.getTime() <= now) {
    const message = `the time of a run lies in the future; ${at.toISOString()} has passed`;
    issues.push({ path: 'at', code: 'TIME_PASSED', message });
  }
  return issues;
}

/** The issues of a catch-up limit. */
export function checkCatchUpLimit(limit: number, path: string): Issue[] {
  return checkInteger(limit, path, 'the catch-up limit', 0, MAX_CATCH_UP);
}
