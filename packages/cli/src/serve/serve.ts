import { join } from 'node:path';
import { type Client, createClient } from '@muster/client';
import { contentsOf, createDemo, demoWorkersOnDuty } from '../demo/demo-deployment.ts';
import { type DemoFleet, startDemoFleet } from '../demo/demo-fleet.ts';
import { CommandError, type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';
import { loadWorkflows } from '../load-workflows.ts';
import { styleFor } from '../output/style.ts';
import { tokenFile } from '../settings/connection.ts';
import { parseWhole } from '../settings/parse-arguments.ts';
import { demoGreeting, greeting } from './greeting.ts';

export interface ServeFlags {
  readonly port?: string;
  readonly host?: string;
  readonly dataDir?: string;
  readonly role?: string;
  readonly workflows?: readonly string[];
  /** undefined: where the database is empty or holds the demo. */
  readonly demo?: boolean;
  /** false: no worker inside this process. */
  readonly worker?: boolean;
  readonly json?: boolean;
}

/** `muster serve`: API, admin and dispatcher in this process, until a signal ends it. */
export async function serve(io: Io, flags: ServeFlags): Promise<ExitCode> {
  const stopped = firstSignal();
  const workflows = await loadWorkflows(flags.workflows ?? [], io.cwd);
  // Loaded here alone: everything else that this program does needs no server.
  const api = await import('@muster/api');
  let config: ReturnType<typeof api.readConfig>;
  let app: Awaited<ReturnType<typeof api.createApp>>;
  try {
    config = api.readConfig(io.env, overrides(flags, io));
    app = await api.createApp(config, { workflows });
  } catch (error) {
    throw startFailure(error);
  }
  const client = createClient({ url: app.url, token: app.adminToken });
  // With --json one line, for whoever starts it and waits for it.
  if (flags.json === true)
    io.out(JSON.stringify({ url: app.url, login: app.loginLink(), graphql: `${app.url}/graphql` }));
  else io.out(greeting(app.url, app.loginLink(), styleFor(io.colour)));
  let fleet: DemoFleet | undefined;
  try {
    fleet = await demoFor(client, app, config, flags, io);
    const onDuty = fleet && (await Promise.race([demoWorkersOnDuty(client), stopped]));
    const tokenInShell =
      config.adminToken === null ? `$(cat '${join(config.dataDir, tokenFile)}')` : '$MUSTER_ADMIN_TOKEN';
    if (onDuty !== undefined && flags.json !== true) io.out(demoGreeting(app.url, tokenInShell, onDuty));
  } catch (error) {
    io.err(`The demo could not be set up: ${error instanceof Error ? error.message : String(error)}`);
  }
  await stopped;
  io.err('Stopping …');
  await fleet?.stop(4_000);
  await app.close();
  return exitCodes.ok;
}

function overrides(flags: ServeFlags, io: Io) {
  if (flags.role !== undefined && flags.role !== 'api' && flags.role !== 'all') {
    throw new CommandError('--role is "all" (may lead and dispatch) or "api" (never leads).', exitCodes.usage);
  }
  return {
    ...(flags.port === undefined ? {} : { port: parseWhole(flags.port, '--port', 0, 65_535) }),
    ...(flags.host === undefined ? {} : { host: flags.host }),
    ...(flags.dataDir === undefined ? {} : { dataDir: flags.dataDir }),
    ...(flags.role === 'api' ? { mayLead: false } : {}),
    ...(flags.worker === false ? { embeddedWorker: false } : {}),
    // People read a terminal; whoever collects logs has no terminal, or says what it wants.
    ...(io.colour && !io.env['LOG_LEVEL'] ? { logLevel: 'warn' as const } : {}),
  };
}

// Several servers on one database would start the same workers against each other: there it is for those who ask.
async function demoFor(
  client: Client,
  app: { readonly url: string; readonly adminToken: string },
  config: { readonly databaseUrl: string | null },
  flags: ServeFlags,
  io: Io,
): Promise<DemoFleet | undefined> {
  if (flags.demo === false) return undefined;
  if (flags.demo === undefined) {
    if (config.databaseUrl !== null || (flags.workflows ?? []).length > 0) return undefined;
    if ((await contentsOf(client)) === 'other') return undefined;
  }
  await createDemo(client);
  return startDemoFleet({
    command: [process.execPath, ...process.execArgv, process.argv[1] ?? ''],
    server: app.url,
    token: app.adminToken,
    onExit: (worker, code) => {
      if (code !== 0) io.err(`The demo's worker ${worker.name} has ended (${code ?? 'killed'}).`);
    },
  });
}

function startFailure(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error.name === 'ConfigError') return new CommandError(error.message, exitCodes.usage);
  if (error.name === 'StartError') return new CommandError(error.message, exitCodes.failed);
  return error;
}

/** Resolves at the first SIGINT or SIGTERM; the second one ends the process at once. */
function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let seen = false;
    const onSignal = (): void => {
      if (seen) process.exit(exitCodes.failed);
      seen = true;
      resolve();
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
