import { MusterError } from '@muster/core';
import { Worker, workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../clock.ts';
import { composeServices } from '../../compose.ts';
import { readConfig } from '../../config.ts';
import { createLog } from '../../log.ts';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { administrator, type Viewer } from '../viewer/viewer.ts';

/** A server with its own worker, and beside it one whose name goes first: without a hint, equal loads fall to that. */
let app: TestApp;
let other: Worker;
const releases: (() => void)[] = [];
const hold = workflow({ name: 'hold' }, () => new Promise<void>((resolve) => releases.push(resolve)));
const only = workflow({ name: 'only-elsewhere' }, () => 'done');

const worker = (name: string, more: Partial<ConstructorParameters<typeof Worker>[0]>): Worker =>
  new Worker({
    server: app.url,
    token: app.adminToken,
    name,
    signals: false,
    workflows: [hold],
    log: () => undefined,
    ...more,
  });

beforeAll(async () => {
  app = await startTestApp({ embeddedWorker: true }, { workflows: [hold] });
  other = worker('aaa', { role: 'worker', workflows: [hold, only] });
  void other.run();
  for (const name of ['aaa', 'api-test']) await until(() => app.plane.fleet.get(name)?.eligible, name);
  await deploy('free', 'default/hold', []);
  await deploy('pinned', 'default/hold', ['worker', 'api']);
  await deploy('elsewhere', 'default/only-elsewhere', []);
});
afterAll(async () => {
  for (const release of releases) release();
  await other.stop();
  await app.close();
});

const deploy = (slug: string, flowId: string, targetRoles: string[]) =>
  app.ask('mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { warnings } }', {
    input: { slug, variants: [{ label: 'a', flowId, weight: 1, targetRoles }] },
  });

interface Placed {
  id: string;
  worker: string;
  hint: string | null;
}

/** Runs it, waits until a worker has it, lets it end and waits for that, so that loads are equal again. */
async function placed(mutation: string, input: Record<string, unknown>, keep = false): Promise<Placed> {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input!`;
  const answer = await app.ask(`mutation ($input: ${type}) { ${mutation}(input: $input) { execution { id } } }`, {
    input,
  });
  const { id } = answer[mutation].execution;
  const ask = async () =>
    (await app.ask('query ($id: ID!) { execution(id: $id) { state workerName preferredWorker } }', { id })).execution;
  const found = await until(async () => {
    const execution = await ask();
    return ['RUNNING', 'COMPLETED'].includes(execution.state) && execution;
  }, 'a worker');
  if (!keep) {
    await until(async () => {
      for (const release of releases.splice(0)) release();
      return (await ask()).state === 'COMPLETED';
    }, 'the end');
    await until(() => ['aaa', 'api-test'].every((name) => app.plane.fleet.get(name)?.facts.load === 0), 'equal loads');
  }
  return { id, worker: found.workerName, hint: found.preferredWorker };
}

describe('the hint for an unpinned variant', () => {
  it('is the worker of the process that took the call', async () => {
    expect(await placed('runDeployment', { deployment: 'free' })).toMatchObject({
      worker: 'api-test',
      hint: 'api-test',
    });
  });

  it('is none where the variant is pinned, the caller has a hint, or that worker does not have the workflow', async () => {
    expect(await placed('runDeployment', { deployment: 'pinned' })).toMatchObject({ worker: 'aaa', hint: null });
    expect(await placed('runDeployment', { deployment: 'free', preferredWorker: 'aaa' })).toMatchObject({
      worker: 'aaa',
    });
    expect(await placed('runDeployment', { deployment: 'elsewhere' })).toMatchObject({ worker: 'aaa', hint: null });
  });

  it('is none for runWorkflow', async () => {
    expect(await placed('runWorkflow', { workflow: 'hold' })).toMatchObject({ worker: 'aaa', hint: null });
  });
});

describe('a binding', () => {
  it('to a worker that nobody registered is UNKNOWN_WORKER, also in a batch', async () => {
    const { errors, status } = await app.post(
      'mutation { runWorkflow(input: { workflow: "hold", requiredWorker: "nobody" }) { execution { id } } }',
    );
    expect(errors[0]?.extensions).toMatchObject({ code: 'UNKNOWN_WORKER', field: 'requiredWorker' });
    expect(status).toBe(200);
    const { runWorkflows } = await app.ask(
      'mutation { runWorkflows(input: { runs: [{ workflow: "hold", requiredWorker: "nobody" }] }) { results { error { code field } } } }',
    );
    expect(runWorkflows.results).toEqual([{ error: { code: 'UNKNOWN_WORKER', field: 'requiredWorker' } }]);
  });

  it('asks for shape, then permission, then existence: names cannot be probed', async () => {
    const config = readConfig({}, { dataDir: app.dataDir });
    const { runs } = composeServices(app.plane, {
      config,
      log: createLog('silent'),
      clock: systemClock,
      random: Math.random,
      adminToken: app.adminToken,
    }).services;
    const who = (...permissions: string[]): Viewer => ({ ...administrator, name: 'anna', roles: [], permissions });
    const code = (requiredWorker: string, viewer: Viewer): Promise<string> =>
      runs.runWorkflow({ workflow: 'hold', requiredWorker }, viewer, 'rq').then(
        () => 'accepted',
        (error: unknown) => (error instanceof MusterError ? error.code : String(error)),
      );
    expect(await code('no name!', who('workflow:*'))).toBe('BAD_INPUT');
    expect(await code('aaa', who('workflow:*'))).toBe('FORBIDDEN');
    expect(await code('nobody', who('workflow:*'))).toBe('FORBIDDEN');
    expect(await code('nobody', who('workflow:*', 'worker:*:target'))).toBe('UNKNOWN_WORKER');
  });
});

describe('a server whose own worker is full', () => {
  it('falls back to the others', async () => {
    // The newer of two processes under one name is the worker: this one has room for one.
    const own = worker('api-test', { role: 'api', capacity: 1 });
    void own.run();
    await until(
      () => app.plane.fleet.get('api-test')?.facts.capacity === 1 && app.plane.fleet.get('api-test')?.eligible,
      'it',
    );
    expect(await placed('runDeployment', { deployment: 'free' }, true)).toMatchObject({ worker: 'api-test' });
    expect(await placed('runDeployment', { deployment: 'free' }, true)).toMatchObject({
      worker: 'aaa',
      hint: 'api-test',
    });
    for (const release of releases.splice(0)) release();
    await own.stop();
  });
});
