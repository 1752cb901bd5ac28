import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browse, cookieOf, type Reply } from '../../testing/browse.ts';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

const PASSWORD = 'correct horse battery';
let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  for (const name of ['ada', 'grace', 'gone']) await create(name, PASSWORD);
  await create('bare');
  await app.ask('mutation ($i: UpdatePrincipalInput!) { updatePrincipal(input: $i) { principal { name } } }', {
    i: { name: 'gone', disabled: true, expectedRevision: 1 },
  });
});
afterAll(() => app.close());

async function create(name: string, password?: string): Promise<void> {
  await app.ask('mutation ($i: CreatePrincipalInput!) { createPrincipal(input: $i) { principal { name } } }', {
    i: { name, kind: 'USER', roles: ['viewer'], ...(password === undefined ? {} : { password }) },
  });
}

const login = (json: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
  browse(`${app.url}/session`, 'POST', { json, headers });
const who = (cookie: string): Promise<Reply> => browse(`${app.url}/session`, 'GET', { headers: { cookie } });
const viewer = (cookie: string): Promise<Reply> =>
  browse(`${app.url}/graphql`, 'POST', {
    headers: { cookie },
    json: { query: '{ viewer { name session { method } } }' },
  });
const audited = async (action: string): Promise<{ target: string; actor: string; data: { after: unknown } }[]> =>
  (
    await app.plane.database.query<{ target: string; actor: string; data: { after: unknown } }>(
      'SELECT target, actor, data FROM audit WHERE action = $1 ORDER BY id',
      [action],
    )
  ).rows;

describe('a login with name and password', () => {
  it('opens a session of that person, and says how one can log in and who has', async () => {
    expect((await browse(`${app.url}/session`, 'GET')).body).toEqual({
      viewer: null,
      methods: { token: true, password: true, oidc: null },
    });
    const reply = await login({ name: 'ada', password: PASSWORD });
    expect(reply.status).toBe(200);
    const cookie = cookieOf(reply, 'muster_') ?? '';
    expect((await viewer(cookie)).body.data.viewer).toEqual({ name: 'ada', session: { method: 'PASSWORD' } });
    expect((await who(cookie)).body.viewer).toEqual({ name: 'ada' });
    const foreign = { cookie, origin: 'http://evil.example' };
    expect((await browse(`${app.url}/session`, 'GET', { headers: foreign })).status).toBe(403);
    expect((await login({ name: 'ada', password: PASSWORD }, { origin: 'http://evil.example' })).status).toBe(403);
    const [entry] = (await audited('login.succeeded')).filter(({ actor }) => actor === 'ada');
    expect(entry).toMatchObject({ target: 'principal:ada', data: { after: { method: 'PASSWORD' } } });
  });

  it('answers an unknown name, a wrong password, no password and a disabled person alike, and notes each once in the audit', async () => {
    const told = (reply: Reply) => ({
      status: reply.status,
      error: { ...reply.body.error, requestId: '' },
      cookies: reply.cookies,
      names: Object.keys(reply.headers).sort(),
    });
    const replies = [
      await login({ name: 'nobody-here', password: PASSWORD }),
      await login({ name: 'ada', password: 'not the password at all' }),
      await login({ name: 'gone', password: PASSWORD }),
      await login({ name: 'bare', password: PASSWORD }),
      await login({ name: 'no name \0 \ud800', password: `${PASSWORD}\ud800` }),
    ].map(told);
    expect(replies[0]).toMatchObject({ status: 401, error: { code: 'UNAUTHENTICATED' }, cookies: [] });
    for (const reply of replies) expect(reply).toEqual(replies[0]);
    await app.plane.database.query('SELECT 1');
    const first = await until(async () => (await audited('login.failed'))[0], 'an entry');
    expect(first).toMatchObject({ actor: 'nobody', data: { after: { method: 'PASSWORD', attempts: 1 } } });
    expect(JSON.stringify(await audited('login.failed'))).not.toMatch(/nobody-here|not the password|horse/);
    expect(app.lines.join('\n')).not.toMatch(/not the password|horse/);
  });

  it('takes no value that the browser had before, and ends the session of it', async () => {
    const first = cookieOf(await login({ name: 'ada', password: PASSWORD }), 'muster_') ?? '';
    const name = first.split('=')[0] ?? '';
    const planted = `${name}=${'a'.repeat(43)}`;
    const fixed = cookieOf(await login({ name: 'ada', password: PASSWORD }, { cookie: planted }), 'muster_') ?? '';
    expect(fixed).not.toBe(planted);
    expect((await viewer(planted)).status).toBe(401);
    const second = cookieOf(await login({ name: 'grace', password: PASSWORD }, { cookie: first }), 'muster_') ?? '';
    expect((await viewer(second)).body.data.viewer.name).toBe('grace');
    expect((await viewer(first)).status).toBe(401);
  });

  it('ends on the server at logout, not in the browser alone', async () => {
    const cookie = cookieOf(await login({ name: 'ada', password: PASSWORD }), 'muster_') ?? '';
    const out = await browse(`${app.url}/session`, 'DELETE', { headers: { cookie } });
    expect([out.status, out.cookies[0]]).toEqual([200, expect.stringContaining('Max-Age=0')]);
    expect((await viewer(cookie)).status).toBe(401);
    expect((await who(cookie)).body.viewer).toBeNull();
  });

  it('refuses bodies of another shape, and forms', async () => {
    for (const json of [{}, [], null, 'x', { name: 'ada' }, { name: 1, password: 2 }, { code: {} }])
      expect((await login(json)).status).toBe(400);
    expect((await browse(`${app.url}/session`, 'POST', { form: 'name=ada&password=x' })).status).toBe(400);
    expect((await login({ name: 'ada', password: 'x'.repeat(5_000) })).status).toBe(413);
    expect((await browse(`${app.url}/session`, 'PUT')).headers['allow']).toBe('GET, POST, DELETE');
  });

  it('makes a guesser wait, says for how long, and lets others in meanwhile', async () => {
    const guesses = await Promise.all(Array.from({ length: 12 }, () => login({ name: 'grace', password: 'guess' })));
    const refused = guesses.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(6);
    expect(refused[0]?.body.error.code).toBe('RATE_LIMITED');
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
    expect((await login({ name: 'ada', password: PASSWORD })).status).toBe(200);
  });
});
