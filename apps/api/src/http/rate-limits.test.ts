import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MusterError } from '@muster/core';
import { administrator, type Viewer } from '../modules/viewer/viewer.ts';
import { startTestApp, type TestApp } from '../testing/test-app.ts';
import { createRateLimits } from './rate-limits.ts';

describe('the limits', () => {
  const clock = { ms: 0 };
  const limits = (more: Partial<Parameters<typeof createRateLimits>[0]>) =>
    createRateLimits({ requests: 0, strangers: 0, price: 0, ...more }, () => clock.ms);
  const waits = (work: () => void): number => {
    try {
      work();
      return 0;
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      expect(error.code).toBe('RATE_LIMITED');
      return Number(error.details['retryAfterSeconds']);
    }
  };
  const worker = (id: number): Viewer => ({ ...administrator, kind: 'worker', credential: { kind: 'worker', id } });

  it('count the requests of an address, and of an IPv6 customer as one', () => {
    const { request } = limits({ requests: 3 });
    expect([1, 2, 3, 4].map(() => waits(() => request('10.0.0.1')))).toEqual([0, 0, 0, 20]);
    expect(waits(() => request('10.0.0.2'))).toBe(0);
    for (let i = 0; i < 3; i++) request(`2001:db8::${i}`);
    expect(waits(() => request('2001:db8::ffff'))).toBe(20);
    clock.ms += 20_000;
    expect(waits(() => request('10.0.0.1'))).toBe(0);
  });

  it('count operations by what they cost, for each credential by itself', () => {
    const { operation } = limits({ price: 6_000 });
    const of = (id: number): Viewer => ({ ...administrator, credential: { kind: 'token', id } });
    expect(waits(() => operation(of(1), null, 990, false))).toBe(0);
    expect(waits(() => operation(of(1), null, 1_000, false))).toBe(10);
    expect(waits(() => operation(of(2), null, 1_000, false))).toBe(0);
    // No operation is so cheap that any number of them may be sent.
    expect(
      [1, 2].map((i) => waits(() => Array.from({ length: 51 }, () => operation(of(2 + i), null, 1, false)))),
    ).toEqual([1, 1]);
  });

  it('do not hold up a fleet that shares one token, and count a worker by its own credential', () => {
    const { operation } = limits({ price: 6_000 });
    for (let i = 0; i < 10_000; i++) operation(administrator, '10.0.0.1', 2_000, true);
    expect(waits(() => Array.from({ length: 50 }, () => operation(worker(1), null, 5_000, true)))).toBe(0);
    expect(waits(() => operation(worker(1), null, 5_000, true))).toBe(1);
    expect(waits(() => operation(worker(2), null, 5_000, true))).toBe(0);
  });

  it('shut out who guesses, and not who was right before', async () => {
    const { knowing, stranger } = limits({ strangers: 2 });
    const right = () => Promise.resolve(administrator);
    const wrong = () => Promise.resolve(null);
    expect(await knowing('10.0.0.1', 'good', right)).toBe(administrator);
    for (let i = 0; i < 2; i++) expect(await knowing('10.0.0.1', `bad ${i}`, wrong)).toBeNull();
    await expect(knowing('10.0.0.1', 'bad', wrong)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await expect(knowing('10.0.0.1', 'also good', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(waits(() => stranger('10.0.0.1'))).toBe(30);
    expect(await knowing('10.0.0.1', 'good', right)).toBe(administrator);
    expect(await knowing('10.0.0.2', 'also good', right)).toBe(administrator);
    // An error is no proof of anybody either.
    const failing = () => Promise.reject(new MusterError('UNAUTHENTICATED', 'no'));
    for (let i = 0; i < 2; i++) await expect(knowing('10.0.0.3', 'x', failing)).rejects.toThrow('no');
    await expect(knowing('10.0.0.3', 'x', failing)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });
});

describe('a server', () => {
  let app: TestApp;
  const opened: WebSocket[] = [];
  // Behind a proxy, so that each test has an address of its own.
  beforeAll(async () => {
    app = await startTestApp({ trustedProxies: ['127.0.0.1'], rates: { requests: 30, strangers: 3, price: 0 } });
  });
  afterAll(async () => {
    for (const socket of opened) socket.terminate();
    await app.close();
  });
  const from = (address: string, token = app.adminToken) => ({
    authorization: `Bearer ${token}`,
    'x-forwarded-for': address,
  });
  const url = () => `${app.url.replace('http', 'ws')}/graphql`;
  const SECONDS = expect.stringMatching(/^[1-9]\d?$/);

  /** Opens a socket, says this first, and answers the code of its end, or 0 where it is let in. */
  const greet = (text: string, address: string): Promise<number> =>
    new Promise((resolve) => {
      const headers = { 'x-forwarded-for': address };
      const socket = new WebSocket(url(), 'graphql-transport-ws', { headers });
      opened.push(socket);
      socket.on('open', () => socket.send(text));
      socket.on('message', () => resolve(0));
      socket.on('close', resolve);
    });
  const init = (token: string): string => JSON.stringify({ type: 'connection_init', payload: { token } });

  it('answers 429 with Retry-After on every transport, and goes on with health checks', async () => {
    const headers = from('203.0.113.1');
    /** Asks until it is refused; meanwhile some requests become free again. */
    const refused = async (ask: () => Promise<Response>): Promise<Response> => {
      for (let i = 0; i < 100; i++) {
        const answer = await ask();
        if (answer.status === 429) return answer;
        await answer.text();
      }
      throw new Error('it is never refused');
    };
    const body = JSON.stringify({ query: '{ viewer { name } }' });
    const json = { ...headers, 'content-type': 'application/json' };
    const byGraphQL = await refused(() => fetch(`${app.url}/graphql`, { method: 'POST', headers: json, body }));
    expect(byGraphQL.headers.get('retry-after')).toEqual(SECONDS);
    expect(await byGraphQL.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) } }],
    });
    for (const path of ['/executions', '/metrics', '/workers', '/session', '/assets/a.js']) {
      const answer = await refused(() => fetch(`${app.url}${path}`, { headers }));
      expect([path, answer.headers.get('retry-after'), await answer.text()]).toEqual([
        path,
        SECONDS,
        expect.stringContaining('RATE_LIMITED'),
      ]);
    }
    const upgrade = async (): Promise<string> => {
      const raw = connect(app.port, '127.0.0.1');
      raw.write(
        'GET /graphql HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      );
      let head = '';
      for await (const chunk of raw) head += String(chunk);
      return head;
    };
    const heads = [await upgrade(), await upgrade(), await upgrade()];
    expect(heads.join('')).toMatch(/HTTP\/1\.1 429 [^]*Retry-After: [1-9]/);
    for (const path of ['/healthz', '/readyz'])
      expect((await fetch(`${app.url}${path}`, { headers })).status).toBe(200);
    expect((await fetch(`${app.url}/none/there`, { headers: from('203.0.113.2') })).status).not.toBe(429);
  });

  it('shuts out who guesses tokens, also by WebSocket, and lets in who is known', async () => {
    const address = '203.0.113.3';
    const guess = async (token: string) => (await app.post('{ viewer { name } }', {}, from(address, token))).status;
    expect(await guess(app.adminToken)).toBe(200);
    expect([await guess('a'), await guess('b')]).toEqual([401, 401]);
    expect([await greet(init('c'), address), await greet(init('d'), address), await guess('e')]).toEqual([
      4401, 4429, 429,
    ]);
    const anonymous = await fetch(`${app.url}/graphql`, { method: 'POST', headers: { 'x-forwarded-for': address } });
    expect(anonymous.status).toBe(429);
    expect(await guess(app.adminToken)).toBe(200);
    expect(await greet(init(app.adminToken), '203.0.113.4')).toBe(0);
  });

  it('takes no long message, and none of many levels, of somebody who has not said who he is', async () => {
    const deep = `{ "type": "connection_init", "payload": ${'['.repeat(2_000)}${']'.repeat(2_000)} }`;
    expect([await greet(init('x'.repeat(10_000)), '203.0.113.5'), await greet(deep, '203.0.113.5')]).toEqual([
      4400, 4400,
    ]);
    const long = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.5' },
      body: JSON.stringify({ query: `{ viewer { name } } #${'x'.repeat(70_000)}` }),
    });
    expect(long.status).toBe(401);
  });

  it('counts what a token costs over HTTP, REST and WebSocket together, but not what workers do', async () => {
    // A token that nothing was counted for yet.
    const app = await startTestApp({ rates: { requests: 0, strangers: 0, price: 3_600 } });
    const headers = { authorization: `Bearer ${app.adminToken}` };
    expect((await fetch(`${app.url}/workers`, { headers })).status).toBe(200);
    const socket = app.socket();
    const pages = '{ a: workers(first: 200) { nodes { id } } b: workers(first: 200) { nodes { id } } }';
    const over = async () => (await socket.iterate({ query: pages }).next()).value;
    expect((await over())?.data).toMatchObject({ a: { nodes: [] } });
    await expect(over()).rejects.toMatchObject([
      { extensions: { code: 'RATE_LIMITED', retryAfterSeconds: expect.any(Number) } },
    ]);
    expect((await app.post(pages, {}, headers)).status).toBe(429);
    const heartbeat = 'query { workerSteps(worker: "w", instanceId: "i", id: "x", generation: 1, after: 0) { after } }';
    expect((await app.post(heartbeat, {}, headers)).errors[0]?.extensions.code).not.toBe('RATE_LIMITED');
    await app.close();
  });
});
