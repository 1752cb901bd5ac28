import { expect, it } from 'vitest';
import { checkTimeZone, isTimeZone, localTime } from './time-zone.ts';

it('knows the names of the IANA database and nothing else', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Asia/Kolkata', 'Pacific/Apia']) {
    expect(isTimeZone(name)).toBe(true);
  }
  for (const name of ['', 'Mars/Olympus', '+05:30', 'Europe/Berlin ', 'x'.repeat(100)]) {
    expect(checkTimeZone(name, 'timeZone')).toMatchObject([{ path: 'timeZone', code: 'TIME_ZONE_UNKNOWN' }]);
  }
});

it('tells what clocks show, and the two hours apart that they show twice', () => {
  const shown = (text: string, zone: string): string => localTime(Date.parse(text), zone);
  expect(shown('2026-11-01T05:30Z', 'America/New_York')).toBe('2026-11-01T01:30:00-04:00');
  expect(shown('2026-11-01T06:30Z', 'America/New_York')).toBe('2026-11-01T01:30:00-05:00');
  expect(shown('2026-12-30T18:30Z', 'Asia/Kolkata')).toBe('2026-12-31T00:00:00+05:30');
  expect(shown('2026-12-31T11:00:59.900Z', 'Pacific/Apia')).toBe('2027-01-01T00:00:59+13:00');
  expect(shown('1880-01-01T00:00Z', 'Europe/Berlin')).toBe('1880-01-01T00:53:28+00:53:28');
});
