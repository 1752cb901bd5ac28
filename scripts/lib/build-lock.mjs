// One build at a time per working copy: a lock file that names its holder and is broken when that process is gone.
import { closeSync, linkSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * When a process started, so that a number used again is not taken for the old process. Only Linux tells.
 * @param {number} pid
 * @returns {string | null} null where unknown
 */
function startOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}

/**
 * @param {string} text content of a lock file
 * @returns {boolean} whether the process that wrote it still runs
 */
function isHolderAlive(text) {
  const [pidText, start] = text.trim().split(' ');
  const pid = Number(pidText);
  // Empty: the holder is between creating and writing.
  if (text === '') return true;
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPERM') return false;
  }
  const now = startOf(pid);
  return start === undefined || start === '-' || now === null || now === start;
}

/** @param {string} file */
function tryTake(file) {
  const own = `${file}.${process.pid}`;
  rmSync(own, { force: true });
  const handle = openSync(own, 'wx');
  writeSync(handle, `${process.pid} ${startOf(process.pid) ?? '-'}\n`);
  closeSync(handle);
  try {
    // A link appears with its content: nobody reads an empty lock.
    linkSync(own, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

/** @param {string} file */
function breakIfStale(file) {
  try {
    const seen = readFileSync(file, 'utf8');
    if (isHolderAlive(seen)) return;
    const aside = `${file}.${process.pid}.stale`;
    renameSync(file, aside);
    // Somebody else may have broken it and taken it between our look and our move: give it back.
    if (readFileSync(aside, 'utf8') !== seen) linkSync(aside, file);
    rmSync(aside, { force: true });
  } catch (error) {
    const code = /** @type {NodeJS.ErrnoException} */ (error).code;
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  }
}

/**
 * Runs `work` while no other process does so under the same file.
 * @template T
 * @param {string} file
 * @param {() => void} onWait called once when another process is at it
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, onWait, work) {
  mkdirSync(path.dirname(file), { recursive: true });
  for (let tries = 0; !tryTake(file); tries += 1) {
    if (tries === 1) onWait();
    breakIfStale(file);
    await delay(100);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.removeListener('exit', release);
    release();
  }
}
