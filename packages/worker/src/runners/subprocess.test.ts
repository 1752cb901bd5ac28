import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { RunEvent, RunHost, RunJob, StepWrite } from '../run-host.ts';
import * as flows from '../testing/child-flows.ts';
import { SubprocessRunner, type SubprocessRunnerOptions } from './subprocess.ts';

const patience = { timeout: 30_000, interval: 20 };
const runners: SubprocessRunner[] = [];

afterEach(() => {
  for (const runner of runners.splice(0)) runner.close();
});

function make(options: Partial<SubprocessRunnerOptions> = {}): SubprocessRunner {
  const runner = new SubprocessRunner({
    memoryLimitMb: 512,
    warm: 0,
    workflows: new Map(Object.values(flows).map((one) => [one.ref, one])),
    moduleLoader: undefined,
    token: 'secret-token',
    joinToken: undefined,
    longSleepMs: 30_000,
    graceMs: 100,
    transientCalls: true,
    log: () => undefined,
    ...options,
  });
  runners.push(runner);
  return runner;
}

function job(name: string, input: unknown = null): RunJob {
  return {
    executionId: 'ex_1',
    generation: 1,
    workflow: `child/${name}`,
    version: 1,
    runner: 'subprocess',
    attempt: 2,
    maxAttempts: 3,
    timeoutSeconds: null,
    access: { server: 'http://127.0.0.1:1', token: 'msx_test', worker: 'w' },
    input,
    steps: [],
  };
}

class Host implements RunHost {
  readonly events: RunEvent[] = [];
  readonly steps: StepWrite[] = [];
  readonly suspends: (readonly number[])[] = [];

  async event(event: RunEvent): Promise<void> {
    await delay(1);
    this.events.push(event);
  }
  recordStep(step: StepWrite) {
    this.steps.push(step);
    return Promise.resolve({ status: 'taken' as const });
  }
  call() {
    return Promise.resolve({ status: 'lost' as const });
  }
  suspend(positions: readonly number[]) {
    this.suspends.push(positions);
    return Promise.resolve({ status: 'taken' as const });
  }
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('a handler in a process of its own', () => {
  test('is found by its module, gets its input, and what it says arrives before its end', async () => {
    const host = new Host();
    const settled = await make().start(job('echo', { n: 1 }), host).settled;
    expect(settled).toMatchObject({ kind: 'returned', output: { input: { n: 1 }, attempt: 2 } });
    const pid = (settled as { output: { pid: number } }).output.pid;
    expect(pid).not.toBe(process.pid);
    expect(host.events).toEqual([{ type: 'log', data: { message: 'seen', pid } }]);
    await expect.poll(() => alive(pid), patience).toBe(false);
  });

  test('records steps and suspends like any other, and its process ends', async () => {
    const host = new Host();
    const settled = await make().start(job('steps'), host).settled;
    expect(settled).toEqual({ kind: 'suspended' });
    expect(host.steps).toMatchObject([
      { position: 0, kind: 'TASK', name: 'first', done: true, result: 1 },
      { position: 1, kind: 'RESUME', name: 'approval', done: false },
    ]);
    expect(host.suspends).toEqual([[1]]);
  });

  test('replays what was recorded', async () => {
    const steps = [
      { position: 0, kind: 'TASK', name: 'first', done: true, result: 10, generation: 1, order: 0 },
      { position: 1, kind: 'RESUME', name: 'approval', done: true, result: 'yes', generation: 1 },
    ] as const;
    const host = new Host();
    const settled = await make().start({ ...job('steps'), steps }, host).settled;
    expect(settled).toEqual({ kind: 'returned', output: { first: 10, answer: 'yes' } });
    expect(host.steps).toEqual([]);
  });

  test('fails as what it throws', async () => {
    expect(await make().start(job('fail'), new Host()).settled).toMatchObject({
      kind: 'threw',
      error: {
        type: 'RangeError',
        message: 'as asked',
        retryable: false,
        stack: expect.stringContaining('child-flows'),
      },
    });
  });

  test('does not see the token of the worker, under whatever name', async () => {
    const kept = { ...process.env };
    Object.assign(process.env, {
      MUSTER_TOKEN: 'other',
      MY_URL: 'http://x?t=secret-token',
      MINE: 'secret-token',
      HARMLESS: 'yes',
    });
    const settled = await make().start(job('environment'), new Host()).settled;
    process.env = kept;
    expect(settled).toMatchObject({ kind: 'returned', output: { HARMLESS: 'yes' } });
    expect(JSON.stringify(settled)).not.toContain('secret-token');
    expect((settled as { output: object }).output).not.toHaveProperty('MUSTER_TOKEN');
  });

  test('that this worker cannot find is for another one', async () => {
    expect(await make({ workflows: new Map() }).start(job('echo'), new Host()).settled).toMatchObject({
      error: { type: 'RunnerError', message: expect.stringContaining('module: import.meta.url'), retryable: true },
    });
  });

  test('that its module does not declare fails for good', async () => {
    const misplaced = { ...flows.echo, ref: 'child/misplaced' };
    const workflows = new Map([['child/misplaced', misplaced]]);
    expect(await make({ workflows }).start(job('misplaced'), new Host()).settled).toMatchObject({
      error: {
        type: 'RunnerError',
        message: expect.stringContaining('declares no workflow child/misplaced'),
        retryable: false,
      },
    });
  });
});

describe('a process that dies', () => {
  test.each([
    ['exit', /ended with code 3 before the handler did\.\nThe end of its stderr:\nx+\nlast words$/],
    ['signal', /ended by SIGSEGV before the handler did/],
    ['throw', /ended with code \d+ before[^]*Error: out of nowhere/],
  ])(
    'by %s fails the attempt as crashed, with the end of its stderr',
    async (how, message) => {
      const settled = await make().start(job('die', { how }), new Host()).settled;
      expect(settled).toMatchObject({
        kind: 'threw',
        error: { type: 'CrashError', message: expect.stringMatching(message), retryable: true },
      });
      expect((settled as { error: { message: string } }).error.message.length).toBeLessThan(2_200);
    },
    60_000,
  );

  test.each(['heap', 'buffers'])(
    'by its memory (%s) says so',
    async (how) => {
      const settled = await make({ memoryLimitMb: 192 }).start(job('die', { how }), new Host()).settled;
      expect(settled).toMatchObject({
        error: { type: 'CrashError', message: expect.stringContaining('took more than its 192 MiB of memory') },
      });
    },
    120_000,
  );
});

describe('an abort', () => {
  test('reaches the handler', async () => {
    const host = new Host();
    const handler = make().start(job('wait'), host);
    await expect.poll(() => host.events.length, patience).toBe(1);
    handler.abort('cancelled');
    expect(await handler.settled).toMatchObject({
      kind: 'threw',
      error: { type: 'AbortError', message: 'The execution was cancelled.' },
    });
  });

  test('that is not heeded ends in the death of the process, and of what it has started', async () => {
    const host = new Host();
    const handler = make().start(job('block'), host);
    await expect.poll(() => host.events.length, patience).toBe(1);
    const pids = host.events[0]?.data as number[];
    expect(pids.map(alive)).toEqual([true, true]);
    handler.abort('timed out');
    handler.giveUp();
    expect(await handler.settled).toMatchObject({ kind: 'threw', error: { type: 'AbortError' } });
    await expect.poll(() => pids.map(alive), patience).toEqual([false, false]);
  });

  test('for a lost claim does so by itself', async () => {
    const host = new Host();
    const handler = make().start(job('block'), host);
    await expect.poll(() => host.events.length, patience).toBe(1);
    handler.abort('lost');
    expect(await handler.settled).toMatchObject({ kind: 'threw' });
  });
});
