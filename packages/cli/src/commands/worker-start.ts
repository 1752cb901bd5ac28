import manifest from '../../package.json' with { type: 'json' };
import { ClientError } from '@muster/client';
import { type Log, type LogLevel, type RunnerName, Worker } from '@muster/worker';
import { resolve } from 'node:path';
import { CommandError, type ExitCode, exitCodeOf, exitCodes } from '../exit-codes.ts';
import { userModuleLoader } from '../import-user-module.ts';
import type { Io } from '../io.ts';
import { loadWorkflows } from '../load-workflows.ts';
import { type ConnectionFlags, resolveConnection } from '../settings/connection.ts';
import { parsePairs, parseWhole } from '../settings/parse-arguments.ts';

export interface WorkerStartFlags extends ConnectionFlags {
  readonly name?: string;
  readonly role?: string;
  readonly join?: string;
  readonly credentialFile?: string;
  readonly label?: readonly string[];
  readonly capacity?: string;
  readonly runner?: readonly RunnerName[];
  readonly memoryLimit?: string;
  readonly metricsProvider?: string;
  readonly metricsInterval?: string;
  readonly builtinMetrics?: boolean;
  readonly drainSeconds?: string;
  readonly json?: boolean;
}

/** `muster worker start FILE…`: a worker of the workflows that the files export, until it is told to stop. */
export async function workerStart(io: Io, files: readonly string[], flags: WorkerStartFlags): Promise<ExitCode> {
  const { url, token } = resolveConnection(flags, io);
  const entry = entering(flags, io, token);
  // Not the SDK's default: the server's own worker has that role, and on one host the name that follows from it.
  const role = flags.role ?? (io.env['SERVICE_ROLE'] || 'worker');
  const labels = parsePairs(flags.label ?? [], '--label');
  const capacity = flags.capacity === undefined ? undefined : parseWhole(flags.capacity, '--capacity', 1, 1_000_000);
  const workflows = await loadWorkflows(files, io.cwd);
  const log = flags.json === true ? jsonLog(io) : lineLog(io, 'info');
  const worker = new Worker({
    server: url,
    ...entry,
    ...(flags.name === undefined ? {} : { name: flags.name }),
    role,
    version: manifest.version,
    labels,
    ...(capacity === undefined ? {} : { capacity }),
    workflows,
    moduleLoader: userModuleLoader(),
    ...measuring(flags),
    ...running(flags),
    log,
  });
  const refs = workflows.map((one) => one.ref);
  log('info', `Starting worker ${worker.name} of role ${worker.role} with ${refs.join(', ')}.`);
  return await endOf(worker, io);
}

/** A join token, else a token that was given; what a server has left in the directory counts least. */
function entering({ join, credentialFile, token }: WorkerStartFlags, io: Io, found: string | undefined) {
  if (join !== undefined && token !== undefined)
    throw new CommandError('A worker joins with --join, or has a --token: give one of them.', exitCodes.usage);
  const given = token ?? (io.env['MUSTER_TOKEN'] || undefined);
  const joinToken = join ?? (token === undefined ? io.env['MUSTER_JOIN_TOKEN'] || undefined : undefined);
  const file = credentialFile ?? (io.env['MUSTER_CREDENTIAL_FILE'] || undefined);
  const where = file === undefined ? {} : { credentialFile: resolve(io.cwd, file) };
  if (joinToken !== undefined) return { joinToken, ...where };
  // With its own credential from an earlier start it needs no other token.
  if (given === undefined && file !== undefined) return where;
  return found === undefined ? where : { token: found };
}

function measuring({ metricsProvider, metricsInterval, builtinMetrics = true }: WorkerStartFlags) {
  return {
    ...(metricsProvider === undefined ? {} : { metricsProvider }),
    ...(metricsInterval === undefined
      ? {}
      : { metricsInterval: parseWhole(metricsInterval, '--metrics-interval', 1, 86_400) }),
    builtinMetrics,
  };
}

function running({ runner, memoryLimit, drainSeconds }: WorkerStartFlags) {
  return {
    ...(runner === undefined ? {} : { runners: runner }),
    ...(memoryLimit === undefined
      ? {}
      : { subprocess: { memoryLimitMb: parseWhole(memoryLimit, '--memory-limit', 128, 1_048_576) } }),
    ...(drainSeconds === undefined ? {} : { drainSeconds: parseWhole(drainSeconds, '--drain-seconds', 0, 86_400) }),
  };
}

/** Runs the worker to its end and says how that was. */
export async function endOf(worker: Worker, io: Io): Promise<ExitCode> {
  try {
    return (await worker.run()) === 'replaced' ? exitCodes.failed : exitCodes.ok;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    io.err(`The server does not take this worker: ${error.message}`);
    return exitCodeOf(error.code);
  }
}

const rank: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** A log for people: one line each, from that level on. */
export function lineLog(io: Pick<Io, 'err'>, from: LogLevel, name?: string): Log {
  return (level, message, fields) => {
    if (rank[level] < rank[from]) return;
    const execution = typeof fields?.['execution'] === 'string' ? ` (${fields['execution']})` : '';
    io.err(`${name === undefined ? '' : `${name}: `}${level === 'info' ? '' : `${level}: `}${message}${execution}`);
  };
}

/** A log for programs: one JSON object a line, on stderr like the other. */
function jsonLog(io: Pick<Io, 'err'>): Log {
  return (level, message, fields) => {
    if (rank[level] < rank.info) return;
    io.err(JSON.stringify({ time: new Date().toISOString(), level, message, ...fields }));
  };
}
