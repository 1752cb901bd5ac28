import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import type { CommandContext } from './commands/context.ts';
import type { RunFlags } from './commands/run-flags.ts';
import type { WorkerListFlags } from './commands/worker-commands.ts';
import type { WorkerStartFlags } from './commands/worker-start.ts';
import type { DemoWorkerFlags } from './demo/demo-worker.ts';
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import type { ServeFlags } from './serve/serve.ts';
import { type ConnectionFlags, resolveConnection } from './settings/connection.ts';

type QueryFlags = ConnectionFlags & { readonly json?: boolean };

/**
 * Runs one command line (without the program's own name) and answers its exit code. Only what a command needs is loaded:
 * its module is imported when it runs, so that help and mistakes are answered at once.
 */
export async function runProgram(args: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = exitCodes.ok;
  const program = buildProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return failureCode(error, io);
  }
}

function failureCode(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof CommandError) {
    io.err(error.message);
    return error.exitCode;
  }
  // Errors of the server and of the rules: told apart by their code, so that neither has to be loaded for this.
  if (error instanceof Error && 'code' in error && typeof error.code === 'string' && 'issues' in error) {
    io.err(describe(error));
    return exitCodeOf(error.code);
  }
  throw error;
}

function describe(error: Error & { issues: unknown; requestId?: unknown }): string {
  const issues = Array.isArray(error.issues) ? (error.issues as { path: string; message: string }[]) : [];
  const lines = issues.map(({ path, message }) => `  ${path === '' ? '' : `${path}: `}${message}`);
  const request = typeof error.requestId === 'string' ? ` (request ${error.requestId})` : '';
  return [`${error.message}${request}`, ...lines.filter((line) => !error.message.includes(line.trim()))].join('\n');
}

function buildProgram(io: Io, exit: (code: ExitCode) => void): Command {
  const program = new Command('muster')
    .description('Who is on duty, who should take a run, and why.')
    .version(manifest.version)
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.err(text.trimEnd()) })
    .showHelpAfterError('Add --help for what there is.')
    .addHelpText(
      'after',
      examples(
        ['muster serve', 'muster worker start flows.ts --role gpu-worker', 'muster why ex_0193…'],
        [exitCodeHelp, environmentHelp],
      ),
    );

  const ask = async (flags: QueryFlags, run: (context: CommandContext) => Promise<void>): Promise<void> => {
    const { createClient } = await import('@muster/client');
    const client = createClient(resolveConnection(flags, io));
    await run({ io, client, json: flags.json === true });
  };

  addServe(program, io, exit);
  addWorker(program, io, exit, ask);
  addWorkflow(program, ask);
  addDeployment(program, ask);
  addExecution(program, ask);
  return program;
}

type Ask = (flags: QueryFlags, run: (context: CommandContext) => Promise<void>) => Promise<void>;

function addServe(program: Command, io: Io, exit: (code: ExitCode) => void): void {
  program
    .command('serve')
    .description('Run the server: API, admin and dispatcher. With an empty database also a small demo.')
    .option('--port <port>', 'port to listen on; 0: any free one (PORT, else 4000)')
    .option('--host <host>', 'address to listen on (HOST, else 127.0.0.1)')
    .option('--data-dir <dir>', 'where the embedded database lives (MUSTER_DATA_DIR, else ./.muster)')
    .option('--role <role>', 'all: may lead and dispatch; api: never leads', 'all')
    .option('--workflows <file...>', 'files whose workflows this process runs itself')
    .option('--demo', 'bring up the demo, whatever the database holds')
    .option('--no-demo', 'bring up no demo')
    .option('--no-worker', 'run no worker inside this process')
    .addHelpText(
      'after',
      examples([
        'muster serve',
        'muster serve --port 8080 --no-demo --workflows flows.ts',
        'DATABASE_URL=postgres://… muster serve',
      ]),
    )
    .action(async (flags: ServeFlags) => {
      const { serve } = await import('./serve/serve.ts');
      exit(await serve(io, flags));
    });
}

function addWorker(program: Command, io: Io, exit: (code: ExitCode) => void, ask: Ask): void {
  const worker = program.command('worker').description('Start a worker; see who is on duty.');
  withConnection(worker.command('start'))
    .description('Run the workflows that files export, until told to stop (SIGTERM drains, a second one stops).')
    .argument('<file...>', '.ts and .js files')
    .option('--name <name>', 'unique and stable (MUSTER_WORKER_NAME, else <role>-<hostname>)')
    .option('--role <role>', 'what it announces itself as (SERVICE_ROLE, else worker)')
    .option('--label <key=value...>', 'labels that policies can match')
    .option('--capacity <n>', 'most executions at once (no limit)')
    .addHelpText(
      'after',
      examples([
        'muster worker start flows.ts',
        'muster worker start flows.ts --role gpu-worker --label region=eu gpu=a100 --capacity 4',
      ]),
    )
    .action(async (files: string[], flags: WorkerStartFlags) => {
      const { workerStart } = await import('./commands/worker-start.ts');
      exit(await workerStart(io, files, flags));
    });
  withQuery(worker.command('list'))
    .description('Workers with status, load and labels.')
    .option('--role <role...>', 'only these roles')
    .option('--search <text>', 'part of name, host or role')
    .addHelpText('after', examples(['muster worker list --role gpu-worker', 'muster worker list --json']))
    .action(async (flags: QueryFlags & WorkerListFlags) => {
      const { workerList } = await import('./commands/worker-commands.ts');
      await ask(flags, (context) => workerList(context, flags));
    });
  withQuery(worker.command('show'))
    .description('Everything known about one worker.')
    .argument('<name>')
    .addHelpText('after', examples(['muster worker show gpu-eu']))
    .action(async (name: string, flags: QueryFlags) => {
      const { workerShow } = await import('./commands/worker-commands.ts');
      await ask(flags, (context) => workerShow(context, name));
    });
  program
    .command('demo-worker', { hidden: true })
    .requiredOption('--name <name>')
    .requiredOption('--role <role>')
    .option('--label <key=value>', '', collect)
    .action(async (flags: DemoWorkerFlags) => {
      const { demoWorker } = await import('./demo/demo-worker.ts');
      exit(await demoWorker(io, flags));
    });
}

function addWorkflow(program: Command, ask: Ask): void {
  const workflow = program.command('workflow').description('Workflows, their versions and policies; run one.');
  withQuery(workflow.command('list'))
    .description('Workflows with their newest version.')
    .option('--search <text>', 'part of the name')
    .addHelpText('after', examples(['muster workflow list']))
    .action(async (flags: QueryFlags & { search?: string }) => {
      const { workflowList } = await import('./commands/workflow-commands.ts');
      await ask(flags, (context) => workflowList(context, flags));
    });
  withQuery(workflow.command('show'))
    .description('One workflow: policy, requests, versions.')
    .argument('<ref>', 'namespace/name')
    .addHelpText('after', examples(['muster workflow show demo/summarise']))
    .action(async (ref: string, flags: QueryFlags) => {
      const { workflowShow } = await import('./commands/workflow-commands.ts');
      await ask(flags, (context) => workflowShow(context, ref));
    });
  withRun(workflow.command('run'))
    .description('Run a workflow.')
    .argument('<ref>', 'namespace/name')
    .argument('[input]', 'JSON, @file, or - for stdin')
    .option('--version-id <id>', 'a version other than the newest')
    .addHelpText(
      'after',
      examples([
        `muster workflow run demo/keywords '{"text": "to be or not to be"}' --wait`,
        'muster workflow run demo/chat @question.json -r cohort=beta',
      ]),
    )
    .action(async (ref: string, input: string | undefined, flags: QueryFlags & RunFlags & { versionId?: string }) => {
      const { workflowRun } = await import('./commands/workflow-commands.ts');
      await ask(flags, (context) => workflowRun(context, ref, input, flags));
    });
}

function addDeployment(program: Command, ask: Ask): void {
  const deployment = program.command('deployment').description('Deployments and their variants; run or resolve one.');
  withQuery(deployment.command('list'))
    .description('Deployments with health and variants.')
    .addHelpText('after', examples(['muster deployment list']))
    .action(async (flags: QueryFlags) => {
      const { deploymentList } = await import('./commands/deployment-commands.ts');
      await ask(flags, deploymentList);
    });
  withQuery(deployment.command('show'))
    .description('One deployment: variants, shares, roles.')
    .argument('<slug>')
    .addHelpText('after', examples(['muster deployment show assistant']))
    .action(async (slug: string, flags: QueryFlags) => {
      const { deploymentShow } = await import('./commands/deployment-commands.ts');
      await ask(flags, (context) => deploymentShow(context, slug));
    });
  withQuery(deployment.command('resolve'))
    .description('Which variant a session would get now; nothing runs.')
    .argument('<slug>')
    .option('--session <key>', 'session key; absent: a weighted draw')
    .addHelpText('after', examples(['muster deployment resolve assistant --session alice']))
    .action(async (slug: string, flags: QueryFlags & { session?: string }) => {
      const { deploymentResolve } = await import('./commands/deployment-commands.ts');
      await ask(flags, (context) => deploymentResolve(context, slug, flags));
    });
  withRun(deployment.command('run'))
    .description('Run whichever variant the session gets.')
    .argument('<slug>')
    .argument('[input]', 'JSON, @file, or - for stdin')
    .option('--session <key>', 'session key: the same variant every time')
    .addHelpText('after', examples([`muster deployment run assistant '{"text": "…"}' --session alice --wait`]))
    .action(async (slug: string, input: string | undefined, flags: QueryFlags & RunFlags & { session?: string }) => {
      const { deploymentRun } = await import('./commands/deployment-commands.ts');
      await ask(flags, (context) => deploymentRun(context, slug, input, flags));
    });
}

function addExecution(program: Command, ask: Ask): void {
  const execution = program.command('execution').description('One run.');
  withQuery(execution.command('show'))
    .description('One execution: state, attempts, events.')
    .argument('<id>')
    .addHelpText('after', examples(['muster execution show ex_0193…']))
    .action(async (id: string, flags: QueryFlags) => {
      const { executionShow } = await import('./commands/execution-commands.ts');
      await ask(flags, (context) => executionShow(context, id));
    });
  withQuery(program.command('why'))
    .description('Why an execution is where it is, or why nobody has it.')
    .argument('<id>')
    .addHelpText('after', examples(['muster why ex_0193…', 'muster why ex_0193… --json']))
    .action(async (id: string, flags: QueryFlags) => {
      const { why } = await import('./commands/execution-commands.ts');
      await ask(flags, (context) => why(context, id));
    });
}

function withConnection(command: Command): Command {
  return command
    .option('--server <url>', 'where the server is (MUSTER_SERVER, else http://127.0.0.1:4000)')
    .option('--token <token>', 'bearer token (MUSTER_TOKEN, else the one in ./.muster)');
}

function withQuery(command: Command): Command {
  return withConnection(command).option('--json', 'print JSON');
}

function withRun(command: Command): Command {
  return withQuery(command)
    .option('-r, --routing-input <key=value>', 'matched at dispatch, never delivered; may be repeated', collect)
    .option('--require-worker <name>', 'run there or wait')
    .option('--prefer-worker <name>', 'run there if it can')
    .option('--park-ttl <seconds>', 'fail when nobody could take it for so long; 0: never')
    .option('--priority <n>', '-1000 to 1000, higher first')
    .option('--idempotency-key <key>', 'the same key and input give the same execution')
    .option('--wait [seconds]', 'wait for the end (60 s), print it, exit 1 unless it completed');
}

function collect(value: string, all: string[] = []): string[] {
  return [...all, value];
}

function examples(lines: readonly string[], more: readonly string[] = []): string {
  return ['', 'Examples:', ...lines.map((line) => `  ${line}`), ...more].join('\n');
}

const exitCodeHelp = '\nExit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 denied, 5 unavailable';
const environmentHelp =
  'Environment: MUSTER_SERVER, MUSTER_TOKEN; for serve PORT, HOST, MUSTER_DATA_DIR, DATABASE_URL and others (README)';
