import { generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { browse, cookieOf, type Reply } from '../../testing/browse.ts';
import { startTestProvider, type TestProvider } from '../../testing/oidc-provider.ts';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { bindPort } from '../bound-port.ts';

let app: TestApp;
let provider: TestProvider;

beforeAll(async () => {
  const probe = await bindPort({ port: 0, host: '127.0.0.1' });
  await probe.close();
  provider = await startTestProvider(() => `http://127.0.0.1:${probe.port}/login/oidc/callback`);
  const { issuer, clientId, clientSecret } = provider;
  app = await startTestApp({
    port: probe.port,
    oidc: {
      issuer,
      clientId,
      clientSecret,
      scopes: 'openid profile email',
      rolesClaim: 'roles',
      rolesMap: { 'muster-operators': 'operator', 'muster-viewers': 'viewer', 'muster-ghosts': 'no-such-role' },
      nameClaim: 'preferred_username',
    },
  });
});
beforeEach(() => {
  provider.intercept = null;
});
afterAll(async () => {
  await app.close();
  await provider.close();
});

/** From our server to the provider, through it, and with the address that it sends the browser back to. */
async function throughProvider(path = '/login/oidc'): Promise<{ callback: string; transaction: string }> {
  const start = await browse(`${app.url}${path}`, 'GET');
  expect(start.status).toBe(303);
  const transaction = cookieOf(start, 'muster_login_') ?? '';
  expect(transaction).not.toBe('');
  return { callback: await agreeAt(String(start.headers.location)), transaction };
}

/** Follows the provider's own redirects as a browser does. */
async function agreeAt(first: string): Promise<string> {
  const jar = new Map<string, string>();
  let address = first;
  for (let hops = 0; hops < 6; hops += 1) {
    if (address.startsWith(app.url)) return address;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const reply = await browse(address, 'GET', { headers: { cookie: cookie || null } });
    for (const set of reply.cookies) {
      const [name = '', value = ''] = (set.split(';')[0] ?? '').split(/=(.*)/s);
      if (/expires=Thu, 01 Jan 1970/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    if (reply.headers.location === undefined)
      throw new Error(`no redirect from ${address}: ${reply.status} ${reply.text}`);
    address = new URL(String(reply.headers.location), address).href;
  }
  throw new Error(`the provider did not send the browser back: ${address}`);
}

const finish = (callback: string, cookie: string | null): Promise<Reply> =>
  browse(callback, 'GET', { headers: { cookie } });

async function login(path?: string): Promise<Reply> {
  const { callback, transaction } = await throughProvider(path);
  return finish(callback, transaction);
}

const person = (subject: string, name: string, roles: string[]): void => {
  provider.account = { subject, name, roles };
};
const sessionOf = (reply: Reply): string => cookieOf(reply, `muster_${app.port}`) ?? '';
const viewerOf = async (cookie: string): Promise<Reply> =>
  browse(`${app.url}/graphql`, 'POST', {
    headers: { cookie },
    json: { query: '{ viewer { name roles session { method } principal { externalIdentity hasPassword } } }' },
  });
/** The login page with a problem, and no session. */
const expectProblem = (reply: Reply, problem: string, path = '/'): void => {
  expect([reply.status, reply.headers.location]).toEqual([303, `${path}#login-problem=${problem}`]);
  expect(sessionOf(reply)).toBe('');
};

describe('a login through an identity provider', () => {
  it('makes a principal at the first login, and leads to the page that was asked for', async () => {
    person('s-ada', 'ada', ['muster-operators', 'something else']);
    const reply = await login('/login/oidc?return=%2Fworkers%3Fq%3Da');
    expect([reply.status, reply.headers.location]).toEqual([303, '/workers?q=a']);
    const [spent, session = ''] = reply.cookies;
    expect(spent).toMatch(/^muster_login_\d+=; .*Max-Age=0$/);
    expect(session).toMatch(/HttpOnly; SameSite=Strict/);
    const { data } = (await viewerOf(sessionOf(reply))).body;
    expect(data.viewer).toEqual({
      name: 'ada',
      roles: ['operator'],
      session: { method: 'OIDC' },
      principal: { externalIdentity: expect.stringContaining('s-ada'), hasPassword: false },
    });
    const { rows } = await app.plane.database.query<{ action: string }>(
      `SELECT action FROM audit WHERE target = 'principal:ada' ORDER BY id`,
    );
    expect(rows.map(({ action }) => action)).toEqual(['principal.create', 'login.succeeded']);
  });

  it('keeps the login that is under way in a short-lived cookie that says nothing', async () => {
    const start = await browse(`${app.url}/login/oidc`, 'GET');
    const [cookie = ''] = start.cookies;
    expect(cookie).toMatch(/; Path=\/login\/oidc\/callback; HttpOnly; SameSite=Lax; Max-Age=600$/);
    const to = new URL(String(start.headers.location));
    expect(to.origin).toBe(provider.issuer);
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: `${app.url}/login/oidc/callback`,
    });
    expect(cookie).not.toContain(to.searchParams.get('state'));
    expect(start.headers.location).not.toContain(provider.clientSecret);
    expect((await browse(`${app.url}/login/oidc`, 'GET')).headers.location).not.toBe(start.headers.location);
  });

  it('sets the roles anew at each login, and takes them away with the last one at the provider', async () => {
    person('s-grace', 'grace', ['muster-operators', 'muster-viewers']);
    const first = sessionOf(await login());
    expect((await viewerOf(first)).body.data.viewer.roles).toEqual(['operator', 'viewer']);
    person('s-grace', 'renamed at the provider', ['muster-viewers']);
    const second = sessionOf(await login());
    expect((await viewerOf(second)).body.data.viewer).toMatchObject({ name: 'grace', roles: ['viewer'] });
    person('s-grace', 'grace', []);
    expectProblem(await login(), 'no-role');
    for (const cookie of [first, second])
      await until(async () => (await viewerOf(cookie)).status === 401, 'the end of the session');
    const { principal } = await app.ask('{ principal(name: "grace") { roles disabled } }');
    expect(principal).toEqual({ roles: [], disabled: false });
  });

  it('refuses who has no role, a role that nobody has made, a name that is taken, and who is disabled', async () => {
    person('s-new', 'new', ['something else']);
    expectProblem(await login(), 'no-role');
    person('s-new', 'new', ['muster-ghosts']);
    expectProblem(await login(), 'no-role');
    person('s-new', 'ADMIN', ['muster-viewers']);
    expectProblem(await login(), 'name-taken');
    person('s-new', 'no name <script>', ['muster-viewers']);
    expectProblem(await login(), 'no-name');
    person('s-off', 'off', ['muster-viewers']);
    const cookie = sessionOf(await login());
    await app.ask('mutation ($i: UpdatePrincipalInput!) { updatePrincipal(input: $i) { principal { name } } }', {
      i: { name: 'off', disabled: true, expectedRevision: 1 },
    });
    await until(async () => (await viewerOf(cookie)).status === 401, 'the end of the session');
    expectProblem(await login('/login/oidc?return=/workers'), 'disabled', '/workers');
    expect((await app.ask('{ principal(name: "new") { name } }')).principal).toBeNull();
  });

  it('refuses a wrong state, another browser, a changed cookie and a code that was used', async () => {
    person('s-ada', 'ada', ['muster-operators']);
    const { callback, transaction } = await throughProvider();
    const wrong = new URL(callback);
    wrong.searchParams.set('state', 'another');
    expectProblem(await finish(wrong.href, transaction), 'failed');
    expectProblem(await finish(callback, null), 'expired');
    expectProblem(await finish(callback, `${transaction.slice(0, -3)}abc`), 'expired');
    const other = await throughProvider();
    expectProblem(await finish(callback, other.transaction), 'failed');
    expect(sessionOf(await finish(callback, transaction))).not.toBe('');
    expectProblem(await finish(callback, transaction), 'failed');
    expectProblem(await finish(`${app.url}/login/oidc/callback`, transaction), 'failed');
  });

  it('says that the person or the provider refused', async () => {
    const start = await browse(`${app.url}/login/oidc`, 'GET');
    const state = new URL(String(start.headers.location)).searchParams.get('state') ?? '';
    const query = new URLSearchParams({
      error: 'access_denied',
      error_description: '<b>x</b>',
      state,
      iss: provider.issuer,
    });
    expectProblem(await finish(`${app.url}/login/oidc/callback?${query}`, cookieOf(start, 'muster_login_')), 'denied');
  });

  it('refuses another issuer in the answer', async () => {
    const { callback, transaction } = await throughProvider();
    const foreign = new URL(callback);
    foreign.searchParams.set('iss', 'https://evil.example');
    expectProblem(await finish(foreign.href, transaction), 'failed');
  });

  it('leads nowhere but to a path of this server', async () => {
    person('s-ada', 'ada', ['muster-operators']);
    const wanted = ['https://evil.example/', '//evil.example', '/\\evil.example', '/%2e%2e//evil.example'];
    for (const path of wanted) {
      const { location } = (await login(`/login/oidc?return=${encodeURIComponent(path)}`)).headers;
      expect(new URL(String(location), app.url).origin).toBe(app.url);
    }
    const elsewhere = await browse(`${app.url}/login/oidc?return=/workers`, 'GET', {
      headers: { host: 'evil.example' },
    });
    expect(elsewhere.headers.location).toBe(`${app.url}/login/oidc?here=1&return=%2Fworkers`);
  });

  it('ends the session that the browser had before', async () => {
    person('s-ada', 'ada', ['muster-operators']);
    const before = sessionOf(await login());
    const start = await browse(`${app.url}/login/oidc`, 'GET', { headers: { cookie: before } });
    const after = await finish(await agreeAt(String(start.headers.location)), cookieOf(start, 'muster_login_'));
    expect((await viewerOf(sessionOf(after))).status).toBe(200);
    expect((await viewerOf(before)).status).toBe(401);
  });

  it('notes what came to nothing without codes, tokens or secrets', async () => {
    const entries = await until(async () => {
      const { rows } = await app.plane.database.query<{ data: unknown }>(
        `SELECT data FROM audit WHERE action = 'login.failed'`,
      );
      return rows.length > 0 && rows;
    }, 'an entry');
    expect(JSON.stringify(entries)).toContain('OIDC');
    const log = app.lines.join('\n');
    expect(log).toContain('a login through the identity provider came to nothing');
    expect(log).not.toMatch(/code=|eyJ|code_verifier|a-secret-of-the-test-provider/);
  });
});

describe('an ID token', () => {
  /** Answers the exchange of the code with another token, signed by the provider's key or by a stranger's of the same name. */
  async function forge(change: (claims: JWTPayload) => JWTPayload, isSigned = true): Promise<Reply> {
    const start = await browse(`${app.url}/login/oidc`, 'GET');
    const asked = new URL(String(start.headers.location)).searchParams;
    const now = Math.floor(Date.now() / 1_000);
    const claims = change({
      iss: provider.issuer,
      aud: provider.clientId,
      sub: 's-forged',
      nonce: asked.get('nonce') ?? '',
      iat: now,
      exp: now + 300,
      preferred_username: 'forged',
      roles: ['muster-operators'],
    });
    const stranger = await generateKeyPair('RS256');
    const token = isSigned
      ? await provider.sign(claims)
      : await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'of-the-test' }).sign(stranger.privateKey);
    provider.intercept = (request, response) => {
      if (request.url !== '/token') return false;
      const body = { access_token: 'an access token', token_type: 'Bearer', expires_in: 60, id_token: token };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
      return true;
    };
    const query = new URLSearchParams({ code: 'a code', state: asked.get('state') ?? '', iss: provider.issuer });
    return finish(`${app.url}/login/oidc/callback?${query}`, cookieOf(start, 'muster_login_'));
  }

  it('that holds is taken', async () => {
    expect(sessionOf(await forge((claims) => claims))).not.toBe('');
  });

  it.each<[string, (claims: JWTPayload) => JWTPayload, boolean]>([
    ['with another nonce', (claims) => ({ ...claims, nonce: 'another' }), true],
    ['without a nonce', ({ nonce: _nonce, ...claims }) => claims, true],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' }), true],
    ['for another client', (claims) => ({ ...claims, aud: 'another' }), true],
    ['that has expired', (claims) => ({ ...claims, iat: 1_000, exp: 2_000 }), true],
    ['without a subject', ({ sub: _sub, ...claims }) => claims, true],
    ['signed by a stranger', (claims) => claims, false],
  ])('%s is refused', async (_what, change, isSigned) => {
    expectProblem(await forge(change, isSigned), 'failed');
  });
});

describe('a provider that is away', () => {
  it('is said on the login page, and the next login asks again', async () => {
    const gone = await startTestProvider(() => 'http://127.0.0.1/login/oidc/callback');
    await gone.close();
    const other = await startTestApp({
      oidc: {
        issuer: gone.issuer,
        clientId: 'muster',
        clientSecret: null,
        scopes: 'openid',
        rolesClaim: 'roles',
        rolesMap: { a: 'viewer' },
        nameClaim: 'sub',
      },
    });
    for (let n = 0; n < 2; n += 1) {
      const reply = await browse(`${other.url}/login/oidc?return=/workers`, 'GET');
      expect([reply.status, reply.headers.location]).toEqual([303, '/workers#login-problem=unavailable']);
    }
    const { body } = await browse(`${other.url}/session`, 'GET');
    expect(body.methods.oidc).toEqual({ name: new URL(gone.issuer).host, path: '/login/oidc' });
    await other.close();
  });
});
