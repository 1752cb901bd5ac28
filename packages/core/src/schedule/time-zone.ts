import type { Issue } from '../lib/errors.ts';
import { quote } from '../worker/names.ts';

const MAX_ZONE = 64;
const formats = new Map<string, Intl.DateTimeFormat>();

/** Whether this is a time zone of the IANA database that this process knows. Plain offsets (`+05:30`) are none: they have no name to show. */
export function isTimeZone(name: string): boolean {
  return formatOf(name) !== null;
}

/** The issues of a time zone's name. */
export function checkTimeZone(name: string, path: string): Issue[] {
  if (isTimeZone(name)) return [];
  const message = `a time zone is a name of the IANA database such as Europe/Berlin or UTC, not ${quote(name)}`;
  return [{ path, code: 'TIME_ZONE_UNKNOWN', message }];
}

/**
 * What clocks in the zone show at an instant (ms since the epoch), with the offset that tells the two hours apart which a clock shows twice:
 * `2026-11-01T01:30:00-04:00`. Errors: RangeError for a zone that is none.
 */
export function localTime(at: number, timeZone: string): string {
  const format = formatOf(timeZone);
  if (format === null) throw new RangeError(`unknown time zone ${quote(timeZone)}`);
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, timeZoneName } = parts;
  const offset = timeZoneName?.replace('GMT', '') || '+00:00';
  return `${year?.padStart(4, '0')}-${month}-${day}T${hour}:${minute}:${second}${offset}`;
}

/** Making a format takes long, so it is kept; there are some 600 names in all spellings of case, the rest is not kept. */
function formatOf(name: string): Intl.DateTimeFormat | null {
  const known = formats.get(name);
  if (known !== undefined) return known;
  if (name.length > MAX_ZONE || !/^[A-Za-z]/.test(name)) return null;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
    if (formats.size < 1_000) formats.set(name, format);
    return format;
  } catch {
    return null;
  }
}
