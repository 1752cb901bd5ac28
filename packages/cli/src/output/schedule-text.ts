import type { ScheduleFieldsFragment, ScheduleShowQuery } from '@muster/client';
import { paintState, type Style } from './style.ts';
import { renderFields, renderTable, titled } from './table.ts';
import { shortValue } from './words.ts';

/** When it runs, in a few words: `0 9 * * * Europe/Berlin`, `every 15 min`, `once at 2027-…`. */
export function planText({ cron, intervalSeconds, at, timeZone }: ScheduleFieldsFragment): string {
  if (cron !== null) return `${cron} ${timeZone}`;
  if (intervalSeconds !== null) return `every ${durationText(intervalSeconds)}`;
  return `once at ${at ?? '?'}`;
}

/** What it runs: `demo/chat`, `demo/chat version 3`, `deployment assistant`. */
export function targetText({ workflowRef, version, deploymentSlug }: ScheduleFieldsFragment): string {
  if (deploymentSlug !== null) return `deployment ${deploymentSlug}`;
  return `${workflowRef ?? '?'}${version === null ? '' : ` version ${version.number}`}`;
}

/** What became of its newest run. */
export function resultText({ lastResult, lastError, lastExecution }: ScheduleFieldsFragment, style: Style): string {
  if (lastResult === null) return style.dim('never ran');
  if (lastError !== null) return style.red(`${lastResult} ${lastError.code}`);
  if (lastResult !== 'STARTED' || lastExecution === null) return lastResult;
  return paintState(lastExecution.state, style);
}

/** Everything about one schedule. */
export function scheduleText(schedule: NonNullable<ScheduleShowQuery['schedule']>, style: Style): string {
  const { lastError, lastExecution, nextRuns } = schedule;
  const fields = renderFields(
    [
      ['schedule', style.bold(schedule.name)],
      ['description', schedule.description],
      ['runs', planText(schedule)],
      ['what', targetText(schedule)],
      ['session', schedule.sessionKey],
      ['input', schedule.input === null ? null : shortValue(schedule.input, 200)],
      ['overlap', schedule.overlap],
      ['catch-up', `${schedule.catchUpLimit} missed runs`],
      ['priority', schedule.priority === 0 ? null : String(schedule.priority)],
      ['park TTL', schedule.parkTtlSeconds === null ? null : `${schedule.parkTtlSeconds} s`],
      ['paused', schedule.paused ? `by ${schedule.pausedBy ?? '?'}, ${schedule.pausedAt ?? '?'}` : null],
      ['waiting', schedule.queuedAt === null ? null : `the run of ${schedule.queuedAt}, for the end of the one before`],
      ['last run', schedule.lastAt === null ? null : `${schedule.lastAt}: ${resultText(schedule, style)}`],
      ['started', lastExecution === null ? null : `${lastExecution.id} (${lastExecution.state})`],
      ['error', lastError === null ? null : style.red(`${lastError.code}: ${lastError.message} (${lastError.at})`)],
      [
        'so far',
        `${schedule.startedCount} started, ${schedule.skippedCount} skipped, ${schedule.missedCount} missed, ${schedule.failedCount} failed`,
      ],
      ['revision', `${schedule.revision} by ${schedule.updatedBy}, ${schedule.updatedAt}`],
    ],
    style,
  );
  if (nextRuns.length === 0) return `${fields}\n\nNo further run.`;
  const rows = nextRuns.map(({ at, local, timeZone }) => [at, local, timeZone]);
  const heading = schedule.paused ? 'next, once resumed (UTC)' : 'next (UTC)';
  return `${fields}\n\n${renderTable(titled([heading, 'local', 'time zone'], [heading, 'local']), rows, style)}`;
}

function durationText(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ] as const;
  const [size, unit] = units.find(([whole]) => seconds % whole === 0) ?? [1, 's'];
  return `${seconds / size} ${unit}`;
}
