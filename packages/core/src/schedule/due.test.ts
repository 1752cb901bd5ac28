import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dueRun, ON_TIME_MS, SPREAD_MS, spreadDelay } from './due.ts';
import { countRuns, MAX_COUNTED, nextRun, nextRuns, type ScheduleTiming } from './timing.ts';

const minute = 60_000;
const hour = 60 * minute;
const base = Date.parse('2026-11-30T08:00:00Z');
const hourly: ScheduleTiming = { kind: 'CRON', cron: '0 * * * *', timeZone: 'UTC' };
const interval: ScheduleTiming = { kind: 'INTERVAL', everyMs: hour, anchor: base };
const once: ScheduleTiming = { kind: 'ONCE', at: base };

/** Everything that would be started until nothing is due. */
function allDue(timing: ScheduleTiming, due: number, now: number, limit: number) {
  const runs: number[] = [];
  let missed = 0;
  let next: number | null = due;
  while (next !== null && next <= now) {
    const answer = dueRun(timing, next, now, limit);
    if (answer.run !== null) runs.push(answer.run);
    missed += answer.missed;
    next = answer.next;
  }
  return { runs, missed, next };
}

describe('a run that has come', () => {
  it.each([
    ['cron', hourly],
    ['interval', interval],
  ])('is started with the run after it as the next one: %s', (_, timing) => {
    expect(dueRun(timing, base, base + 5, 1)).toEqual({ run: base, late: false, missed: 0, next: base + hour });
  });

  it('is the only one of a single time', () => {
    expect(dueRun(once, base, base + 5, 1)).toEqual({ run: base, late: false, missed: 0, next: null });
  });

  it('is on time for a minute, whatever the limit: a restart costs nothing', () => {
    const seconds: ScheduleTiming = { kind: 'CRON', cron: '*/20 * * * * *', timeZone: 'UTC' };
    expect(allDue(seconds, base, base + 45_000, 0)).toEqual({
      runs: [base, base + 20_000, base + 40_000],
      missed: 0,
      next: base + 60_000,
    });
  });
});

describe('runs that were missed', () => {
  const now = base + 5 * hour + 10 * minute;

  it.each([
    ['cron', hourly],
    ['interval', interval],
  ])('are made up for up to the limit, the newest, oldest first: %s', (_, timing) => {
    expect(allDue(timing, base, now, 2)).toEqual({
      runs: [base + 4 * hour, base + 5 * hour],
      missed: 4,
      next: base + 6 * hour,
    });
    expect(allDue(timing, base, now, 0)).toEqual({ runs: [], missed: 6, next: base + 6 * hour });
    expect(allDue(timing, base, now, 50)).toMatchObject({ missed: 0, next: base + 6 * hour });
  });

  it('are one for a single time, or given up', () => {
    expect(allDue(once, base, now, 1)).toEqual({ runs: [base], missed: 0, next: null });
    expect(allDue(once, base, now, 0)).toEqual({ runs: [], missed: 1, next: null });
  });

  it('are never more than the limit and those of the last minute, and with what is given up they are all', () => {
    const timings = fc.oneof(
      fc.record({
        kind: fc.constant('INTERVAL' as const),
        everyMs: fc.integer({ min: 1, max: 500 }).map((s) => s * 1_000),
        anchor: fc.integer({ min: base - hour, max: base + hour }),
      }),
      fc.record({
        kind: fc.constant('CRON' as const),
        cron: fc.constantFrom('*/7 * * * *', '30 2 * * *', '0 */3 * * *'),
        timeZone: fc.constantFrom('UTC', 'America/New_York', 'Asia/Kolkata'),
      }),
    );
    fc.assert(
      fc.property(timings, fc.nat(5 * 60), fc.nat({ max: 6 }), (timing, downMinutes, limit) => {
        const due = nextRun(timing, base) as number;
        const later = due + downMinutes * minute;
        const { runs, missed, next } = allDue(timing, due, later, limit);
        const late = runs.filter((run) => run < later - ON_TIME_MS);
        expect(late.length).toBeLessThanOrEqual(limit);
        expect(runs).toEqual(runs.toSorted((a, b) => a - b));
        expect(runs.length + missed).toBe(countRuns(timing, due, later + 1));
        expect(next).toBe(nextRun(timing, later));
      }),
      { numRuns: 80 },
    );
  });

  it('are counted no further than to a bound', () => {
    const seconds: ScheduleTiming = { kind: 'CRON', cron: '* * * * * *', timeZone: 'UTC' };
    expect(dueRun(seconds, base, base + 24 * hour, 0)).toMatchObject({ missed: MAX_COUNTED });
  });

  it('do not hold up a schedule whose time zone got other rules: a run that is none any more is left out', () => {
    expect(dueRun(hourly, base + 7, base + 7 + 10 * minute, 1)).toEqual({
      run: null,
      late: false,
      missed: 0,
      next: base + hour,
    });
  });
});

describe('intervals', () => {
  it('keep their phase over any time', () => {
    const timing: ScheduleTiming = { kind: 'INTERVAL', everyMs: 7_000, anchor: base + 1_234 };
    expect(nextRuns(timing, base, 3)).toEqual([base + 1_234, base + 8_234, base + 15_234]);
    expect(nextRun(timing, base + 1_000 * hour)).toBe(base + 1_234 + 7_000 * Math.ceil((1_000 * hour - 1_234) / 7_000));
  });

  it('that were missed are made up for evenly, not all at once (F17)', () => {
    const bySecond = new Map<number, number>();
    for (let id = 1; id <= 600; id += 1) {
      const second = Math.floor(spreadDelay(id, hour) / 1_000);
      bySecond.set(second, (bySecond.get(second) ?? 0) + 1);
    }
    expect(bySecond.size).toBe(SPREAD_MS / 1_000);
    expect(Math.max(...bySecond.values())).toBeLessThanOrEqual(12);
    expect(spreadDelay(17, 3_000)).toBeLessThan(3_000);
  });
});
