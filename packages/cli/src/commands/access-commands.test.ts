import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ran, runCommand } from '../testing/run-command.ts';

// Against a real server in a process of its own.

const main = fileURLToPath(new URL('../main.ts', import.meta.url));
let dataDir: string;
let app: { url: string; adminToken: string; close(): Promise<void> };

async function start(): Promise<typeof app> {
  const flags = ['serve', '--port', '0', '--no-demo', '--no-worker', '--json'];
  const env = { ...process.env, MUSTER_DATA_DIR: dataDir, LOG_LEVEL: 'error' };
  const child: ChildProcess = spawn(process.execPath, ['--import', 'tsx', main, ...flags], { env });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let out = '';
    child.stdout?.on('data', (chunk) => {
      out += String(chunk);
      if (out.includes('\n')) resolve(out);
    });
    void ended.then(() => reject(new Error('the server has ended')));
  });
  return {
    url: (JSON.parse(line) as { url: string }).url,
    adminToken: (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim(),
    close: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'muster-access-'));
  app = await start();
});
afterAll(async () => {
  await app.close();
  await rm(dataDir, { recursive: true, force: true });
});

const muster = (...args: string[]): Promise<Ran> => runCommand(args, { url: app.url, token: app.adminToken });

/** The status of a request by this token. */
async function statusOf(token: string): Promise<number> {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"query":"{ viewer { name } }"}',
  });
  await response.text();
  return response.status;
}

describe('who may enter', () => {
  test('a role, a service account with it, and a token of that', async () => {
    expect((await muster('role', 'create', 'readers', '-p', 'worker:*:read', '--description', 'reads')).code).toBe(0);
    expect((await muster('principal', 'create', 'ci', '--service', '-r', 'readers')).code).toBe(0);
    const made = await muster('token', 'create', 'builds', '--for', 'ci', '--ttl', '90d', '-s', 'worker:*:read');
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^mst_[\w-]{43}$/), err: 'Shown this once:' });
    const mine = await runCommand(['token', 'list', '--json'], { url: app.url, token: made.out });
    const [token] = JSON.parse(mine.out) as { id: string; status: string; prefix: string }[];
    expect(token).toMatchObject({ status: 'ACTIVE', prefix: made.out.slice(0, 10) });
    const denied = await runCommand(['principal', 'list'], { url: app.url, token: made.out });
    expect([denied.code, denied.err]).toEqual([4, expect.stringContaining('admin:principals:read')]);
    expect((await muster('token', 'revoke', token?.id ?? '')).out).toContain('is revoked');
    expect(await statusOf(made.out)).toBe(401);
    const shown = await muster('principal', 'show', 'ci');
    expect(shown.out).toMatch(/roles +readers/);
    expect(shown.out).toContain('revoked');
    expect((await muster('role', 'delete', 'readers')).code).toBe(1);
    expect((await muster('principal', 'update', 'ci', '-r', 'viewer')).out).toContain('revision 2');
    expect((await muster('role', 'update', 'readers', '-p', 'schedule:*:read')).out).toContain('revision 2');
    expect((await muster('role', 'delete', 'readers')).code).toBe(0);
    expect((await muster('principal', 'disable', 'ci')).out).toContain('disabled');
    expect((await muster('principal', 'delete', 'ci')).code).toBe(0);
    expect((await muster('principal', 'show', 'ci')).code).toBe(3);
  });

  test('a person with a password, whose sessions are listed and ended', async () => {
    const weak = await muster('principal', 'create', 'anna', '-r', 'viewer', '--password', 'short');
    expect([weak.code, weak.err]).toEqual([2, expect.stringContaining('12')]);
    expect((await muster('principal', 'create', 'anna', '-r', 'viewer')).code).toBe(0);
    expect((await muster('principal', 'password', 'anna', 'a long enough one')).code).toBe(0);
    await fetch(`${app.url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: app.adminToken }),
    });
    const listed = JSON.parse((await muster('session', 'list', '--of', 'admin', '--json')).out) as { id: string }[];
    expect(listed).toHaveLength(1);
    expect((await muster('session', 'revoke', listed[0]?.id ?? '')).code).toBe(0);
    expect((await muster('session', 'revoke', '--of', 'admin')).out).toContain('0 of admin');
    expect((await muster('session', 'revoke')).code).toBe(2);
    expect((await muster('role', 'list')).out).toContain('built in');
  });
});

describe('muster admin reset', () => {
  const reset = (): Promise<Ran> => runCommand(['admin', 'reset', '--json'], { env: { MUSTER_DATA_DIR: dataDir } });

  test('refuses where a server runs, and where there is nothing', async () => {
    const running = await reset();
    expect([running.code, running.err]).toEqual([1, expect.stringContaining('is in use by process')]);
    expect(await statusOf(app.adminToken)).toBe(200);
    const empty = await mkdtemp(join(tmpdir(), 'muster-empty-'));
    const nothing = await runCommand(['admin', 'reset', '--data-dir', empty]);
    expect([nothing.code, nothing.err]).toEqual([1, expect.stringContaining('There is no installation')]);
    await rm(empty, { recursive: true });
  });

  test('makes a new token, and ends every other way in', async () => {
    const own = (await muster('token', 'create', 'mine')).out;
    const before = app.adminToken;
    expect([await statusOf(own), await statusOf(before)]).toEqual([200, 200]);
    await app.close();
    const { code, out } = await reset();
    expect(code).toBe(0);
    const { token, file } = JSON.parse(out) as { token: string; file: string };
    expect((await readFile(file, 'utf8')).trim()).toBe(token);
    app = await start();
    expect(app.adminToken).toBe(token);
    expect([await statusOf(token), await statusOf(before), await statusOf(own)]).toEqual([200, 401, 401]);
    const audit = await muster('audit', 'list', '--json', '--action', 'principal.reset');
    expect(JSON.parse(audit.out)).toMatchObject([{ actor: 'muster admin reset', target: 'principal:admin' }]);
  });
});
