import { type Command, Option } from 'commander';
import type { WorkerListFlags } from '../commands/worker-commands.ts';
import type { MetadataSetFlags } from '../commands/worker-metadata.ts';
import type { WorkerStartFlags } from '../commands/worker-start.ts';
import type { DemoWorkerFlags } from '../demo/demo-worker.ts';
import { collect, examples, type QueryFlags, type Setup, withConnection, withQuery } from './options.ts';

export function addWorker(setup: Setup): void {
  const worker = setup.program.command('worker').description('Start a worker; see who is on duty; take one off duty.');
  addStart(worker, setup);
  addLists(worker, setup);
  addAvailability(worker, setup);
  addMetadata(worker, setup);
  setup.program
    .command('demo-worker', { hidden: true })
    .requiredOption('--name <name>')
    .requiredOption('--role <role>')
    .option('--label <key=value>', '', collect)
    .action(async (flags: DemoWorkerFlags) => {
      const { demoWorker } = await import('../demo/demo-worker.ts');
      setup.exit(await demoWorker(setup.io, flags));
    });
}

function addStart(worker: Command, { io, exit }: Setup): void {
  withConnection(worker.command('start'))
    .description('Run the workflows that files export, until told to stop (SIGTERM drains, a second one stops).')
    .argument('<file...>', '.ts and .js files')
    .option('--name <name>', 'unique and stable (MUSTER_WORKER_NAME, else <role>-<hostname>)')
    .option('--join <token>', 'join with it, once; its own credential is kept then (MUSTER_JOIN_TOKEN)')
    .option('--credential-file <file>', 'where that is kept (MUSTER_CREDENTIAL_FILE, else .muster/workers/<name>.json)')
    .option('--role <role>', 'what it announces itself as (SERVICE_ROLE, else worker)')
    .option('--label <key=value>', 'a label that policies can match; may be repeated', collect)
    .option('--capacity <n>', 'most executions at once (no limit)')
    .option(
      '--metrics-provider <module:export>',
      'a function that returns metrics for policies, e.g. ./metrics.ts:collect',
    )
    .option('--metrics-interval <s>', 'seconds between two calls of it (10)')
    .option('--no-builtin-metrics', 'leave the flux.* metrics out')
    .addOption(new Option('--runner <name...>', 'what it offers (both)').choices(['inprocess', 'subprocess']))
    .option('--memory-limit <MiB>', 'of each process of the runner subprocess (512)')
    .option('--drain-seconds <s>', 'how long running work may take after SIGTERM (60)')
    .option('--json', 'print each line of its log as JSON')
    .addHelpText(
      'after',
      examples([
        'muster worker start flows.ts',
        'MUSTER_JOIN_TOKEN=msj_… muster worker start --name gpu-7 --role gpu flows.ts',
        'muster worker start --role gpu-worker --label region=eu --label gpu=a100 --capacity 4 flows.ts',
      ]),
    )
    .action(async (files: string[], flags: WorkerStartFlags) => {
      const { workerStart } = await import('../commands/worker-start.ts');
      exit(await workerStart(io, files, flags));
    });
}

function addLists(worker: Command, { ask }: Setup): void {
  withQuery(worker.command('list'))
    .description('Workers with status, load, labels and the metrics they sent last.')
    .option('--role <role...>', 'only these roles')
    .option('--label <key=value>', 'only workers with this label; may be repeated', collect)
    .option('--search <text>', 'part of name, host or role')
    .option('--no-metrics', 'leave the metrics out')
    .addHelpText('after', examples(['muster worker list --role gpu-worker', 'muster worker list --json']))
    .action(async (flags: QueryFlags & WorkerListFlags) => {
      const { workerList } = await import('../commands/worker-commands.ts');
      await ask(flags, (context) => workerList(context, flags));
    });
  withQuery(worker.command('show'))
    .description('Everything known about one worker, with its metrics.')
    .argument('<name>')
    .addHelpText('after', examples(['muster worker show gpu-eu']))
    .action(async (name: string, flags: QueryFlags) => {
      const { workerShow } = await import('../commands/worker-commands.ts');
      await ask(flags, (context) => workerShow(context, name));
    });
}

function addAvailability(worker: Command, { ask }: Setup): void {
  const commands = [
    ['cordon', 'CORDONED', 'Give a worker nothing new; what it runs goes on.'],
    ['uncordon', 'ACTIVE', 'Give a worker work again.'],
    ['drain', 'DRAINING', 'Give a worker nothing new, and let it leave when it is idle.'],
  ] as const;
  for (const [command, availability, description] of commands) {
    withQuery(worker.command(command))
      .description(description)
      .argument('<name>')
      .addHelpText('after', examples([`muster worker ${command} gpu-eu`]))
      .action(async (name: string, flags: QueryFlags) => {
        const { workerAvailability } = await import('../commands/worker-operations.ts');
        await ask(flags, (context) => workerAvailability(context, name, availability));
      });
  }
  withQuery(worker.command('remove'))
    .description('Take a worker off the list, with its metadata; what it runs is given to others.')
    .argument('<name>')
    .addHelpText('after', examples(['muster worker remove gpu-eu']))
    .action(async (name: string, flags: QueryFlags) => {
      const { workerRemove } = await import('../commands/worker-operations.ts');
      await ask(flags, (context) => workerRemove(context, name));
    });
}

function addMetadata(worker: Command, { ask }: Setup): void {
  const metadata = worker
    .command('metadata')
    .description('What operators say about a worker: policies read it with meta("key"), no worker can write it.');
  withQuery(metadata.command('show'))
    .description('The metadata of a worker.')
    .argument('<worker>')
    .addHelpText('after', examples(['muster worker metadata show gpu-eu']))
    .action(async (name: string, flags: QueryFlags) => {
      const { metadataShow } = await import('../commands/worker-metadata.ts');
      await ask(flags, (context) => metadataShow(context, name));
    });
  withQuery(metadata.command('set'))
    .description('Write keys. A value that is a decimal number is stored as one, everything else as text.')
    .argument('<worker>')
    .argument('<key=value...>')
    .option('--string', 'store every value as text')
    .option('--replace', 'forget all other keys')
    .addHelpText(
      'after',
      examples([
        'muster worker metadata set gpu-eu pool=blue rank=3',
        'muster worker metadata set gpu-eu build=007 --string',
      ]),
    )
    .action(async (name: string, pairs: string[], flags: QueryFlags & MetadataSetFlags) => {
      const { metadataSet } = await import('../commands/worker-metadata.ts');
      await ask(flags, (context) => metadataSet(context, name, pairs, flags));
    });
  withQuery(metadata.command('unset'))
    .description('Forget keys; what is not there is no mistake.')
    .argument('<worker>')
    .argument('<key...>')
    .addHelpText('after', examples(['muster worker metadata unset gpu-eu pool rank']))
    .action(async (name: string, keys: string[], flags: QueryFlags) => {
      const { metadataUnset } = await import('../commands/worker-metadata.ts');
      await ask(flags, (context) => metadataUnset(context, name, keys));
    });
  withQuery(metadata.command('clear'))
    .description('Forget all keys.')
    .argument('<worker>')
    .addHelpText('after', examples(['muster worker metadata clear gpu-eu']))
    .action(async (name: string, flags: QueryFlags) => {
      const { metadataUnset } = await import('../commands/worker-metadata.ts');
      await ask(flags, (context) => metadataUnset(context, name, null));
    });
}
