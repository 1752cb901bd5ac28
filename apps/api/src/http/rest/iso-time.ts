/** RFC 3339 in UTC with milliseconds; null where there is none, or where a foreign process sent what is no time. */
export function isoTime(date: Date | null): string | null {
  return date === null || Number.isNaN(date.getTime()) ? null : date.toISOString();
}
