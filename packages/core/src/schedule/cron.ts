import { Cron } from 'croner';
import type { Issue } from '../lib/errors.ts';
import { shorten } from '../lib/text.ts';
import { quote } from '../worker/names.ts';
import { isTimeZone } from './time-zone.ts';

const MAX_CRON = 256;
const MAX_KEPT = 2_000;
const kept = new Map<string, Cron>();

/**
 * The issues of a cron expression: five fields (minute, hour, day of month, month, day of week), or six with seconds before them. It must have
 * a run after `now` (ms): `0 0 30 2 *` has none.
 */
export function checkCron(text: string, path: string, now: number): Issue[] {
  const fields = text.trim().split(/\s+/);
  if (text.length > MAX_CRON || !/^[\x20-\x7e]*$/.test(text) || (fields.length !== 5 && fields.length !== 6)) {
    const message = `a cron expression has 5 fields (minute hour day-of-month month day-of-week), or 6 with seconds first, and at most ${MAX_CRON} characters, not ${quote(text)}`;
    return [{ path, code: 'CRON_SHAPE', message }];
  }
  let cron: Cron;
  try {
    cron = read(text, 'UTC');
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : 'it cannot be read';
    return [{ path, code: 'CRON_INVALID', message: `the cron expression cannot be read: ${shorten(why, 200)}` }];
  }
  if (cron.nextRun(dateOf(now)) !== null) return [];
  return [
    { path, code: 'CRON_NEVER', message: `the cron expression ${quote(text)} never comes to a time that exists` },
  ];
}

/**
 * The next run after an instant (ms), or null where there is none. Times of day that a clock change leaves out run when the clock goes on;
 * times of day that it repeats run once; expressions by the hour or minute follow the real time. Errors: RangeError for what cannot be read.
 */
export function nextCronRun(text: string, timeZone: string, after: number): number | null {
  return readKnown(text, timeZone).nextRun(dateOf(after))?.getTime() ?? null;
}

/** The last runs before an instant (ms), oldest first, at most so many. Errors: as for the next run. */
export function lastCronRuns(text: string, timeZone: string, before: number, count: number): number[] {
  if (count === 0) return [];
  const runs = readKnown(text, timeZone).previousRuns(count, dateOf(before));
  return runs.map((run) => run.getTime()).toReversed();
}

/** Croner takes no numbers. */
function dateOf(at: number): Date {
  // An instant that was given, not the clock's.
  // oxlint-disable-next-line eslint/no-restricted-globals
  return new Date(at);
}

function readKnown(text: string, timeZone: string): Cron {
  if (!isTimeZone(timeZone)) throw new RangeError(`unknown time zone ${quote(timeZone)}`);
  try {
    return read(text, timeZone);
  } catch (error) {
    throw new RangeError(`unreadable cron expression ${quote(text)}`, { cause: error });
  }
}

/** Reading is slow beside asking for the next run, so the readings of the newest expressions are kept. */
function read(text: string, timeZone: string): Cron {
  const key = `${timeZone} ${text}`;
  const known = kept.get(key);
  if (known !== undefined) return known;
  const cron = new Cron(text, { timezone: timeZone, paused: true, mode: '5-or-6-parts' });
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(key, cron);
  return cron;
}
