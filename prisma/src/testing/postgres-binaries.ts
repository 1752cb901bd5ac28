import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DEBIAN = '/usr/lib/postgresql';
const NOBODY = 65_534;

/**
 * Where PostgreSQL's server programs are: the newest of Debian's, or pg_config's.
 *
 * @throws Error, one sentence that says what to install.
 */
export function postgresBinDir(): string {
  const debian = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const found = [...debian.map((version) => join(DEBIAN, version, 'bin')), pgConfigDir()].find(
    (dir) => dir !== null && existsSync(join(dir, 'initdb')),
  );
  if (found) return found;
  throw new Error(
    'the tests need the PostgreSQL server programs (15 or later), which are not installed: apt-get install postgresql, or brew install postgresql',
  );
}

function pgConfigDir(): string | null {
  try {
    return execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

/** PostgreSQL refuses to run as root: the user `postgres` where there is one, else `nobody`; null where this process is not root. */
export function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('postgres:'));
  const [uid, gid] = (line ?? '').split(':').slice(2, 4).map(Number);
  return uid === undefined || gid === undefined ? { uid: NOBODY, gid: NOBODY } : { uid, gid };
}
