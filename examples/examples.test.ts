import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

/** The examples as a user runs them: processes of their own, against a real server. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CLI = ['--import', 'tsx', join(ROOT, 'packages/cli/src/main.ts')];

let server: ChildProcess;
let dataDir: string;
let url: string;
let token: string;
const processes: ChildProcess[] = [];

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'muster-examples-'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  await serve(port);
  token = (await readFile(join(dataDir, 'admin-token'), 'utf8')).trim();
}, 120_000);

async function serve(port: number): Promise<void> {
  server = run(process.execPath, [...CLI, 'serve', '--no-demo'], { PORT: String(port), MUSTER_DATA_DIR: dataDir });
  await vi.waitFor(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200), {
    timeout: 100_000,
    interval: 100,
  });
}

afterAll(async () => {
  await Promise.all(processes.toReversed().map(stop));
  await rm(dataDir, { recursive: true, force: true });
}, 60_000);

function run(command: string, args: string[], env: Record<string, string>): ChildProcess {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  processes.push(child);
  return child;
}

/** What the command says of itself. */
async function releasedVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(ROOT, 'packages/cli/package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

/** SIGTERM, and the exit code. */
async function stop(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return gone;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function ask<T>(query: string, variables: Record<string, unknown>): Promise<T> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: T; errors?: { message: string }[] };
  if (errors !== undefined) throw new Error(errors.map((error) => error.message).join('; '));
  return data;
}

interface Seen {
  worker: {
    status: string;
    version: string;
    role: string;
    connected: boolean;
    workflows: string[];
    labels: { key: string; value: string }[];
    statusReasons: string[];
  } | null;
}

const seen = async (name: string): Promise<Seen['worker']> =>
  (
    await ask<Seen>(
      'query ($name: String!) { worker(name: $name) { status version role connected workflows labels { key value } statusReasons } }',
      { name },
    )
  ).worker;

async function runWorkflow(workflow: string, input: unknown) {
  const { runWorkflow: payload } = await ask<{
    runWorkflow: {
      execution: {
        state: string;
        output: unknown;
        workerName: string;
        why: string;
        latestDecision: { winner: string };
      };
    };
  }>(
    `mutation ($input: RunWorkflowInput!) {
      runWorkflow(input: $input) { execution { state output workerName why latestDecision { winner } } }
    }`,
    { input: { workflow, input, waitSeconds: 30 } },
  );
  return payload.execution;
}

describe('the Python worker, written from docs/worker-protocol.md', () => {
  it('has at most 150 lines and needs nothing but the standard library', async () => {
    const source = await readFile(new URL('python/worker.py', import.meta.url), 'utf8');
    expect(source.split('\n').length - 1).toBeLessThanOrEqual(150);
    const imported = [...source.matchAll(/^(?:import|from) ([\w., ]+)/gm)].flatMap(
      ([, names]) =>
        (names ?? '')
          .split(' import ')[0]
          ?.split(', ')
          .map((name) => name.split('.')[0]) ?? [],
    );
    const standard = [
      'json',
      'os',
      'random',
      'signal',
      'socket',
      'sys',
      'threading',
      'time',
      'urllib',
      'uuid',
      'collections',
    ];
    expect(imported.filter((name) => !standard.includes(name ?? ''))).toEqual([]);
  });

  it('goes on duty, runs what it is given, and says goodbye', async () => {
    const python = run('python3', [join(ROOT, 'examples/python/worker.py')], {
      MUSTER_SERVER: url,
      MUSTER_TOKEN: token,
      MUSTER_WORKER_NAME: 'py-1',
      SERVICE_ROLE: 'python-worker',
    });
    await expect
      .poll(() => seen('py-1'), { timeout: 30_000 })
      .toMatchObject({ status: 'HEALTHY', connected: true, role: 'python-worker' });
    const execution = await runWorkflow('python/wordcount', { text: 'To be, or not to be.' });
    expect(execution).toMatchObject({
      state: 'COMPLETED',
      workerName: 'py-1',
      output: {
        words: 6,
        top: [
          { word: 'to', count: 2 },
          { word: 'be', count: 2 },
          { word: 'or', count: 1 },
          { word: 'not', count: 1 },
        ],
      },
      latestDecision: { winner: 'py-1' },
    });
    expect(await stop(python)).toBe(0);
    expect(await seen('py-1')).toMatchObject({ status: 'OFFLINE', statusReasons: ['said goodbye'] });
  }, 90_000);

  it('comes back by itself after the server was killed', async () => {
    const python = run('python3', [join(ROOT, 'examples/python/worker.py')], {
      MUSTER_SERVER: url,
      MUSTER_TOKEN: token,
      MUSTER_WORKER_NAME: 'py-3',
    });
    await expect.poll(() => seen('py-3'), { timeout: 30_000 }).toMatchObject({ connected: true });
    const killed = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGKILL');
    await killed;
    await serve(Number(new URL(url).port));
    await expect.poll(() => seen('py-3'), { timeout: 60_000 }).toMatchObject({ status: 'HEALTHY', connected: true });
    expect(await runWorkflow('python/wordcount', { text: 'again' })).toMatchObject({
      state: 'COMPLETED',
      workerName: 'py-3',
    });
    expect(await stop(python)).toBe(0);
  }, 180_000);

  it('reports a handler that throws as a failed execution', async () => {
    const python = run('python3', [join(ROOT, 'examples/python/worker.py')], {
      MUSTER_SERVER: url,
      MUSTER_TOKEN: token,
      MUSTER_WORKER_NAME: 'py-2',
    });
    await expect.poll(() => seen('py-2'), { timeout: 30_000 }).toMatchObject({ connected: true });
    expect(await runWorkflow('python/wordcount', { no: 'text' })).toMatchObject({
      state: 'FAILED',
      workerName: 'py-2',
    });
    await stop(python);
  }, 90_000);
});

describe('the TypeScript workflows', () => {
  it('run in a program of their own', async () => {
    const program = run(process.execPath, ['--import', 'tsx', join(ROOT, 'examples/typescript/worker.ts')], {
      MUSTER_SERVER: url,
      MUSTER_TOKEN: token,
      MUSTER_WORKER_NAME: 'ts-program',
    });
    await expect
      .poll(() => seen('ts-program'), { timeout: 60_000 })
      .toMatchObject({ status: 'HEALTHY', connected: true });
    expect(await runWorkflow('examples/wait', { seconds: 0 })).toMatchObject({
      state: 'COMPLETED',
      output: 'waited 0 s',
    });
    expect(await stop(program)).toBe(0);
  }, 120_000);

  it('run in `muster worker start FILE`, where the policy wants them', async () => {
    const args = [
      'worker',
      'start',
      'examples/typescript/flows.ts',
      '--role',
      'worker',
      '--server',
      url,
      '--token',
      token,
    ];
    const workers = ['eu', 'us'].map((region) =>
      run(process.execPath, [...CLI, ...args, '--name', `ts-${region}`, '--label', `region=${region}`], {}),
    );
    for (const region of ['eu', 'us']) {
      await expect
        .poll(() => seen(`ts-${region}`), { timeout: 60_000 })
        .toMatchObject({
          status: 'HEALTHY',
          version: await releasedVersion(),
          connected: true,
          labels: [{ key: 'region', value: region }],
          workflows: ['examples/statistics', 'examples/wait'],
        });
    }
    expect(await runWorkflow('examples/statistics', { text: 'one two\nthree', region: 'us' })).toMatchObject({
      state: 'COMPLETED',
      workerName: 'ts-us',
      output: { characters: 13, words: 3, lines: 2 },
    });
    expect(await Promise.all(workers.map(stop))).toEqual([0, 0]);
  }, 120_000);
});
