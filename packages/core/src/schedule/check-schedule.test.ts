import { expect, it } from 'vitest';
import { checkCatchUpLimit, checkTiming } from './check-schedule.ts';

const now = Date.parse('2026-11-30T08:00Z');
const codes = (input: Partial<Parameters<typeof checkTiming>[0]>): string[] =>
  checkTiming({ timeZone: 'UTC', ...input }, now).map(({ path, code }) => `${path} ${code}`);

it('takes exactly one kind of timing', () => {
  expect(codes({ cron: '0 9 * * *' })).toEqual([]);
  expect(codes({ intervalSeconds: 1 })).toEqual([]);
  expect(codes({ at: new Date(now + 1) })).toEqual([]);
  expect(codes({})).toEqual(['cron TIMING_KIND']);
  expect(codes({ cron: '0 9 * * *', intervalSeconds: 5 })).toEqual(['cron TIMING_KIND']);
});

it('tells every problem at once', () => {
  expect(codes({ cron: 'x', intervalSeconds: 0, at: new Date(now), timeZone: 'Nowhere' })).toEqual([
    'cron TIMING_KIND',
    'timeZone TIME_ZONE_UNKNOWN',
    'cron CRON_SHAPE',
    'intervalSeconds NUMBER_RANGE',
    'at TIME_PASSED',
  ]);
});

it('bounds what is made up for', () => {
  expect(checkCatchUpLimit(100, 'catchUpLimit')).toEqual([]);
  expect(checkCatchUpLimit(101, 'catchUpLimit')).toMatchObject([{ path: 'catchUpLimit', code: 'NUMBER_RANGE' }]);
  expect(checkCatchUpLimit(1.5, 'catchUpLimit')).toHaveLength(1);
});
