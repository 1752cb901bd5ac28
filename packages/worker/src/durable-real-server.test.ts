import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  type Client,
  ExecutionCancelDocument,
  ExecutionResumeDocument,
  ExecutionShowDocument,
  WorkerShowDocument,
  WorkflowRunDocument,
} from '@muster/client';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { RetryableError } from './execution-context.ts';
import { Executions } from './executions.ts';
import { RealServer } from './testing/real-server.ts';
import { Worker } from './worker.ts';
import type { WorkerOptions } from './worker-options.ts';
import { type Workflow, workflow } from './workflow.ts';

const patience = { timeout: 60_000, interval: 100 };
const program = fileURLToPath(new URL('testing/durable-worker.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'muster-durable-'));
// A server that has just started trusts in silence only before it takes a worker for lost; so that is made short.
const server = new RealServer({
  MUSTER_HEARTBEAT_SECONDS: '1',
  MUSTER_STALE_SECONDS: '10',
  MUSTER_OFFLINE_SECONDS: '15',
});
const started: Worker[] = [];
const programs: ChildProcess[] = [];
let client: Client;

beforeAll(async () => {
  await server.start();
  client = server.client;
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true });
});
afterEach(async () => {
  for (const child of programs.splice(0)) child.kill('SIGKILL');
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
  writeFileSync(join(folder, 'lines'), '');
});

const onDuty = (name: string) =>
  expect.poll(async () => (await client.request(WorkerShowDocument, { name })).worker?.eligible, patience).toBe(true);

async function start(workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}): Promise<Worker> {
  const worker = new Worker({
    server: server.url,
    token: server.token,
    name: `w-${started.length + 1}`,
    role: 'worker',
    workflows,
    signals: false,
    log: () => undefined,
    ...options,
  });
  started.push(worker);
  worker.run().catch(() => undefined);
  await worker.ready;
  await onDuty(worker.name);
  return worker;
}

/** The worker of testing/durable-worker.ts in a process of its own. */
async function spawnWorker(name: string): Promise<ChildProcess> {
  const args = ['--import', import.meta.resolve('tsx'), program, server.url, server.token, name, folder];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  programs.push(child);
  await onDuty(name);
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await gone;
}

async function run(ref: string, input: unknown = null): Promise<string> {
  const { runWorkflow } = await client.request(WorkflowRunDocument, { input: { workflow: ref, input } });
  return runWorkflow.execution.id;
}

async function show(id: string) {
  const { execution } = await client.request(ExecutionShowDocument, { id });
  if (execution === null) throw new Error(`There is no ${id}.`);
  return execution;
}

const becomes = (id: string, state: string) => expect.poll(async () => (await show(id)).state, patience).toBe(state);
const lines = (): string[] => readFileSync(join(folder, 'lines'), 'utf8').split('\n').filter(Boolean);
const flow = <TInput = null>(name: string, handler: Workflow<TInput>['handler']): Workflow =>
  workflow({ namespace: 'durable', name }, handler);

describe('a worker that is killed', () => {
  test('in the middle: what was recorded is not run again, wherever it goes on', async () => {
    const first = await spawnWorker('killed-1');
    const id = await run('durable/steady');
    await expect.poll(() => lines().includes('c begins'), patience).toBe(true);
    await spawnWorker('killed-2');
    await kill(first);
    writeFileSync(join(folder, 'go'), '');
    await becomes(id, 'COMPLETED');
    expect(await show(id)).toMatchObject({
      workerName: 'killed-2',
      attempt: 2,
      output: { order: ['a', 'b', 'c'], sameClock: true },
    });
    expect(lines()).toEqual(['b', 'a', 'c begins', 'c begins', 'c']);
  }, 180_000);

  test('while it waits: the pause goes on, on another worker', async () => {
    const first = await spawnWorker('waits-1');
    const id = await run('durable/approval');
    await becomes(id, 'PAUSED');
    await kill(first);
    await spawnWorker('waits-2');
    await client.request(ExecutionResumeDocument, { input: { id, input: { approved: true } } });
    await becomes(id, 'COMPLETED');
    expect(await show(id)).toMatchObject({
      workerName: 'waits-2',
      attempt: 1,
      output: { before: 'before', input: { approved: true }, after: 'after' },
    });
    expect(lines()).toEqual(['before', 'after', 'left on waits-2']);
  }, 180_000);
});

describe('waits', () => {
  test('a long sleep frees the slot, and its end wakes the execution', async () => {
    const sleeps = flow('sleeps', async (ctx) => {
      await ctx.sleep(1_500);
      return ctx.generation;
    });
    await start([sleeps, flow('other', () => 'meanwhile')], { capacity: 1, longSleepMs: 500 });
    const id = await run('durable/sleeps');
    await becomes(id, 'PAUSED');
    const other = await run('durable/other');
    await becomes(other, 'COMPLETED');
    await becomes(id, 'COMPLETED');
    expect((await show(id)).output).toBeGreaterThan(1);
  });

  test('a parent on a worker with one slot does not stand in the way of its children', async () => {
    const ran: string[] = [];
    const child = flow<number>('child', async (ctx, n) => {
      if (n === 2) await ctx.pause('two');
      if (n === 3) throw new RangeError('three is too much');
      return n * 10;
    });
    const parent = flow('parent', async (ctx) => {
      const results = await Promise.allSettled(
        [1, 2, 3].map(async (n) => {
          const result = await ctx.call<number>('durable/child', n);
          return await ctx.task('note', () => {
            ran.push(`${n} gave ${result}`);
            return result;
          });
        }),
      );
      return results.map((one) => (one.status === 'fulfilled' ? one.value : (one.reason as Error).name));
    });
    await start([parent, child], { capacity: 1 });
    const id = await run('durable/parent');
    await expect.poll(() => ran, patience).toEqual(['1 gave 10']);
    const states = async () => (await childrenOf(id)).map((one) => one.state).toSorted();
    await expect.poll(states, patience).toEqual(['COMPLETED', 'FAILED', 'PAUSED']);
    await expect.poll(async () => (await show(id)).why, patience).toMatch(/child/i);
    const waiting = (await childrenOf(id)).find((one) => one.state === 'PAUSED');
    await client.request(ExecutionResumeDocument, { input: { id: waiting?.id ?? '', input: null } });
    await becomes(id, 'COMPLETED');
    expect((await show(id)).output).toEqual([10, 20, 'RangeError']);
    expect(ran).toEqual(['1 gave 10', '2 gave 20']);
    expect(await childrenOf(id)).toHaveLength(3);
  }, 180_000);

  test('a call of what is not registered throws, and is recorded', async () => {
    const asks = flow('asks', (ctx) => ctx.call('durable/none', null).catch((error: Error) => error.name));
    await start([asks]);
    const id = await run('durable/asks');
    await becomes(id, 'COMPLETED');
    expect((await show(id)).output).toBe('CallError');
  });

  test('a transient call has no execution; with routing input it has one, and the values are nowhere', async () => {
    const child = flow<{ n: number }>('near', (ctx, { n }) => [n, ctx.executionId.includes(':')]);
    const parent = flow('asks', (ctx) =>
      Promise.all([
        ctx.call('durable/near', { n: 1 }, { transient: true }),
        ctx.call('durable/near', { n: 2 }, { transient: true, routingInput: { cohort: 'canary-5b21' } }),
      ]),
    );
    await start([parent, child]);
    const id = await run('durable/asks');
    await becomes(id, 'COMPLETED');
    expect((await show(id)).output).toEqual([
      [1, true],
      [2, false],
    ]);
    const children = await childrenOf(id);
    expect(children).toHaveLength(1);
    const said = JSON.stringify([await show(id), await Promise.all(children.map((one) => show(one.id)))]);
    expect(said).not.toContain('canary-5b21');
  });

  test('a cancelled execution that waits ends at once', async () => {
    const left: string[] = [];
    const waits = flow('waits', async (ctx) => {
      try {
        await ctx.pause('for ever');
      } finally {
        left.push('left');
      }
    });
    await start([waits]);
    const id = await run('durable/waits');
    await becomes(id, 'PAUSED');
    await client.request(ExecutionCancelDocument, { id });
    await becomes(id, 'CANCELLED');
    expect(left).toEqual([]);
  });
});

describe('attempts', () => {
  test('a retryable failure is tried again with everything recorded still there', async () => {
    const ran: string[] = [];
    const fickle = flow('fickle', async (ctx) => {
      await ctx.task('once', () => ran.push('once'));
      return await ctx.task('flaky', () => {
        ran.push(`try ${ctx.attempt}`);
        if (ctx.attempt < 3) throw new RetryableError('not yet');
        return ctx.attempt;
      });
    });
    await start([fickle]);
    const id = await run('durable/fickle');
    await becomes(id, 'COMPLETED');
    expect(await show(id)).toMatchObject({ attempt: 3, output: 3 });
    expect(ran).toEqual(['once', 'try 1', 'try 2', 'try 3']);
  });

  test('more waits than attempts are no failure', async () => {
    const patient = flow('patient', async (ctx) => {
      for (let n = 0; n < 5; n += 1) await ctx.sleep(20);
      return ctx.attempt;
    });
    await start([patient], { longSleepMs: 0 });
    const id = await run('durable/patient');
    await becomes(id, 'COMPLETED');
    expect((await show(id)).output).toBe(1);
  });

  test('a handler that does something else the second time fails for good', async () => {
    let runs = 0;
    const changing = flow('changing', async (ctx) => {
      runs += 1;
      await ctx.task(`run ${runs}`, () => null);
      throw new RetryableError('again');
    });
    await start([changing]);
    const id = await run('durable/changing');
    await becomes(id, 'FAILED');
    expect(await show(id)).toMatchObject({
      attempt: 2,
      error: { type: 'NonDeterminismError', message: expect.stringContaining('At position 0 TASK "run 1"') },
    });
  });

  test('six hundred steps come back in pages', async () => {
    let ran = 0;
    const long = flow('long', async (ctx) => {
      let sum = 0;
      for (let n = 0; n < 600; n += 1) sum += await ctx.task('add', () => ((ran += 1), n));
      await ctx.pause('look');
      return sum;
    });
    await start([long]);
    const id = await run('durable/long');
    await becomes(id, 'PAUSED');
    await client.request(ExecutionResumeDocument, { input: { id, input: null } });
    await becomes(id, 'COMPLETED');
    expect((await show(id)).output).toBe(179_700);
    expect(ran).toBe(600);
  }, 180_000);
});

async function childrenOf(id: string): Promise<readonly { readonly id: string; readonly state: string }[]> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: 'query ($id: ID!) { execution(id: $id) { children(first: 50) { nodes { id state } } } }',
      variables: { id },
    }),
  });
  const { data } = (await response.json()) as {
    data: { execution: { children: { nodes: { id: string; state: string }[] } } };
  };
  return data.execution.children.nodes;
}

describe('a worker that forgets a claim', () => {
  test('loses it at the server too, and the execution goes on under a new generation', async () => {
    const assigned = vi.spyOn(Executions.prototype, 'assign');
    const generations: number[] = [];
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const forgetful = flow('forgotten', async (context) => {
      generations.push(context.generation);
      if (context.attempt === 1) await gate;
      return context.attempt;
    });
    try {
      await start([forgetful]);
      const id = await run('durable/forgotten');
      await expect.poll(() => generations.length, patience).toBe(1);
      const executions = assigned.mock.contexts.at(-1) as Executions;
      // As if it had been told that the claim is lost: it aborts, forgets, and has nothing to report.
      executions.lose(id, generations[0] ?? 0);
      expect(executions.claims()).toEqual([]);
      await becomes(id, 'COMPLETED');
      const { output, attempts } = await show(id);
      expect(output).toBe(2);
      expect(attempts.find((attempt) => attempt.number === 1)).toMatchObject({
        number: 1,
        outcome: 'WORKER_LOST',
        error: { type: 'WorkerLostError', message: 'the worker no longer lists this execution' },
      });
      expect(generations).toEqual([generations[0], (generations[0] ?? 0) + 2]);
    } finally {
      open();
      assigned.mockRestore();
    }
  });
});
