import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ProtocolServer } from '@muster/worker/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));
const patience = { timeout: 60_000, interval: 50 };

let server: ProtocolServer;
let dir: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  server = new ProtocolServer();
  await server.start();
  dir = mkdtempSync(join(tmpdir(), 'muster-cli-'));
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await server.stop();
  rmSync(dir, { recursive: true });
});

/** Starts this program from source, in an empty directory outside any package. */
function start(args: readonly string[]) {
  const env = {
    ...process.env,
    MUSTER_SERVER: server.url,
    MUSTER_TOKEN: 't',
    SERVICE_ROLE: '',
    MUSTER_WORKER_NAME: '',
  };
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...args], { cwd: dir, env });
  children.push(child);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += String(chunk);
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, exit, stderr: () => stderr };
}

function write(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return name;
}

const typescriptFlow = `
import { workflow, score, least, load } from '@muster/worker';
interface Given { readonly text: string }
export const shout = workflow<Given, string>({ namespace: 'test', name: 'shout', routing: score(least(load())) }, (_, given: Given): string => given.text.toUpperCase());
`;

describe('worker start', () => {
  test('runs TypeScript from anywhere and drains at SIGTERM', async () => {
    const file = write('flow.ts', typescriptFlow);
    const { child, exit, stderr } = start([
      'worker',
      'start',
      '--role',
      'gpu-worker',
      '--label',
      'region=eu',
      '--label',
      'zone=a',
      '--capacity',
      '2',
      file,
    ]);
    await expect.poll(() => server.registrations.length, patience).toBe(1);
    expect(server.registrations[0]).toMatchObject({
      role: 'gpu-worker',
      name: expect.stringMatching(/^gpu-worker-/),
      labels: [
        { key: 'region', value: 'eu' },
        { key: 'zone', value: 'a' },
      ],
      capacity: 2,
      workflows: ['test/shout'],
    });
    expect(server.workflows[0]).toMatchObject({ name: 'shout', routing: 'score(least(load()))' });
    server.assign(['ex_1'], 'test/shout', { claim: { input: { text: 'hi' } } });
    await expect.poll(() => server.items('ends'), patience).toMatchObject([{ state: 'COMPLETED', output: 'HI' }]);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(server.leaves).toHaveLength(1);
    expect(stderr()).toContain('Starting worker gpu-worker-');
  });

  test('its role is worker where nobody says otherwise, so that it does not take the name of the server', async () => {
    start([
      'worker',
      'start',
      write(
        'flow.mjs',
        `import { workflow } from '@muster/worker';\nexport default [workflow({ name: 'plain' }, () => 1)];`,
      ),
    ]);
    await expect
      .poll(() => server.registrations[0], patience)
      .toMatchObject({ role: 'worker', workflows: ['default/plain'] });
  });

  test('files that it imports come along, each with its own import.meta.url', async () => {
    write('urls.mjs', 'export const url = import.meta.url;');
    const text = `${typescriptFlow}
import { url } from './urls.mjs';
import { basename } from 'path';
enum Kind { One }
export const urls = workflow({ namespace: 'test', name: basename(url, '.mjs') + '-' + basename(import.meta.url, '.ts') + '-' + Kind.One }, () => 1);`;
    start(['worker', 'start', write('both.ts', text)]);
    await expect
      .poll(() => server.registrations[0], patience)
      .toMatchObject({ workflows: ['test/shout', 'test/urls-both-0'] });
  });

  test('runs TypeScript in processes of their own, with metrics from a file', async () => {
    const text = `
import { workflow } from '@muster/worker';
enum Kind { One = 'one' }
export const apart = workflow<unknown, unknown>({ namespace: 'test', name: 'apart', runner: 'subprocess' }, (ctx) => {
  ctx.log(Kind.One);
  return { pid: process.pid, token: process.env['MUSTER_TOKEN'] ?? null };
});`;
    write('metrics.ts', 'const depth: number = 3; export function collect() { return { depth }; }');
    const args = ['--metrics-provider', './metrics.ts:collect', '--no-builtin-metrics', '--memory-limit', '400'];
    server.heartbeatSeconds = 0.1;
    const { child } = start(['worker', 'start', ...args, write('apart.ts', text)]);
    await expect
      .poll(() => server.registrations[0], patience)
      .toMatchObject({ workflows: ['test/apart'], runners: ['inprocess', 'subprocess'] });
    expect(server.workflows[0]).toMatchObject({ name: 'apart', runner: 'subprocess' });
    await expect.poll(() => server.heartbeats.at(-1)?.['metrics'], patience).toEqual({ depth: 3 });
    server.assign(['ex_1'], 'test/apart', { claim: { workflowRunner: 'subprocess' } });
    await expect
      .poll(() => server.items('ends'), patience)
      .toMatchObject([{ state: 'COMPLETED', output: { token: null } }]);
    expect(server.items('ends')[0]?.['output']).not.toMatchObject({ pid: child.pid });
    expect(server.items('events')).toMatchObject([{ type: 'log', data: { message: 'one' } }]);
  });

  test('a file without workflows, or one that does not load, is a usage error', async () => {
    const empty = start(['worker', 'start', write('empty.ts', 'export const nothing = 1;')]);
    const broken = start(['worker', 'start', write('broken.ts', 'throw new Error("no such sensor");')]);
    expect(await empty.exit).toBe(2);
    expect(empty.stderr()).toContain('empty.ts exports no workflow');
    expect(await broken.exit).toBe(2);
    expect(broken.stderr()).toMatch(/no such sensor\n.*broken\.ts:1:7/);
    const syntax = start(['worker', 'start', write('syntax.ts', 'const = 4;')]);
    expect(await syntax.exit).toBe(2);
    expect(syntax.stderr()).toContain('syntax.ts:1:6');
  });

  test('--json makes each line of its log JSON', async () => {
    const { child, exit, stderr } = start(['worker', 'start', write('flow.ts', typescriptFlow), '--json']);
    await expect.poll(() => server.registrations.length, patience).toBe(1);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    const lines = stderr().trim().split('\n');
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(String), message: expect.any(String) });
    expect(lines[0]).toContain('Starting worker');
  });

  test('a worker that the server refuses says so and exits with the code for it', async () => {
    server.behaviour.register = () => ({ code: 'FORBIDDEN', message: 'This token is for w-7.' });
    const { exit, stderr } = start(['worker', 'start', write('flow.ts', typescriptFlow)]);
    expect(await exit).toBe(4);
    expect(stderr()).toContain('The server does not take this worker: This token is for w-7.');
  });
});

test("the demo's workers leave when the process that started them is killed", async () => {
  const parent = write(
    'parent.ts',
    `import { startDemoFleet } from ${JSON.stringify(new URL('./demo/demo-fleet.ts', import.meta.url).href)};
startDemoFleet({ command: [process.execPath, '--import', ${JSON.stringify(import.meta.resolve('tsx'))}, ${JSON.stringify(main)}], server: ${JSON.stringify(server.url)}, token: 't', onExit: () => undefined });`,
  );
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), parent], {
    cwd: dir,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  children.push(child);
  await expect.poll(() => server.inboxes.length, patience).toBe(4);
  expect(server.registrations.map((one) => one['name']).toSorted()).toEqual([
    'gpu-eu',
    'gpu-us',
    'worker-eu',
    'worker-us',
  ]);
  child.kill('SIGKILL');
  await expect.poll(() => server.leaves.length, patience).toBe(4);
});
