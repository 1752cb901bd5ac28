import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataDir } from './data-dir-lock.ts';

describe('lockDataDir', () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'muster-lock-'));
    file = join(dir, 'lock');
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const holder = (): Record<string, unknown> => JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  const forge = (over: Record<string, unknown>): void => {
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), token: 'forged', ...over }));
  };

  it('lets one in, and names it to the next', () => {
    const lock = lockDataDir(dir);
    expect(() => lockDataDir(dir)).toThrow(
      `the data directory ${dir} is in use by process ${process.pid}: stop it first, or set MUSTER_DATA_DIR to another directory`,
    );
    lock.release();
    expect(existsSync(file)).toBe(false);
    lockDataDir(dir).release();
  });

  it('is readable by its owner alone', () => {
    const lock = lockDataDir(dir);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    lock.release();
  });

  it('takes over from a process that is gone', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    lockDataDir(dir);
    forge({ pid: child.pid });
    const lock = lockDataDir(dir);
    expect(holder()['pid']).toBe(process.pid);
    lock.release();
  });

  it('is not fooled by a process id that was given out again', () => {
    lockDataDir(dir);
    forge({ started: 'another boot 1' });
    const lock = lockDataDir(dir);
    expect(holder()['token']).not.toBe('forged');
    lock.release();
  });

  it('believes a holder on another host as long as it shows signs of life', () => {
    lockDataDir(dir);
    forge({ host: `not-${hostname()}`, pid: 7 });
    expect(() => lockDataDir(dir)).toThrow(`in use by process 7 on host not-${hostname()}`);
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(file, longAgo, longAgo);
    const lock = lockDataDir(dir);
    expect(holder()['host']).toBe(hostname());
    lock.release();
  });

  it('takes over a lock that holds nonsense', () => {
    writeFileSync(file, 'not json');
    const lock = lockDataDir(dir);
    expect(holder()['pid']).toBe(process.pid);
    lock.release();
  });

  it('does not remove the lock of a successor', () => {
    const lock = lockDataDir(dir);
    forge({});
    lock.release();
    expect(holder()['token']).toBe('forged');
  });
});
