import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** A holder on another host shows that it lives by touching its lock this often. */
const TOUCH_MS = 5000;
const STALE_MS = 4 * TOUCH_MS;

interface Holder {
  pid: number;
  /** What tells this process from a later one with the same id; null where the system does not say. */
  started: string | null;
  host: string;
  token: string;
}

export interface DataDirLock {
  release(): void;
}

/**
 * Makes sure that one process at a time opens a data directory: the embedded database itself would let two in, and they would destroy it.
 * The lock of a process that has died is taken over; ids that were given out again are told apart by the start time of their process.
 *
 * @throws Error, one sentence that names the directory and the process, where another one holds it.
 */
export function lockDataDir(dataDir: string): DataDirLock {
  const file = join(dataDir, 'lock');
  const holder: Holder = { pid: process.pid, started: startOf(process.pid), host: hostname(), token: randomUUID() };
  const draft = `${file}.${holder.token}`;
  writeFileSync(draft, JSON.stringify(holder), { mode: 0o600 });
  try {
    take(file, draft, dataDir);
  } finally {
    rmSync(draft, { force: true });
  }
  const timer = setInterval(() => touch(file), TOUCH_MS).unref();
  return {
    release: () => {
      clearInterval(timer);
      if (read(file)?.token === holder.token) rmSync(file, { force: true });
    },
  };
}

function take(file: string, draft: string, dataDir: string): void {
  for (let tries = 0; tries < 10; tries += 1) {
    if (link(draft, file)) return;
    const other = read(file);
    if (other !== null && isAlive(other, file)) throw inUse(dataDir, other);
    // Stale. Two may see this at once: whoever moves away something else than what it judged puts it back.
    const aside = `${draft}.stale`;
    if (!move(file, aside)) continue;
    const moved = read(aside);
    if (moved?.token !== other?.token) link(aside, file);
    rmSync(aside, { force: true });
  }
  throw new Error(`the lock of the data directory ${dataDir} could not be taken: remove ${file} if nothing uses it`);
}

function inUse(dataDir: string, holder: Holder): Error {
  const where = holder.host === hostname() ? '' : ` on host ${holder.host}`;
  return new Error(
    `the data directory ${dataDir} is in use by process ${holder.pid}${where}: stop it first, or set MUSTER_DATA_DIR to another directory`,
  );
}

function isAlive(holder: Holder, file: string): boolean {
  if (holder.host !== hostname())
    return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) < STALE_MS;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
  }
  return startOf(holder.pid) === holder.started;
}

/** When a process started, in whatever form the system has; null where it has none or the process is gone. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold anything; state is the first field after it, the start time the twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return fields[0] === 'Z' ? null : `${boot} ${fields[19]}`;
  } catch {
    return process.platform === 'linux' || process.platform === 'win32' ? null : startByPs(pid);
  }
}

function startByPs(pid: number): string | null {
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

function read(file: string): Holder | null {
  try {
    const holder: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return typeof holder === 'object' && holder !== null && 'pid' in holder ? (holder as Holder) : null;
  } catch {
    return null;
  }
}

function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

function move(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function touch(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // The directory has been removed under a running server: nothing is left to protect.
  }
}

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
