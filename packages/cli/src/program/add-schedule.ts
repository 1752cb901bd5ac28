import type { Command } from 'commander';
import type { RunFlags } from '../commands/run-flags.ts';
import type { ScheduleListFlags } from '../commands/schedule-commands.ts';
import type { ScheduleCreateFlags, ScheduleUpdateFlags } from '../commands/schedule-edit.ts';
import { collect, examples, type QueryFlags, type Setup, withQuery } from './options.ts';

export function addSchedule(setup: Setup): void {
  const schedule = setup.program.command('schedule').description('Schedules: what runs by itself, and when.');
  addReading(schedule, setup);
  addEditing(schedule, setup);
  addActing(schedule, setup);
}

function addReading(schedule: Command, { ask }: Setup): void {
  withQuery(schedule.command('list'))
    .description('Schedules with their next and last runs.')
    .option('--search <text>', 'part of name, description, workflow or deployment')
    .option('--paused', 'only those that are paused')
    .option('--failing', 'only those whose newest run could start nothing')
    .addHelpText('after', examples(['muster schedule list', 'muster schedule list --failing']))
    .action(async (flags: QueryFlags & ScheduleListFlags) => {
      const { scheduleList } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => scheduleList(context, flags));
    });
  withQuery(schedule.command('show'))
    .description('One schedule: its plan, its last run, its next ones.')
    .argument('<name>')
    .addHelpText('after', examples(['muster schedule show nightly']))
    .action(async (name: string, flags: QueryFlags) => {
      const { scheduleShow } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => scheduleShow(context, name));
    });
  withQuery(schedule.command('next'))
    .description('Its next runs, in UTC and by the clock of its time zone.')
    .argument('<name>')
    .option('--count <n>', '1 to 100 (10)')
    .addHelpText('after', examples(['muster schedule next nightly --count 30']))
    .action(async (name: string, flags: QueryFlags & { count?: string }) => {
      const { scheduleNext } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => scheduleNext(context, name, flags));
    });
}

function addEditing(schedule: Command, { ask }: Setup): void {
  withContent(schedule.command('create'))
    .description('Create a schedule: one of --cron, --every and --at, and one of --workflow and --deployment.')
    .argument('<name>')
    .argument('[input]', 'JSON, @file, or - for stdin')
    .option('--paused', 'nothing starts until it is resumed')
    .option('--idempotency-key <key>', 'the same key and input give the same schedule')
    .addHelpText(
      'after',
      examples([
        `muster schedule create nightly '{"full": true}' --cron '0 3 * * *' --time-zone Europe/Berlin --workflow demo/report`,
        'muster schedule create probe --every 15m --deployment assistant --overlap allow -r cohort=beta',
      ]),
    )
    .action(async (name: string, input: string | undefined, flags: QueryFlags & ScheduleCreateFlags) => {
      const { scheduleCreate } = await import('../commands/schedule-edit.ts');
      await ask(flags, (context) => scheduleCreate(context, name, input, flags));
    });
  withRevision(withContent(schedule.command('update')))
    .description('Change a schedule; what is not named stays, also its pause.')
    .argument('<name>')
    .argument('[input]', 'JSON, @file, or - for stdin')
    .option('--name <name>', 'a new name')
    .option(
      '--clear <what>',
      'description, version-id, session, input, park-ttl or routing-input; may be repeated',
      collect,
    )
    .addHelpText(
      'after',
      examples([
        `muster schedule update nightly --cron '30 3 * * 1-5'`,
        'muster schedule update probe --clear routing-input',
      ]),
    )
    .action(async (name: string, input: string | undefined, flags: QueryFlags & ScheduleUpdateFlags) => {
      const { scheduleUpdate } = await import('../commands/schedule-edit.ts');
      await ask(flags, (context) => scheduleUpdate(context, name, input, flags));
    });
  withRevision(withQuery(schedule.command('delete')))
    .description('Delete a schedule; what it has started goes on.')
    .argument('<name>')
    .addHelpText('after', examples(['muster schedule delete nightly']))
    .action(async (name: string, flags: QueryFlags & { expectedRevision?: string }) => {
      const { scheduleDelete } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => scheduleDelete(context, name, flags));
    });
}

function addActing(schedule: Command, { ask }: Setup): void {
  withQuery(schedule.command('pause'))
    .description('Start nothing until it is resumed.')
    .argument('<name>')
    .addHelpText('after', examples(['muster schedule pause nightly']))
    .action(async (name: string, flags: QueryFlags) => {
      const { schedulePause } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => schedulePause(context, name, true));
    });
  withQuery(schedule.command('resume'))
    .description('Go on with the next run from now.')
    .argument('<name>')
    .addHelpText('after', examples(['muster schedule resume nightly']))
    .action(async (name: string, flags: QueryFlags) => {
      const { schedulePause } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => schedulePause(context, name, false));
    });
  withQuery(schedule.command('run'))
    .description('Start one now, whatever its plan, its overlap policy and its pause say.')
    .argument('<name>')
    .option('--wait [seconds]', 'wait for the end (60 s), print it, exit 1 unless it completed')
    .option('--follow', 'print its events until it ends, exit 1 unless it completed')
    .option('--idempotency-key <key>', 'the same key gives the same execution')
    .addHelpText('after', examples(['muster schedule run nightly --wait']))
    .action(async (name: string, flags: QueryFlags & Pick<RunFlags, 'wait' | 'follow' | 'idempotencyKey'>) => {
      const { scheduleRun } = await import('../commands/schedule-commands.ts');
      await ask(flags, (context) => scheduleRun(context, name, flags));
    });
}

function withContent(command: Command): Command {
  return withQuery(command)
    .option('--cron <fields>', 'minute hour day-of-month month day-of-week, or 6 fields with seconds first')
    .option('--every <duration>', 'seconds, or 15m, 2h, 1d')
    .option('--start-at <time>', 'the first run of --every; absent: at some moment of the first interval')
    .option('--at <time>', 'once: 2027-01-31T09:00:00+01:00')
    .option('--time-zone <name>', 'of the IANA database: Europe/Berlin (UTC)')
    .option('--workflow <ref>', 'namespace/name')
    .option('--version-id <id>', 'always this version; absent: the newest')
    .option('--deployment <slug>', 'whichever variant is picked')
    .option('--session <key>', 'of a deployment: the same variant every time')
    .option(
      '-r, --routing-input <key=value>',
      'matched at dispatch, never delivered or read back; a text; may be repeated',
      collect,
    )
    .option('--priority <n>', '-1000 to 1000, higher first')
    .option('--park-ttl <seconds>', 'fail when nobody could take it for so long; 0: never')
    .option('--overlap <policy>', 'while the one before runs: skip, queue-one, allow or replace (skip)')
    .option('--catch-up <n>', 'so many missed runs are made up for after a downtime, 0 to 100 (1)')
    .option('--description <text>');
}

function withRevision(command: Command): Command {
  return command.option('--expected-revision <n>', 'refuse where it has another one by now (the one it has)');
}
