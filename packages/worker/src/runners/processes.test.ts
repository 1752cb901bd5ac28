import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProtocolServer } from '../testing/protocol-server.ts';

const program = fileURLToPath(new URL('../testing/child-worker.ts', import.meta.url));
const patience = { timeout: 40_000, interval: 20 };

let server: ProtocolServer;
const workers: ChildProcess[] = [];
const dir = mkdtempSync(join(tmpdir(), 'muster-runners-'));
const lock = join(dir, 'lock');

afterAll(() => rmSync(dir, { recursive: true }));

beforeEach(async () => {
  server = new ProtocolServer();
  server.heartbeatSeconds = 0.1;
  await server.start();
});

afterEach(async () => {
  for (const worker of workers.splice(0)) worker.kill('SIGKILL');
  await server.stop();
});

/** Starts a worker in a process of its own, and waits until it is on duty. */
async function start(options: object = {}) {
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), program, server.url, JSON.stringify(options)],
    // A group of its own, as a shell or a service manager makes one.
    { detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  workers.push(child);
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await expect.poll(() => server.inboxes.length, patience).toBeGreaterThan(0);
  return { child, lines, exit };
}

const events = (type: string) => server.items('events').filter((event) => event['type'] === type);
const ends = () => server.items('ends');

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a worker with processes', () => {
  test('offers both runners, and lives on when a process dies', async () => {
    const { child } = await start();
    expect(server.registrations[0]?.['runners']).toEqual(['inprocess', 'subprocess']);
    server.assign(['ex_1'], 'child/die', { claim: { input: { how: 'signal' }, workflowRunner: 'subprocess' } });
    await expect
      .poll(ends, patience)
      .toMatchObject([{ id: 'ex_1', state: 'FAILED', error: { type: 'CrashError', retryable: true } }]);
    await expect
      .poll(() => server.heartbeats.at(-1)?.['metrics'], patience)
      .toMatchObject({ 'flux.crash_rate': 1, 'flux.failure_rate': 1, 'flux.running_executions': 0 });
    server.assign(['ex_2'], 'child/echo', { claim: { input: 'next', workflowRunner: 'subprocess' } });
    await expect.poll(ends, patience).toMatchObject([{}, { id: 'ex_2', state: 'COMPLETED' }]);
    await expect
      .poll(() => server.heartbeats.at(-1)?.['metrics'], patience)
      .toMatchObject({ 'flux.crash_rate': 0.5, 'flux.startup_overhead_seconds': expect.any(Number) });
    expect(child.exitCode).toBeNull();
  });

  test('in the file of the workflow starts once: its processes run the handler only', async () => {
    await start();
    server.assign(['ex_1'], 'child/single', { claim: { workflowRunner: 'subprocess' } });
    await expect
      .poll(ends, patience)
      .toMatchObject([{ id: 'ex_1', state: 'COMPLETED', output: 'declared after the workflow' }]);
    expect(server.registrations).toHaveLength(1);
  });

  test('runs a workflow whose version asks for no runner in its own process', async () => {
    const { child } = await start();
    server.assign(['ex_1'], 'child/echo', { claim: { workflowRunner: null } });
    await expect.poll(ends, patience).toMatchObject([{ output: { pid: child.pid } }]);
  });

  test('ends a process that heeds neither cancel nor timeout, after the grace', async () => {
    await start({ graceSeconds: 0.2 });
    server.assign(['ex_1'], 'child/block', { claim: { workflowRunner: 'subprocess' } });
    server.assign(['ex_2'], 'child/block', { claim: { workflowRunner: 'subprocess', timeoutSeconds: 1 } });
    await expect.poll(() => events('pids').map((event) => event.id), patience).toContain('ex_1');
    server.push({ cancels: [{ id: 'ex_1', generation: 1 }] });
    await expect.poll(ends, patience).toHaveLength(2);
    expect(ends().toSorted((left, right) => left.id.localeCompare(right.id))).toMatchObject([
      { id: 'ex_1', state: 'CANCELLED' },
      { id: 'ex_2', state: 'FAILED', error: { type: 'TimeoutError' } },
    ]);
    const pids = events('pids').flatMap((event) => event['data'] as number[]);
    await expect.poll(() => pids.filter(alive), patience).toEqual([]);
  });

  test.each([
    { name: 'blocked', workflow: 'child/block' },
    { name: 'waiting', workflow: 'child/start' },
  ])(
    'that is killed leaves no $name process behind, nor what that has started',
    async ({ workflow }) => {
      const { child } = await start();
      server.assign(['ex_1'], workflow, { claim: { workflowRunner: 'subprocess' } });
      await expect.poll(() => events('pids').length, patience).toBe(1);
      const pids = events('pids').flatMap((event) => event['data'] as number[]);
      expect(pids.map(alive)).toEqual([true, true]);
      child.kill('SIGKILL');
      await expect.poll(() => pids.filter(alive), patience).toEqual([]);
    },
    90_000,
  );

  test('told to leave says that it drains, lets what runs finish, and says goodbye', async () => {
    const { child, lines, exit } = await start();
    server.assign(['ex_1'], 'child/until', { claim: { input: `${lock}.1`, workflowRunner: 'subprocess' } });
    server.assign(['ex_2'], 'child/until', { claim: { input: `${lock}.1`, workflowRunner: null } });
    await expect.poll(() => events('waits').length, patience).toBe(2);
    child.kill('SIGTERM');
    await expect.poll(() => server.heartbeats.at(-1)?.['draining'], patience).toBe(true);
    server.assign(['ex_3'], 'child/echo');
    await expect.poll(() => server.items('releases'), patience).toMatchObject([{ id: 'ex_3', reason: 'draining' }]);
    expect(ends()).toEqual([]);
    writeFileSync(`${lock}.1`, '');
    expect(await exit).toBe(0);
    expect(lines.at(-1)).toBe('stopped: drained');
    expect(
      ends()
        .map((end) => [end.id, end['state']])
        .toSorted(),
    ).toEqual([
      ['ex_1', 'COMPLETED'],
      ['ex_2', 'COMPLETED'],
    ]);
    expect(server.log.at(-1)).toBe('WorkerLeave');
  });

  test('told to leave gives back what does not finish in time', async () => {
    const { child, lines, exit } = await start({ drainSeconds: 0.5 });
    server.assign(['ex_1'], 'child/until', { claim: { input: `${lock}.never`, workflowRunner: 'subprocess' } });
    await expect.poll(() => events('waits').length, patience).toBe(1);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(lines.at(-1)).toBe('stopped: stopped');
    expect(server.items('releases')).toMatchObject([{ id: 'ex_1', reason: 'worker stopping' }]);
    expect(server.log.at(-1)).toBe('WorkerLeave');
  });

  test('told twice stops at once and gives back, though its processes get the signal too', async () => {
    const { child, lines, exit } = await start({ graceSeconds: 1 });
    server.assign(['ex_1'], 'child/wait', { claim: { workflowRunner: 'subprocess' } });
    await expect.poll(() => events('pid').length, patience).toBe(1);
    const pid = events('pid')[0]?.['data'] as number;
    process.kill(pid, 'SIGTERM');
    child.kill('SIGTERM');
    await expect.poll(() => server.heartbeats.at(-1)?.['draining'], patience).toBe(true);
    expect(alive(pid)).toBe(true);
    child.kill('SIGTERM');
    expect(await exit).toBe(0);
    expect(lines.at(-1)).toBe('stopped: stopped');
    expect(server.items('releases')).toMatchObject([{ id: 'ex_1', reason: 'worker stopping' }]);
    await expect.poll(() => alive(pid), patience).toBe(false);
  });
});
