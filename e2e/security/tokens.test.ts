import { createHash, createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Caller, send, sendJson } from './support/calls.ts';
import { administrator, changePrincipal, logIn, newPrincipal, newRole, newToken } from './support/people.ts';

/** Attacks with API tokens and the token of the installation: forged, stolen too late, or made to do more than they may. */
let server: Server;
let admin: Caller;
let user: Caller;
let token: string;

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  user = await newPrincipal(server, 'token-user', ['operator']);
  token = user.token ?? '';
});
afterAll(() => server.dispose());

const WHO = '{ viewer { name } }';
const who = async (secret: string): Promise<string | null> =>
  (await new Caller(server, secret).post(WHO)).data?.viewer?.name ?? null;

function jwt(header: object, key: string | null): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part(header)}.${part({ sub: 'admin', name: 'admin', roles: ['admin'], exp: 4_102_444_800 })}`;
  return `${body}.${key === null ? '' : createHmac('sha256', key).update(body).digest('base64url')}`;
}

describe('a forged token is nobody', () => {
  test('the real one works, so that the refusals below mean something', async () => {
    expect(await who(token)).toBe('token-user');
    expect(await who(server.token)).toBe('admin');
  });

  test.each<[string, () => string]>([
    ['an API token with its last character changed', () => `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`],
    [
      'an API token with its first random character changed',
      () => `mst_${token[4] === 'A' ? 'B' : 'A'}${token.slice(5)}`,
    ],
    ['an API token that is cut short', () => token.slice(0, -1)],
    ['the visible prefix of an API token', () => token.slice(0, 10)],
    ['an API token with something behind it', () => `${token}A`],
    ['an API token in other case', () => `mst_${token.slice(4).toUpperCase()}`],
    ['an API token under the prefix of a worker', () => `msw_${token.slice(4)}`],
    ['an API token under the prefix of an execution', () => `msx_${token.slice(4)}`],
    ['an API token under the prefix of a join token', () => `msj_${token.slice(4)}`],
    ['the SHA-256 of a token, as the database has it, in hex', () => createHash('sha256').update(token).digest('hex')],
    ['the SHA-256 of a token in base64', () => `mst_${createHash('sha256').update(token).digest('base64url')}`],
    ['the installation’s token, cut short', () => server.token.slice(0, -1)],
    ['the installation’s token in other case', () => server.token.toUpperCase()],
    ['a wildcard of SQL', () => 'mst_%'],
    ['a piece of SQL', () => "mst_'OR'1'='1"],
    ['the prefix alone', () => 'mst_'],
    ['a token of 12,000 characters', () => `mst_${'A'.repeat(12_000)}`],
    ['an unsigned JWT with alg none', () => jwt({ alg: 'none', typ: 'JWT' }, null)],
    ['an unsigned JWT with alg NoNe', () => jwt({ alg: 'NoNe', typ: 'JWT' }, null)],
    ['a JWT signed with an empty key', () => jwt({ alg: 'HS256', typ: 'JWT' }, '')],
    ['a JWT signed with a usual key', () => jwt({ alg: 'HS256', typ: 'JWT', kid: '../../../dev/null' }, 'secret')],
  ])('%s', async (_name, forge) => {
    const reply = await new Caller(server, forge()).post(WHO);
    expect(reply.status).toBe(401);
    expect(reply.code).toBe('UNAUTHENTICATED');
    expect(reply.data).toBeNull();
  });

  test.each<[string, (secret: string) => Record<string, string>]>([
    ['as the password of Basic', (secret) => ({ authorization: `Basic ${btoa(`admin:${secret}`)}` })],
    ['without the word Bearer', (secret) => ({ authorization: secret })],
    ['with two words behind Bearer', (secret) => ({ authorization: `Bearer x ${secret}` })],
    ['in a header of a proxy', (secret) => ({ 'proxy-authorization': `Bearer ${secret}` })],
    ['in a header of another product', (secret) => ({ 'x-api-key': secret, 'x-auth-token': secret })],
    ['under a header that names a user', () => ({ 'x-remote-user': 'admin', 'x-forwarded-user': 'admin' })],
  ])('a good token that comes %s', async (_name, headers) => {
    const reply = await sendJson(server, '/graphql', { query: WHO }, headers(server.token));
    expect(reply.status).toBe(401);
    expect(reply.text).not.toContain('"admin"');
  });

  test.each([
    ['/graphql', 'access_token'],
    ['/graphql', 'token'],
    ['/workers', 'access_token'],
    ['/metrics', 'token'],
  ])('a good token in the address of %s (%s), where logs would keep it', async (path, name) => {
    const { status } = await send(server, `${path}?${name}=${server.token}&query=${encodeURIComponent(WHO)}`);
    expect(status).toBe(401);
  });
});

describe('a token whose time is over is nobody’s', () => {
  test('one that was revoked', async () => {
    const { id, secret } = await newToken(admin, { principal: 'token-user' });
    expect(await who(secret)).toBe('token-user');
    await admin.ask('mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { status } } }', { id });
    expect(await who(secret)).toBeNull();
  });

  test('one that has expired', async () => {
    const expiresAt = new Date(Date.now() + 4_000).toISOString();
    const { secret } = await newToken(admin, { principal: 'token-user', expiresAt });
    expect(await who(secret)).toBe('token-user');
    await until('it has expired', async () => (await who(secret)) === null);
    expect(Date.now()).toBeGreaterThan(Date.parse(expiresAt) - 1_000);
  });

  test('one of somebody who is disabled', async () => {
    const left = await newPrincipal(server, 'token-left', ['viewer']);
    expect(await who(left.token ?? '')).toBe('token-left');
    await changePrincipal(server, 'token-left', { disabled: true });
    expect(await who(left.token ?? '')).toBeNull();
  });

  test('one of somebody who is gone, also when somebody else gets his name', async () => {
    const gone = await newPrincipal(server, 'token-gone', ['viewer']);
    expect(await who(gone.token ?? '')).toBe('token-gone');
    await admin.ask('mutation { deletePrincipal(input: { name: "token-gone" }) { name } }');
    expect(await who(gone.token ?? '')).toBeNull();
    await newPrincipal(server, 'token-gone', ['operator']);
    expect(await who(gone.token ?? '')).toBeNull();
  });

  test('one whose role lost a permission keeps nothing of it', async () => {
    await newRole(server, 'token-role', ['workflow:*:*:register']);
    const weaker = await newPrincipal(server, 'token-weaker', ['token-role']);
    const register = 'mutation { registerWorkflow(input: { name: "weaker" }) { created } }';
    expect(await weaker.code(register)).toBeNull();
    await admin.ask(
      'mutation { updateAccessRole(input: { name: "token-role", permissions: ["workflow:*:*:read"], expectedRevision: 1 }) { role { name } } }',
    );
    expect(await weaker.code(register)).toBe('FORBIDDEN');
  });
});

describe('a token is not widened', () => {
  const make = 'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { secret } }';
  const making = (input: object) => ({ input: { name: 'wider', ...input } });

  test('a narrow one makes no wider one, and none without bounds', async () => {
    const { secret } = await newToken(user, { scopes: ['worker:*:read'] });
    const narrow = new Caller(server, secret);
    for (const scopes of [['worker:*:manage'], ['*'], ['workflow:*:*:run'], []])
      expect(await narrow.code(make, making({ scopes }))).toBe('FORBIDDEN');
    expect(await narrow.code(make, making({ scopes: ['worker:w-1:read'] }))).toBeNull();
  });

  test('one that ends soon makes none that ends later, and none that never ends', async () => {
    const expiresAt = new Date(Date.now() + 600_000).toISOString();
    const short = new Caller(server, (await newToken(user, { expiresAt })).secret);
    const later = new Date(Date.now() + 7_200_000).toISOString();
    expect(await short.code(make, making({}))).toBe('FORBIDDEN');
    expect(await short.code(make, making({ expiresAt: later }))).toBe('FORBIDDEN');
  });

  test('scopes beyond what its principal may give him nothing', async () => {
    expect(await user.code(make, making({ scopes: ['admin:principals:write'] }))).toBe('FORBIDDEN');
    const { secret } = await newToken(admin, { principal: 'token-user', scopes: ['*'] });
    expect(await new Caller(server, secret).code('{ principals { nodes { name } } }')).toBe('FORBIDDEN');
  });

  test('a browser session that was opened with a narrow one is as narrow, and ends with it', async () => {
    const { id, secret } = await newToken(user, { scopes: ['worker:*:read'] });
    const reply = await logIn(server, { token: secret });
    const cookie = reply.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const asking = (query: string) =>
      sendJson(server, '/graphql', { query }, { cookie, origin: server.url, host: `127.0.0.1:${server.port}` });
    expect((await asking('{ viewer { permissions } }')).body.data.viewer.permissions).toEqual(['worker:*:read']);
    const run = 'mutation { registerWorkflow(input: { name: "wide" }) { created } }';
    expect((await asking(run)).body.errors[0].extensions.code).toBe('FORBIDDEN');
    await user.ask('mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { status } } }', { id });
    expect((await asking('{ viewer { name } }')).status).toBe(401);
  });
});

describe('secrets stay where they are', () => {
  test('no answer of the API tells a token or a hash again, to an administrator neither', async () => {
    const { secret } = await newToken(user);
    const { text } = await admin.post(`{
      apiTokens { nodes { id name prefix scopes createdBy principal { name } } }
      principals { nodes { name kind roles externalIdentity tokens { prefix } sessions { id userAgent } } }
      auditEntries { nodes { actor action target address before after } }
    }`);
    expect(text).toContain(secret.slice(0, 8));
    const hash = createHash('sha256').update(secret);
    for (const hidden of [secret, server.token, hash.copy().digest('hex'), hash.copy().digest('base64'), '$argon2'])
      expect(text).not.toContain(hidden);
  });

  test('the log tells no token of anybody, in what is refused neither', async () => {
    const attempts = [`${token}x`, 'muster-guess-4711', server.token];
    for (const secret of attempts) {
      await new Caller(server, secret).post('{ viewer { nothing } }');
      await send(server, `/workers?token=${secret}`, { headers: { authorization: `Bearer ${secret}` } });
      await logIn(server, { token: `${secret}-wrong` });
    }
    for (const secret of [token, ...attempts]) expect(server.output).not.toContain(secret);
  });

  test('the list of processes tells no token: none is among the arguments', async () => {
    const { execFileSync } = await import('node:child_process');
    const listed = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    expect(listed).toContain('muster.mjs serve');
    expect(listed).not.toContain(server.token);
    expect(listed).not.toContain(token);
  });
});
