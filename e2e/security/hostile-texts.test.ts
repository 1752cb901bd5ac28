import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { Caller, send, sendJson } from './support/calls.ts';
import { administrator, newPrincipal } from './support/people.ts';

/** Texts and values that are made to become something else than data: a prototype, SQL, a policy that never ends. */
let server: Server;
let admin: Caller;
let viewer: Caller;

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  viewer = await newPrincipal(server, 'texts-viewer', ['viewer']);
  await admin.ask('mutation { registerWorkflow(input: { name: "job", description: "plain" }) { created } }');
});
afterAll(() => server.dispose());

const nested = (levels: number, [open, core, close]: readonly [string, string, string]): string =>
  open.repeat(levels) + core + close.repeat(levels);

/** Still there, and nobody else has become an administrator meanwhile. */
async function expectUnharmed(): Promise<void> {
  expect((await send(server, '/healthz')).status).toBe(200);
  expect((await new Caller(server, null).post('{ viewer { name } }')).status).toBe(401);
  expect((await viewer.post('mutation { registerWorkflow(input: { name: "no" }) { created } }')).code).toBe(
    'FORBIDDEN',
  );
  expect(server.output).not.toMatch(/unhandled|"level":"fatal"|heap out of memory/i);
}

describe('a member that would change a prototype is data, or refused', () => {
  const poisons = [
    '{"__proto__":{"administrator":true,"permissions":["*"]}}',
    '{"constructor":{"prototype":{"administrator":true}}}',
  ];
  const graphql = (query: string, input: string): Promise<unknown> =>
    sendJson(server, '/graphql', `{"query":${JSON.stringify(query)},"variables":{"i":${input}}}`, admin.headers);

  test.each<[string, (poison: string) => Promise<unknown>]>([
    [
      'an input',
      (p) =>
        graphql(
          'mutation ($i: RunWorkflowInput!) { runWorkflow(input: $i) { execution { id } } }',
          `{"workflow":"default/job","input":${p}}`,
        ),
    ],
    [
      'routing input',
      (p) =>
        graphql(
          'mutation ($i: RunWorkflowInput!) { runWorkflow(input: $i) { execution { id } } }',
          `{"workflow":"default/job","routingInput":${p}}`,
        ),
    ],
    [
      'an input type',
      (p) => graphql('mutation ($i: RunWorkflowInput!) { runWorkflow(input: $i) { execution { id } } }', p),
    ],
    [
      'the metadata of a worker',
      (p) =>
        graphql(
          'mutation ($i: SetWorkerMetadataInput!) { setWorkerMetadata(input: $i) { worker { name } } }',
          `{"worker":"api-host","metadata":${p}}`,
        ),
    ],
    [
      'the metrics of a worker',
      (p) =>
        graphql(
          'mutation ($i: WorkerHeartbeatInput!) { workerHeartbeat(input: $i) { lost } }',
          `{"worker":"w","instanceId":"w","healthy":true,"metrics":${p}}`,
        ),
    ],
    [
      'variables',
      (p) => sendJson(server, '/graphql', `{"query":"{ viewer { name } }","variables":${p}}`, admin.headers),
    ],
    ['a request', (p) => sendJson(server, '/graphql', `{"query":"{ viewer { name } }",${p.slice(1)}`, admin.headers)],
    ['a login', (p) => sendJson(server, '/session', p)],
    ['a body of REST', (p) => admin.rest('POST', '/workflows/default/job/run/async', p)],
    ['a header', (p) => admin.rest('POST', '/workflows/default/job/run/async', '1', { 'x-flux-routing-input': p })],
    ['metadata over REST', (p) => admin.rest('PUT', '/admin/workers/api-host/metadata', `{"metadata":${p}}`)],
    [
      'a key of metadata',
      () => admin.rest('PUT', '/admin/workers/api-host/metadata/__proto__', '{"administrator":true}'),
    ],
    [
      'parameters',
      () => admin.rest('POST', '/workflows/default/job/run/async?__proto__[administrator]=true&constructor=1', '1'),
    ],
  ])('of %s', async (_name, attack) => {
    for (const poison of poisons) await attack(poison);
    const { permissions } = (await viewer.ask('{ viewer { permissions } }')).viewer;
    expect(permissions).not.toContain('*');
    await expectUnharmed();
  });
});

describe('SQL in a text is text', () => {
  const attacks = [
    "' OR '1'='1",
    "'; DROP TABLE execution; --",
    "%' UNION SELECT token_hash FROM token --",
    '\\',
    '%',
    '_',
    '$1',
    '"; SELECT pg_sleep(30); --',
  ];

  test.each<[string, string]>([
    ['a search of executions', 'query ($t: String) { executions(filter: { search: $t }) { nodes { id } } }'],
    ['the session key of executions', 'query ($t: String) { executions(filter: { sessionKey: $t }) { nodes { id } } }'],
    [
      'the workflow of executions',
      'query ($t: String) { executions(filter: { workflow: $t, namespace: $t }) { nodes { id } } }',
    ],
    [
      'the worker and role of executions',
      'query ($t: String) { executions(filter: { worker: $t, role: $t, requiredWorker: $t }) { nodes { id } } }',
    ],
    [
      'the deployment of executions',
      'query ($t: String) { executions(filter: { deployment: $t, variant: $t }) { nodes { id } } }',
    ],
    ['counts of executions', 'query ($t: String) { executionCounts(filter: { search: $t }) { state count } }'],
    ['a search of workers', 'query ($t: String) { workers(filter: { search: $t }) { nodes { id } } }'],
    [
      'labels of workers',
      'query ($t: String!) { workers(filter: { labels: [{ key: $t, value: $t }], names: [$t], roles: [$t], versions: [$t] }) { nodes { id } } }',
    ],
    ['a search of workflows', 'query ($t: String) { workflows(search: $t) { nodes { id } } }'],
    [
      'a search of deployments',
      'query ($t: String) { deployments(filter: { search: $t, module: $t, workflow: $t }) { nodes { id } } }',
    ],
    [
      'a search of schedules',
      'query ($t: String) { schedules(filter: { search: $t, workflow: $t, deployment: $t }) { nodes { id } } }',
    ],
    [
      'decisions',
      'query ($t: String) { decisions(filter: { worker: $t, winner: $t, candidate: $t, workflow: $t, deployment: $t }) { nodes { id } } }',
    ],
    [
      'the audit',
      'query ($t: String) { auditEntries(filter: { actor: $t, action: $t, target: $t }) { nodes { id } } }',
    ],
    ['a search of principals', 'query ($t: String) { principals(filter: { search: $t, role: $t }) { nodes { id } } }'],
    ['tokens', 'query ($t: String) { apiTokens(filter: { principal: $t }) { nodes { id } } }'],
    ['sessions', 'query ($t: String) { loginSessions(filter: { principal: $t }) { nodes { id } } }'],
    ['join tokens', 'query ($t: String) { joinTokens(filter: { worker: $t }) { nodes { id } } }'],
    ['credentials of workers', 'query ($t: String) { workerCredentials(filter: { worker: $t }) { nodes { id } } }'],
    ['keys of selectors', 'query ($t: String) { selectorKeys(kind: LABEL, prefix: $t) { key } }'],
    ['a cursor', 'query ($t: String) { executions(after: $t) { nodes { id } } }'],
    ['an id', 'query ($t: ID!) { node(id: $t) { id } }'],
    [
      'a name',
      'query ($t: String!) { worker(name: $t) { id } deployment(slug: $t) { id } workflow(ref: $t) { id } schedule(name: $t) { id } principal(name: $t) { id } }',
    ],
  ])('in %s', async (_name, query) => {
    for (const text of attacks) {
      const answer = await admin.post(query, { t: text });
      expect([text, answer.code ?? 'nothing']).toEqual([text, expect.stringMatching(/^(nothing|BAD_INPUT)$/)]);
      // What finds everything by a wildcard, or somebody by an OR, has become more than text.
      const found = Object.values(answer.data ?? {}).flatMap(
        (part) => (part as { nodes?: unknown[] } | null)?.nodes ?? [],
      );
      if (text !== '_') expect([text, found]).toEqual([text, []]);
      expect(answer.text).not.toMatch(/syntax error|relation "|pg_/);
    }
    expect((await admin.ask('{ workflow(ref: "default/job") { description } }')).workflow.description).toBe('plain');
  });
});

describe('a policy that is made to be slow is answered, and holds nobody up', () => {
  test.each<[string, string]>([
    ['brackets nested ten thousand times', nested(10_000, ['(', 'load()', ')'])],
    ['calls nested ten thousand times', nested(10_000, ['score(', 'load()', ')'])],
    ['a hundred thousand terms', `score(${'prefer(label("a") == "b"), '.repeat(20_000)}least(load()))`],
    ['an expression that backtracks', `require(label("a") =~ "(a+)+$${'a'.repeat(1_000)}!")`],
    ['a glob of ten thousand stars', `require(label("a") == "${'*a'.repeat(10_000)}")`],
    ['a text that does not end', `require(label("${'\\'.repeat(100_000)}`],
    ['a megabyte of blanks', ' '.repeat(1_048_576)],
    ['a thousand minus signs', `score(${'-'.repeat(10_000)}1)`],
    ['unicode that grows', `require(label("${'\ufdfa'.repeat(20_000)}") == "x")`],
  ])('%s', async (_name, text) => {
    const [answer, other] = await Promise.all([
      admin.post('query ($t: String!) { checkPolicy(stage: ROUTING, text: $t) { ok } }', { t: text }),
      viewer.post('{ viewer { name } }'),
    ]);
    expect(other.code).toBeNull();
    expect(answer.status).toBeLessThan(500);
    if (answer.code === null) expect(answer.data.checkPolicy.ok).toBe(false);
    else expect(['BAD_INPUT', 'POLICY_INVALID', 'TOO_LARGE']).toContain(answer.code);
    await expectUnharmed();
  });
});
