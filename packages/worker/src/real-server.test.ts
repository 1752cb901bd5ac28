import { type Client, ExecutionShowDocument, WorkerShowDocument, WorkflowRunDocument } from '@muster/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ExecutionContext } from './execution-context.ts';
import { RealServer } from './testing/real-server.ts';
import { Worker } from './worker.ts';
import type { WorkerOptions } from './worker-options.ts';
import { type Workflow, workflow } from './workflow.ts';

const patience = { timeout: 60_000, interval: 100 };
const server = new RealServer();
let client: Client;
const started: Worker[] = [];

beforeAll(async () => {
  await server.start();
  client = server.client;
});
afterAll(() => server.remove());
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
});

async function start(
  name: string,
  workflows: readonly Workflow[],
  options: Partial<WorkerOptions> = {},
): Promise<Worker> {
  const worker = new Worker({
    server: server.url,
    token: server.token,
    name,
    role: 'worker',
    workflows,
    signals: false,
    log: () => undefined,
    ...options,
  });
  started.push(worker);
  worker.run().catch(() => undefined);
  await worker.ready;
  await expect
    .poll(async () => (await client.request(WorkerShowDocument, { name })).worker?.eligible, patience)
    .toBe(true);
  return worker;
}

async function run(ref: string, input: unknown, waitSeconds: number) {
  const { runWorkflow } = await client.request(WorkflowRunDocument, { input: { workflow: ref, input, waitSeconds } });
  return runWorkflow.execution;
}

async function show(id: string) {
  const { execution } = await client.request(ExecutionShowDocument, { id });
  if (execution === null) throw new Error(`There is no ${id}.`);
  return execution;
}

function manual(name: string) {
  const runs: { readonly context: ExecutionContext; finish: (value: unknown) => void }[] = [];
  const flow = workflow<unknown, unknown>(
    { namespace: 'real', name },
    (context) =>
      new Promise((resolve, reject) => {
        runs.push({ context, finish: resolve });
        context.signal.addEventListener('abort', () => reject(context.signal.reason as Error));
      }),
  );
  return { flow, runs };
}

describe('against the server itself', () => {
  test('runs, reports events, outputs and failures', async () => {
    const echo = workflow<{ fail: boolean }, unknown>(
      { namespace: 'real', name: 'echo', routing: 'score(least(load()))', requests: 'ResourceRequest(memory="1Mi")' },
      (context, input) => {
        if (input.fail) throw new RangeError('as asked');
        context.progress(0.5, 'half');
        return input;
      },
    );
    await start('echo-1', [echo], { labels: { region: 'eu' }, capacity: 4, metricsProvider: () => ({ depth: 3 }) });
    const good = await run('real/echo', { fail: false }, 30);
    expect(good).toMatchObject({ state: 'COMPLETED', output: { fail: false }, workerName: 'echo-1' });
    expect((await show(good.id)).events.nodes.map((event) => event.type)).toContain('progress');
    const bad = await run('real/echo', { fail: true }, 30);
    expect(bad).toMatchObject({
      state: 'FAILED',
      error: { type: 'RangeError', message: 'as asked', retryable: false },
    });
    const { worker } = await client.request(WorkerShowDocument, { name: 'echo-1' });
    expect(worker).toMatchObject({
      role: 'worker',
      capacity: 4,
      workflows: ['real/echo'],
      labels: [{ key: 'region', value: 'eu' }],
    });
    expect(worker?.metrics.map((metric) => metric.key)).toEqual(expect.arrayContaining(['depth', 'flux.slots_free']));
  });

  test('an output deeper than the server stores fails with a clear message', async () => {
    const deep = workflow<unknown, unknown>({ namespace: 'real', name: 'deep' }, () => {
      let value: unknown = 1;
      for (let level = 0; level < 100; level += 1) value = [value];
      return value;
    });
    await start('deep-1', [deep]);
    expect(await run('real/deep', null, 30)).toMatchObject({ state: 'FAILED', error: { type: 'OutputError' } });
  });

  test('a newer process of the same name replaces it', async () => {
    const { flow, runs } = manual('replaced');
    const older = await start('twin', [flow]);
    const { id } = await run('real/replaced', null, 0);
    await expect.poll(() => runs.length, patience).toBe(1);
    await start('twin', [flow]);
    await expect.poll(() => older.state, patience).toBe('STOPPED');
    expect(runs[0]?.context.signal.aborted).toBe(true);
    await expect.poll(() => runs.length, patience).toBe(2);
    runs[1]?.finish('second');
    await expect.poll(async () => (await show(id)).state, patience).toBe('COMPLETED');
    expect((await show(id)).output).toBe('second');
  });

  test('a drained worker is off duty', async () => {
    const worker = await start('drained-1', [manual('unused').flow]);
    await worker.drain();
    expect((await client.request(WorkerShowDocument, { name: 'drained-1' })).worker?.status).toBe('OFFLINE');
  });

  test('what runs while the server is killed goes on, and its result is delivered to the next one', async () => {
    const { flow, runs } = manual('survivor');
    await start('survivor-1', [flow]);
    const { id } = await run('real/survivor', null, 0);
    await expect.poll(() => runs.length, patience).toBe(1);
    await server.kill();
    runs[0]?.finish('while away');
    await server.start();
    await expect.poll(async () => (await show(id)).state, patience).toBe('COMPLETED');
    expect(await show(id)).toMatchObject({ output: 'while away', generation: 1, attempt: 1, workerName: 'survivor-1' });
    expect(runs).toHaveLength(1);
    expect(runs[0]?.context.signal.aborted).toBe(false);
  }, 180_000);
});
