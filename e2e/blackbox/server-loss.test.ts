import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ending, execution, runWorkflow } from '../support/fleet.ts';
import { ask, post } from '../support/graphql.ts';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const tries = 20;

let server: Server;
let gates: string;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  server = await Server.start();
  gates = mkdtempSync(path.join(tmpdir(), 'muster-gates-'));
  for (const name of ['loss-1', 'loss-2'])
    workers.push(await WorkerProcess.start(server, { name, role: 'worker', prefix: 'loss-', capacity: 40 }));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await server.dispose();
  rmSync(gates, { recursive: true, force: true });
});

/** Submits one after the other until told to stop, and keeps the ids that the server has acknowledged. */
function load(acknowledged: string[]): { stop: () => Promise<void> } {
  let running = true;
  const lane = async () => {
    while (running) {
      const answer = await post<{ runWorkflow: { execution: { id: string } } }>(
        server,
        'mutation Run($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
        { input: { workflow: 'e2e/loss-echo', input: acknowledged.length } },
      ).catch(() => null);
      if (answer?.data) acknowledged.push(answer.data.runWorkflow.execution.id);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const lanes = Promise.all([lane(), lane(), lane()]);
  return {
    stop: async () => {
      running = false;
      await lanes;
    },
  };
}

/** A worker that cannot reach its server for longer than it may lets go of what it runs, and rightly so: here both come back each time. */
async function connected(): Promise<void> {
  await until(
    'both workers are connected',
    async () => {
      const data = await ask<{ workers: { nodes: { connected: boolean }[] } }>(
        server,
        '{ workers(filter: { names: ["loss-1", "loss-2"] }) { nodes { connected } } }',
      );
      return data.workers.nodes.length === 2 && data.workers.nodes.every((worker) => worker.connected);
    },
    60,
  );
}

test(`kill -9 of the server, ${tries} times under load: nothing acknowledged is lost, nothing that runs is released`, {
  timeout: 600_000,
}, async () => {
  const gate = path.join(gates, 'loss');
  const held = await runWorkflow(server, 'e2e/loss-hold', { gate });
  await until('the long one runs', async () => (await execution(server, held)).state === 'RUNNING');
  const before = await execution(server, held);

  const acknowledged: string[] = [];
  for (let attempt = 1; attempt <= tries; attempt += 1) {
    await connected();
    const generator = load(acknowledged);
    // Another depth of load each time, so that the kill meets other moments of the same work.
    const enough = acknowledged.length + 3 * attempt;
    await until(`try ${attempt}: ${enough} are acknowledged`, () => acknowledged.length >= enough);
    await server.kill();
    await generator.stop();
    await server.start();
  }

  const ends = await Promise.all(acknowledged.map((id) => ending(server, id, 120)));
  expect(acknowledged.length).toBeGreaterThan(3 * tries);
  expect(new Set(ends.map((end) => end.state))).toEqual(new Set(['COMPLETED']));

  const after = await execution(server, held);
  expect(after, JSON.stringify([after, workers.map((worker) => worker.output)], null, 2)).toMatchObject({
    state: 'RUNNING',
    generation: before.generation,
    workerName: before.workerName,
  });
  writeFileSync(gate, '');
  expect(await ending(server, held)).toMatchObject({ state: 'COMPLETED', generation: before.generation, attempt: 1 });
});
