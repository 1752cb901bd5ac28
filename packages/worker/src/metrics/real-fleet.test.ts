import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Client,
  ExecutionStateDocument,
  ExecutionWhyDocument,
  WorkerShowDocument,
  WorkflowRunDocument,
} from '@muster/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { RealServer } from '../testing/real-server.ts';

const program = fileURLToPath(new URL('../testing/fleet-worker.ts', import.meta.url));
const patience = { timeout: 90_000, interval: 100 };
const server = new RealServer({ MUSTER_HEARTBEAT_SECONDS: '1' });
const dir = mkdtempSync(join(tmpdir(), 'muster-fleet-'));
const processes: ChildProcess[] = [];
let client: Client;

beforeAll(async () => {
  await server.start();
  client = server.client;
});

afterEach(async () => {
  await Promise.all(
    processes.splice(0).map(async (child) => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }),
  );
});

afterAll(async () => {
  await server.remove();
  rmSync(dir, { recursive: true });
});

/** Starts a worker in a process of its own, and waits until it is given work. */
async function start(name: string, mood = ''): Promise<ChildProcess> {
  const options = { server: server.url, token: server.token, name };
  const child = fork(program, [JSON.stringify(options), mood], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  processes.push(child);
  await expect.poll(async () => (await show(name)).eligible, patience).toBe(true);
  return child;
}

async function show(name: string) {
  const { worker } = await client.request(WorkerShowDocument, { name });
  return worker ?? { eligible: false, status: 'OFFLINE', checks: [], metrics: [], lastSeenAt: '' };
}

async function metric(worker: string, key: string): Promise<number | undefined> {
  return (await show(worker)).metrics.find((one) => one.key === key)?.value;
}

async function run(name: string, input: unknown, options: { requiredWorker?: string; waitSeconds?: number } = {}) {
  const { runWorkflow } = await client.request(WorkflowRunDocument, {
    input: { workflow: `fleet/${name}`, input, waitSeconds: 60, ...options },
  });
  return runWorkflow.execution;
}

/** What the newest decision of an execution read of the first term, by worker. */
async function read(id: string) {
  const { execution } = await client.request(ExecutionWhyDocument, { id });
  const candidates = execution?.latestDecision?.candidates ?? [];
  return Object.fromEntries(candidates.map(({ worker, cells }) => [worker, cells[0]]));
}

test('work that ranks by loop lag stays away from a worker whose loop is blocked', async () => {
  await Promise.all([start('a-blocked'), start('b-calm')]);
  const gate = join(dir, 'gate');
  const hog = await run('hog', gate, { requiredWorker: 'a-blocked', waitSeconds: 0 });
  const key = 'flux.loop_lag_p95_seconds';
  await expect.poll(() => metric('a-blocked', key), patience).toBeGreaterThan(0.2);
  // On a machine that is busy with other things, no loop is punctual; a blocked one stands out all the same.
  await expect
    .poll(async () => ((await metric('b-calm', key)) ?? 9) < ((await metric('a-blocked', key)) ?? 0) / 2, patience)
    .toBe(true);
  const placed = await run('calm', null);
  expect(placed).toMatchObject({ state: 'COMPLETED', workerName: 'b-calm' });
  const cells = await read(placed.id);
  expect(cells['a-blocked']).toMatchObject({ state: 'SCORED', normalised: 0, valueAgeMs: expect.any(Number) });
  expect(cells['b-calm']).toMatchObject({ state: 'SCORED', normalised: 1, valueAgeMs: expect.any(Number) });
  expect(Number(cells['a-blocked']?.value)).toBeGreaterThan(Number(cells['b-calm']?.value));
  writeFileSync(gate, '');
  await expect
    .poll(async () => (await client.request(ExecutionStateDocument, { id: hog.id })).execution?.state, patience)
    .toBe('COMPLETED');
}, 240_000);

test('work that prefers a low crash rate stays away from a worker whose processes crash', async () => {
  await Promise.all([start('a-crashing'), start('b-sound')]);
  // Equal so far, the first by name takes it.
  expect(await run('safe', null)).toMatchObject({ workerName: 'a-crashing' });
  expect(await run('any', null, { requiredWorker: 'b-sound' })).toMatchObject({ state: 'COMPLETED' });
  for (let i = 0; i < 2; i += 1) {
    expect(await run('crash', null, { requiredWorker: 'a-crashing' })).toMatchObject({
      state: 'FAILED',
      error: { type: 'CrashError', message: expect.stringContaining('SIGABRT') },
    });
  }
  const key = 'flux.crash_rate';
  await expect.poll(() => metric('a-crashing', key), patience).toBe(0.6667);
  await expect.poll(() => metric('b-sound', key), patience).toBe(0);
  const placed = await run('safe', null);
  expect(placed).toMatchObject({ state: 'COMPLETED', workerName: 'b-sound' });
  const cells = await read(placed.id);
  expect(cells['a-crashing']).toMatchObject({ value: 0.6667, weighted: 0, valueAgeMs: expect.any(Number) });
  expect(cells['b-sound']).toMatchObject({ value: 0, weighted: 10 });
}, 240_000);

test('an attempt whose process dies is made again, with what its steps have recorded', async () => {
  const child = await start('a-surviving');
  const file = join(dir, 'written');
  expect(await run('fragile', file)).toMatchObject({
    state: 'COMPLETED',
    output: { written: 1, finished: 2 },
    attempt: 2,
    workerName: 'a-surviving',
  });
  expect(readFileSync(file, 'utf8')).toBe('attempt 1');
  expect(child.exitCode).toBeNull();
}, 240_000);

test('a worker whose loop stands still for two seconds is unhealthy, says why, and comes back', async () => {
  await start('a-standing');
  const seen: string[] = [];
  await run('block', 2_000, { requiredWorker: 'a-standing', waitSeconds: 0 });
  await expect
    .poll(async () => {
      const { status, checks } = await show('a-standing');
      if (status === 'UNHEALTHY') seen.push(checks.find((check) => check.name === 'event-loop')?.message ?? '');
      return seen.length;
    }, patience)
    .toBeGreaterThan(0);
  expect(seen[0]).toMatch(/the event loop stood still for [12]\.\d s/);
  await expect.poll(async () => (await show('a-standing')).status, patience).toBe('HEALTHY');
  expect((await show('a-standing')).checks).toContainEqual({ name: 'event-loop', healthy: true, message: null });
}, 240_000);

test.each(['throw', 'garbage', 'hang'])(
  'a provider that comes to %s changes nothing',
  async (mood) => {
    const file = join(dir, mood);
    const name = `provider-${mood}`;
    writeFileSync(file, '4');
    const child = await start(name, file);
    let calls = 0;
    child.on('message', (count: number) => {
      calls = count;
    });
    await expect.poll(() => metric(name, 'depth'), patience).toBe(4);
    writeFileSync(file, mood);
    const before = calls;
    await expect.poll(() => calls, patience).toBeGreaterThan(before + 1);
    // Heartbeats go on, with the last values.
    for (let i = 0; i < 2; i += 1) {
      const { lastSeenAt } = await show(name);
      await expect.poll(async () => (await show(name)).lastSeenAt !== lastSeenAt, patience).toBe(true);
    }
    const { metrics, eligible } = await show(name);
    expect(eligible).toBe(true);
    expect(metrics.filter((one) => !one.builtin).map(({ key, value, stale }) => [key, value, stale])).toEqual([
      ['depth', 4, false],
    ]);
    expect(metrics.find((one) => one.key === 'flux.slots_free')).toBeUndefined();
    if (mood === 'hang') return;
    writeFileSync(file, '5');
    await expect.poll(() => metric(name, 'depth'), patience).toBe(5);
  },
  240_000,
);
