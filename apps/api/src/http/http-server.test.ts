import { readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from '../app.ts';
import { readConfig } from '../config.ts';
import { bindPort } from './bound-port.ts';
import { createLog } from '../log.ts';
import { startTestApp, subscribe, type TestApp, until } from '../testing/test-app.ts';

let app: TestApp;
let port: number;

beforeAll(async () => {
  app = await startTestApp({}, { pingMs: 2_000 });
  port = Number(new URL(app.url).port);
});
afterAll(() => app.close());

const VIEWER = JSON.stringify({ query: '{ viewer { name } }' });

/** As fetch, with every header as given: fetch sets Host and Origin itself. */
function send(
  path: string,
  method: string,
  headers: Record<string, string>,
  body = '',
): Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request({ port, host: '127.0.0.1', path, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    call.on('error', reject);
    call.end(method === 'GET' ? undefined : body);
  });
}

async function login(): Promise<string> {
  const code = app.loginLink().split('#login=')[1];
  const { headers } = await send('/session', 'POST', { 'content-type': 'application/json' }, JSON.stringify({ code }));
  return String(headers['set-cookie']).split(';')[0] ?? '';
}

function closeCode(headers: Record<string, string>, first?: unknown): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { headers });
    socket.on('open', () => first !== undefined && socket.send(JSON.stringify(first)));
    socket.on('message', () => socket.close(1000));
    socket.on('close', resolve);
    socket.on('error', reject);
  });
}

describe('who may ask', () => {
  it('keeps the token of the first start in a file that only its owner reads', async () => {
    const file = join(app.dataDir, 'admin-token');
    expect((await readFile(file, 'utf8')).trim()).toBe(app.adminToken);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('answers 401 without and with a wrong token, on /graphql and /metrics, and not on /healthz and /readyz', async () => {
    for (const path of ['/graphql', '/metrics']) {
      const method = path === '/graphql' ? 'POST' : 'GET';
      const json = { 'content-type': 'application/json' };
      expect((await send(path, method, json, VIEWER)).status).toBe(401);
      const wrong = await send(path, method, { ...json, authorization: 'Bearer wrong' }, VIEWER);
      expect(wrong.status).toBe(401);
      expect(wrong.text).toContain('UNAUTHENTICATED');
      expect((await send(path, method, { ...json, authorization: `Bearer ${app.adminToken}` }, VIEWER)).status).toBe(
        200,
      );
    }
    expect((await send('/healthz', 'GET', {})).status).toBe(200);
    expect((await send('/readyz', 'GET', {})).status).toBe(200);
  });

  it('takes a login code once, and sets a cookie that scripts cannot read', async () => {
    const code = app.loginLink().split('#login=')[1];
    const first = await send('/session', 'POST', { 'content-type': 'application/json' }, JSON.stringify({ code }));
    expect(first.status).toBe(200);
    expect(String(first.headers['set-cookie'])).toMatch(
      new RegExp(`^muster_${port}=[^;]+; Path=/; HttpOnly; SameSite=Strict; Max-Age=\\d+$`),
    );
    expect(
      (await send('/session', 'POST', { 'content-type': 'application/json' }, JSON.stringify({ code }))).status,
    ).toBe(401);
  });

  it('takes the token for a cookie too', async () => {
    const json = { 'content-type': 'application/json' };
    const { status, headers } = await send('/session', 'POST', json, JSON.stringify({ token: app.adminToken }));
    expect([status, String(headers['set-cookie'])]).toEqual([200, expect.stringContaining(`muster_${port}=`)]);
    expect((await send('/session', 'POST', json, JSON.stringify({ token: 'wrong' }))).status).toBe(401);
    expect((await send('/session', 'POST', json, '{}')).status).toBe(400);
    expect(String((await send('/session', 'DELETE', {})).headers['set-cookie'])).toContain('Max-Age=0');
  });

  it('believes the cookie only from a page of its own, by Host and Origin', async () => {
    const cookie = await login();
    const own = {
      'content-type': 'application/json',
      cookie,
      host: `127.0.0.1:${port}`,
      origin: `http://127.0.0.1:${port}`,
    };
    expect((await send('/graphql', 'POST', own, VIEWER)).status).toBe(200);
    expect(
      (
        await send(
          '/graphql',
          'POST',
          { ...own, host: `localhost:${port}`, origin: `http://localhost:${port}` },
          VIEWER,
        )
      ).status,
    ).toBe(200);
    const { origin: _origin, ...bare } = own;
    const foreign = [
      bare,
      { ...own, origin: 'http://evil.example' },
      { ...own, origin: `http://127.0.0.1:${port + 1}` },
      { ...own, host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
      { ...own, origin: 'null' },
    ];
    for (const headers of foreign) expect((await send('/graphql', 'POST', headers, VIEWER)).status).toBe(403);
    const forged = { ...own, cookie: `${cookie.slice(0, -2)}xx` };
    expect((await send('/graphql', 'POST', forged, VIEWER)).status).toBe(401);
  });

  it('asks the same of a WebSocket', async () => {
    const cookie = await login();
    const init = { type: 'connection_init' };
    const own = { cookie, origin: `http://127.0.0.1:${port}` };
    expect(await closeCode(own, init)).toBe(1000);
    expect(await closeCode({ ...own, origin: 'http://evil.example' }, init)).toBe(4403);
    expect(await closeCode({}, init)).toBe(4401);
    expect(await closeCode({}, { ...init, payload: { token: 'wrong' } })).toBe(4401);
    expect(await closeCode({}, { ...init, payload: { token: app.adminToken } })).toBe(1000);
    expect(await closeCode({}, { ...init, payload: { authorization: `Bearer ${app.adminToken}` } })).toBe(1000);
    expect(await closeCode({ authorization: `Bearer ${app.adminToken}` }, init)).toBe(1000);
    expect(await closeCode({ authorization: 'Bearer wrong' }, init)).toBe(4401);
  });
});

describe('requests', () => {
  const token = () => ({ authorization: `Bearer ${app.adminToken}` });

  it('takes application/json only', async () => {
    for (const type of [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'application/graphql',
    ]) {
      expect(
        (await send('/graphql', 'POST', { ...token(), 'content-type': type }, 'query=%7Bviewer%7Bname%7D%7D')).status,
      ).toBe(400);
    }
    expect(
      (await send('/graphql', 'POST', { ...token(), 'content-type': 'application/json; charset=utf-8' }, VIEWER))
        .status,
    ).toBe(200);
  });

  it('refuses batches, mutations over GET and bodies that are too large', async () => {
    const json = { ...token(), 'content-type': 'application/json' };
    expect((await send('/graphql', 'POST', json, `[${VIEWER},${VIEWER}]`)).status).toBe(400);
    expect(
      (
        await send(
          `/graphql?query=${encodeURIComponent('mutation { removeWorker(input: { worker: "w" }) { name } }')}`,
          'GET',
          token(),
        )
      ).status,
    ).toBe(400);
    expect((await send(`/graphql?query=${encodeURIComponent('{ viewer { name } }')}`, 'GET', token())).status).toBe(
      200,
    );
    const large = await send('/graphql', 'POST', { ...json, 'content-length': String(64 * 1024 * 1024) }, '').catch(
      () => ({ status: 413 }),
    );
    expect(large.status).toBe(413);
  });

  it('names the limit that a document exceeds', async () => {
    const aliases = Array.from(
      { length: 1000 },
      (_, i) => `a${i}: executions(first: 1) { nodes { whyWaiting { winner } } }`,
    ).join(' ');
    const deep = `{ executions { nodes { ${'parent { '.repeat(16)} id ${'} '.repeat(16)} } } }`;
    for (const [query, limit] of [
      [`{ ${aliases} }`, /(?:Aliases|Token) limit of \d+/],
      [deep, /depth limit of 14/],
    ] as const) {
      const { status, errors } = await app.post(query);
      expect(status).toBe(400);
      expect(errors[0]?.message).toMatch(limit);
    }
    const page = await app.post('{ workers(first: 201) { nodes { name } } }');
    expect(page.errors[0]).toMatchObject({
      message: 'first must be from 0 to 200.',
      extensions: { code: 'BAD_INPUT', field: 'first' },
    });
  });

  it('gives the request id back, and masks what is a bug under it', async () => {
    const known = await app.post('{ viewer { name } }', {}, { 'x-request-id': 'abc-1' });
    expect(known.headers.get('x-request-id')).toBe('abc-1');
    const broken = app.plane.executions.cancel;
    app.plane.executions.cancel = () => Promise.reject(new Error('a secret of the code'));
    const { status, errors, text } = await app.post(
      `mutation { cancelExecution(input: { id: "ex_${'0'.repeat(32)}" }) { execution { id } } }`,
      {},
      { 'x-request-id': 'abc-2' },
    );
    app.plane.executions.cancel = broken;
    expect(status).toBe(200);
    expect(errors[0]).toMatchObject({
      message: 'Unexpected error.',
      extensions: { code: 'INTERNAL', requestId: 'abc-2' },
    });
    expect(text).not.toContain('secret');
    expect(app.lines.find((line) => line.includes('abc-2'))).toContain('a secret of the code');
  });

  it('says what an answer costs', async () => {
    const { text } = await app.post('{ viewer { name } }');
    expect(JSON.parse(text)).toMatchObject({ extensions: { cost: { price: 2, limit: 100_000 } } });
  });

  it('serves the admin app under a strict policy, and says so where it is not built', async () => {
    const { headers } = await send('/workers', 'GET', { accept: 'text/html' });
    expect(headers['content-security-policy']).toMatch(/script-src 'self'(?: 'sha256-[^']+')*;/);
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it('answers metrics', async () => {
    const { text } = await send('/metrics', 'GET', token());
    expect(text).toContain('muster_workers{status="healthy"} 0');
    expect(text).toContain('process_cpu_seconds_total');
  });
});

describe('streams', () => {
  it('closes a socket that lets 8 MiB lie, and ends what it watched', async () => {
    const other = await startTestApp({}, { pingMs: 600_000 });
    const watched = (): number => other.plane.fleet.listenerCount;
    const before = watched();
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { authorization: `Bearer ${other.adminToken}` },
    });
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await new Promise((resolve) => socket.on('open', resolve));
    const say = (message: unknown): void => socket.send(JSON.stringify(message));
    const acknowledged = new Promise((resolve) => socket.once('message', resolve));
    say({ type: 'connection_init' });
    await acknowledged;
    say({ id: 'watch', type: 'subscribe', payload: { query: 'subscription { workerEvents { kind } }' } });
    await until(() => watched() > before, 'the subscription');
    socket.pause();
    const large = 'x'.repeat(1_000_000);
    await other.ask('mutation { registerWorkflow(input: { name: "large" }) { created } }');
    await other.ask(
      'mutation ($input: JSON) { runWorkflow(input: { workflow: "large", input: $input }) { execution { id } } }',
      { input: large },
    );
    // What the kernel takes on both sides comes on top.
    for (let i = 0; i < 40; i++) {
      say({ id: `q${i}`, type: 'subscribe', payload: { query: '{ executions(first: 1) { nodes { input } } }' } });
    }
    await until(() => watched() === before, 'the end of the socket');
    socket.resume();
    expect(await closed).toBe(1006);
    await other.close();
  });

  it('ends a socket that has died silently, and what it watched', async () => {
    const before = listeners();
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nAuthorization: Bearer ${app.adminToken}\r\n\r\n`,
    );
    // Frames as a client masks them, with a mask of zeros.
    const frame = (value: unknown): Buffer => {
      const text = Buffer.from(JSON.stringify(value));
      return Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), Buffer.alloc(4), text]);
    };
    await new Promise((resolve) => socket.once('data', resolve));
    socket.write(frame({ type: 'connection_init' }));
    socket.write(frame({ id: '1', type: 'subscribe', payload: { query: 'subscription { workerEvents { kind } }' } }));
    await until(() => listeners() > before, 'the subscription');
    // It never answers a ping, and its peer never hears a FIN.
    await until(() => listeners() === before, 'the end of the subscription');
    expect(listeners()).toBe(before);
    socket.destroy();
  });

  it('leaves nothing behind after a thousand subscriptions', async () => {
    const before = listeners();
    const client = app.socket();
    for (let round = 0; round < 40; round++) {
      await Promise.all(
        Array.from({ length: 25 }, async () => {
          const stream = subscribe(client, 'subscription { roleHealth { kind complete } }');
          expect((await stream.next()).roleHealth).toEqual({ kind: 'SNAPSHOT', complete: true });
          await stream.stop();
        }),
      );
    }
    await until(() => listeners() === before, 'the end of all');
    expect(listeners()).toBe(before);
  });

  it('streams events over SSE, and has no complete where the server stops', async () => {
    const { text, status } = await send(
      '/graphql',
      'POST',
      { authorization: `Bearer ${app.adminToken}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      VIEWER,
    );
    expect(status).toBe(200);
    expect(text).toContain('event: next\ndata: {"data":{"viewer":{"name":"admin"}},"extensions":{"cost":');
    expect(text).toContain('event: complete');
    const other = await startTestApp();
    const response = await fetch(`${other.url}/graphql`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${other.adminToken}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query: 'subscription { fleetMetrics(intervalMs: 250) { workers } }' }),
    });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { authorization: `Bearer ${other.adminToken}` },
    });
    await new Promise((resolve) => socket.on('open', resolve));
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    let received = '';
    while (received.split('event: next').length < 4) received += new TextDecoder().decode((await reader.read()).value);
    await other.close();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      received += new TextDecoder().decode(part.value);
    expect(received).not.toContain('event: complete');
    expect(await closed).toBe(1012);
  });
});

describe('a start that cannot be', () => {
  it('says in one sentence that the port is taken, and has opened nothing', async () => {
    const dataDir = `${app.dataDir}-other`;
    const config = readConfig({}, { port, dataDir, embeddedWorker: false });
    const other = createApp(config, { log: createLog('silent') });
    await expect(other).rejects.toMatchObject({
      name: 'StartError',
      message: `Port ${port} on 127.0.0.1 is taken by another process; stop it or set PORT.`,
    });
    await expect(stat(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('gives the port back where the database cannot be opened', async () => {
    const probe = await bindPort({ port: 0, host: '127.0.0.1' });
    const free = probe.port;
    expect((await fetch(`http://127.0.0.1:${free}/readyz`)).status).toBe(503);
    await probe.close();
    const config = readConfig(
      {},
      { port: free, databaseUrl: 'postgres://127.0.0.1:1/none', dataDir: `${app.dataDir}-third` },
    );
    const failed = createApp(config, { log: createLog('silent') });
    await expect(failed).rejects.toMatchObject({
      name: 'StartError',
      message: expect.stringContaining('DATABASE_URL'),
    });
    await (await bindPort({ port: free, host: '127.0.0.1' })).close();
    await rm(config.dataDir, { recursive: true, force: true });
  });
});

function listeners(): number {
  return app.plane.fleet.listenerCount;
}
