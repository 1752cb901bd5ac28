import { Command, CommanderError } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from './exit-codes.ts';
import type { Io } from './io.ts';
import { addAccess } from './program/add-access.ts';
import { addAudit } from './program/add-audit.ts';
import { addCompletion } from './program/add-completion.ts';
import { addDeployment } from './program/add-deployment.ts';
import { addExecution } from './program/add-execution.ts';
import { addJoinToken } from './program/add-join-token.ts';
import { addPolicy } from './program/add-policy.ts';
import { addSchedule } from './program/add-schedule.ts';
import { addServe } from './program/add-serve.ts';
import { addWorker } from './program/add-worker.ts';
import { addWorkflow } from './program/add-workflow.ts';
import { examples, type Setup } from './program/options.ts';
import { resolveConnection } from './settings/connection.ts';

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

/** The command line with all its commands. `exit` is told how a command ended, where that is not by an error. */
export function buildProgram(io: Io, exit: (code: ExitCode) => void): Command {
  const program = new Command('muster')
    .description('Who is on duty, who should take a run, and why.')
    .version(manifest.version)
    .exitOverride()
    .configureHelp({ helpWidth: Math.min(io.columns, 120), minWidthToWrap: 20 })
    .configureOutput({ writeOut: (text) => io.out(text.trimEnd()), writeErr: (text) => io.err(text.trimEnd()) })
    .showHelpAfterError('Add --help for what there is.')
    .addHelpText(
      'after',
      examples(
        ['muster serve', 'muster worker start --role gpu-worker flows.ts', 'muster why ex_0193…'],
        [exitCodeHelp, environmentHelp],
      ),
    );
  const ask: Setup['ask'] = async (flags, run) => {
    const { createClient } = await import('@muster/client');
    const connection = resolveConnection(flags, io);
    await run({ io, connection, client: createClient(connection), json: flags.json === true });
  };
  const setup: Setup = { program, io, exit, ask };
  addServe(setup);
  addWorker(setup);
  addJoinToken(setup);
  addWorkflow(setup);
  addDeployment(setup);
  addExecution(setup);
  addSchedule(setup);
  addPolicy(setup);
  addAccess(setup);
  addAudit(setup);
  addCompletion(setup);
  return program;
}

function failureCode(error: unknown, io: Io): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof CommandError) {
    if (error.message !== '') io.err(error.message);
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

const exitCodeHelp = '\nExit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 denied, 5 unavailable';
const environmentHelp =
  'Environment: MUSTER_SERVER, MUSTER_TOKEN; for serve PORT, HOST, MUSTER_DATA_DIR, DATABASE_URL and others (README)';
