import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../testing/test-app.ts';

const PUBLIC = 'https://muster.example.org';
let app: TestApp;

beforeAll(async () => {
  // Every answer gives the cookie another value.
  app = await startTestApp({ sessionRotateSeconds: 0 });
});
afterAll(() => app.close());

interface Reply {
  status: number;
  /** The cookie that was set, name and value; null: none. */
  cookie: string | null;
  header: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

/** As a browser on a page of this server. fetch would not send Origin. */
function browse(
  target: TestApp,
  method: string,
  path: string,
  cookie: string | null,
  body?: unknown,
  publicUrl = target.url,
): Promise<Reply> {
  const { port } = new URL(target.url);
  const headers = {
    'content-type': 'application/json',
    origin: publicUrl,
    host: new URL(publicUrl).host,
    ...(cookie === null ? {} : { cookie }),
  };
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => {
        const header = response.headers['set-cookie']?.[0] ?? '';
        resolve({
          status: response.statusCode ?? 0,
          header,
          cookie: header.split(';')[0] || null,
          body: text === '' ? null : JSON.parse(text),
        });
      });
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const login = (token: string, before: string | null = null): Promise<Reply> =>
  browse(app, 'POST', '/session', before, { token });
const ask = (
  cookie: string | null,
  query = '{ viewer { name permissions session { id method current } } }',
): Promise<Reply> => browse(app, 'POST', '/graphql', cookie, { query });

async function tokenOf(scopes: readonly string[]): Promise<{ secret: string; id: string }> {
  const { createApiToken } = await app.ask(
    'mutation ($s: [String!]) { createApiToken(input: { name: "login", scopes: $s }) { secret token { id } } }',
    { s: scopes },
  );
  return { secret: createApiToken.secret, id: createApiToken.token.id };
}

describe('a browser session', () => {
  it('has a value of its own at each login, whatever the browser sent, and the one before ends', async () => {
    const first = await login(app.adminToken);
    const second = await login(app.adminToken, first.cookie);
    expect(second.cookie).not.toBe(first.cookie);
    expect((await ask(first.cookie)).status).toBe(401);
    const fixed = `muster_${new URL(app.url).port}=chosen-by-somebody-else`;
    const third = await login(app.adminToken, fixed);
    expect(third.cookie).not.toBe(fixed);
    expect((await ask(fixed)).status).toBe(401);
    expect((await ask(third.cookie)).body.data.viewer).toMatchObject({
      name: 'admin',
      session: { method: 'TOKEN', current: true },
    });
  });

  it('changes its value, and takes the one before for requests that were under way', async () => {
    const { cookie } = await login(app.adminToken);
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(cookie)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200));
    const changed = answers.flatMap((answer) => answer.cookie ?? []);
    expect(changed).toHaveLength(1);
    const next = changed[0] ?? '';
    expect(next).not.toBe(cookie);
    expect((await ask(next)).status).toBe(200);
    await app.plane.database.query("UPDATE login_session SET rotated_at = rotated_at - interval '2 minutes'");
    await until(async () => (await ask(cookie)).status === 401, 'the end of the value before');
  });

  it('ends when it is not used, and at the latest at its time', async () => {
    for (const column of ['seen_at', 'expires_at']) {
      const { cookie } = await login(app.adminToken);
      await app.plane.database.query(`UPDATE login_session SET ${column} = clock_timestamp() - interval '40 days'`);
      // What is remembered of it is at most 10 s old; this is sooner.
      app.plane.bus.publish('access', {});
      expect([column, (await ask(cookie)).status]).toEqual([column, 401]);
    }
  });

  it('ends at a logout, also for whoever has kept the cookie', async () => {
    const { cookie } = await login(app.adminToken);
    const out = await browse(app, 'DELETE', '/session', cookie);
    expect(out.header).toContain('Max-Age=0');
    expect((await ask(cookie)).status).toBe(401);
  });

  it('may no more than the token that it was opened with, and ends with it', async () => {
    const { secret, id } = await tokenOf(['worker:*:read']);
    const { cookie } = await login(secret);
    const answer = await ask(cookie);
    expect(answer.body.data.viewer.permissions).toEqual(['worker:*:read']);
    const next = answer.cookie ?? cookie;
    await app.ask('mutation ($id: ID!) { revokeApiToken(input: { id: $id }) { token { id } } }', { id });
    expect((await ask(next)).status).toBe(401);
  });

  it('is listed and revoked, and kept as a hash', async () => {
    const { cookie } = await login(app.adminToken);
    const { loginSessions } = await app.ask(
      '{ loginSessions(first: 1) { nodes { id method current principal { name } address } } }',
    );
    const [session] = loginSessions.nodes;
    expect(session).toMatchObject({
      method: 'TOKEN',
      current: false,
      principal: { name: 'admin' },
      address: '127.0.0.1',
    });
    const { rows } = await app.plane.database.query<{ text: string }>('SELECT s::text AS text FROM login_session s');
    expect(rows.some(({ text }) => text.includes(String(cookie).split('=')[1] ?? ''))).toBe(false);
    await app.ask('mutation ($id: ID!) { revokeLoginSession(input: { id: $id }) { id } }', { id: session.id });
    expect((await ask(cookie)).status).toBe(401);
  });

  it('of a person with a password ends when the password is set, but for the one that changed it', async () => {
    await app.ask(
      'mutation { createPrincipal(input: { name: "anna", roles: ["viewer"], password: "a long enough one" }) { principal { id } } }',
    );
    const { createApiToken } = await app.ask(
      'mutation { createApiToken(input: { principal: "anna", name: "t" }) { secret } }',
    );
    const [one, two] = [await login(createApiToken.secret), await login(createApiToken.secret)];
    const change = (current: string, password: string): string =>
      `mutation { changeOwnPassword(input: { current: "${current}", password: "${password}" }) { principal { hasPassword } } }`;
    expect((await ask(one.cookie, change('wrong', 'another long one'))).body.errors[0].extensions.code).toBe(
      'FORBIDDEN',
    );
    for (const bad of ['short', 'anna'.repeat(40)])
      expect((await ask(one.cookie, change('a long enough one', bad))).body.errors[0].extensions.code).toBe(
        'BAD_INPUT',
      );
    const changed = await ask(one.cookie, change('a long enough one', 'another long one'));
    expect(changed.body.errors).toBeUndefined();
    expect((await ask(changed.cookie ?? one.cookie)).status).toBe(200);
    expect((await ask(two.cookie)).status).toBe(401);
    expect(app.lines.join('\n')).not.toContain('another long one');
  });

  it('does not let whoever has it guess the password', async () => {
    await app.ask(
      'mutation { createPrincipal(input: { name: "berta", kind: USER, roles: [], password: "a long enough one" }) { principal { id } } }',
    );
    const { createApiToken } = await app.ask(
      'mutation { createApiToken(input: { principal: "berta", name: "t" }) { secret } }',
    );
    const { cookie } = await login(createApiToken.secret);
    const guess = async (current: string) => {
      const { body } = await ask(
        cookie,
        `mutation { changeOwnPassword(input: { current: "${current}", password: "another long one" }) { principal { id } } }`,
      );
      return body.errors?.[0].extensions;
    };
    const codes: string[] = [];
    for (let i = 0; i < 8; i += 1) codes.push((await guess(`wrong ${i}`)).code);
    expect(codes[0]).toBe('FORBIDDEN');
    expect(codes.at(-1)).toBe('RATE_LIMITED');
    const { code, retryAfterSeconds } = await guess('a long enough one');
    expect(code).toBe('RATE_LIMITED');
    expect(retryAfterSeconds).toBeGreaterThan(0);
  });
});

it('a cookie goes over TLS alone where people come by TLS', async () => {
  const other = await startTestApp({ publicUrl: PUBLIC });
  const { header } = await browse(other, 'POST', '/session', null, { token: other.adminToken }, PUBLIC);
  await other.close();
  expect(header).toMatch(/^[^=]+=[^;]+; .*; Secure(;|$)/);
});
