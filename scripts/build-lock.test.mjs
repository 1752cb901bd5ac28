import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from './lib/build-lock.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'build-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that writes `in` and `out` around work that others would notice to overlap. */
const holder = `
  import { appendFileSync } from 'node:fs';
  import { setTimeout as delay } from 'node:timers/promises';
  const [lock, log, module] = process.argv.slice(1);
  const { withLock } = await import(module);
  await withLock(lock, () => {}, async () => {
    appendFileSync(log, 'in\\n');
    await delay(20);
    appendFileSync(log, 'out\\n');
  });
`;

test('several processes take turns', async () => {
  const log = path.join(folder, 'log');
  const module = new URL('./lib/build-lock.mjs', import.meta.url).href;
  const exits = Array.from({ length: 4 }, () => {
    const child = spawn(
      process.execPath,
      ['--input-type=module', '-e', holder, path.join(folder, 'lock'), log, module],
      { stdio: 'inherit' },
    );
    return new Promise((resolve) => child.on('exit', resolve));
  });
  expect(await Promise.all(exits)).toEqual([0, 0, 0, 0]);
  expect(readFileSync(log, 'utf8')).toBe('in\nout\n'.repeat(4));
  expect(existsSync(path.join(folder, 'lock'))).toBe(false);
});

test('a lock whose holder is gone is broken', async () => {
  const child = spawn(process.execPath, ['-e', '']);
  await new Promise((resolve) => child.on('exit', resolve));
  const lock = path.join(folder, 'lock');
  writeFileSync(lock, `${child.pid} 1\n`);
  expect(
    await withLock(
      lock,
      () => {},
      async () => 'done',
    ),
  ).toBe('done');
});

test.runIf(process.platform === 'linux')('a number that another process has now is not the holder', async () => {
  const lock = path.join(folder, 'lock');
  writeFileSync(lock, `${process.pid} 1\n`);
  expect(
    await withLock(
      lock,
      () => {},
      async () => 'done',
    ),
  ).toBe('done');
});

test('the lock is released after a failure', async () => {
  const lock = path.join(folder, 'lock');
  await expect(
    withLock(
      lock,
      () => {},
      () => Promise.reject(new Error('no')),
    ),
  ).rejects.toThrow('no');
  expect(existsSync(lock)).toBe(false);
});
