import {
  ScheduleDeleteDocument,
  type ScheduleFieldsFragment,
  ScheduleForUpdateDocument,
  ScheduleListDocument,
  ScheduleNextDocument,
  SchedulePauseDocument,
  ScheduleResumeDocument,
  ScheduleRunDocument,
  ScheduleShowDocument,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { planText, resultText, scheduleText, targetText } from '../output/schedule-text.ts';
import { renderTable, titled } from '../output/table.ts';
import { parseWhole } from '../settings/parse-arguments.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';
import { finishRun, type RunFlags } from './run-flags.ts';

export interface ScheduleListFlags {
  readonly search?: string;
  readonly paused?: boolean;
  readonly failing?: boolean;
}

/** What a change answers, as text: the schedule in short, warnings on stderr. */
export function showWritten(
  context: CommandContext,
  written: { readonly schedule: ScheduleFieldsFragment; readonly warnings: readonly string[] },
): void {
  for (const warning of context.json ? [] : written.warnings) context.io.err(`! ${warning}`);
  show(context, written, (style) => {
    const { name, revision, nextAt, paused } = written.schedule;
    const next = paused
      ? 'It is paused.'
      : nextAt === null
        ? 'It has no further run.'
        : `Its next run is at ${nextAt}.`;
    return `${style.bold(name)} is at revision ${revision}. ${next}`;
  });
}

/** `muster schedule list`. */
export async function scheduleList(context: CommandContext, flags: ScheduleListFlags): Promise<void> {
  const filter = { search: flags.search ?? null, paused: flags.paused ?? null, failing: flags.failing ?? null };
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(ScheduleListDocument, { first, after, filter })).schedules;
  });
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No schedules.';
    const rows = nodes.map((schedule) => [
      schedule.name,
      planText(schedule),
      targetText(schedule),
      schedule.paused ? style.dim('paused') : (schedule.nextAt ?? style.dim('none')),
      resultText(schedule, style),
    ]);
    const columns = titled(['schedule', 'runs', 'what', 'next', 'last'], ['schedule', 'next']);
    return renderTable(columns, rows, style) + (more ? '\n… and more' : '');
  });
}

/** `muster schedule show NAME`. */
export async function scheduleShow(context: CommandContext, name: string): Promise<void> {
  const { schedule } = await context.client.request(ScheduleShowDocument, { name });
  if (schedule === null) throw missing(name);
  show(context, schedule, (style) => scheduleText(schedule, style));
}

/** `muster schedule next NAME`. */
export async function scheduleNext(
  context: CommandContext,
  name: string,
  flags: { readonly count?: string },
): Promise<void> {
  const count = flags.count === undefined ? 10 : parseWhole(flags.count, '--count', 1, 100);
  const { schedule } = await context.client.request(ScheduleNextDocument, { name, count });
  if (schedule === null) throw missing(name);
  const { paused, nextRuns } = schedule;
  if (paused && !context.json) context.io.err('! It is paused: none of these comes until it is resumed.');
  show(context, nextRuns, (style) => {
    if (nextRuns.length === 0) return 'No further run.';
    const rows = nextRuns.map(({ at, local, timeZone }) => [at, local, timeZone]);
    return renderTable(titled(['UTC', 'local', 'time zone'], ['UTC', 'local']), rows, style);
  });
}

/** `muster schedule pause|resume NAME`. */
export async function schedulePause(context: CommandContext, name: string, paused: boolean): Promise<void> {
  const variables = { input: { name, expectedRevision: null } };
  const written = paused
    ? (await context.client.request(SchedulePauseDocument, variables)).pauseSchedule
    : (await context.client.request(ScheduleResumeDocument, variables)).resumeSchedule;
  showWritten(context, written);
}

/** `muster schedule run NAME`: one now, whatever is planned. */
export async function scheduleRun(
  context: CommandContext,
  name: string,
  flags: Pick<RunFlags, 'wait' | 'follow' | 'idempotencyKey'>,
): Promise<void> {
  if (flags.follow === true && flags.wait !== undefined) {
    throw new CommandError('--follow waits for the end by itself: leave --wait out.', exitCodes.usage);
  }
  const input = { name, idempotencyKey: flags.idempotencyKey ?? null };
  const { runSchedule } = await context.client.request(ScheduleRunDocument, { input });
  await finishRun(context, runSchedule.execution, flags);
}

/** `muster schedule delete NAME`; refused with CONFLICT where somebody else was faster. */
export async function scheduleDelete(
  context: CommandContext,
  name: string,
  flags: { readonly expectedRevision?: string },
): Promise<void> {
  const input = { name, expectedRevision: await revisionOf(context, name, flags.expectedRevision) };
  const { deleteSchedule } = await context.client.request(ScheduleDeleteDocument, { input });
  show(context, deleteSchedule, () => `${deleteSchedule.name} is deleted. What it has started goes on.`);
}

/** The revision that a change is made to: the one that was given, else the present one. Errors: exit code 3. */
export async function revisionOf(context: CommandContext, name: string, given: string | undefined): Promise<number> {
  if (given !== undefined) return parseWhole(given, '--expected-revision', 1, 2_147_483_647);
  const { schedule } = await context.client.request(ScheduleForUpdateDocument, { name });
  if (schedule === null) throw missing(name);
  return schedule.revision;
}

function missing(name: string): CommandError {
  return new CommandError(`There is no schedule ${name}.`, exitCodes.notFound);
}
