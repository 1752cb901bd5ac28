import WebSocket from 'ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { Caller, type Reply, send, sendJson } from './support/calls.ts';
import { administrator, logIn, logOut, newPrincipal, ownPage, PASSWORD, session, whoIs } from './support/people.ts';

/** What other sites make a browser do that is logged in here, and what can be done with a session that is not one's own. */
let server: Server;
let admin: Caller;
let cookie: string;

beforeAll(async () => {
  server = await Server.start();
  admin = administrator(server);
  cookie = await session(server);
});
afterAll(() => server.dispose());

const MUTATION = 'mutation { registerWorkflow(input: { name: "forged" }) { created } }';
const forged = async (): Promise<boolean> =>
  (await admin.ask('{ workflow(ref: "default/forged") { id } }')).workflow !== null;
const EVIL = 'https://evil.example';

/** Nothing was done, and nothing may be read by the page that asked. */
async function expectNothing(reply: Reply): Promise<void> {
  expect([400, 401, 403, 404, 405]).toContain(reply.status);
  expect(reply.headers['access-control-allow-origin']).toBeUndefined();
  expect(reply.headers['access-control-allow-credentials']).toBeUndefined();
  expect(await forged()).toBe(false);
}

describe('another site with the cookie of a browser', () => {
  const json = JSON.stringify({ query: MUTATION });

  test('(the cookie is good: a page of the server itself is believed)', async () => {
    expect(await whoIs(server, cookie)).toBe('admin');
  });

  test.each<[string, string]>([
    ['application/x-www-form-urlencoded', `query=${encodeURIComponent(MUTATION)}`],
    [
      'multipart/form-data; boundary=x',
      `--x\r\nContent-Disposition: form-data; name="query"\r\n\r\n${MUTATION}\r\n--x--\r\n`,
    ],
    ['text/plain', json],
    ['text/plain; application/json', json],
    ['', json],
  ])('sends a form as %s', async (type, body) => {
    const headers = { cookie, host: `127.0.0.1:${server.port}`, ...(type === '' ? {} : { 'content-type': type }) };
    await expectNothing(
      await send(server, '/graphql', { method: 'POST', body, headers: { ...headers, origin: EVIL } }),
    );
    await expectNothing(await send(server, '/graphql', { method: 'POST', body, headers }));
    // A form of our own site cannot carry it either.
    const own = { ...headers, origin: server.url };
    await expectNothing(await send(server, '/graphql', { method: 'POST', body, headers: own }));
  });

  test.each<[string, () => Record<string, string>]>([
    ['its own origin', () => ({ origin: EVIL })],
    ['the origin null of a sandboxed frame', () => ({ origin: 'null' })],
    ['no origin', () => ({})],
    ['an origin that begins like ours', () => ({ origin: `${server.url}.evil.example` })],
    ['an origin that ends like ours', () => ({ origin: `http://evil-127.0.0.1:${server.port}` })],
    ['an origin that has ours as its user', () => ({ origin: `http://127.0.0.1:${server.port}@evil.example` })],
    ['an origin of another port here', () => ({ origin: 'http://127.0.0.1:1' })],
    ['our origin under another scheme', () => ({ origin: server.url.replace('http:', 'https:') })],
    ['our origin in a list', () => ({ origin: `${EVIL}, ${server.url}` })],
    ['our origin in Referer alone', () => ({ referer: `${server.url}/` })],
  ])('sends JSON by script with %s', async (_name, origin) => {
    await expectNothing(
      await sendJson(server, '/graphql', json, { cookie, host: `127.0.0.1:${server.port}`, ...origin() }),
    );
  });

  test('sends a mutation by GET, as an image would', async () => {
    const path = `/graphql?query=${encodeURIComponent(MUTATION)}`;
    for (const headers of [{ cookie }, { ...ownPage(server), cookie }, admin.headers])
      await expectNothing(await send(server, path, { headers }));
  });

  test.each(['x-http-method-override', 'x-method-override', 'x-http-method'])(
    'turns a GET into a POST by %s',
    async (name) => {
      const path = `/graphql?query=${encodeURIComponent(MUTATION)}`;
      await expectNothing(await send(server, path, { headers: { ...ownPage(server), cookie, [name]: 'POST' } }));
    },
  );

  test('reads by GET, as a script tag would', async () => {
    const reply = await send(server, `/graphql?query=${encodeURIComponent('{ viewer { name } }')}`, {
      headers: { cookie },
    });
    expect(reply.status).toBe(403);
    expect(reply.headers['cross-origin-resource-policy']).toBe('same-origin');
  });

  test('asks before it sends, and is promised nothing', async () => {
    const reply = await send(server, '/graphql', {
      method: 'OPTIONS',
      headers: {
        origin: EVIL,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type',
      },
    });
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('logs the browser out, or in as somebody else', async () => {
    const other = { cookie, origin: EVIL, host: `127.0.0.1:${server.port}` };
    expect((await send(server, '/session', { method: 'DELETE', headers: other })).status).toBe(403);
    const login = await sendJson(server, '/session', { token: server.token }, other);
    expect([login.status, login.headers['set-cookie']]).toEqual([403, undefined]);
    expect(await whoIs(server, cookie)).toBe('admin');
  });

  test.each<[string, () => Record<string, string>]>([
    ['a foreign origin', () => ({ origin: EVIL })],
    ['no origin', () => ({})],
    ['the origin null', () => ({ origin: 'null' })],
    [
      'a name of its own for this address',
      () => ({ origin: `http://rebound.example:${server.port}`, host: `rebound.example:${server.port}` }),
    ],
  ])('opens a WebSocket from %s', async (_name, headers) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { cookie, ...headers() },
    });
    const messages: string[] = [];
    socket.on('message', (data) => messages.push(String(data)));
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    const code = await new Promise((resolve) => socket.on('close', resolve));
    expect(code).toBe(4403);
    expect(messages).toEqual([]);
  });

  test('makes a name of its own resolve to this address (DNS rebinding)', async () => {
    const host = `rebound.example:${server.port}`;
    await expectNothing(await sendJson(server, '/graphql', json, { cookie, host, origin: `http://${host}` }));
  });

  test('has a proxy’s header say that it is this server', async () => {
    const host = `evil.example:${server.port}`;
    await expectNothing(
      await sendJson(server, '/graphql', json, {
        cookie,
        host,
        origin: `http://${host}`,
        'x-forwarded-host': `127.0.0.1:${server.port}`,
        'x-forwarded-proto': 'http',
        forwarded: `for=127.0.0.1;host=127.0.0.1:${server.port}`,
        'x-original-host': `127.0.0.1:${server.port}`,
      }),
    );
  });

  test('frames a page, or has it run a script', async () => {
    for (const path of ['/', '/workers', '/executions/ex_1', '/?q=<script>alert(1)</script>']) {
      const { headers, text } = await send(server, path, { headers: { accept: 'text/html' } });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toContain("script-src 'self';");
      expect(policy).not.toMatch(/unsafe-inline|unsafe-eval|\*/);
      expect(headers['x-frame-options']).toBe('DENY');
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(text).not.toContain('alert(1)');
      expect(text).not.toMatch(/<script(?![^>]*\bsrc=)/);
    }
  });
});

describe('a session', () => {
  test('is not fixed: a planted value is nobody’s, before a login and after it', async () => {
    const planted = `muster_${server.port}=${'a'.repeat(43)}`;
    expect(await whoIs(server, planted)).toBeNull();
    const reply = await logIn(server, { token: server.token }, { cookie: planted });
    const given = reply.headers['set-cookie']?.[0] ?? '';
    expect(given).toMatch(/^muster_\d+=[\w-]{43}; .*HttpOnly; SameSite=Strict/);
    expect(given).not.toContain('a'.repeat(43));
    expect(await whoIs(server, planted)).toBeNull();
  });

  test('of an attacker ends where the victim logs in over it', async () => {
    await newPrincipal(server, 'planter', ['viewer'], { password: PASSWORD });
    const planted = (await logIn(server, { name: 'planter', password: PASSWORD })).headers['set-cookie']?.[0] ?? '';
    const value = planted.split(';')[0] ?? '';
    expect(await whoIs(server, value)).toBe('planter');
    await logIn(server, { token: server.token }, { cookie: value });
    expect(await whoIs(server, value)).toBeNull();
  });

  test('is over after a logout, on the server too', async () => {
    const stolen = await session(server);
    await logOut(server, stolen);
    expect(await whoIs(server, stolen)).toBeNull();
  });

  test('is over when an administrator ends it', async () => {
    const person = await newPrincipal(server, 'ended', ['viewer']);
    const stolen = await session(server, person.token ?? '');
    const { loginSessions } = await admin.ask('{ loginSessions(filter: { principal: "ended" }) { nodes { id } } }');
    await admin.ask('mutation ($id: ID!) { revokeLoginSession(input: { id: $id }) { id } }', loginSessions.nodes[0]);
    expect(await whoIs(server, stolen)).toBeNull();
  });

  test('is over when its person gets another password', async () => {
    await newPrincipal(server, 'changed', ['viewer'], { password: PASSWORD });
    const stolen = (await logIn(server, { name: 'changed', password: PASSWORD })).headers['set-cookie']?.[0] ?? '';
    const value = stolen.split(';')[0] ?? '';
    expect(await whoIs(server, value)).toBe('changed');
    await admin.ask(
      'mutation ($p: String!) { setPassword(input: { name: "changed", password: $p }) { principal { id } } }',
      { p: `${PASSWORD}, changed` },
    );
    expect(await whoIs(server, value)).toBeNull();
  });

  test('is not opened by its public id', async () => {
    const { loginSessions } = await admin.ask('{ loginSessions { nodes { id } } }');
    const id: string = loginSessions.nodes[0].id;
    for (const value of [id, id.slice(3), `${id.slice(3, 11)}-${id.slice(11, 15)}`])
      expect(await whoIs(server, `muster_${server.port}=${value}`)).toBeNull();
  });

  test('of another installation, under its port, is nobody’s', async () => {
    const value = cookie.split('=')[1] ?? '';
    expect(await whoIs(server, `muster_${server.port + 1}=${value}`)).toBeNull();
    expect(await whoIs(server, `muster=${value}`)).toBeNull();
  });

  test.each([
    ['GET', '/workers'],
    ['GET', '/admin/workers'],
    ['GET', '/admin/audit.csv'],
    ['GET', '/admin/audit.jsonl'],
    ['POST', '/workflows/default/job/run/async'],
    ['POST', '/executions/ex_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f/cancel'],
    ['PUT', '/admin/workers/w/metadata'],
  ])('opens no route for scripts, which takes any Content-Type (%s %s)', async (method, path) => {
    const reply = await send(server, path, {
      method,
      headers: { ...ownPage(server), cookie },
      body: method === 'GET' ? '' : '{}',
    });
    expect([reply.status, reply.body?.error?.code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  test('is no token', async () => {
    expect((await new Caller(server, cookie.split('=')[1] ?? '').post('{ viewer { name } }')).status).toBe(401);
  });

  test('tells no script its value, and no page of another site', async () => {
    const reply = await logIn(server, { token: server.token });
    const value = reply.headers['set-cookie']?.[0]?.split(';')[0]?.split('=')[1] ?? '';
    expect(reply.text).not.toContain(value);
    const { text } = await admin.post('{ loginSessions { nodes { id address userAgent } } }');
    expect(text).not.toContain(value);
    expect(server.output).not.toContain(value);
  });
});
