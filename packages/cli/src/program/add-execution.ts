import type { EventsFlags, ExecutionListFlags } from '../commands/execution-commands.ts';
import { examples, type QueryFlags, type Setup, withQuery } from './options.ts';

export function addExecution({ program, ask }: Setup): void {
  const execution = program
    .command('execution')
    .description('Runs: find, read, follow, cancel, resume and retry them.');
  withQuery(execution.command('list'))
    .description('Executions, newest first.')
    .option('--state <state...>', 'only these states, e.g. RUNNING FAILED')
    .option('--workflow <name>', 'namespace/name')
    .option('--deployment <slug>')
    .option('--variant <label>', 'of that deployment')
    .option('--worker <name>', 'that has or had it')
    .option('--role <role>', 'of the worker that has or had it')
    .option('--session <key>')
    .option('--parent <id>', 'called by that one')
    .option('--parked', 'only those that nobody can take now')
    .option('--limit <n>', 'most rows (50)')
    .addHelpText(
      'after',
      examples([
        'muster execution list --parked',
        'muster execution list --state FAILED --workflow demo/chat --limit 10',
      ]),
    )
    .action(async (flags: QueryFlags & ExecutionListFlags) => {
      const { executionList } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => executionList(context, flags));
    });
  withQuery(execution.command('show'))
    .description('One execution: state, attempts, events.')
    .argument('<id>')
    .addHelpText('after', examples(['muster execution show ex_0193…']))
    .action(async (id: string, flags: QueryFlags) => {
      const { executionShow } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => executionShow(context, id));
    });
  withQuery(execution.command('events'))
    .description('What happened to an execution, oldest first.')
    .argument('<id>')
    .option('--follow', 'go on until it ends; exit 1 unless it completed')
    .option('--after <sequence>', 'only events after this one (0)')
    .addHelpText(
      'after',
      examples(['muster execution events ex_0193… --follow', 'muster execution events ex_0193… --follow --json']),
    )
    .action(async (id: string, flags: QueryFlags & EventsFlags) => {
      const { executionEvents } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => executionEvents(context, id, flags));
    });
  withQuery(execution.command('cancel'))
    .description('Cancel an execution: at once where nobody runs it, else its handler is told.')
    .argument('<id>')
    .addHelpText('after', examples(['muster execution cancel ex_0193…']))
    .action(async (id: string, flags: QueryFlags) => {
      const { executionCancel } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => executionCancel(context, id));
    });
  withQuery(execution.command('resume'))
    .description('Let an execution go on that waits in ctx.pause().')
    .argument('<id>')
    .argument('[input]', 'what the pause returns: JSON, @file, or - for stdin')
    .addHelpText('after', examples([`muster execution resume ex_0193… '{"approved": true}'`]))
    .action(async (id: string, input: string | undefined, flags: QueryFlags) => {
      const { executionResume } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => executionResume(context, id, input));
    });
  withQuery(execution.command('retry'))
    .description('Run a failed or cancelled execution again, as a new one with the same input.')
    .argument('<id>')
    .addHelpText('after', examples(['muster execution retry ex_0193…']))
    .action(async (id: string, flags: QueryFlags) => {
      const { executionRetry } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => executionRetry(context, id));
    });
  withQuery(program.command('why'))
    .description('Why an execution is where it is, or why nobody has it.')
    .argument('<id>')
    .addHelpText('after', examples(['muster why ex_0193…', 'muster why ex_0193… --json']))
    .action(async (id: string, flags: QueryFlags) => {
      const { why } = await import('../commands/execution-commands.ts');
      await ask(flags, (context) => why(context, id));
    });
}
