import type { Server } from '../../support/server.ts';
import { Caller, send, sendJson, type Reply } from './calls.ts';

export const PASSWORD = 'correct horse battery';

/** Whoever holds the token of the installation. */
export function administrator(server: Server): Caller {
  return new Caller(server, server.token);
}

/** Makes a principal, and answers him with an API token of his own. */
export async function newPrincipal(
  server: Server,
  name: string,
  roles: readonly string[],
  more: { kind?: 'USER' | 'SERVICE'; password?: string } = {},
): Promise<Caller> {
  const admin = administrator(server);
  await admin.ask('mutation ($input: CreatePrincipalInput!) { createPrincipal(input: $input) { principal { id } } }', {
    input: { name, roles, kind: 'USER', ...more },
  });
  return new Caller(server, (await newToken(admin, { principal: name })).secret);
}

/** Makes a role of these permissions. */
export async function newRole(server: Server, name: string, permissions: readonly string[]): Promise<void> {
  await administrator(server).ask(
    'mutation ($input: CreateAccessRoleInput!) { createAccessRole(input: $input) { role { name } } }',
    { input: { name, permissions } },
  );
}

export async function newToken(
  caller: Caller,
  input: { principal?: string; scopes?: readonly string[]; expiresAt?: string } = {},
): Promise<{ id: string; secret: string }> {
  const { createApiToken } = await caller.ask(
    'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { secret token { id } } }',
    { input: { name: 'for a test', ...input } },
  );
  return { id: createApiToken.token.id, secret: createApiToken.secret };
}

export async function changePrincipal(server: Server, name: string, change: Record<string, unknown>): Promise<void> {
  const admin = administrator(server);
  const { principal } = await admin.ask('query ($name: String!) { principal(name: $name) { revision } }', { name });
  await admin.ask('mutation ($input: UpdatePrincipalInput!) { updatePrincipal(input: $input) { principal { id } } }', {
    input: { name, expectedRevision: principal.revision, ...change },
  });
}

/** What a page of the server itself sends along. */
export function ownPage(server: Server): { origin: string; host: string } {
  return { origin: server.url, host: `127.0.0.1:${server.port}` };
}

/** Logs in as the login page does. */
export function logIn(server: Server, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
  return sendJson(server, '/session', body, { ...ownPage(server), ...headers });
}

/** `name=value` of the session that a login opened. */
export function cookieOf(reply: Reply): string {
  const cookie = reply.headers['set-cookie']?.find((one) => one.startsWith('muster_'))?.split(';')[0];
  if (cookie === undefined) throw new Error(`no cookie was set: ${reply.status} ${reply.text}`);
  return cookie;
}

/** A browser that is logged in with this token. */
export async function session(server: Server, token = server.token): Promise<string> {
  return cookieOf(await logIn(server, { token }));
}

/** Who a cookie is, by a request of the server's own page; null: nobody. */
export async function whoIs(server: Server, cookie: string): Promise<string | null> {
  const { body } = await sendJson(server, '/graphql', { query: '{ viewer { name } }' }, { ...ownPage(server), cookie });
  return body?.data?.viewer?.name ?? null;
}

export async function logOut(server: Server, cookie: string): Promise<void> {
  await send(server, '/session', { method: 'DELETE', headers: { ...ownPage(server), cookie } });
}
