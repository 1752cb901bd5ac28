import { Worker, workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** Deployments, policies and workers are changed while work of theirs runs or waits. */
let app: TestApp;
const workers: Worker[] = [];
const releases = new Map<string, () => void>();
const hold = workflow(
  { name: 'hold' },
  (context) => new Promise<void>((resolve) => releases.set(context.executionId, resolve)),
);

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(async () => {
  for (const release of releases.values()) release();
  for (const worker of workers) await worker.stop();
  await app.close();
});

async function startWorker(name: string, labels: Record<string, string> = {}): Promise<void> {
  const worker = new Worker({
    server: app.url,
    token: app.adminToken,
    name,
    role: 'worker',
    labels,
    signals: false,
    workflows: [hold],
    log: () => undefined,
  });
  workers.push(worker);
  void worker.run();
  await until(() => app.plane.fleet.get(name)?.eligible, name);
}

const deploy = (slug: string, flowId = 'default/hold') =>
  app.ask('mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { warnings } }', {
    input: {
      slug,
      variants: [
        { label: 'a', flowId, weight: 1 },
        { label: 'b', flowId, weight: 0 },
      ],
    },
  });
const run = async (deployment: string, requiredWorker: string | null = null): Promise<string> =>
  (
    await app.ask('mutation ($input: RunDeploymentInput!) { runDeployment(input: $input) { execution { id } } }', {
      input: { deployment, requiredWorker },
    })
  ).runDeployment.execution.id;
const show = async (id: string) =>
  (
    await app.ask(
      'query ($id: ID!) { execution(id: $id) { state parked why attempt generation workerName variantLabel version { number } attempts { outcome } } }',
      { id },
    )
  ).execution;
const becomes = (id: string, state: string) => until(async () => (await show(id)).state === state, state);
/** Lets it end, once its handler has begun. */
const release = async (id: string): Promise<void> => {
  (await until(() => [...releases].find(([key]) => id.endsWith(key) || key.endsWith(id))?.[1], 'its handler'))();
  await becomes(id, 'COMPLETED');
};

describe('what runs', () => {
  it('is left alone by other weights, another policy and another affinity, which count for what comes after', async () => {
    await startWorker('first');
    await deploy('edited');
    const id = await run('edited');
    await becomes(id, 'RUNNING');
    const before = await show(id);
    await app.ask('mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { warnings } }', {
      input: {
        slug: 'edited',
        expectedRevision: 1,
        variants: [
          { label: 'a', flowId: 'default/hold', weight: 0 },
          { label: 'b', flowId: 'default/hold', weight: 9 },
        ],
      },
    });
    await app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
      input: { name: 'hold', routing: 'score(least(load(), weight=7))', affinity: '{"zone": "moon"}' },
    });
    app.plane.workflowStore.forgetLatest();
    const next = await run('edited');
    await until(async () => (await show(next)).parked, 'the next one waits');
    expect(await show(next)).toMatchObject({ variantLabel: 'b', version: { number: 2 } });
    expect(await show(id)).toEqual(before);
    await release(id);
    expect(await show(id)).toMatchObject({
      attempt: 1,
      generation: before.generation,
      variantLabel: 'a',
      version: { number: 1 },
    });
    await app.ask('mutation ($id: ID!) { cancelExecution(input: { id: $id }) { execution { id } } }', { id: next });
  });
});

describe('what waits and is nobody’s yet', () => {
  it('outlives its deployment, if that is wanted: it is listed with its reason, and runs when somebody can take it', async () => {
    await app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
      input: { name: 'hold', affinity: '{"zone": "mars"}' },
    });
    app.plane.workflowStore.forgetLatest();
    await deploy('doomed');
    const id = await run('doomed');
    await until(async () => (await show(id)).parked, 'it waits');
    await app.ask(
      'mutation { deleteDeployment(input: { slug: "doomed", expectedRevision: 1, force: true }) { slug } }',
    );
    const { executions } = await app.ask('{ executions(filter: { parked: true }) { nodes { id variantLabel why } } }');
    expect(executions.nodes).toEqual([{ id, variantLabel: 'a', why: expect.stringContaining('zone') }]);
    await startWorker('martian', { zone: 'mars' });
    await release(id);
    expect(await show(id)).toMatchObject({ workerName: 'martian', variantLabel: 'a', attempt: 1 });
  });
});

describe('a worker that drains', () => {
  it('is done when nothing open is on it, however much it has done', async () => {
    await deploy('last');
    const done = [await run('last', 'martian'), await run('last', 'martian')];
    for (const id of done) await release(id);
    const open = await run('last', 'martian');
    await becomes(open, 'RUNNING');
    await app.ask(
      'mutation { setWorkerAvailability(input: { worker: "martian", availability: DRAINING }) { worker { name } } }',
    );
    const read = async () => (await app.ask('{ worker(name: "martian") { load connected availability } }')).worker;
    expect(await read()).toEqual({ load: 1, connected: true, availability: 'DRAINING' });
    await release(open);
    await until(async () => !(await read()).connected, 'it is gone');
    expect((await read()).load).toBe(0);
    const { executions } = await app.ask('{ executions(filter: { worker: "martian" }) { nodes { state } } }');
    expect(executions.nodes.map(({ state }: { state: string }) => state)).toEqual(Array(4).fill('COMPLETED'));
  });
});
