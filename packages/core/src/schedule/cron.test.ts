import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkCron, lastCronRuns, nextCronRun } from './cron.ts';

const at = (text: string): number => Date.parse(text);

function runs(cron: string, zone: string, from: string, count: number): string[] {
  const found: string[] = [];
  for (let last = at(from); found.length < count; ) {
    const next = nextCronRun(cron, zone, last);
    if (next === null) break;
    found.push(new Date(next).toISOString().replace(':00.000Z', 'Z'));
    last = next;
  }
  return found;
}

describe('cron expressions in time zones', () => {
  it('09:00 in New York is 14:00 and 13:00 UTC across the changes of the clock (J1)', () => {
    expect(runs('0 9 * * *', 'America/New_York', '2026-03-06T15:00Z', 3)).toEqual([
      '2026-03-07T14:00Z',
      '2026-03-08T13:00Z',
      '2026-03-09T13:00Z',
    ]);
    expect(runs('0 9 * * *', 'America/New_York', '2026-10-30T15:00Z', 3)).toEqual([
      '2026-10-31T13:00Z',
      '2026-11-01T14:00Z',
      '2026-11-02T14:00Z',
    ]);
  });

  it('runs a time of day that the clock leaves out when the clock goes on, once', () => {
    expect(runs('30 2 * * *', 'America/New_York', '2026-03-07T08:00Z', 2)).toEqual([
      '2026-03-08T07:00Z',
      '2026-03-09T06:30Z',
    ]);
    expect(runs('0 0 * * *', 'America/Sao_Paulo', '2018-11-03T12:00Z', 2)).toEqual([
      '2018-11-04T03:00Z',
      '2018-11-05T02:00Z',
    ]);
  });

  it('runs a time of day that the clock shows twice once', () => {
    expect(runs('30 1 * * *', 'America/New_York', '2026-10-31T12:00Z', 2)).toEqual([
      '2026-11-01T05:30Z',
      '2026-11-02T06:30Z',
    ]);
  });

  it('goes by real time where it runs every so many minutes, also with a change of half an hour', () => {
    expect(runs('*/30 * * * *', 'America/New_York', '2026-11-01T04:45Z', 5)).toEqual([
      '2026-11-01T05:00Z',
      '2026-11-01T05:30Z',
      '2026-11-01T06:00Z',
      '2026-11-01T06:30Z',
      '2026-11-01T07:00Z',
    ]);
    expect(runs('*/20 * * * *', 'Australia/Lord_Howe', '2026-04-04T14:25Z', 3)).toEqual([
      '2026-04-04T14:40Z',
      '2026-04-04T15:10Z',
      '2026-04-04T15:30Z',
    ]);
  });

  it('counts days of the month by the clock of the zone, not by UTC or this process (J4)', () => {
    expect(runs('0 0 31 * *', 'Asia/Kolkata', '2026-11-01T00:00Z', 2)).toEqual([
      '2026-12-30T18:30Z',
      '2027-01-30T18:30Z',
    ]);
    expect(runs('0 0 1 * *', 'Pacific/Apia', '2026-11-01T00:00Z', 2)).toEqual([
      '2026-11-30T11:00Z',
      '2026-12-31T11:00Z',
    ]);
    // Samoa left out 30 December 2011.
    expect(runs('0 0 31 12 *', 'Pacific/Apia', '2011-12-01T00:00Z', 1)).toEqual(['2011-12-30T10:00Z']);
  });

  it('takes seconds as the first of six fields', () => {
    expect(nextCronRun('*/15 * * * * *', 'UTC', at('2026-11-30T08:00:01Z'))).toBe(at('2026-11-30T08:00:15Z'));
  });

  it('finds the same runs backward as forward, around every change of the clock', () => {
    const crons = [
      '0 9 * * *',
      '30 2 * * *',
      '30 1 * * *',
      '*/20 * * * *',
      '0 */2 * * 1-5',
      '*/10 * * * * *',
      '0 0 L * *',
    ];
    const zones = [
      'UTC',
      'America/New_York',
      'Australia/Lord_Howe',
      'Pacific/Apia',
      'Africa/Casablanca',
      'Europe/Berlin',
    ];
    const time = fc.integer({ min: at('2026-01-01T00:00Z'), max: at('2027-01-01T00:00Z') });
    const changes = ['2026-03-08T07:00Z', '2026-11-01T06:00Z', '2026-04-04T15:00Z', '2026-10-25T01:00Z'].map(at);
    const near = fc
      .tuple(fc.constantFrom(...changes), fc.integer({ min: -7_200_000, max: 7_200_000 }))
      .map(([a, b]) => a + b);
    fc.assert(
      fc.property(fc.constantFrom(...crons), fc.constantFrom(...zones), fc.oneof(time, near), (cron, zone, before) => {
        const back = lastCronRuns(cron, zone, before, 4);
        const forward: number[] = [];
        for (let run = nextCronRun(cron, zone, (back[0] ?? 0) - 1); run !== null && run < before; ) {
          forward.push(run);
          run = nextCronRun(cron, zone, run);
        }
        expect(back).toHaveLength(4);
        expect(forward).toEqual(back);
      }),
      { numRuns: 300 },
    );
  });
});

describe('checkCron', () => {
  const now = at('2026-11-30T08:00Z');

  it.each(['0 9 * * *', '*/5 * * * *', '30 0 9 * * MON-FRI', '0 0 L * *', '0 12 * JAN,JUL sun', '0 0 29 2 *'])(
    'takes %s',
    (cron) => {
      expect(checkCron(cron, 'cron', now)).toEqual([]);
    },
  );

  it.each([
    ['* * * *', 'CRON_SHAPE'],
    ['* * * * * * 2027', 'CRON_SHAPE'],
    ['@daily', 'CRON_SHAPE'],
    ['', 'CRON_SHAPE'],
    [`${'0,'.repeat(200)}0 * * * *`, 'CRON_SHAPE'],
    ['60 * * * *', 'CRON_INVALID'],
    ['* 24 * * *', 'CRON_INVALID'],
    ['5-1 * * * *', 'CRON_INVALID'],
    ['*/0 * * * *', 'CRON_INVALID'],
    ['x * * * *', 'CRON_INVALID'],
    ['0 0 30 2 *', 'CRON_NEVER'],
  ])('refuses %s', (cron, code) => {
    expect(checkCron(cron, 'cron', now)).toMatchObject([{ path: 'cron', code }]);
  });
});

describe('what is stored and cannot be read any more', () => {
  it('is a RangeError, never another time zone', () => {
    expect(() => nextCronRun('0 9 * * *', 'Mars/Olympus', 0)).toThrow(RangeError);
    expect(() => nextCronRun('what', 'UTC', 0)).toThrow(RangeError);
  });
});
