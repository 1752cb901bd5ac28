import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cleanEnvironment, freePort, musterCommand, root } from '../support/server.ts';
import { until } from '../support/until.ts';

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

function run(command: string, args: readonly string[], env: Record<string, string>): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      env: { ...cleanEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.on('close', (code) => resolve({ code, output }));
  });
}

let dataDir: string;
let port: number;
let child: ChildProcess;
let output = '';

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'muster-start-'));
  port = await freePort();
  child = spawn('npm', ['start'], {
    cwd: root,
    env: { ...cleanEnvironment(), PORT: String(port), MUSTER_DATA_DIR: dataDir },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const keep = (chunk: Buffer) => {
    output += chunk.toString('utf8');
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  await until('npm start has printed its curl command', () => /^.*curl .*runDeployment.*$/m.test(output), 90);
});
afterAll(async () => {
  if (child.exitCode === null) {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    await ended;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

test('the printed link opens the app and its code signs in, once', async () => {
  const [, url = '', code = ''] = /(http:\/\/[^\s/]+)\/#login=(\S+)/.exec(output) ?? [];
  expect(url).toBe(`http://127.0.0.1:${port}`);
  const page = await fetch(`${url}/`);
  expect(page.headers.get('content-type')).toContain('text/html');
  const signIn = () =>
    fetch(`${url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ code: decodeURIComponent(code) }),
    });
  const first = await signIn();
  expect(first.ok).toBe(true);
  expect(first.headers.get('set-cookie')).toMatch(new RegExp(`^muster_${port}=.*HttpOnly.*SameSite=Strict`, 'i'));
  expect((await signIn()).ok).toBe(false);
});

test('the printed curl runs an execution and prints where it went and why', async () => {
  const command = /^.*?(curl .*runDeployment[\s\S]*?)(?:\n\s*\n|$)/m.exec(output)?.[1] ?? '';
  const { code, output: answer } = await run('bash', ['-c', command], {});
  expect(code, answer).toBe(0);
  const { data } = JSON.parse(answer.slice(answer.indexOf('{')));
  expect(data.runDeployment.execution).toMatchObject({
    state: 'COMPLETED',
    workerName: expect.any(String),
    why: expect.stringMatching(/\w/),
  });

  // Its decision names winner, terms, values and scores.
  const id: string = data.runDeployment.execution.id;
  const token = readFileSync(path.join(dataDir, 'admin-token'), 'utf8').trim();
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: `query Why($id: ID!) { execution(id: $id) { latestDecision {
        outcome winner method terms { text weight } candidates { worker total rejected cells { state value normalised weighted } }
      } } }`,
      variables: { id },
    }),
  });
  const { latestDecision } = (await response.json()).data.execution;
  expect(latestDecision).toMatchObject({
    outcome: 'ASSIGNED',
    winner: data.runDeployment.execution.workerName,
    method: 'ROUTING',
  });
  expect(latestDecision.terms.length).toBeGreaterThan(0);
  const winner = latestDecision.candidates.find(
    (candidate: { worker: string }) => candidate.worker === latestDecision.winner,
  );
  expect(winner.cells).toHaveLength(latestDecision.terms.length);
  const sum = winner.cells.reduce(
    (total: number, cell: { weighted: number | null }) => total + (cell.weighted ?? 0),
    0,
  );
  expect(winner.total).toBeCloseTo(sum, 9);
  expect(winner.cells.some((cell: { value: unknown }) => cell.value !== null)).toBe(true);
});

test('a second server on the same data directory says so in one sentence', async () => {
  const other = String(await freePort());
  const { code, output: said } = await run(process.execPath, [musterCommand, 'serve', '--no-demo'], {
    PORT: other,
    MUSTER_DATA_DIR: dataDir,
  });
  expect(code).toBeGreaterThan(0);
  const lines = said
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(dataDir);
});

test('a port that is taken is named in one sentence', async () => {
  const otherDir = mkdtempSync(path.join(tmpdir(), 'muster-port-'));
  const { code, output: said } = await run(process.execPath, [musterCommand, 'serve', '--no-demo'], {
    PORT: String(port),
    MUSTER_DATA_DIR: otherDir,
  });
  rmSync(otherDir, { recursive: true, force: true });
  expect(code).toBeGreaterThan(0);
  const lines = said
    .trim()
    .split('\n')
    .filter((line) => !line.startsWith('{'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain(String(port));
});

test('SIGTERM ends it gracefully, with its workers', async () => {
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  child.kill('SIGTERM');
  await ended;
  await until('the port is free', async () => !(await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null)));
  const { output: processes } = await run('ps', ['-eo', 'args'], {});
  expect(processes.split('\n').filter((line) => line.includes(`127.0.0.1:${port}`))).toEqual([]);
});
