import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';
import { restClient, type Send } from './testing/rest-client.ts';

let app: TestApp;
let send: Send;

beforeAll(async () => {
  app = await startTestApp();
  send = restClient(app);
});
afterAll(() => app.close());

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

describe('who may ask', () => {
  it('answers 401 without a token and with a wrong one, and does not say more', async () => {
    for (const [method, path] of [
      ['POST', '/workflows/default/x/run/async'],
      ['GET', '/executions/ex_1'],
      ['GET', '/workers'],
      ['GET', '/admin/workers'],
      ['DELETE', '/admin/workers/w/metadata'],
    ] as const) {
      for (const token of [null, 'wrong']) {
        const { status, body, headers } = await send(method, path, { token });
        expect([status, body.error.code, headers['www-authenticate']]).toEqual([401, 'UNAUTHENTICATED', 'Bearer']);
      }
    }
  });

  it('does not believe a session cookie, not even from a page of its own', async () => {
    const { host, origin } = new URL(app.url);
    const login = await fetch(`${app.url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: app.adminToken }),
    });
    const cookie = String(login.headers.get('set-cookie')).split(';')[0] ?? '';
    const graphql = await fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, origin },
      body: '{"query":"{ viewer { name } }"}',
    });
    expect(graphql.status).toBe(200);
    const headers = { cookie, host, origin };
    expect((await send('GET', '/workers', { token: null, headers })).status).toBe(401);
    expect((await send('PUT', '/admin/workers/w/metadata', { token: null, headers })).status).toBe(401);
  });
});

describe('addresses', () => {
  it.each([
    ['GET', '/workflows/default/x/run/async', 'POST'],
    ['PUT', '/executions/ex_1', 'HEAD, GET'],
    ['GET', '/executions/ex_1/cancel', 'POST'],
    ['POST', '/workers', 'HEAD, GET'],
    ['POST', '/admin/workers/w/metadata', 'HEAD, GET, PUT, DELETE'],
    ['OPTIONS', '/admin/workers', 'HEAD, GET'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('%s %s is told which methods there are', async (method, path, allow) => {
    const { status, headers, body } = await send(method, path);
    expect([status, headers['allow'], body.error.code]).toEqual([405, allow, 'BAD_INPUT']);
  });

  it.each([
    ['POST', '/workflows/default/x/run/later'],
    ['POST', '/workflows/default/x/run/async/'],
    ['POST', '/workflows//x/run/async'],
    ['GET', '/executions/ex_1/nothing'],
    ['GET', '/workers/w/nothing'],
    ['GET', '/admin/nothing'],
    ['POST', '/deployments'],
  ])('%s %s is not there', async (method, path) => {
    const { status, body } = await send(method, path);
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
    expect(body.error.message).toContain('/openapi.json');
  });

  it('are shared with the pages of the app: a browser gets those, a script the data', async () => {
    for (const path of ['/workers', '/workers/w-1', '/executions/ex_1', '/deployments/assistant']) {
      const page = await fetch(`${app.url}${path}`, { headers: html });
      expect(page.headers.get('content-type')).not.toContain('json');
    }
    expect((await fetch(`${app.url}/workers`)).status).toBe(401);
    expect((await send('GET', '/workers', { headers: html })).status).toBe(200);
    expect((await fetch(`${app.url}/admin/workers`, { headers: html })).status).toBe(401);
  });

  it('answer HEAD as GET, without the body', async () => {
    const { status, headers, text } = await send('HEAD', '/workers');
    expect([status, text]).toEqual([200, '']);
    expect(headers['content-type']).toContain('application/json');
    expect((await send('HEAD', '/executions/ex_1/events')).status).toBe(404);
  });
});

describe('/openapi.json', () => {
  it('is there without a token, and the same as the table', async () => {
    const { status, body, headers } = await send('GET', '/openapi.json', { token: null });
    expect([status, body.openapi, headers['content-type']]).toEqual([200, '3.1.0', 'application/json; charset=utf-8']);
    expect(Object.keys(body.paths)).toContain('/executions/{id}/events');
  });
});

describe('what fails unexpectedly', () => {
  it('is masked, and logged under the request id', async () => {
    const { fleet } = app.plane;
    const get = fleet.get.bind(fleet);
    fleet.get = () => {
      throw new Error('secret detail');
    };
    try {
      const { status, body } = await send('GET', '/workers/x', { headers: { 'x-request-id': 'rq-77' } });
      expect([status, body.error.code, body.error.requestId]).toEqual([500, 'INTERNAL', 'rq-77']);
      expect(body.error.message).not.toContain('secret');
    } finally {
      fleet.get = get;
    }
    expect(app.lines.some((line) => line.includes('rq-77') && line.includes('secret detail'))).toBe(true);
  });
});
