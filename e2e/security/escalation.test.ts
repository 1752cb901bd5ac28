import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { Caller, Data } from './support/calls.ts';
import { administrator, changePrincipal, newPrincipal, newRole, newToken, ownPage, session } from './support/people.ts';
import { socketOf } from './support/workers.ts';

/** Becoming more than one is, and staying what one was. */
let server: Server;
let admin: Caller;
/** May manage people, roles and tokens, and nothing else. */
let manager: Caller;
let operator: Caller;

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  await newRole(server, 'manager', ['admin:*', 'worker:*:read']);
  await newRole(server, 'strong', ['workflow:*:*:run', 'admin:principals:read']);
  manager = await newPrincipal(server, 'manager', ['manager']);
  operator = await newPrincipal(server, 'operator-1', ['operator']);
  await newPrincipal(server, 'boss', ['admin'], { password: 'a password of a boss' });
});
afterAll(() => server.dispose());

describe('somebody who manages access does not get more than he has: he', () => {
  test.each<[string, string, string]>([
    [
      'makes himself an administrator',
      'FORBIDDEN',
      'mutation { updatePrincipal(input: { name: "manager", roles: ["admin"], expectedRevision: 1 }) { principal { id } } }',
    ],
    [
      'gives himself a role that may more',
      'FORBIDDEN',
      'mutation { updatePrincipal(input: { name: "manager", roles: ["manager", "strong"], expectedRevision: 1 }) { principal { id } } }',
    ],
    [
      'makes somebody who is an administrator',
      'FORBIDDEN',
      'mutation { createPrincipal(input: { name: "mole", roles: ["admin"] }) { principal { id } } }',
    ],
    [
      'makes somebody with a role that may more',
      'FORBIDDEN',
      'mutation { createPrincipal(input: { name: "mole", roles: ["operator"] }) { principal { id } } }',
    ],
    [
      'makes a role of everything',
      'FORBIDDEN',
      'mutation { createAccessRole(input: { name: "mole", permissions: ["*"] }) { role { name } } }',
    ],
    [
      'makes a role of what he lacks',
      'FORBIDDEN',
      'mutation { createAccessRole(input: { name: "mole", permissions: ["worker:*:manage"] }) { role { name } } }',
    ],
    [
      'makes a role of all kinds by wildcards',
      'FORBIDDEN',
      'mutation { createAccessRole(input: { name: "mole", permissions: ["worker:*"] }) { role { name } } }',
    ],
    [
      'makes a role of a pattern that is none',
      'BAD_INPUT',
      'mutation { createAccessRole(input: { name: "mole", permissions: ["*:*", "admin", "**"] }) { role { name } } }',
    ],
    [
      'widens his own role',
      'FORBIDDEN',
      'mutation { updateAccessRole(input: { name: "manager", permissions: ["*"], expectedRevision: 1 }) { role { name } } }',
    ],
    [
      'takes a role away that may more',
      'FORBIDDEN',
      'mutation { deleteAccessRole(input: { name: "strong" }) { name } }',
    ],
    [
      'changes a role that may more',
      'FORBIDDEN',
      'mutation { updateAccessRole(input: { name: "strong", permissions: [], expectedRevision: 1 }) { role { name } } }',
    ],
    [
      'changes a built-in role',
      'CONFLICT',
      'mutation { updateAccessRole(input: { name: "viewer", permissions: ["admin:*"], expectedRevision: 0 }) { role { name } } }',
    ],
    ['removes a built-in role', 'CONFLICT', 'mutation { deleteAccessRole(input: { name: "admin" }) { name } }'],
    [
      'makes a role of a built-in one’s name',
      'CONFLICT',
      'mutation { createAccessRole(input: { name: "operator", permissions: [] }) { role { name } } }',
    ],
    [
      'makes a token of an administrator',
      'FORBIDDEN',
      'mutation { createApiToken(input: { principal: "boss", name: "mole" }) { secret } }',
    ],
    [
      'makes a narrow token of an administrator',
      'FORBIDDEN',
      'mutation { createApiToken(input: { principal: "boss", name: "mole", scopes: ["workflow:*:*:run"] }) { secret } }',
    ],
    [
      'sets the password of an administrator',
      'FORBIDDEN',
      'mutation { setPassword(input: { name: "boss", password: "known to the mole" }) { principal { id } } }',
    ],
    [
      'sets the password of the installation’s own',
      'FORBIDDEN',
      'mutation { setPassword(input: { name: "admin", password: "known to the mole" }) { principal { id } } }',
    ],
    [
      'disables an administrator',
      'FORBIDDEN',
      'mutation { updatePrincipal(input: { name: "boss", disabled: true, expectedRevision: 1 }) { principal { id } } }',
    ],
    ['removes an administrator', 'FORBIDDEN', 'mutation { deletePrincipal(input: { name: "boss" }) { name } }'],
    ['lets in a worker of any name', 'FORBIDDEN', 'mutation { createJoinToken(input: {}) { secret } }'],
    [
      'lets in a worker that may register workflows',
      'FORBIDDEN',
      'mutation { createJoinToken(input: { worker: "w", registers: ["*:*"] }) { secret } }',
    ],
    [
      'speaks as a worker',
      'FORBIDDEN',
      'mutation { workerLeave(input: { worker: "w", instanceId: "w-1" }) { released } }',
    ],
  ])('%s', async (_name, code, query) => {
    const answer = await manager.post(query);
    expect(answer.code).toBe(code);
    expect(answer.text).not.toMatch(/"secret":"ms/);
    expect((await manager.ask('{ viewer { permissions } }')).viewer.permissions.toSorted()).toEqual([
      'admin:*',
      'worker:*:read',
    ]);
  });

  test('is not somebody else by a name that looks like his', async () => {
    for (const name of ['worker:w-1', 'аdmin', 'admin ', 'admin\u200b', 'ADMIN\u0000'])
      expect([
        name,
        await manager.code('mutation ($n: String!) { createPrincipal(input: { name: $n }) { principal { id } } }', {
          n: name,
        }),
      ]).toEqual([name, 'BAD_INPUT']);
  });
});

describe('an operator', () => {
  test.each<[string, string]>([
    ['makes people', 'mutation { createPrincipal(input: { name: "mole" }) { principal { id } } }'],
    [
      'changes himself',
      'mutation { updatePrincipal(input: { name: "operator-1", roles: ["admin"], expectedRevision: 1 }) { principal { id } } }',
    ],
    ['makes roles', 'mutation { createAccessRole(input: { name: "mole", permissions: [] }) { role { name } } }'],
    ['reads roles', '{ accessRoles { name permissions } }'],
    ['reads the audit', '{ auditEntries { nodes { actor } } }'],
    ['makes tokens of others', 'mutation { createApiToken(input: { principal: "boss", name: "mole" }) { secret } }'],
    [
      'sets passwords',
      'mutation { setPassword(input: { name: "boss", password: "known to the mole" }) { principal { id } } }',
    ],
    ['ends the sessions of others', 'mutation { revokeLoginSessions(input: { principal: "boss" }) { count } }'],
    ['purges join tokens', 'mutation { purgeJoinTokens { count } }'],
    [
      'speaks as a worker',
      'mutation { workerHeartbeat(input: { worker: "w", instanceId: "w-1", healthy: false }) { lost } }',
    ],
  ])('does not do what is for administrators: he %s', async (_name, query) => {
    expect(await operator.code(query)).toBe('FORBIDDEN');
  });

  test('changes no password without the present one, his own neither', async () => {
    const query =
      'mutation { changeOwnPassword(input: { current: "a guess of mine", password: "another long one" }) { principal { id } } }';
    expect(await operator.code(query)).toBe('FORBIDDEN');
  });
});

describe('the last administrator', () => {
  test.each<[string, string]>([['removed', 'mutation { deletePrincipal(input: { name: "admin" }) { name } }']])(
    'of an installation is not %s',
    async (_name, query) => {
      expect(await admin.code(query)).toBe('CONFLICT');
    },
  );

  test('is not stripped or disabled when the others are gone', async () => {
    await admin.ask('mutation { deletePrincipal(input: { name: "boss" }) { name } }');
    const { principal } = await admin.ask('{ principal(name: "admin") { revision } }');
    const update = (change: string) =>
      admin.code(
        `mutation { updatePrincipal(input: { name: "admin", ${change}, expectedRevision: ${principal.revision} }) { principal { id } } }`,
      );
    expect([await update('disabled: true'), await update('roles: ["viewer"]')]).toEqual(['CONFLICT', 'CONFLICT']);
    expect((await admin.ask('{ viewer { name } }')).viewer.name).toBe('admin');
  });
});

describe('a stream of somebody who may no more ends', () => {
  const STREAM = 'subscription { workerEvents { kind } }';

  /** An event stream that is open; `ended` is all that came until its end. */
  async function sse(headers: Record<string, string>, path = '/graphql'): Promise<{ ended: Promise<string> }> {
    const response = await fetch(`${server.url}${path}`, {
      ...(path === '/graphql' ? { method: 'POST', body: JSON.stringify({ query: STREAM }) } : {}),
      headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
    });
    expect(response.status).toBe(200);
    return { ended: response.text().catch(() => 'broken') };
  }

  /** A socket with a subscription that has had its first event. */
  async function subscribed(token: string | null): Promise<{ closed: Promise<number>; dispose: () => void }> {
    const { client, closed } = socketOf(server, token);
    const events: unknown[] = [];
    client.subscribe(
      { query: STREAM },
      { next: (event) => events.push(event), error: () => undefined, complete: () => undefined },
    );
    await until('the first event', () => events.length > 0);
    return { closed, dispose: () => void client.dispose() };
  }

  const revoke = 'mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { id } } }';

  test('on a WebSocket, when the token is revoked', async () => {
    const { id, secret } = await newToken(operator);
    const { closed } = await subscribed(secret);
    await admin.ask(revoke, { id });
    expect(await closed).toBe(4403);
  });

  test('on a WebSocket, when the person is disabled', async () => {
    const person = await newPrincipal(server, 'ends-disabled', ['viewer']);
    const { closed } = await subscribed(person.token);
    await changePrincipal(server, 'ends-disabled', { disabled: true });
    expect(await closed).toBe(4403);
  });

  test('on a WebSocket, when the person is removed', async () => {
    const person = await newPrincipal(server, 'ends-removed', ['viewer']);
    const { closed } = await subscribed(person.token);
    await admin.ask('mutation { deletePrincipal(input: { name: "ends-removed" }) { name } }');
    expect(await closed).toBe(4403);
  });

  test('of server-sent events, when the token is revoked', async () => {
    const { id, secret } = await newToken(operator);
    const { ended } = await sse({ authorization: `Bearer ${secret}` });
    await admin.ask(revoke, { id });
    expect(await ended).toContain('UNAUTHENTICATED');
  });

  test('of server-sent events, when the session is ended', async () => {
    const person = await newPrincipal(server, 'ends-session', ['viewer']);
    const cookie = await session(server, person.token ?? '');
    const { origin } = ownPage(server);
    const { ended } = await sse({ cookie, origin });
    await admin.ask('mutation { revokeLoginSessions(input: { principal: "ends-session" }) { count } }');
    expect(await ended).toContain('UNAUTHENTICATED');
  });

  test('of an execution over REST, when the token is revoked', async () => {
    await admin.ask('mutation { registerWorkflow(input: { name: "waits" }) { created } }');
    const { runWorkflow } = await admin.ask(
      'mutation { runWorkflow(input: { workflow: "default/waits" }) { execution { id } } }',
    );
    const { id, secret } = await newToken(operator);
    const { ended } = await sse(
      { authorization: `Bearer ${secret}` },
      `/executions/${runWorkflow.execution.id}/events`,
    );
    await admin.ask(revoke, { id });
    const text = await ended;
    expect(text).not.toMatch(/event: (COMPLETED|FAILED|CANCELLED)/);
  });

  test('and shows nothing of what happens after a role was taken away', async () => {
    const person = await newPrincipal(server, 'ends-role', ['viewer']);
    const { client } = socketOf(server, person.token);
    const events: Data[] = [];
    client.subscribe<Data>(
      { query: 'subscription { deploymentChanges { kind deployments { slug description } } }' },
      { next: (event) => events.push(event), error: (error) => events.push(error), complete: () => undefined },
    );
    await until('the first event', () => events.length > 0);
    await changePrincipal(server, 'ends-role', { roles: [] });
    await admin.ask('mutation { registerWorkflow(input: { name: "waits" }) { created } }');
    await admin.ask(
      'mutation { createDeployment(input: { slug: "secret-plan", description: "canary-after-role", variants: [{ label: "a", flowId: "default/waits", weight: 1 }] }) { deployment { slug } } }',
    );
    // Who may is told; by then whoever may not would have been told too.
    const told = socketOf(server, server.token);
    const seen: unknown[] = [];
    told.client.subscribe(
      { query: 'subscription { deploymentChanges { deployments { slug } } }' },
      { next: (event) => seen.push(event), error: () => undefined, complete: () => undefined },
    );
    await until('somebody who may is told', () => JSON.stringify(seen).includes('secret-plan'));
    await person.post('{ deployments { nodes { slug } } }');
    expect(JSON.stringify(events)).not.toContain('secret-plan');
    await client.dispose();
    await told.client.dispose();
  });
});
