import { CommandError, type ExitCode, exitCodes } from '../exit-codes.ts';
import type { Io } from '../io.ts';

/** `muster admin reset`: on the machine that has the data directory, or DATABASE_URL. Errors: exit code 1 where a server runs on it. */
export async function resetAdmin(
  io: Io,
  flags: { readonly dataDir?: string; readonly json?: boolean },
): Promise<ExitCode> {
  const api = await import('@muster/api');
  let done: Awaited<ReturnType<typeof api.resetAdmin>>;
  try {
    const config = api.readConfig(io.env, flags.dataDir === undefined ? {} : { dataDir: flags.dataDir });
    done = await api.resetAdmin(config, api.createLog('warn'));
    if (config.adminToken !== null) io.err('! MUSTER_ADMIN_TOKEN lets nobody in any more: set it to the new token.');
  } catch (error) {
    if (error instanceof api.ConfigError) throw new CommandError(error.message, exitCodes.usage);
    if (error instanceof api.StartError) throw new CommandError(error.message, exitCodes.failed);
    throw error;
  }
  if (flags.json === true) io.out(JSON.stringify(done));
  else {
    io.err(
      `Every other way in of admin has ended (${done.sessions} sessions, ${done.apiTokens} tokens). The new token, also in ${done.file}:`,
    );
    io.out(done.token);
  }
  return exitCodes.ok;
}
