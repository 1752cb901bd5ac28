import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, subscribe, type TestApp, until } from '../testing/test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
});
afterAll(() => app.close());

async function register(name: string, role = 'worker'): Promise<void> {
  await app.ask('mutation ($input: WorkerRegisterInput!) { workerRegister(input: $input) { heartbeatSeconds } }', {
    input: { name, instanceId: `${name}-1`, role, hostname: 'host', version: '1', startedAt: new Date().toISOString() },
  });
}

const run = async (): Promise<string> =>
  (await app.ask('mutation { runWorkflow(input: { workflow: "chat" }) { execution { id } } }')).runWorkflow.execution
    .id;

describe('workerEvents', () => {
  it('gives a snapshot in chunks of 250, each worker once, then what is added, changed and removed', async () => {
    for (let i = 0; i < 520; i += 40)
      await Promise.all(Array.from({ length: Math.min(40, 520 - i) }, (_, k) => register(`w-${i + k}`)));
    const stream = subscribe(
      app.socket(),
      'subscription { workerEvents(filter: { roles: ["worker"] }) { kind sequence complete removed workers { id name availability } } }',
    );
    const names: string[] = [];
    const chunks: { complete: boolean; workers: unknown[] }[] = [];
    let sequence = 0;
    for (let complete = false; !complete; ) {
      const { workerEvents } = await stream.next();
      expect(workerEvents).toMatchObject({ kind: 'SNAPSHOT', sequence: ++sequence });
      chunks.push(workerEvents);
      names.push(...workerEvents.workers.map(({ name }: { name: string }) => name));
      complete = workerEvents.complete;
    }
    expect(chunks.map(({ complete, workers }) => [complete, workers.length])).toEqual([
      [false, 250],
      [false, 250],
      [true, 20],
    ]);
    expect(new Set(names).size).toBe(520);

    await register('other', 'gpu');
    await register('w-new');
    const change = async (matches: (event: Record<string, unknown>) => boolean) => {
      for (;;) {
        const { workerEvents } = await stream.next();
        expect(workerEvents.sequence).toBe(++sequence);
        if (matches(workerEvents)) return workerEvents;
      }
    };
    const added = await change(({ kind }) => kind === 'ADDED');
    expect(added.workers.map(({ name }: { name: string }) => name)).toEqual(['w-new']);
    await app.ask(
      'mutation { setWorkerAvailability(input: { worker: "w-7", availability: CORDONED }) { worker { name } } }',
    );
    const updated = await change(
      ({ kind, workers }) => kind === 'UPDATED' && (workers as { name: string }[]).some(({ name }) => name === 'w-7'),
    );
    expect(updated.workers).toContainEqual(expect.objectContaining({ name: 'w-7', availability: 'CORDONED' }));
    await app.ask('mutation { removeWorker(input: { worker: "w-new" }) { name } }');
    const removed = await change(({ kind }) => kind === 'REMOVED');
    expect(removed.removed).toEqual([added.workers[0].id]);
    await stream.stop();
  });

  it('agrees with the list for every order and page', async () => {
    const all = (await app.ask('{ workers(first: 200, filter: { search: "W-1" }) { nodes { name } totalCount } }'))
      .workers;
    expect(all.nodes.every(({ name }: { name: string }) => name.includes('w-1'))).toBe(true);
    for (const orderBy of ['NAME', 'ROLE', 'LOAD', 'UTILIZATION', 'LAST_SEEN']) {
      for (const descending of [false, true]) {
        const seen: string[] = [];
        for (let after = ''; ; ) {
          const { nodes, pageInfo } = (
            await app.ask(
              `{ workers(first: 150, orderBy: ${orderBy}, descending: ${descending}${after}) { nodes { name } pageInfo { hasNextPage endCursor } } }`,
            )
          ).workers;
          seen.push(...nodes.map(({ name }: { name: string }) => name));
          if (!pageInfo.hasNextPage) break;
          after = `, after: "${pageInfo.endCursor}"`;
        }
        expect(new Set(seen).size).toBe(521);
      }
    }
  });
});

describe('roleHealth', () => {
  it('tells of a role that a variant names before any worker has it, and when a worker comes', async () => {
    await app.ask(
      'mutation { createDeployment(input: { slug: "pinned", variants: [{ label: "a", flowId: "default/chat", weight: 1, targetRoles: ["later"] }] }) { warnings } }',
    );
    const roles = subscribe(
      app.socket(),
      'subscription { roleHealth { kind roles { role healthy variants workers } } }',
    );
    const deployments = subscribe(
      app.socket(),
      'subscription { deploymentChanges { kind deployments { slug unavailable } removed } }',
    );
    expect((await roles.next()).roleHealth.roles).toContainEqual({
      role: 'later',
      healthy: false,
      variants: 1,
      workers: 0,
    });
    expect((await deployments.next()).deploymentChanges.deployments).toContainEqual({
      slug: 'pinned',
      unavailable: true,
    });
    await register('late-1', 'later');
    for (let seen = false; !seen; ) {
      const { roleHealth } = await roles.next();
      seen = roleHealth.roles.some(
        (role: { role: string; workers: number }) => role.role === 'later' && role.workers === 1,
      );
    }
    await roles.stop();
    await deployments.stop();
  });
});

describe('executionChanges', () => {
  it('loses nothing between snapshot and changes, and tells nothing twice', async () => {
    const ids: string[] = [];
    const stream = subscribe(
      app.socket(),
      'subscription { executionChanges(filter: { workflow: "default/chat" }) { kind sequence executions { id state revision } removed } }',
    );
    const told = new Map<string, number>();
    const makers = Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let i = 0; i < 15; i++) ids.push(await run());
      }),
    );
    let last = 0;
    await until(async () => {
      const { executionChanges } = await stream.next();
      expect(executionChanges.sequence).toBe(++last);
      for (const { id, revision } of executionChanges.executions) {
        expect(told.get(id) ?? -1).toBeLessThan(revision);
        told.set(id, revision);
      }
      return told.size === 60;
    }, 'all executions');
    await makers;
    expect(new Set(told.keys())).toEqual(new Set(ids));
    await app.ask('mutation ($id: ID!) { cancelExecution(input: { id: $id }) { execution { state } } }', {
      id: ids[0],
    });
    for (let seen = false; !seen; ) {
      const { executionChanges } = await stream.next();
      seen =
        executionChanges.kind === 'UPDATED' &&
        executionChanges.executions.some(
          ({ id, state }: { id: string; state: string }) => id === ids[0] && state === 'CANCELLED',
        );
    }
    await stream.stop();
  });

  it.each([
    ['a namespace', 'namespace: "later"', 'later', 'first'],
    ['a workflow that is not there yet', 'workflow: "soon/second"', 'soon', 'second'],
    ['a workflow that gets another version', 'workflow: "default/versioned"', 'default', 'versioned'],
  ])('tells of %s what is registered after it was asked', async (_what, filter, namespace, name) => {
    const registered = (timeoutSeconds: number) =>
      app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
        input: { namespace, name, timeoutSeconds },
      });
    if (namespace === 'default') await registered(1);
    const stream = subscribe(
      app.socket(),
      `subscription { executionChanges(filter: { ${filter} }) { kind executions { id } } }`,
    );
    expect((await stream.next()).executionChanges).toEqual({ kind: 'SNAPSHOT', executions: [] });
    await registered(2);
    const { runWorkflow } = await app.ask(
      'mutation ($workflow: String!) { runWorkflow(input: { workflow: $workflow }) { execution { id } } }',
      { workflow: `${namespace}/${name}` },
    );
    expect((await stream.next()).executionChanges).toEqual({
      kind: 'ADDED',
      executions: [{ id: runWorkflow.execution.id }],
    });
    await stream.stop();
  });

  it('gives a new snapshot after RESYNC when news were lost', async () => {
    const stream = subscribe(
      app.socket(),
      'subscription { executionChanges(filter: { states: [COMPLETED] }) { kind sequence complete } }',
    );
    expect((await stream.next()).executionChanges).toEqual({ kind: 'SNAPSHOT', sequence: 1, complete: true });
    app.plane.bus.publish('resync', {});
    expect((await stream.next()).executionChanges.kind).toBe('RESYNC');
    expect((await stream.next()).executionChanges.kind).toBe('SNAPSHOT');
    await stream.stop();
  });
});

describe('executionEvents', () => {
  it('goes from any sequence to the end, then completes', async () => {
    const id = await run();
    const types: string[] = [];
    const stream = app.socket().iterate<{ executionEvents: { sequence: number; type: string } }>({
      query: `subscription { executionEvents(id: "${id}") { sequence type } }`,
    });
    const first = await stream.next();
    types.push(first.value?.data?.executionEvents.type ?? '');
    await app.ask(`mutation { cancelExecution(input: { id: "${id}" }) { execution { state } } }`);
    for await (const { data } of stream) types.push(data?.executionEvents.type ?? '');
    expect(types[0]).toBe('CREATED');
    expect(types.at(-1)).toBe('CANCELLED');
    const rest = app
      .socket()
      .iterate({ query: `subscription { executionEvents(id: "${id}", afterSequence: 1) { type } }` });
    const again: unknown[] = [];
    for await (const { data } of rest) again.push(data);
    expect(again).toHaveLength(types.length - 1);
  });

  it('is NOT_FOUND for what does not exist', async () => {
    const stream = app
      .socket()
      .iterate({ query: `subscription { executionEvents(id: "ex_${'0'.repeat(32)}") { type } }` });
    expect((await stream.next()).value?.errors?.[0]).toMatchObject({ extensions: { code: 'NOT_FOUND' } });
  });
});

describe('plain streams', () => {
  it('tell every decision, and the figures at an interval', async () => {
    const client = app.socket();
    const decisions = subscribe(
      client,
      'subscription { dispatchDecisions(filter: { workflow: "fresh", outcomes: [PARKED] }) { outcome execution { id } } }',
    );
    const other = subscribe(client, 'subscription { dispatchDecisions(filter: { deployment: "none" }) { outcome } }');
    const figures = subscribe(client, 'subscription { fleetMetrics(intervalMs: 250) { workers parked } }');
    const next = decisions.next();
    let stray = false;
    other.next().then(
      () => (stray = true),
      () => undefined,
    );
    expect((await figures.next()).fleetMetrics.workers).toBe(522);
    expect((await figures.next()).fleetMetrics.parked).toBeGreaterThan(0);
    await app.ask('mutation { registerWorkflow(input: { name: "fresh" }) { created } }');
    await run();
    const { runWorkflow } = await app.ask(
      'mutation { runWorkflow(input: { workflow: "fresh" }) { execution { id } } }',
    );
    expect(await next).toEqual({
      dispatchDecisions: { outcome: 'PARKED', execution: { id: runWorkflow.execution.id } },
    });
    expect(stray).toBe(false);
    await other.stop();
    await decisions.stop();
    await figures.stop();
  });
});
