import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { testIo } from '../testing/test-io.ts';
import { resolveConnection } from './connection.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-cli-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

test('flags win over the environment, and both over the defaults', () => {
  const env = { MUSTER_SERVER: 'http://env:1', MUSTER_TOKEN: 'env-token' };
  expect(resolveConnection({ server: 'http://flag:1', token: 'flag' }, testIo({ env }))).toEqual({
    url: 'http://flag:1',
    token: 'flag',
  });
  expect(resolveConnection({}, testIo({ env }))).toEqual({ url: 'http://env:1', token: 'env-token' });
  expect(resolveConnection({}, testIo())).toEqual({ url: 'http://127.0.0.1:4000' });
  expect(resolveConnection({}, testIo({ env: { MUSTER_ADMIN_TOKEN: 'admin' } })).token).toBe('admin');
});

test('the token of a server that was started here is found in its data directory', () => {
  mkdirSync(join(dir, '.muster'));
  writeFileSync(join(dir, '.muster', 'admin-token'), 'kept\n');
  expect(resolveConnection({}, testIo({ cwd: dir })).token).toBe('kept');
  mkdirSync(join(dir, 'data'));
  writeFileSync(join(dir, 'data', 'admin-token'), 'elsewhere');
  expect(resolveConnection({}, testIo({ cwd: dir, env: { MUSTER_DATA_DIR: 'data' } })).token).toBe('elsewhere');
});
