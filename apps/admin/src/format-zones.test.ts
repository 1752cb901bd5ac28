import { afterEach, expect, it } from 'vitest';
import { clock, moment } from './format.ts';

const zone = process.env['TZ'];

afterEach(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

it.each([
  ['Asia/Kolkata', '2026-12-30T18:30:00.120Z', '2026-12-31 00:00:00.120 local · 2026-12-30T18:30:00.120Z', '00:00:00'],
  ['Pacific/Apia', '2026-11-30T11:00:00.000Z', '2026-12-01 00:00:00.000 local · 2026-11-30T11:00:00.000Z', '00:00:00'],
  [
    'America/New_York',
    '2026-11-01T05:30:00.000Z',
    '2026-11-01 01:30:00.000 local · 2026-11-01T05:30:00.000Z',
    '01:30:00',
  ],
])('in %s a moment is told by its clock and in UTC, each with its own day', (name, at, told, time) => {
  process.env['TZ'] = name;
  expect(moment(at)).toBe(told);
  expect(clock(at)).toBe(time);
});
