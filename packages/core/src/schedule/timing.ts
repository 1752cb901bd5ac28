import { lastCronRuns, nextCronRun } from './cron.ts';

/**
 * When a schedule runs. An interval's runs lie at `anchor` and whole multiples of it before and after, so that neither a restart nor a pause
 * moves them. Times are ms since the epoch.
 */
export type ScheduleTiming =
  | { readonly kind: 'CRON'; readonly cron: string; readonly timeZone: string }
  | { readonly kind: 'INTERVAL'; readonly everyMs: number; readonly anchor: number }
  | { readonly kind: 'ONCE'; readonly at: number };

/** Runs that a missed stretch of time is counted to. */
export const MAX_COUNTED = 500;

/** The first run after an instant, or null: there is none any more. Errors: RangeError where the timing cannot be read (any more). */
export function nextRun(timing: ScheduleTiming, after: number): number | null {
  switch (timing.kind) {
    case 'CRON':
      return nextCronRun(timing.cron, timing.timeZone, after);
    case 'INTERVAL': {
      const { everyMs, anchor } = timing;
      return after < anchor ? anchor : anchor + (Math.floor((after - anchor) / everyMs) + 1) * everyMs;
    }
    case 'ONCE':
      return timing.at > after ? timing.at : null;
  }
}

/** The first runs after an instant, at most so many. Errors: as for the next run. */
export function nextRuns(timing: ScheduleTiming, after: number, count: number): number[] {
  const runs: number[] = [];
  for (let at: number | null = after; runs.length < count; runs.push(at)) {
    at = nextRun(timing, at);
    if (at === null) break;
  }
  return runs;
}

/** The last runs from `from` on and before `before`, oldest first, at most so many. */
export function lastRuns(timing: ScheduleTiming, from: number, before: number, count: number): number[] {
  const within = (run: number): boolean => run >= from && run < before;
  switch (timing.kind) {
    case 'CRON':
      return lastCronRuns(timing.cron, timing.timeZone, before, count).filter(within);
    case 'INTERVAL': {
      const { everyMs, anchor } = timing;
      const last = anchor + Math.floor((before - 1 - anchor) / everyMs) * everyMs;
      const runs = Array.from({ length: count }, (_, i) => last - (count - 1 - i) * everyMs);
      return runs.filter((run) => within(run) && run >= anchor);
    }
    case 'ONCE':
      return count > 0 && within(timing.at) ? [timing.at] : [];
  }
}

/** How many runs lie from `from` on and before `before`. Of cron expressions at most {@link MAX_COUNTED} are counted. */
export function countRuns(timing: ScheduleTiming, from: number, before: number): number {
  if (before <= from) return 0;
  if (timing.kind === 'INTERVAL') {
    const { everyMs, anchor } = timing;
    const first = nextRun(timing, from - 1) ?? before;
    return first >= before ? 0 : Math.floor((before - 1 - Math.max(first, anchor)) / everyMs) + 1;
  }
  let count = 0;
  for (
    let at = nextRun(timing, from - 1);
    at !== null && at < before && count < MAX_COUNTED;
    at = nextRun(timing, at)
  ) {
    count += 1;
  }
  return count;
}
