import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { Caller, type Data } from './support/calls.ts';
import { administrator, newPrincipal, newRole, newToken, session } from './support/people.ts';
import { joined, joinToken, registration, REGISTER } from './support/workers.ts';

/** Reading what one may not read: by guessing ids and names, by counts, and by how one is refused. */
let server: Server;
let admin: Caller;
/** No role at all; one who may read and run in one namespace; one who may read everything that is no access. */
let nobody: Caller;
let narrow: Caller;
let viewer: Caller;
const ids: Record<string, string> = {};
const SECRET = 'canary-4711-of-another-team';

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  await newRole(server, 'team', [
    'workflow:team:*:*',
    'deployment:team:*',
    'schedule:team:*',
    'worker:team-1:read',
    'worker:team-1:manage',
    'worker:team-1:target',
    'execution:team:read',
  ]);
  nobody = await newPrincipal(server, 'nobody', []);
  narrow = await newPrincipal(server, 'narrow', ['team']);
  viewer = await newPrincipal(server, 'viewer', ['viewer']);
  await session(server);
  const { registerWorkflow, runWorkflow, createDeployment, createSchedule } = await admin.ask(
    `mutation ($input: JSON) {
      registerWorkflow(input: { namespace: "other", name: "job", description: "${SECRET}" }) { version { id workflow { id } } }
      runWorkflow(input: { workflow: "other/job", input: $input }) { execution { id } }
      createDeployment(input: { slug: "other", description: "${SECRET}", variants: [{ label: "only", flowId: "other/job", weight: 1 }] }) { deployment { id } }
      createSchedule(input: { name: "other", description: "${SECRET}", intervalSeconds: 86400, workflow: "other/job", input: $input }) { schedule { id } }
    }`,
    { input: { of: SECRET } },
  );
  const worker = await joined(server, 'other-worker');
  await worker.ask(REGISTER, registration('other-worker'));
  const seen = await admin.ask(
    `{ worker(name: "other-worker") { id } auditEntries { nodes { id } } principal(name: "viewer") { id tokens { id } }
       loginSessions { nodes { id } } workerCredentials { nodes { id } } }`,
  );
  Object.assign(ids, {
    ex: runWorkflow.execution.id,
    wf: registerWorkflow.version.workflow.id,
    wv: registerWorkflow.version.id,
    dp: createDeployment.deployment.id,
    sd: createSchedule.schedule.id,
    wk: seen.worker.id,
    au: seen.auditEntries.nodes[0].id,
    pr: seen.principal.id,
    tk: seen.principal.tokens[0].id,
    se: seen.loginSessions.nodes[0].id,
    wc: seen.workerCredentials.nodes[0].id,
    jt: (await joinToken(server)).id,
    ev: (await admin.ask('query ($id: ID!) { execution(id: $id) { events { nodes { id } } } }', runWorkflow.execution))
      .execution.events.nodes[0].id,
  });
});
afterAll(() => server.dispose());

const NODE = 'query ($id: ID!) { node(id: $id) { __typename id } }';
const ABSENT: Record<string, string> = {
  ex: 'ex_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f',
  ev: 'ev_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f-1',
  au: 'au_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f',
  se: 'se_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f',
};
const absent = (kind: string): string => ABSENT[kind] ?? `${kind}_987654321`;
/** An answer without what differs in any two. */
const bare = ({ status, text }: { status: number; text: string }, ...names: string[]): string =>
  names.reduce((all, name) => all.replaceAll(name, 'NAME'), `${status} ${text}`.replace(/"requestId":"[^"]*"/g, ''));

describe('an id that was guessed', () => {
  test.each(['ex', 'ev', 'wf', 'wv', 'dp', 'sd', 'wk', 'au', 'pr', 'tk', 'se', 'jt', 'wc'])(
    'finds no node of kind %s, and does not tell that there is one',
    async (kind) => {
      const id = ids[kind] ?? '';
      expect((await admin.ask(NODE, { id })).node?.id).toBe(id);
      for (const caller of [nobody, narrow]) {
        const [there, not] = [await caller.post(NODE, { id }), await caller.post(NODE, { id: absent(kind) })];
        expect(there.data.node).toBeNull();
        expect(bare(there, id)).toBe(bare(not, absent(kind)));
        const several = await caller.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', {
          ids: [id, absent(kind)],
        });
        expect(several.nodes).toEqual([null, null]);
      }
    },
  );

  test.each(['au', 'jt', 'wc', 'tk', 'se', 'pr'])(
    'finds nothing of access for whoever may read the rest (%s)',
    async (kind) => {
      const other = kind === 'tk' || kind === 'pr' ? nobody : viewer;
      expect((await other.ask(NODE, { id: ids[kind] })).node).toBeNull();
    },
  );

  test.each<[string, string, string]>([
    ['reads an execution over REST', 'GET', ''],
    ['reads its events', 'GET', '/events'],
    ['cancels it', 'POST', '/cancel'],
    ['resumes it', 'POST', '/resume'],
  ])('%s', async (_name, method, suffix) => {
    for (const caller of [nobody, narrow]) {
      const [there, not] = await Promise.all(
        [ids['ex'] ?? '', absent('ex')].map((id) =>
          caller.rest(method, `/executions/${id}${suffix}`, method === 'GET' ? undefined : '1'),
        ),
      );
      expect([403, 404]).toContain(there?.status);
      expect(there?.text).not.toContain(SECRET);
      expect(there && bare(there, ids['ex'] ?? '')).toBe(not && bare(not, absent('ex')));
    }
    expect(
      (await admin.ask('query ($id: ID!) { execution(id: $id) { state } }', { id: ids['ex'] })).execution.state,
    ).toBe('PENDING');
  });

  test.each<[string, string]>([
    ['cancels an execution', 'mutation ($id: ID!) { cancelExecution(input: { id: $id }) { execution { id } } }'],
    ['resumes one', 'mutation ($id: ID!) { resumeExecution(input: { id: $id }) { execution { id } } }'],
    ['retries one', 'mutation ($id: ID!) { retryExecution(input: { id: $id }) { execution { id } } }'],
  ])('%s over GraphQL', async (_name, query) => {
    for (const caller of [nobody, narrow, viewer]) {
      const [there, not] = [
        await caller.post(query, { id: ids['ex'] }),
        await caller.post(query, { id: absent('ex') }),
      ];
      expect(there.code).toMatch(/FORBIDDEN|NOT_FOUND/);
      if (caller !== viewer) expect(bare(there, ids['ex'] ?? '')).toBe(bare(not, absent('ex')));
    }
  });

  test('revokes the token or session of another', async () => {
    for (const [query, id] of [
      ['mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { id } } }', ids['tk']],
      ['mutation ($id: ID!) { revokeLoginSession(input: { id: $id }) { id } }', ids['se']],
    ])
      expect(await nobody.code(query ?? '', { id })).toBe('NOT_FOUND');
  });
});

describe('a name that was guessed', () => {
  test.each<[string, string, string]>([
    ['a worker', 'other-worker', 'query ($n: String!) { worker(name: $n) { id } }'],
    ['a workflow', 'other/job', 'query ($n: String!) { workflow(ref: $n) { id } }'],
    ['a deployment', 'other', 'query ($n: String!) { deployment(slug: $n) { id } }'],
    ['a schedule', 'other', 'query ($n: String!) { schedule(name: $n) { id } }'],
    ['a principal', 'viewer', 'query ($n: String!) { principal(name: $n) { id } }'],
    ['a role', 'team', 'query ($n: String!) { accessRole(name: $n) { name } }'],
    ['how a deployment resolves', 'other', 'query ($n: String!) { resolveDeployment(slug: $n) { skipped } }'],
    [
      'a workflow by running it',
      'other/job',
      'mutation ($n: String!) { runWorkflow(input: { workflow: $n }) { execution { id } } }',
    ],
    [
      'a deployment by running it',
      'other',
      'mutation ($n: String!) { runDeployment(input: { deployment: $n }) { execution { id } } }',
    ],
    [
      'a deployment by changing it',
      'other',
      'mutation ($n: String!) { updateDeployment(input: { slug: $n, expectedRevision: 99 }) { deployment { id } } }',
    ],
    [
      'a deployment by deleting it',
      'other',
      'mutation ($n: String!) { deleteDeployment(input: { slug: $n, expectedRevision: 99 }) { slug } }',
    ],
    [
      'a schedule by running it',
      'other',
      'mutation ($n: String!) { runSchedule(input: { name: $n }) { schedule { id } } }',
    ],
    [
      'a schedule by pausing it',
      'other',
      'mutation ($n: String!) { pauseSchedule(input: { name: $n }) { schedule { id } } }',
    ],
    [
      'a worker by removing it',
      'other-worker',
      'mutation ($n: String!) { removeWorker(input: { worker: $n }) { name } }',
    ],
    [
      'a worker by its metadata',
      'other-worker',
      'mutation ($n: String!) { setWorkerMetadata(input: { worker: $n, metadata: {} }) { worker { id } } }',
    ],
    [
      'a worker by binding to it',
      'other-worker',
      'mutation ($n: String!) { runWorkflow(input: { workflow: "team/job", requiredWorker: $n }) { execution { id } } }',
    ],
    [
      'a worker by a preview',
      'other-worker',
      'query ($n: String!) { previewDispatch(input: { workflow: "team/job", requiredWorker: $n }) { outcome } }',
    ],
    [
      'a workflow by registering it',
      'other',
      'mutation ($n: String!) { registerWorkflow(input: { namespace: $n, name: "job" }) { created } }',
    ],
    [
      'a workflow by a deployment of it',
      'other/job',
      'mutation ($n: String!) { createDeployment(input: { slug: "team", variants: [{ label: "a", flowId: $n, weight: 1 }] }) { deployment { id } } }',
    ],
    [
      'a workflow by a schedule of it',
      'other/job',
      'mutation ($n: String!) { createSchedule(input: { name: "team", intervalSeconds: 60, workflow: $n }) { schedule { id } } }',
    ],
    [
      'a principal by a token',
      'viewer',
      'mutation ($n: String!) { createApiToken(input: { principal: $n, name: "x" }) { secret } }',
    ],
    [
      'a principal by ending its sessions',
      'viewer',
      'mutation ($n: String!) { revokeLoginSessions(input: { principal: $n }) { count } }',
    ],
    [
      'a principal by a password',
      'viewer',
      'mutation ($n: String!) { setPassword(input: { name: $n, password: "a long password" }) { principal { id } } }',
    ],
  ])('does not tell whether there is %s', async (_name, known, query) => {
    // As long, so that nothing that is counted differs.
    const unknown = known.replace(/[a-z]+/g, (word) => 'q'.repeat(word.length));
    for (const caller of [nobody, narrow]) {
      const [there, not] = [await caller.post(query, { n: known }), await caller.post(query, { n: unknown })];
      expect(bare(there, known, ...known.split('/'))).toBe(bare(not, unknown, ...unknown.split('/')));
      expect(there.text).not.toContain(SECRET);
    }
  });

  test.each([
    ['GET', '/workers/{}', 'other-worker'],
    ['GET', '/admin/workers/{}/metadata', 'other-worker'],
    ['PUT', '/admin/workers/{}/metadata/key', 'other-worker'],
    ['POST', '/workflows/{}/run/async', 'other/job'],
    ['POST', '/deployments/{}/run/async', 'other'],
  ])('does not tell by REST either (%s %s)', async (method, path, known) => {
    const unknown = known.replace(/[a-z]+/g, (word) => 'q'.repeat(word.length));
    for (const caller of [nobody, narrow]) {
      const [there, not] = [known, unknown].map((name) =>
        caller.rest(method, path.replace('{}', name), method === 'GET' ? undefined : '1'),
      ) as [Promise<Data>, Promise<Data>];
      expect(bare(await there, known, ...known.split('/'))).toBe(bare(await not, unknown, ...unknown.split('/')));
    }
  });
});

describe('a list, a count or a search', () => {
  test('shows nothing of others', async () => {
    const query = `{
      executions { totalCount nodes { id } } executionCounts { state count parked } workers { totalCount nodes { id } }
      workflows(search: "job") { totalCount nodes { id } } deployments { totalCount nodes { id } } schedules { totalCount nodes { id } }
      decisions { nodes { id } } roles { role } selectorKeys(kind: LABEL) { key }
    }`;
    for (const caller of [nobody, narrow]) {
      const { data, text } = await caller.post(query);
      expect(text).not.toContain(SECRET);
      expect(text).not.toMatch(/other|"(ex|wk|wf|dp|sd|de)_/);
      for (const count of data.executionCounts) expect([count.count, count.parked]).toEqual([0, 0]);
      for (const part of Object.values<Data>(data)) if (part.totalCount !== undefined) expect(part.totalCount).toBe(0);
    }
  });

  test.each([
    'principals { nodes { name } }',
    'accessRoles { name }',
    'joinTokens { nodes { id } }',
    'workerCredentials { nodes { id } }',
    'auditEntries { nodes { id } }',
  ])('of access is refused to whoever may read the rest: %s', async (field) => {
    expect(await viewer.code(`{ ${field} }`)).toBe('FORBIDDEN');
  });

  test('of tokens and sessions has one’s own alone', async () => {
    const { apiTokens, loginSessions } = await nobody.ask(
      '{ apiTokens { nodes { principal { name } } } loginSessions { nodes { id } } }',
    );
    expect(apiTokens.nodes.map((one: Data) => one.principal.name)).toEqual(['nobody']);
    expect(loginSessions.nodes).toEqual([]);
    expect(
      (await nobody.ask('{ apiTokens(filter: { principal: "viewer" }) { nodes { id } } }')).apiTokens.nodes,
    ).toEqual([]);
  });

  test('goes on at a cursor of another list without showing more', async () => {
    const { executions } = await admin.ask('{ executions { pageInfo { endCursor } } }');
    const cursor = executions.pageInfo.endCursor;
    const answer = await narrow.post('query ($c: String) { executions(before: $c, last: 50) { nodes { id } } }', {
      c: cursor,
    });
    expect(answer.data?.executions?.nodes ?? []).toEqual([]);
  });

  test('is not read through an idempotency key of another', async () => {
    const query = `mutation { runWorkflow(input: { workflow: "other/job", idempotencyKey: "shared-key-1" }) { execution { id input } } }`;
    const first = await admin.ask(query);
    await newRole(server, 'runner', ['workflow:other:job:run']);
    const runner = await newPrincipal(server, 'runner', ['runner']);
    const { text } = await runner.post(query);
    expect(text).not.toContain(first.runWorkflow.execution.id);
  });
});

describe('what the server is made of', () => {
  test.each<[string, string]>([
    ['by introspection', '{ __schema { queryType { name } } }'],
    ['by one type', '{ __type(name: "Query") { fields { name } } }'],
    ['by the name of a type in an answer', '{ __typename }'],
    ['by a suggestion', '{ viewerr { name } }'],
    ['by what a document gets wrong', '{ viewer { nam } }'],
  ])('is not told to somebody unknown %s', async (_name, query) => {
    const reply = await new Caller(server, null).post(query);
    expect(reply.status).toBe(401);
    expect(reply.text).not.toMatch(/did you mean|Query|viewer\b/i);
  });

  test('is not told by a suggestion to a worker', async () => {
    const worker = await joined(server, 'suggested');
    const reply = await worker.post('{ viewerr { nme } }');
    expect(reply.code).toBe('BAD_INPUT');
    expect(reply.text).not.toMatch(/did you mean/i);
  });

  test('is not told by /metrics to somebody unknown', async () => {
    const reply = await new Caller(server, null).rest('GET', '/metrics');
    expect(reply.status).toBe(401);
    expect(reply.text).not.toContain('muster_');
  });

  test('is not told by the headers of an answer', async () => {
    for (const path of ['/', '/graphql', '/session', '/healthz', '/nowhere.js']) {
      const { headers } = await new Caller(server, null).rest('GET', path);
      expect([headers['server'], headers['x-powered-by'], headers['via']]).toEqual([undefined, undefined, undefined]);
    }
  });

  test('is not told by an error: no stack, path, SQL or library', async () => {
    for (const reply of [
      await viewer.post('{ nodes(ids: ["ex_1", "zz", ""]) { id } executions(after: "!!!") { nodes { id } } }'),
      await viewer.rest('GET', '/executions/%00'),
      await viewer.rest('GET', '/workers/%ff'),
      await viewer.rest('POST', '/workflows/a/b/run/async', '{'),
    ])
      expect(reply.text).not.toMatch(/\bat .*\.m?js:|node_modules|SELECT |prisma|pothos|\/work|\/tmp/i);
  });

  test('a narrow token of an administrator reads no more than it is for', async () => {
    const { secret } = await newToken(admin, { principal: 'admin', scopes: ['worker:*:read'] });
    const caller = new Caller(server, secret);
    expect((await caller.ask(NODE, { id: ids['ex'] })).node).toBeNull();
    expect(await caller.code('{ principals { nodes { name } } }')).toBe('FORBIDDEN');
    expect((await caller.rest('GET', '/admin/audit.csv')).status).toBe(403);
  });
});
