import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/graphql.ts';
import { cleanEnvironment, musterCommand, Server } from '../support/server.ts';
import { until } from '../support/until.ts';

/** The two policies that the reference has for built-in metrics, and two ways for a worker to come by bad ones. */
const FLOWS = `
import { spawnSync } from 'node:child_process';
import { workflow } from '@muster/worker';
const name = process.env['MUSTER_WORKER_NAME'];
export const quick = workflow(
  { name: 'quick', routing: 'score(least(metric("flux.loop_lag_p95_seconds"), weight=5), least(load()))' },
  () => name);
export const careful = workflow(
  { name: 'careful', routing: 'score(prefer(metric("flux.crash_rate") < 0.1, weight=10), least(load()))' },
  () => name);
// The loop of the worker stands still, for less than three probes: it is late, not ill.
export const block = workflow({ name: 'block' }, () => void spawnSync('sleep', ['1.5']));
export const plain = workflow({ name: 'plain', runner: 'subprocess' }, () => name);
export const crash = workflow({ name: 'crash', runner: 'subprocess', maxAttempts: 1 }, () => {
  process.kill(process.pid, 'SIGKILL');
});
`;

let server: Server;
let folder: string;
const children: ChildProcess[] = [];
let output = '';

beforeAll(async () => {
  server = await Server.start({ env: { MUSTER_HEARTBEAT_SECONDS: '1' } });
  folder = mkdtempSync(path.join(tmpdir(), 'muster-steering-'));
  writeFileSync(path.join(folder, 'flows.ts'), FLOWS);
  // The first name is the bad one: a tie would fall to it.
  for (const name of ['a-bad', 'b-good']) {
    const child = spawn(process.execPath, [musterCommand, 'worker', 'start', 'flows.ts', '--capacity', '4'], {
      cwd: folder,
      env: { ...cleanEnvironment(), MUSTER_SERVER: server.url, MUSTER_TOKEN: server.token, MUSTER_WORKER_NAME: name },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    children.push(child);
  }
  for (const name of ['a-bad', 'b-good']) await healthy(name);
});
afterAll(async () => {
  for (const child of children) {
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    if (child.exitCode === null) await ended;
  }
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

interface Shown {
  readonly eligible: boolean;
  readonly load: number;
  readonly metrics: Readonly<Record<string, number>>;
}

const headers = (more: Record<string, string> = {}) => ({ authorization: `Bearer ${server.token}`, ...more });
const shown = async (name: string): Promise<Shown> =>
  (await (await fetch(`${server.url}/workers/${name}`, { headers: headers() })).json()) as Shown;
const healthy = (name: string) =>
  until(
    () => `${name} is eligible: ${output}`,
    async () => {
      const worker = await shown(name);
      return worker.eligible && 'flux.loop_lag_p95_seconds' in worker.metrics && worker;
    },
    60,
  );

/** Runs it to its end, bound to a worker where one is given. */
async function run(name: string, bound?: string): Promise<{ id: string; state: string; output: unknown }> {
  const response = await fetch(`${server.url}/workflows/default/${name}/run/sync`, {
    method: 'POST',
    headers: headers(bound === undefined ? {} : { 'X-Flux-Require-Worker': bound }),
  });
  return (await response.json()) as { id: string; state: string; output: unknown };
}

interface Decided {
  readonly execution: {
    readonly latestDecision: {
      readonly winner: string;
      readonly degraded: string | null;
      readonly candidates: { worker: string; cells: { value: unknown; valueAgeMs: number | null }[] }[];
    };
  };
}
const decision = async (id: string) =>
  (
    await ask<{ [key: string]: unknown } & Decided>(
      server,
      'query ($id: ID!) { execution(id: $id) { latestDecision { winner degraded candidates { worker cells { value valueAgeMs } } } } }',
      { id },
    )
  ).execution.latestDecision;

test('least(metric("flux.loop_lag_p95_seconds")) steers away from a worker whose loop really stood still', async () => {
  const lag = async (name: string) => (await shown(name)).metrics['flux.loop_lag_p95_seconds'] ?? 0;
  // One late probe of many is no 95th percentile: it takes some.
  await until(
    'the lag is told',
    async () => {
      expect((await run('block', 'a-bad')).state).toBe('COMPLETED');
      return (await lag('a-bad')) > (await lag('b-good')) + 0.4;
    },
    60,
  );
  expect((await healthy('a-bad')).load).toBe(0);
  for (let round = 0; round < 3; round++) {
    const { id, output: worker } = await run('quick');
    expect(worker).toBe('b-good');
    const { winner, degraded, candidates } = await decision(id);
    expect([winner, degraded]).toEqual(['b-good', null]);
    // Value and age stand in the decision that used them.
    const cell = candidates.find((candidate) => candidate.worker === 'a-bad')?.cells[0];
    expect(Number(cell?.value)).toBeGreaterThan(0.4);
    expect(cell?.valueAgeMs).toBeGreaterThanOrEqual(0);
  }
});

test('prefer(metric("flux.crash_rate") < 0.1) quarantines a worker whose processes really crash', async () => {
  for (const name of ['a-bad', 'b-good']) expect((await run('plain', name)).output).toBe(name);
  expect((await run('careful')).output).toBe('a-bad');
  expect((await run('crash', 'a-bad')).state).toBe('FAILED');
  await until('the crash is told', async () => ((await shown('a-bad')).metrics['flux.crash_rate'] ?? 0) > 0);
  expect((await healthy('a-bad')).metrics['flux.failure_rate']).toBeGreaterThan(0);
  for (let round = 0; round < 3; round++) expect((await run('careful')).output).toBe('b-good');
});
