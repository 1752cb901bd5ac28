import type { Command } from 'commander';
import type { DeploymentCreateFlags, EditFlags, RollbackFlags } from '../commands/deployment-edit.ts';
import type { RunFlags } from '../commands/run-flags.ts';
import { collect, examples, type QueryFlags, type Setup, withQuery, withRun } from './options.ts';

export function addDeployment(setup: Setup): void {
  const deployment = setup.program
    .command('deployment')
    .description('Deployments and their variants: see, resolve, run and change them.');
  addReading(deployment, setup);
  addEditing(deployment, setup);
}

function addReading(deployment: Command, { ask }: Setup): void {
  withQuery(deployment.command('list'))
    .description('Deployments with health and variants.')
    .addHelpText('after', examples(['muster deployment list']))
    .action(async (flags: QueryFlags) => {
      const { deploymentList } = await import('../commands/deployment-commands.ts');
      await ask(flags, deploymentList);
    });
  withQuery(deployment.command('show'))
    .description('One deployment: variants, shares, roles.')
    .argument('<slug>')
    .addHelpText('after', examples(['muster deployment show assistant']))
    .action(async (slug: string, flags: QueryFlags) => {
      const { deploymentShow } = await import('../commands/deployment-commands.ts');
      await ask(flags, (context) => deploymentShow(context, slug));
    });
  withQuery(deployment.command('resolve'))
    .description('Which variant a session would get now; nothing runs.')
    .argument('<slug>')
    .option('--session <key>', 'session key; absent: a weighted draw')
    .addHelpText('after', examples(['muster deployment resolve assistant --session alice']))
    .action(async (slug: string, flags: QueryFlags & { session?: string }) => {
      const { deploymentResolve } = await import('../commands/deployment-commands.ts');
      await ask(flags, (context) => deploymentResolve(context, slug, flags));
    });
  withRun(deployment.command('run'))
    .description('Run whichever variant the session gets.')
    .argument('<slug>')
    .argument('[input]', 'JSON, @file, or - for stdin')
    .option('--session <key>', 'session key: the same variant every time')
    .addHelpText('after', examples([`muster deployment run assistant '{"text": "…"}' --session alice --follow`]))
    .action(async (slug: string, input: string | undefined, flags: QueryFlags & RunFlags & { session?: string }) => {
      const { deploymentRun } = await import('../commands/deployment-commands.ts');
      await ask(flags, (context) => deploymentRun(context, slug, input, flags));
    });
}

const variantHelp =
  'LABEL=WORKFLOW and any of ,weight=N ,role=ROLE ,version=ID ,label:KEY=VALUE; weight 100 where absent; may be repeated';

function addEditing(deployment: Command, { ask }: Setup): void {
  withQuery(deployment.command('create'))
    .description('Create a deployment.')
    .argument('<slug>')
    .option('--variant <variant>', variantHelp, collect)
    .option('--module <name>', 'what asks for it')
    .option('--description <text>')
    .option('--comment <text>', 'for its history')
    .option('--idempotency-key <key>', 'the same key and input give the same deployment')
    .addHelpText(
      'after',
      examples([
        'muster deployment create assistant --variant stable=demo/chat,weight=90 --variant canary=demo/chat,weight=10,role=gpu-worker',
      ]),
    )
    .action(async (slug: string, flags: QueryFlags & DeploymentCreateFlags) => {
      const { deploymentCreate } = await import('../commands/deployment-edit.ts');
      await ask(flags, (context) => deploymentCreate(context, slug, flags));
    });
  withEditing(deployment.command('set-weights'))
    .description('Change weights; variants that are not named keep theirs.')
    .argument('<slug>')
    .argument('<label=weight...>')
    .addHelpText(
      'after',
      examples(['muster deployment set-weights assistant stable=50 canary=50 --comment "half and half"']),
    )
    .action(async (slug: string, pairs: string[], flags: QueryFlags & EditFlags) => {
      const { deploymentSetWeights } = await import('../commands/deployment-edit.ts');
      await ask(flags, (context) => deploymentSetWeights(context, slug, pairs, flags));
    });
  withQuery(deployment.command('history'))
    .description('Revisions of a deployment, newest first.')
    .argument('<slug>')
    .addHelpText('after', examples(['muster deployment history assistant']))
    .action(async (slug: string, flags: QueryFlags) => {
      const { deploymentHistory } = await import('../commands/deployment-edit.ts');
      await ask(flags, (context) => deploymentHistory(context, slug));
    });
  withEditing(deployment.command('rollback'))
    .description('Make the variants what they were at a revision, as a new revision.')
    .argument('<slug>')
    .argument('[revision]', 'the one before the present one where absent')
    .option('--force', 'also where that removes a variant whose executions have no worker yet; they keep it')
    .addHelpText('after', examples(['muster deployment rollback assistant', 'muster deployment rollback assistant 3']))
    .action(async (slug: string, revision: string | undefined, flags: QueryFlags & RollbackFlags) => {
      const { deploymentRollback } = await import('../commands/deployment-edit.ts');
      await ask(flags, (context) => deploymentRollback(context, slug, revision, flags));
    });
}

function withEditing(command: Command): Command {
  return withQuery(command)
    .option('--comment <text>', 'for its history')
    .option('--expected-revision <n>', 'refuse where it has another one by now (the one it has)');
}
