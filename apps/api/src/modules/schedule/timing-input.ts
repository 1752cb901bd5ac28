import { checkTimeZone, checkTiming, type Issue, nextRun } from '@muster/core';
import type { ScheduleInput } from './schedule-input.ts';
import { type ScheduleRow, type TimingColumns, timingOf } from './schedule-row.ts';
import type { ScheduleContent } from './schedule-store.ts';

export interface TimingOptions {
  /** What is there already; null: a new one. */
  before: ScheduleRow | null;
  /** ms by the database's clock. */
  now: number;
  /** Uniform in [0, 1). */
  random: () => number;
}

type Wanted = Pick<ScheduleInput, 'cron' | 'intervalSeconds' | 'at'>;

/** Reads when it shall run, and with it when next. A time zone or a start that is given alone belongs to the timing that is there. */
export function readTimingInput(
  input: ScheduleInput,
  issues: Issue[],
  content: ScheduleContent,
  options: TimingOptions,
): void {
  const { before, now } = options;
  const given = Object.values(pick(input)).some((part) => part != null);
  const wanted: Wanted = given || before === null ? pick(input) : pick(before);
  issues.push(...checkStart(input, wanted));
  const touched = given || input.timeZone != null || input.startAt != null;
  if (before !== null && !touched) return;
  const timeZone = input.timeZone ?? before?.timeZone ?? 'UTC';
  content.timeZone = timeZone;
  // A single time that is there may have passed: its zone is for those who read it.
  const zoneOnly = !given && before?.kind === 'ONCE';
  const found = zoneOnly ? checkTimeZone(timeZone, 'timeZone') : checkTiming({ ...wanted, timeZone }, now);
  issues.push(...found);
  if (found.length > 0 || zoneOnly) return;
  const timing = columnsOf(wanted, timeZone, input.startAt ?? null, options);
  Object.assign(content, timing);
  if (before === null || !stands(before, timing)) content.nextAt = before?.paused ? null : nextAt(timing, now);
}

function checkStart({ startAt }: ScheduleInput, { intervalSeconds }: Wanted): Issue[] {
  if (startAt == null || intervalSeconds != null) return [];
  return [{ path: 'startAt', code: 'TIMING_KIND', message: 'startAt is for intervals' }];
}

function nextAt(timing: TimingColumns, now: number): Date | null {
  const next = nextRun(timingOf(timing), now);
  return next === null ? null : new Date(next);
}

/** It runs as before, and its next run is known. */
function stands(before: ScheduleRow, timing: TimingColumns): boolean {
  return sameTiming(before, timing) && (before.nextAt !== null || before.paused);
}

function pick({ cron, intervalSeconds, at }: Wanted): Wanted {
  return { cron, intervalSeconds, at };
}

function columnsOf(
  { cron, intervalSeconds, at }: Wanted,
  timeZone: string,
  startAt: Date | null,
  options: TimingOptions,
): TimingColumns {
  const none = { cron: null, intervalSeconds: null, anchorAt: null, onceAt: null, timeZone };
  if (cron != null) return { ...none, kind: 'CRON', cron };
  if (intervalSeconds == null) return { ...none, kind: 'ONCE', onceAt: at ?? null };
  return { ...none, kind: 'INTERVAL', intervalSeconds, anchorAt: startAt ?? anchorOf(intervalSeconds, options) };
}

/**
 * Where an interval's runs lie. An interval that stays keeps its phase. A new one begins at a moment of its first interval that chance picks, so that
 * schedules that are made together, or with the same interval, do not run in the same second for ever.
 */
function anchorOf(seconds: number, { before, now, random }: TimingOptions): Date {
  if (before?.intervalSeconds === seconds && before.anchorAt !== null) return before.anchorAt;
  return new Date(now + Math.ceil((1 - random()) * seconds * 1_000));
}

function sameTiming(before: TimingColumns, after: TimingColumns): boolean {
  return JSON.stringify(timingOf(before)) === JSON.stringify(timingOf(after));
}
