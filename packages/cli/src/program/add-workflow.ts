import type { RegisterFlags } from '../commands/workflow-register.ts';
import type { RunFlags } from '../commands/run-flags.ts';
import { examples, type QueryFlags, type Setup, withQuery, withRun } from './options.ts';

export function addWorkflow({ program, io, ask }: Setup): void {
  const workflow = program
    .command('workflow')
    .description('Workflows, their versions and policies; register or run one.');
  withQuery(workflow.command('list'))
    .description('Workflows with their newest version.')
    .option('--search <text>', 'part of the name')
    .addHelpText('after', examples(['muster workflow list']))
    .action(async (flags: QueryFlags & { search?: string }) => {
      const { workflowList } = await import('../commands/workflow-commands.ts');
      await ask(flags, (context) => workflowList(context, flags));
    });
  withQuery(workflow.command('show'))
    .description('One workflow: routing policy, affinity, requests, versions.')
    .argument('<name>', 'namespace/name; a bare name is in the namespace default')
    .addHelpText('after', examples(['muster workflow show demo/summarise']))
    .action(async (ref: string, flags: QueryFlags) => {
      const { workflowShow } = await import('../commands/workflow-commands.ts');
      await ask(flags, (context) => workflowShow(context, ref));
    });
  withQuery(workflow.command('versions'))
    .description('All versions of a workflow, newest first, with their policies.')
    .argument('<name>', 'namespace/name')
    .addHelpText('after', examples(['muster workflow versions demo/summarise']))
    .action(async (ref: string, flags: QueryFlags) => {
      const { workflowVersions } = await import('../commands/workflow-commands.ts');
      await ask(flags, (context) => workflowVersions(context, ref));
    });
  withQuery(workflow.command('register'))
    .description(
      'Register the workflows that Python files declare with @workflow or @workflow.with_options(…): name, namespace, ' +
        'description, routing, affinity, requests, runner, max_attempts, timeout_seconds. The files are read, not run; ' +
        'where something cannot be read, nothing is registered. (TypeScript workflows register themselves at worker start.)',
    )
    .argument('<file...>', '.py files')
    .option('--check', 'only read the files and print what would be registered; needs no server')
    .addHelpText('after', examples(['muster workflow register flows.py', 'muster workflow register flows.py --check']))
    .action(async (files: string[], flags: QueryFlags & RegisterFlags) => {
      const { workflowCheck, workflowRegister } = await import('../commands/workflow-register.ts');
      if (flags.check === true) workflowCheck(io, files, flags.json === true);
      else await ask(flags, (context) => workflowRegister(context, files));
    });
  withRun(workflow.command('run'))
    .description('Run a workflow.')
    .argument('<name>', 'namespace/name; a bare name is in the namespace default')
    .argument('[input]', 'JSON, @file, or - for stdin')
    .option('--version-id <id>', 'a version other than the newest')
    .addHelpText(
      'after',
      examples([
        `muster workflow run demo/keywords '{"text": "to be or not to be"}' --follow`,
        `muster workflow run audit_probe '{"real":"payload"}' -r cohort=canary`,
        'muster workflow run demo/chat @question.json --require-worker gpu-eu --park-ttl 60',
      ]),
    )
    .action(async (ref: string, input: string | undefined, flags: QueryFlags & RunFlags & { versionId?: string }) => {
      const { workflowRun } = await import('../commands/workflow-commands.ts');
      await ask(flags, (context) => workflowRun(context, ref, input, flags));
    });
}
