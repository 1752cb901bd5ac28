import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { type Client, createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type JoinedWorker, joinedWorker, registrationInput, workerWith } from '../../testing/joined-worker.ts';
import { type Answer, startTestApp, subscribe, type TestApp, until } from '../../testing/test-app.ts';

/** Who is turned out here is connected there: two replicas, where the database can have two. */
let here: TestApp;
let there: TestApp;
let remove: () => Promise<void>;
const clients: Client[] = [];

beforeAll(async () => {
  if (testDatabaseKind() === 'embedded') {
    here = await startTestApp();
    there = here;
    remove = () => Promise.resolve();
  } else {
    const database = await createTestDatabase('postgres');
    if (typeof database.target !== 'string') throw new Error('a URL was expected');
    const where = { databaseUrl: database.target, databaseDirectUrl: database.target };
    here = await startTestApp(where);
    there = await startTestApp({ ...where, workerName: 'api-test-2' });
    ({ remove } = database);
  }
  await here.ask('mutation { registerWorkflow(input: { name: "job" }) { created } }');
});
afterAll(async () => {
  for (const client of clients) await client.dispose();
  await here.close();
  if (there !== here) await there.close();
  await remove();
});

const HEARTBEAT = 'mutation ($input: WorkerHeartbeatInput!) { workerHeartbeat(input: $input) { lost } }';
const REPORT = `mutation ($input: WorkerReportInput!) {
  workerReport(input: $input) { claims { code claim { token } } ends { code } events { code } releases { code } }
}`;
const LEAVE = 'mutation ($input: WorkerLeaveInput!) { workerLeave(input: $input) { released } }';
const STEPS = `query ($worker: String!, $instanceId: ID!, $id: ID!, $generation: Int!) {
  workerSteps(worker: $worker, instanceId: $instanceId, id: $id, generation: $generation, after: -1) { after }
}`;
const INBOX = `subscription ($worker: String!, $instanceId: ID!) {
  workerInbox(worker: $worker, instanceId: $instanceId) { assignments { id generation } replaced }
}`;
const REGISTER = 'mutation ($input: WorkerRegisterInput!) { workerRegister(input: $input) { heartbeatSeconds } }';

const codeOf = (answer: Answer) => answer.errors[0]?.extensions.code ?? null;
const me = (worker: string, instanceId = `${worker}-1`) => ({ worker, instanceId });

/** Its socket at the other replica. */
function socketOf(worker: JoinedWorker): { client: Client; closed: Promise<number> } {
  let tell: (code: number) => void = () => undefined;
  const closed = new Promise<number>((resolve) => {
    tell = resolve;
  });
  const client = createClient({
    url: `${there.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: worker.credential },
    retryAttempts: 0,
    // The server ends the connection, not the client whose inbox has ended with its worker.
    lazyCloseTimeout: 600_000,
    on: { closed: (event) => tell((event as { code: number }).code) },
  });
  clients.push(client);
  return { client, closed };
}

/** On duty: registered, listening at the other replica, healthy. */
async function onDuty(worker: JoinedWorker) {
  const registered = await worker.register();
  if (registered.errors.length > 0) throw new Error(registered.text);
  const { client, closed } = socketOf(worker);
  const inbox = subscribe(client, INBOX, me(worker.name));
  await inbox.next();
  await worker.post(HEARTBEAT, { input: { ...me(worker.name), healthy: true } });
  await until(
    async () =>
      (await here.ask('query ($name: String!) { worker(name: $name) { eligible } }', { name: worker.name })).worker
        ?.eligible,
    'a worker on duty',
  );
  return { inbox, closed };
}

/** Somebody who may run and read, with a token of his own. */
async function principal(
  name: string,
): Promise<(query: string, variables?: Record<string, unknown>) => Promise<Answer>> {
  await here.ask(
    'mutation ($name: String!) { createPrincipal(input: { name: $name, kind: SERVICE, roles: ["operator"] }) { principal { id } } }',
    { name },
  );
  const { createApiToken } = await here.ask(
    'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { secret } }',
    {
      input: { principal: name, name: 'runs' },
    },
  );
  return (query, variables) => here.post(query, variables, { authorization: `Bearer ${createApiToken.secret}` });
}

type Post = (query: string, variables?: Record<string, unknown>) => Promise<Answer>;
const asAdmin: Post = (query, variables) => here.post(query, variables);

async function run(post: Post, requiredWorker: string): Promise<string> {
  const answer = await post(
    'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
    { input: { workflow: 'default/job', requiredWorker } },
  );
  if (answer.errors.length > 0) throw new Error(answer.text);
  return answer.data.runWorkflow.execution.id as string;
}

async function claimed(
  worker: JoinedWorker,
  inbox: { next(): Promise<{ workerInbox: { assignments: { id: string; generation: number }[] } }> },
  id: string,
) {
  for (;;) {
    const found = (await inbox.next()).workerInbox.assignments.find((item) => item.id === id);
    if (found === undefined) continue;
    const { data } = await worker.post(REPORT, {
      input: { ...me(worker.name), claims: [{ id, generation: found.generation }] },
    });
    return { generation: found.generation, token: data.workerReport.claims[0].claim.token as string };
  }
}

const state = async (id: string) =>
  (await here.ask('query ($id: ID!) { execution(id: $id) { state } }', { id })).execution.state as string;

describe("a worker's credential", () => {
  it('speaks for that worker alone, and tells nobody which others there are', async () => {
    const [a, b] = [await joinedWorker(here, 'w-a'), await joinedWorker(here, 'w-b')];
    await a.register();
    const { inbox } = await onDuty(b);
    const id = await run(asAdmin, 'w-b');
    const { generation } = await claimed(b, inbox, id);
    const item = { id, generation };
    const said = new Set<string>();
    for (const worker of ['w-b', 'w-nobody', 'w b']) {
      const answers = [
        await a.post(REGISTER, { input: registrationInput(worker) }),
        await a.post(HEARTBEAT, { input: { ...me(worker), healthy: false, claims: [item] } }),
        await a.post(REPORT, { input: { ...me(worker), ends: [{ ...item, state: 'COMPLETED', output: 'stolen' }] } }),
        await a.post(REPORT, { input: { ...me(worker), releases: [item] } }),
        await a.post(LEAVE, { input: me(worker) }),
        await a.post(STEPS, { ...me(worker), ...item }),
      ];
      for (const { errors } of answers) said.add(`${errors[0]?.extensions.code} ${errors[0]?.message}`);
      const stolen = subscribe(socketOf(a).client, INBOX, me(worker));
      await expect(stolen.next()).rejects.toThrow('FORBIDDEN');
    }
    expect([...said]).toEqual([expect.stringMatching(/^FORBIDDEN /)]);
    expect(await state(id)).toBe('RUNNING');
    const { data } = await b.post(REPORT, { input: { ...me('w-b'), ends: [{ ...item, state: 'COMPLETED' }] } });
    expect(data.workerReport.ends).toEqual([{ code: null }]);
  });

  it('gets nothing by the instance, execution or generation of another one', async () => {
    const [a, b] = [await joinedWorker(here, 'w-guess'), await joinedWorker(here, 'w-guessed')];
    await a.register();
    const { inbox } = await onDuty(b);
    const id = await run(asAdmin, 'w-guessed');
    const { generation } = await claimed(b, inbox, id);
    expect(codeOf(await a.post(HEARTBEAT, { input: { ...me('w-guess', 'w-guessed-1'), healthy: true } }))).toBe(
      'CONFLICT',
    );
    const generations = [0, generation - 1, generation, generation + 1, 2_147_483_647].map((one) => ({
      id,
      generation: one,
    }));
    const { data } = await a.post(REPORT, {
      input: {
        ...me('w-guess'),
        claims: generations,
        events: generations.map((item) => ({ ...item, type: 'note' })),
        ends: generations.map((item) => ({ ...item, state: 'FAILED' })),
        releases: generations,
      },
    });
    const { claims, events, ends, releases } = data.workerReport;
    const codes = [...claims, ...events, ...ends, ...releases].map((one: { code: string }) => one.code);
    expect(new Set(codes)).toEqual(new Set(['FORBIDDEN']));
    expect(codeOf(await a.post(STEPS, { ...me('w-guess'), id, generation }))).toBe('CONFLICT');
    expect(await state(id)).toBe('RUNNING');
  });

  it('is for one role and one set of labels, and services come from it alone', async () => {
    const labels = [{ key: 'region', value: 'eu' }];
    const worker = await joinedWorker(here, 'w-labels', { labels, services: ['vllm'] });
    expect(codeOf(await worker.register({ role: 'gpu' }))).toBe('FORBIDDEN');
    expect(codeOf(await worker.register({ labels: [{ key: 'region', value: 'us' }] }))).toBe('FORBIDDEN');
    expect(codeOf(await worker.register({ labels: [...labels, { key: 'gpu', value: 'a100' }] }))).toBe('FORBIDDEN');
    expect(codeOf(await worker.register({ labels: [{ key: 'flux.service.other', value: 'true' }] }))).toBe('BAD_INPUT');
    for (const own of [[], labels]) {
      const { data } = await worker.register({ labels: own });
      expect(data.workerRegister.worker.labels).toEqual([{ key: 'flux.service.vllm', value: 'true' }, ...labels]);
    }
    const free = await joinedWorker(here, 'w-free');
    const { data } = await free.register({ labels: [{ key: 'gpu', value: 'a100' }] });
    expect(data.workerRegister.worker.labels).toEqual([{ key: 'gpu', value: 'a100' }]);
    // Who may speak in its place has no services to give.
    const served = await workerWith(here, 'w-labels', here.adminToken).register({ instanceId: 'w-labels-2' });
    expect(served.data.workerRegister.worker.labels).toEqual([]);
  });

  it('opens nothing else', async () => {
    const worker = await joinedWorker(here, 'w-narrow', { registers: ['own:*'] });
    await worker.register();
    const id = await run(asAdmin, 'w-narrow');
    expect((await worker.post('query ($id: ID!) { execution(id: $id) { state } }', { id })).data.execution).toBeNull();
    expect((await worker.post('{ workers { nodes { name } } executions { nodes { id } } }')).data).toMatchObject({
      workers: { nodes: [] },
      executions: { nodes: [] },
    });
    const refused = [
      'mutation { runWorkflow(input: { workflow: "default/job" }) { execution { id } } }',
      'mutation { registerWorkflow(input: { name: "mine" }) { created } }',
      'mutation { createJoinToken(input: { worker: "w-more" }) { secret } }',
      'mutation { removeWorker(input: { worker: "w-narrow" }) { name } }',
      '{ joinTokens { nodes { id } } }',
      '{ workerCredentials { nodes { id } } }',
    ];
    for (const query of refused) expect([query, codeOf(await worker.post(query))]).toEqual([query, 'FORBIDDEN']);
    const own =
      'mutation { registerWorkflow(input: { namespace: "own", name: "mine" }) { created version { number } } }';
    expect((await worker.post(own)).data.registerWorkflow).toEqual({ created: true, version: { number: 1 } });
  });

  it.each([
    [
      'revoked',
      async (name: string) => {
        const { workerCredentials } = await here.ask(
          'query ($name: String) { workerCredentials(filter: { worker: $name }) { nodes { id } } }',
          { name },
        );
        await here.ask(
          'mutation ($id: ID!) { revokeWorkerCredential(input: { id: $id }) { workerCredential { status } } }',
          workerCredentials.nodes[0],
        );
      },
    ],
    [
      'removed with its worker',
      (name: string) =>
        here.ask('mutation ($name: String!) { removeWorker(input: { worker: $name }) { name } }', { name }),
    ],
  ])('that is %s ends its connection at every replica, and what it ran is given away', async (how, end) => {
    const worker = await joinedWorker(here, `w-${how.slice(0, 7)}`);
    const { inbox, closed } = await onDuty(worker);
    const id = await run(asAdmin, worker.name);
    const { generation } = await claimed(worker, inbox, id);
    await end(worker.name);
    expect(await closed).toBe(4403);
    for (const app of [here, there]) {
      expect(codeOf(await workerWith(app, worker.name, worker.credential).register())).toBe('UNAUTHENTICATED');
    }
    expect(await until(async () => (await state(id)) !== 'RUNNING' && state(id), 'the release')).toBe('PENDING');
    const { rows } = await here.plane.database.query<{ generation: number }>(
      'SELECT generation FROM execution WHERE id = $1',
      [id.slice(3)],
    );
    expect(rows[0]?.generation).toBe(generation + 1);
  });
});

describe('the token of an execution', () => {
  const SEE = 'query ($id: ID!) { execution(id: $id) { state preferredWorker requiredWorker } }';
  let worker: JoinedWorker;
  let duty: Awaited<ReturnType<typeof onDuty>>;

  beforeAll(async () => {
    worker = await joinedWorker(here, 'w-runs');
    duty = await onDuty(worker);
  });

  const asking =
    (token: string, app = there) =>
    (query: string, variables?: Record<string, unknown>) =>
      app.post(query, variables, { authorization: `Bearer ${token}` });

  it('may do with workflows and executions what the submitter may, and nothing else', async () => {
    const id = await run(await principal('anna'), 'w-runs');
    const { token, generation } = await claimed(worker, duty.inbox, id);
    const ask = asking(token);
    expect((await ask('{ viewer { name kind permissions } }')).data.viewer).toEqual({
      name: 'anna',
      kind: 'EXECUTION',
      permissions: expect.arrayContaining(['workflow:*:*:run', 'execution:*:read']),
    });
    expect((await ask(SEE, { id })).data.execution).toEqual({
      state: 'RUNNING',
      preferredWorker: null,
      requiredWorker: null,
    });
    const { data } = await ask('mutation { runWorkflow(input: { workflow: "default/job" }) { execution { id } } }');
    const started = await here.ask(
      'query ($id: ID!) { execution(id: $id) { submittedBy } }',
      data.runWorkflow.execution,
    );
    expect(started.execution.submittedBy).toBe('anna');
    expect((await ask('{ workers { nodes { name } } }')).data.workers.nodes).toEqual([]);
    for (const query of [
      'mutation { removeWorker(input: { worker: "w-runs" }) { name } }',
      'mutation { createJoinToken(input: { worker: "w-more" }) { secret } }',
      'mutation { runWorkflow(input: { workflow: "default/job", requiredWorker: "w-runs" }) { execution { id } } }',
      'mutation { workerRenewCredential { credential } }',
    ])
      expect([query, codeOf(await ask(query))]).toEqual([query, 'FORBIDDEN']);
    expect(codeOf(await ask(LEAVE, { input: me('w-runs') }))).toBe('FORBIDDEN');

    await worker.post(REPORT, { input: { ...me('w-runs'), ends: [{ id, generation, state: 'COMPLETED' }] } });
    for (const app of [here, there]) expect(codeOf(await asking(token, app)(SEE, { id }))).toBe('UNAUTHENTICATED');
  });

  it('dies with its claim, not only with its execution', async () => {
    const id = await run(asAdmin, 'w-runs');
    const first = await claimed(worker, duty.inbox, id);
    expect(codeOf(await asking(first.token)(SEE, { id }))).toBeNull();
    await worker.post(REPORT, {
      input: { ...me('w-runs'), releases: [{ id, generation: first.generation, reason: 'again' }] },
    });
    expect(codeOf(await asking(first.token)(SEE, { id }))).toBe('UNAUTHENTICATED');
    const second = await claimed(worker, duty.inbox, id);
    expect(codeOf(await asking(first.token)(SEE, { id }))).toBe('UNAUTHENTICATED');
    expect(codeOf(await asking(second.token)(SEE, { id }))).toBeNull();
    await worker.post(REPORT, {
      input: { ...me('w-runs'), ends: [{ id, generation: second.generation, state: 'COMPLETED' }] },
    });
  });

  it('is refused as soon as its submitter is', async () => {
    const id = await run(await principal('bert'), 'w-runs');
    const { token } = await claimed(worker, duty.inbox, id);
    expect(codeOf(await asking(token)(SEE, { id }))).toBeNull();
    await here.ask(
      'mutation { updatePrincipal(input: { name: "bert", roles: ["viewer"], expectedRevision: 1 }) { principal { id } } }',
    );
    const refused = async () =>
      codeOf(await asking(token)('mutation { runWorkflow(input: { workflow: "default/job" }) { execution { id } } }'));
    expect(await until(async () => (await refused()) ?? false, 'the loss of a role')).toBe('FORBIDDEN');
    await here.ask(
      'mutation { updatePrincipal(input: { name: "bert", disabled: true, expectedRevision: 2 }) { principal { id } } }',
    );
    expect(await until(async () => codeOf(await asking(token)(SEE, { id })) ?? false, 'the end')).toBe(
      'UNAUTHENTICATED',
    );
  });

  it('is kept nowhere, and told to nobody but its worker', async () => {
    const id = await run(asAdmin, 'w-runs');
    const { token } = await claimed(worker, duty.inbox, id);
    await asking(token)(SEE, { id });
    const { rows: tables } = await here.plane.database.query<{ name: string }>(
      "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'",
    );
    for (const { name } of tables) {
      const { rows } = await here.plane.database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM "${name}" t WHERE t::text ~ 'ms[xwj]_[A-Za-z0-9_-]{40}'`,
      );
      expect([name, rows[0]?.n]).toEqual([name, 0]);
    }
    expect([...here.lines, ...there.lines].filter((line) => /ms[xwj]_[A-Za-z0-9_-]{40}/.test(line))).toEqual([]);
  });
});
