import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { type Workflow, type WorkflowOptions, workflow } from '../workflow.ts';

let server: ProtocolServer;
const started: Worker[] = [];

beforeEach(async () => {
  server = new ProtocolServer();
  server.heartbeatSeconds = 0.02;
  await server.start();
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
  await server.stop();
});

function start(workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}) {
  const logged: string[] = [];
  const worker = new Worker({
    server: server.url,
    name: 'w-1',
    role: 'worker',
    workflows,
    signals: false,
    log: (level, message) => logged.push(`${level}: ${message}`),
    ...options,
  });
  started.push(worker);
  worker.run().catch(() => undefined);
  return { worker, logged };
}

const echo = workflow<unknown, unknown>({ namespace: 'test', name: 'echo' }, (_, input) => input);

describe('heartbeats', () => {
  test('a metrics provider that fails leaves its last values and the built-in ones', async () => {
    let reads = 0;
    const { worker, logged } = start([echo], {
      metricsInterval: 0.01,
      metricsProvider: () => {
        reads += 1;
        if (reads > 1) throw new Error('no sensor');
        return { depth: 4 };
      },
    });
    await worker.ready;
    await expect.poll(() => reads).toBeGreaterThan(3);
    const seen = server.heartbeats.length;
    await expect.poll(() => server.heartbeats.length).toBeGreaterThan(seen + 1);
    expect(server.heartbeats.at(-1)?.['metrics']).toMatchObject({ depth: 4, 'flux.running_executions': 0 });
    expect(logged.filter((line) => line.includes('no sensor'))).toHaveLength(1);
  });

  test('a metrics provider that hangs delays no heartbeat', async () => {
    const { worker } = start([echo], { metricsProvider: () => new Promise(() => undefined) });
    await worker.ready;
    await expect.poll(() => server.heartbeats.length).toBeGreaterThan(3);
    expect(server.heartbeats.at(-1)?.['metrics']).toMatchObject({ 'flux.running_executions': 0 });
  });

  test('without the built-in metrics only those of the provider are sent, and none without one', async () => {
    const quiet = start([echo], { name: 'quiet', builtinMetrics: false });
    await quiet.worker.ready;
    await expect.poll(() => server.heartbeats.length).toBeGreaterThan(1);
    expect(server.heartbeats.at(-1)?.['metrics']).toEqual({});
    await quiet.worker.stop();
    const own = start([echo], { name: 'own', builtinMetrics: false, metricsProvider: () => ({ depth: 4 }) });
    await own.worker.ready;
    await expect.poll(() => server.heartbeats.at(-1)).toMatchObject({ worker: 'own', metrics: { depth: 4 } });
    expect(server.heartbeats.at(-1)?.['metrics']).toEqual({ depth: 4 });
  });

  test('heartbeats tell how runs ended here lately', async () => {
    const fickle = workflow<{ fail: boolean }, unknown>({ namespace: 'test', name: 'fickle' }, (context, input) => {
      context.log('started');
      if (input.fail) throw new Error('as asked');
      return null;
    });
    const { worker } = start([fickle]);
    await worker.ready;
    server.assign(['ex_1', 'ex_2', 'ex_3'], 'test/fickle', { claim: { input: { fail: false } } });
    server.assign(['ex_4'], 'test/fickle', { claim: { input: { fail: true } } });
    await expect
      .poll(() => server.heartbeats.at(-1)?.['metrics'])
      .toMatchObject({
        'flux.failure_rate': 0.25,
        'flux.crash_rate': 0,
        'flux.executions_per_minute': 4,
        'flux.execution_duration_p95_seconds': expect.any(Number),
        'flux.startup_overhead_seconds': expect.any(Number),
      });
  });

  test('warm modules are those that the in-process runner has loaded and runs handlers of, each once', async () => {
    const ran: string[] = [];
    const flow = (name: string, options: Pick<WorkflowOptions, 'module' | 'runner'>) =>
      workflow<unknown, unknown>({ namespace: 'test', name, ...options }, () => void ran.push(name));
    const [here, there] = [import.meta.url, new URL('../testing/child-flows.ts', import.meta.url).href];
    const flows = [
      flow('one', { module: here }),
      flow('two', { module: here, runner: 'inprocess' }),
      flow('three', { module: there }),
      flow('four', {}),
      // Its module is loaded by the processes that run it.
      flow('elsewhere', { module: 'file:///elsewhere.mjs', runner: 'subprocess' }),
    ];
    const warm = () => (server.heartbeats.at(-1)?.['metrics'] as Record<string, number> | undefined) ?? {};
    const { worker } = start(flows);
    await worker.ready;
    for (const name of ['one', 'two', 'three', 'four']) server.assign([`ex_${name}`], `test/${name}`, { claim: {} });
    await expect.poll(warm).toMatchObject({ 'flux.warm_modules': 3, 'flux.executions_per_minute': 4 });
    expect(ran.toSorted()).toEqual(['four', 'one', 'three', 'two']);
    await worker.stop();
    const other = start(flows, { name: 'children', runners: ['subprocess'], subprocess: { warm: 0 } });
    await other.worker.ready;
    await expect.poll(() => server.heartbeats.at(-1)?.['worker']).toBe('children');
    expect(warm()).not.toHaveProperty(['flux.warm_modules']);
  });
});
