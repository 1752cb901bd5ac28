import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, Server } from '../support/server.ts';
import { Caller, type Reply, send, sendBytes, sendJson, statusesOf } from './support/calls.ts';
import { administrator, changePrincipal, logIn, newPrincipal, ownPage, PASSWORD, whoIs } from './support/people.ts';

/** Everything that an attacker can do before he is anybody: the login, what it sends a browser to, and the files of the app. */
let server: Server;

beforeAll(async () => {
  server = await Server.start({
    env: {
      // The attackers below come from many addresses; a provider that nobody answers for is enough to see where it sends people.
      MUSTER_TRUSTED_PROXIES: '127.0.0.1',
      MUSTER_OIDC_ISSUER: 'http://127.0.0.1:9',
      MUSTER_OIDC_CLIENT_ID: 'muster',
      MUSTER_OIDC_ROLES_MAP: '{"admins":"admin"}',
    },
  });
  for (const name of ['ada', 'grace', 'linus', 'off', 'mary'])
    await newPrincipal(server, name, ['viewer'], name === 'mary' ? {} : { password: PASSWORD });
  await newPrincipal(server, 'robot', ['viewer'], { kind: 'SERVICE' });
  await changePrincipal(server, 'off', { disabled: true });
});
afterAll(() => server.dispose());

let last = 0;
/** A login from an address where nobody has tried before, or from this one. */
const from = (body: unknown, address = `198.51.${(last += 1) >> 8}.${last & 255}`): Promise<Reply> =>
  logIn(server, body, { 'x-forwarded-for': address, 'x-forwarded-host': ownPage(server).host });

describe('a login does not tell who there is', () => {
  test.each<[string, string, string]>([
    ['an unknown name', 'nobody-here', PASSWORD],
    ['a disabled person with the right password', 'off', PASSWORD],
    ['a person without a password', 'mary', PASSWORD],
    ['a service account', 'robot', PASSWORD],
    ['the installation’s own name', 'admin', PASSWORD],
    ['a name that is no name', "' OR 1=1 --", PASSWORD],
    ['a name with a NUL', 'ada\u0000', PASSWORD],
    ['a name of ten thousand characters is as wrong as any', 'a'.repeat(1_000), PASSWORD],
    ['an empty password', 'ada', ''],
  ])('%s', async (_name, name, password) => {
    const told = ({ status, text, headers }: Reply) => [
      status,
      text.replace(/"requestId":"[^"]*"/, ''),
      Object.keys(headers).toSorted(),
    ];
    const [wrong, other] = [await from({ name: 'ada', password: 'a wrong password' }), await from({ name, password })];
    expect(wrong.status).toBe(401);
    expect(told(other)).toEqual(told(wrong));
  });

  test('by the work that it does: for unknown names passwords are hashed too', async () => {
    // More than are let wait for the hashing at once: whoever is sent away for it did ask for a hash.
    const replies = await Promise.all(
      Array.from({ length: 160 }, (_, n) => from({ name: `nobody-${n}`, password: `wrong ${n}` })),
    );
    const busy = replies.filter(({ text }) => text.includes('passwords are being checked'));
    expect(busy.length).toBeGreaterThan(0);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401, 429]));
  });
});

describe('a guesser of passwords', () => {
  /** All at once, so that no time passes in which one may try again. */
  const statuses = async (count: number, body: (index: number) => unknown, address: (index: number) => string) =>
    (await Promise.all(Array.from({ length: count }, (_, n) => from(body(n), address(n))))).map(({ status }) => status);
  const refused = (all: readonly number[]): number => all.filter((status) => status === 429).length;

  test('is held up, and told for how long; the right one among many guesses is not taken', async () => {
    const guesses = Array.from({ length: 12 }, (_, n) => (n === 11 ? PASSWORD : `guess ${n}`));
    const replies = await Promise.all(guesses.map((password) => from({ name: 'grace', password }, '203.0.113.1')));
    const late = replies.filter(({ status }) => status === 429);
    expect(late.length).toBeGreaterThan(3);
    for (const { headers } of late) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(replies.filter(({ headers }) => headers['set-cookie'] !== undefined).length).toBeLessThan(2);
  });

  test('is held up under other spellings of the name too', async () => {
    const names = ['Linus', 'LINUS', 'linus', 'lInus', 'liNus', 'linUs', 'linuS', 'LInus', 'LINus', 'LINUs'];
    const all = await statuses(
      names.length,
      (n) => ({ name: names[n], password: 'guess' }),
      () => '203.0.113.2',
    );
    expect(refused(all)).toBeGreaterThan(0);
  });

  test('is held up though each guess claims another address before its own', async () => {
    const all = await statuses(
      12,
      () => ({ name: 'mary', password: 'guess' }),
      (n) => `192.0.2.${n}, 203.0.113.3`,
    );
    expect(refused(all)).toBeGreaterThan(0);
  });

  test('who tries many names from one address is held up', async () => {
    const all = await statuses(
      45,
      (n) => ({ name: `user-${n}`, password: 'guess' }),
      () => '203.0.113.4',
    );
    expect(refused(all)).toBeGreaterThan(0);
  });

  test('of tokens and codes is held up', async () => {
    const all = await statuses(
      160,
      (n) => (n % 2 ? { token: `mst_${n}` } : { code: `guess-${n}` }),
      () => '203.0.113.5',
    );
    expect(refused(all)).toBeGreaterThan(0);
  });

  test('leaves no password and no guess in the log or the audit', async () => {
    await from({ name: 'ada', password: 'a-very-own-guess-4711' });
    await from({ name: 'pass-typed-as-name-4711', password: 'x' });
    const { text } = await administrator(server).post(
      '{ auditEntries(first: 200) { nodes { actor target before after } } }',
    );
    expect(text).toContain('principal:ada');
    for (const secret of [PASSWORD, 'a-very-own-guess-4711', 'pass-typed-as-name-4711']) {
      expect(server.output).not.toContain(secret);
      expect(text).not.toContain(secret);
    }
  });
});

describe('a login is of one shape', () => {
  test.each<[string, string]>([
    ['text', '"admin"'],
    ['a list', '[{"token":"x"}]'],
    ['objects for texts', '{"name":{"$ne":null},"password":{"$ne":null}}'],
    ['lists for texts', '{"name":["ada"],"password":["x"]}'],
    ['a prototype', '{"__proto__":{"name":"ada","password":"correct horse battery"}}'],
    ['nothing', ''],
  ])('and takes %s for none', async (_name, body) => {
    const reply = await sendJson(server, '/session', body, ownPage(server));
    expect([reply.status, reply.headers['set-cookie']]).toEqual([400, undefined]);
  });

  test('and takes no form of another site', async () => {
    const body = `{"token":"${server.token}"}`;
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
      expect(
        (
          await send(server, '/session', {
            method: 'POST',
            headers: { ...ownPage(server), 'content-type': type },
            body,
          })
        ).status,
      ).toBe(400);
  });

  test('and the printed link works once, for whoever is first', async () => {
    const code = /#login=([\w-]+)/.exec(server.output)?.[1] ?? '';
    expect((await from({ code })).status).toBe(200);
    expect((await from({ code })).status).toBe(401);
    expect(server.output.match(new RegExp(code, 'g'))).toHaveLength(1);
  });
});

describe('after a login nobody is sent elsewhere', () => {
  test.each([
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/%09/evil.example',
    '/%2f%2fevil.example',
    '/%5cevil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/%2e%2e//evil.example',
    'https://evil.example',
    'https:evil.example',
    'HtTps:/evil.example',
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'evil.example',
    '/\r\nSet-Cookie: muster_1=x',
    '/@evil.example:80//x',
  ])('%j', async (to) => {
    const { status, headers } = await send(server, `/login/oidc?return=${encodeURIComponent(to)}&here=1`, {
      headers: { host: ownPage(server).host },
    });
    expect(status).toBe(303);
    const location = String(headers.location);
    expect(location).toMatch(/^\/(?![/\\])/);
    expect(new URL(location, server.url).origin).toBe(server.url);
    expect(headers['set-cookie'] ?? []).toEqual([]);
  });

  test.each(['evil.example', '127.0.0.1:1', '127.0.0.1@evil.example'])('by a Host of %s', async (host) => {
    for (const headers of [{ host }, { host: ownPage(server).host, 'x-forwarded-host': host }]) {
      const { headers: answered } = await send(server, '/login/oidc', { headers });
      expect(new URL(String(answered.location), server.url).origin).toBe(server.url);
    }
  });

  test('by a state and code that nobody asked for', async () => {
    for (const cookie of [
      '',
      `muster_login_${server.port}=${'A'.repeat(200)}`,
      `muster_login_${server.port}=eyJhbGciOiJub25lIn0..`,
    ]) {
      const { status, headers } = await send(server, '/login/oidc/callback?code=stolen&state=forged', {
        headers: { cookie },
      });
      expect(status).toBe(303);
      expect(new URL(String(headers.location), server.url).origin).toBe(server.url);
      expect(String(headers['set-cookie'])).not.toMatch(/muster_\d+=[\w-]{20}/);
    }
  });
});

describe('a path that leads out of the app’s files', () => {
  const ups = ['..', '%2e%2e', '%2E%2e', '.%2e', '%252e%252e', '..%00', '%c0%ae%c0%ae', '..;', '....'];
  const targets = ups.flatMap((up) => [
    `/${up}/muster.mjs`,
    `/assets/${up}/${up}/muster.mjs`,
    `/assets/${up}%2f${up}%2fmuster.mjs`,
    `/assets/${up}%5c${up}%5cmuster.mjs`,
    `/${up}\\muster.mjs`,
    `/${`${up}/`.repeat(12)}etc/passwd`,
  ]);
  const bundle = readFileSync(path.join(root, 'packages/cli/dist/muster.mjs'), 'utf8').slice(0, 200);

  test.each([
    ...targets,
    '//etc/passwd',
    '/etc/passwd',
    'file:///etc/passwd',
    '/assets/',
    '/.env',
    '/%2eenv',
    '/.git/config',
    '/admin-token',
    '/index.html%00.js',
    '/assets/%',
    '/assets/%E0%A4%A',
    `/${'a/'.repeat(3_000)}`,
  ])('%s finds nothing', async (target) => {
    const answer = await sendBytes(server, `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
    const [status] = statusesOf(answer);
    expect([200, 400, 404]).toContain(status);
    expect(answer).not.toContain(bundle);
    expect(answer).not.toContain('root:x:');
    // What is no file is a page of the app.
    if (status === 200) expect(answer).toContain('<!doctype html>');
  });

  test('lists no folder and follows no other method', async () => {
    for (const method of ['PUT', 'DELETE', 'TRACE', 'PROPFIND', 'PATCH']) {
      const answer = await sendBytes(
        server,
        `${method} /assets/x.js HTTP/1.1\r\nHost: x\r\nX-Secret: echo-4711\r\nConnection: close\r\n\r\n`,
      );
      expect([400, 404, 405, 501]).toContain(statusesOf(answer)[0]);
      expect(answer).not.toContain('echo-4711');
    }
  });
});

test('none of it made anybody somebody', async () => {
  expect(await whoIs(server, `muster_${server.port}=undefined`)).toBeNull();
  expect((await new Caller(server, null).post('{ viewer { name } }')).status).toBe(401);
});
