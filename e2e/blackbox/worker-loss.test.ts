import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { ending, execution, runWorkflow } from '../support/fleet.ts';
import { hastyLiveness, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

let server: Server;
let gates: string;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  server = await Server.start({ env: hastyLiveness });
  gates = mkdtempSync(path.join(tmpdir(), 'muster-gates-'));
});
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.kill())));
afterAll(async () => {
  await server.dispose();
  rmSync(gates, { recursive: true, force: true });
});

async function startWorker(name: string, prefix: string): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start(server, { name, role: 'worker', prefix });
  workers.push(worker);
  return worker;
}

test('kill -9 of a worker in the middle: dispatched again with a higher generation, finished once', async () => {
  const first = await startWorker('killed-1', 'killed-');
  const gate = path.join(gates, 'killed');
  const id = await runWorkflow(server, 'e2e/killed-hold', { gate });
  await first.holding(id);
  const before = await execution(server, id);
  expect(before).toMatchObject({ state: 'RUNNING', workerName: 'killed-1' });

  const second = await startWorker('killed-2', 'killed-');
  await first.kill();
  await second.holding(id);
  const again = await execution(server, id);
  expect(again.workerName).toBe('killed-2');
  expect(again.generation).toBeGreaterThan(before.generation);

  writeFileSync(gate, '');
  const end = await ending(server, id);
  expect(end).toMatchObject({ state: 'COMPLETED', output: { by: 'killed-2' }, generation: again.generation });
  expect(end.attempts.map(({ worker, outcome }) => [worker, outcome])).toEqual([
    ['killed-2', 'COMPLETED'],
    ['killed-1', 'WORKER_LOST'],
  ]);
});

test('a worker that froze until its claim was released: its late result is refused with CONFLICT and kept as an event', async () => {
  const frozen = await startWorker('frozen-1', 'frozen-');
  const gate = path.join(gates, 'frozen');
  const id = await runWorkflow(server, 'e2e/frozen-stubborn', { gate });
  await frozen.holding(id);

  frozen.freeze();
  const second = await startWorker('frozen-2', 'frozen-');
  await second.holding(id);
  const given = await execution(server, id);
  expect(given.workerName).toBe('frozen-2');

  writeFileSync(gate, '');
  const end = await ending(server, id);
  expect(end).toMatchObject({ state: 'COMPLETED', output: { by: 'frozen-2' } });

  frozen.thaw();
  const late = await until('the late write is an event', async () => {
    const { events } = await execution(server, id);
    return events.nodes.find((event) => event.type === 'LATE_WRITE_REFUSED');
  });
  expect(late.worker).toBe('frozen-1');
  expect(await execution(server, id)).toMatchObject({
    state: 'COMPLETED',
    output: { by: 'frozen-2' },
    generation: end.generation,
  });
});

test('a worker that says goodbye leaves nothing behind: its work is dispatched again at once', async () => {
  const first = await startWorker('leaving-1', 'leaving-');
  const gate = path.join(gates, 'leaving');
  const id = await runWorkflow(server, 'e2e/leaving-hold', { gate });
  await first.holding(id);
  const second = await startWorker('leaving-2', 'leaving-');
  await first.stop();
  await second.holding(id);
  writeFileSync(gate, '');
  expect(await ending(server, id)).toMatchObject({ state: 'COMPLETED', output: { by: 'leaving-2' } });
});
