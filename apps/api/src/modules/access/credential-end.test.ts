import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type EventReader, readEvents } from '../../http/rest/testing/event-reader.ts';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** Where credentials are ended, and where the streams are open that end with them: two replicas, where the database can have two. */
let here: TestApp;
let there: TestApp;
let remove: () => Promise<void>;
let execution: string;
let made = 0;

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
  await here.ask('mutation { registerWorkflow(input: { name: "wait" }) { created } }');
  const { runWorkflow } = await here.ask('mutation { runWorkflow(input: { workflow: "wait" }) { execution { id } } }');
  execution = runWorkflow.execution.id;
});
afterAll(async () => {
  await here.close();
  if (there !== here) await there.close();
  await remove();
});

interface Streams {
  /** Close code of the WebSocket. */
  readonly socket: Promise<number>;
  readonly graphql: EventReader;
  readonly rest: EventReader;
}

/** One stream of every kind, each of which has said something. */
async function open(token: string): Promise<Streams> {
  const headers = { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${there.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', { headers });
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve) => socket.on('open', resolve));
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await until(() => messages.length === 1, 'the acknowledgement');
  const query = 'subscription { workerEvents { kind } }';
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  await until(() => messages.length === 2, 'the snapshot');
  const graphql = await readEvents(there, 'POST', '/graphql', {
    headers: { ...headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
  });
  await until(() => graphql.events.length === 1, 'the snapshot over HTTP');
  const rest = await readEvents(there, 'GET', `/executions/${execution}/events`, { headers });
  await until(() => rest.events.length > 0, 'the history');
  return { socket: closed, graphql, rest };
}

async function expectEnd({ socket, graphql, rest }: Streams): Promise<void> {
  expect(await socket).toBe(4403);
  expect(await graphql.ended).toBe(true);
  expect(graphql.events.slice(-2).map(({ type }) => type)).toEqual(['next', 'complete']);
  expect(graphql.events.at(-2)?.data).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  expect(await rest.ended).toBe(true);
}

/** A principal that reads everything, and a token of it. */
async function reader(expiresAt: string | null = null): Promise<{ name: string; token: string; id: string }> {
  const name = `reader-${(made += 1)}`;
  await here.ask(
    'mutation ($name: String!) { createPrincipal(input: { name: $name, kind: SERVICE, roles: ["viewer"] }) { principal { id } } }',
    { name },
  );
  const { createApiToken } = await here.ask(
    'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { secret token { id } } }',
    { input: { principal: name, name: 'streams', expiresAt } },
  );
  return { name, token: createApiToken.secret, id: createApiToken.token.id };
}

describe('what is open ends everywhere', () => {
  it('when its token is revoked', async () => {
    const { token, id } = await reader();
    const other = await reader();
    const [streams, others] = [await open(token), await open(other.token)];
    await here.ask('mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { id } } }', { id });
    await expectEnd(streams);
    const again = await readEvents(there, 'GET', `/executions/${execution}/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(again.status).toBe(401);
    // Those of somebody else go on.
    const count = others.graphql.events.length;
    await here.ask('mutation { registerWorkflow(input: { name: "other" }) { created } }');
    expect([count, others.graphql.text().includes('UNAUTHENTICATED')]).toEqual([1, false]);
    others.graphql.leave();
    others.rest.leave();
  });

  it('when its principal is disabled, or deleted', async () => {
    const disabled = await reader();
    const streams = await open(disabled.token);
    await here.ask(
      'mutation ($n: String!) { updatePrincipal(input: { name: $n, disabled: true, expectedRevision: 1 }) { principal { id } } }',
      { n: disabled.name },
    );
    await expectEnd(streams);
    const deleted = await reader();
    const more = await open(deleted.token);
    await here.ask('mutation ($n: String!) { deletePrincipal(input: { name: $n }) { name } }', { n: deleted.name });
    await expectEnd(more);
  });

  it('when its token has expired, of which nobody tells', async () => {
    const ends = here.plane.database.now() + 8_000;
    const { token } = await reader(new Date(ends).toISOString());
    await expectEnd(await open(token));
    expect(here.plane.database.now()).toBeGreaterThanOrEqual(ends);
  });

  it('when its session is revoked', async () => {
    const { token, name } = await reader();
    const login = await fetch(`${there.url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const socket = new WebSocket(`${there.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { cookie, origin: there.url },
    });
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.on('open', resolve));
    const acknowledged = new Promise((resolve) => socket.once('message', resolve));
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await acknowledged;
    const { revokeLoginSessions } = await here.ask(
      'mutation ($n: String!) { revokeLoginSessions(input: { principal: $n }) { count } }',
      { n: name },
    );
    expect([revokeLoginSessions.count, await closed]).toEqual([1, 4403]);
  });

  it('and what a role lets somebody do changes everywhere', async () => {
    const role = `role-${(made += 1)}`;
    await here.ask(
      'mutation ($n: String!) { createAccessRole(input: { name: $n, permissions: ["worker:*:read"] }) { role { name } } }',
      { n: role },
    );
    const { name, token } = await reader();
    await here.ask(
      'mutation ($n: String!, $r: [String!]!) { updatePrincipal(input: { name: $n, roles: $r, expectedRevision: 1 }) { principal { id } } }',
      { n: name, r: [role] },
    );
    const permissions = async (): Promise<string[]> => {
      const { data } = await there.post('{ viewer { permissions } }', {}, { authorization: `Bearer ${token}` });
      return data.viewer.permissions;
    };
    await until(async () => (await permissions())[0] === 'worker:*:read', 'the role at the other replica');
    await here.ask(
      'mutation ($n: String!) { updateAccessRole(input: { name: $n, permissions: ["worker:w-1:read"], expectedRevision: 1 }) { role { name } } }',
      { n: role },
    );
    await until(async () => (await permissions())[0] === 'worker:w-1:read', 'the change at the other replica');
    expect(await permissions()).toEqual(['worker:w-1:read']);
  });
});
