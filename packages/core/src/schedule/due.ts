import { countRuns, lastRuns, nextRun, type ScheduleTiming } from './timing.ts';

/** A run that is not older than this is on time, whatever the catch-up limit says: a restart or a change of leader costs none. */
export const ON_TIME_MS = 60_000;
/** Missed runs of intervals are made up for within this time after a restart, not all in its first second. */
export const SPREAD_MS = 60_000;
/** Most missed runs that a schedule may ask to be made up for. */
export const MAX_CATCH_UP = 100;

/** What is to be done about a schedule whose next run has come. */
export interface DueRun {
  /** The run to start now; null: none of those that have passed. */
  readonly run: number | null;
  /** It was missed and is made up for. */
  readonly late: boolean;
  /** Runs before it that are given up. */
  readonly missed: number;
  /** The run after it, which may have come as well; null: there is none any more. */
  readonly next: number | null;
}

/**
 * Looks at a schedule whose next run was at `due`, at the time `now` (both ms). Of the runs that were missed the newest `catchUpLimit` are made up
 * for, oldest first; those before are given up. Asked again with the answer's `next`, it goes on where it was. Errors: RangeError
 * where the timing cannot be read (any more).
 */
export function dueRun(timing: ScheduleTiming, due: number, now: number, catchUpLimit: number): DueRun {
  const onTime = now - ON_TIME_MS;
  const kept = due < onTime ? lastRuns(timing, due, onTime, catchUpLimit) : [];
  const [first] = kept;
  if (first !== undefined) {
    const missed = countRuns(timing, due, first);
    return { run: first, late: true, missed, next: nextRun(timing, first) };
  }
  const missed = due < onTime ? countRuns(timing, due, onTime) : 0;
  const run = due < onTime ? nextRun(timing, onTime - 1) : due;
  if (run === null || run > now) return { run: null, late: false, missed, next: run };
  return { run, late: false, missed, next: nextRun(timing, run) };
}

/**
 * How long after a restart a missed run of an interval is made up for, in ms: schedules with numbers in a row are spread evenly, and always the
 * same way.
 */
export function spreadDelay(scheduleId: number, everyMs: number): number {
  const golden = 0.618_033_988_749_894_9;
  return ((scheduleId * golden) % 1) * Math.min(everyMs, SPREAD_MS);
}
