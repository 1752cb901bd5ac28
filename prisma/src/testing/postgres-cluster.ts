import { execFile, spawn } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { postgresBinDir, serverUser } from './postgres-binaries.ts';

const run = promisify(execFile);

export interface PostgresCluster {
  /** URL of one of its databases. */
  urlOf(database: string): string;
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * The watchdog: waits until its standard input closes, which also happens when this process is killed, then stops the server and removes its
 * directory. `$1` programs, `$2` directory.
 */
const WATCHDOG = 'cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate stop >/dev/null 2>&1; rm -rf "$2"';

/**
 * Starts a PostgreSQL server of our own: its own data directory below the system's temporary one, reached through a unix socket in it (so that no port
 * is taken and nobody else can connect), fsync on, as a user that is not root. It goes when `stop` is called or this process ends, however it ends.
 *
 * @throws Error, one sentence, where the server programs are not installed.
 */
export async function startPostgresCluster(): Promise<PostgresCluster> {
  const bin = postgresBinDir();
  const user = serverUser();
  const home = mkdtempSync(join(tmpdir(), 'muster-pg-'));
  if (user !== null) chownSync(home, user.uid, user.gid);
  const as = { ...user, cwd: home, env: { PATH: process.env['PATH'] ?? '', LC_ALL: 'C.UTF-8', TZ: 'UTC' } };
  const data = join(home, 'data');
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG, 'watchdog', bin, home], {
    ...as,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const gone = new Promise<void>((done) => watchdog.once('exit', () => done()));
  const stop = async (): Promise<void> => {
    watchdog.ref();
    watchdog.stdin?.end();
    await gone;
    rmSync(home, { recursive: true, force: true });
  };
  try {
    await run(
      join(bin, 'initdb'),
      ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-sync', '--no-instructions'],
      as,
    );
    const settings = [
      "listen_addresses=''",
      `unix_socket_directories='${home}'`,
      'max_connections=200',
      'shared_buffers=128MB',
    ];
    const options = settings.map((setting) => `-c ${setting}`).join(' ');
    await run(join(bin, 'pg_ctl'), ['-D', data, '-l', join(home, 'log'), '-o', options, '-w', '-t', '60', 'start'], as);
  } catch (error) {
    await stop();
    throw new Error(`PostgreSQL could not be started in ${home}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  // Neither may keep a finished test run waiting.
  watchdog.unref();
  if (watchdog.stdin && 'unref' in watchdog.stdin && typeof watchdog.stdin.unref === 'function') watchdog.stdin.unref();
  const urlOf = (database: string): string =>
    `postgresql://postgres@localhost/${database}?host=${encodeURIComponent(home)}`;
  return { url: urlOf('postgres'), urlOf, stop };
}
