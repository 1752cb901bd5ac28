import { request } from 'node:http';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../testing/test-app.ts';

/** What other sites, proxies and crooked addresses can make of a server. */
let app: TestApp;
let port: number;
let adminDir: string;
const SECRET = 'not for anybody';

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-static-'));
  adminDir = join(folder, 'admin');
  await mkdir(join(adminDir, 'assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), SECRET);
  await writeFile(join(adminDir, '.env'), SECRET);
  await writeFile(join(adminDir, 'index.html'), '<!doctype html><html><head><title>M</title></head></html>');
  await writeFile(join(adminDir, 'assets/app.js'), 'export {};');
  app = await startTestApp({ adminDir, publicUrl: 'https://muster.example', trustedProxies: ['127.0.0.1'] });
  port = app.port;
});
afterAll(async () => {
  await app.close();
  await rm(join(adminDir, '..'), { recursive: true, force: true });
});

interface Reply {
  status: number;
  headers: NodeJS.Dict<string | string[]>;
  text: string;
}

/** As fetch, with path and headers as they are given. */
function send(path: string, method = 'GET', headers: Record<string, string> = {}, body = ''): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const call = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    });
    call.on('error', reject);
    call.end(body);
  });
}

async function login(): Promise<string> {
  const code = app.loginLink().split('#login=')[1];
  const { headers } = await send('/session', 'POST', { 'content-type': 'application/json' }, JSON.stringify({ code }));
  return String(headers['set-cookie']);
}

describe('headers', () => {
  it('shut out framing, sniffing and other sites on every answer', async () => {
    const bearer = { authorization: `Bearer ${app.adminToken}` };
    for (const [path, method, more] of [
      ['/', 'GET', {}],
      ['/assets/app.js', 'GET', {}],
      ['/assets/none.js', 'GET', {}],
      ['/workers', 'GET', bearer],
      ['/executions/none', 'GET', bearer],
      ['/graphql', 'POST', {}],
      ['/session', 'PUT', {}],
      ['/metrics', 'GET', {}],
      ['/healthz', 'GET', {}],
      ['/openapi.json', 'GET', {}],
    ] as const) {
      const { headers } = await send(path, method, more);
      expect(headers, path).toMatchObject({
        'x-frame-options': 'DENY',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
        'content-security-policy': expect.stringMatching(/default-src 'none'.*frame-ancestors 'none'/),
        'strict-transport-security': expect.stringMatching(/^max-age=\d{7,}/),
      });
      expect(headers['access-control-allow-origin'], path).toBeUndefined();
      expect(headers['x-powered-by'], path).toBeUndefined();
      expect(headers['content-security-policy'], path).not.toMatch(/unsafe|\*|http:/);
    }
  });

  it('give every page a nonce of its own for style sheets, and let scripts come from files alone', async () => {
    const nonces = new Set<string>();
    for (const path of ['/', '/index.html', '/workers', '/workers/api.host.local', '/somewhere/else']) {
      const { headers, text } = await send(path, 'GET', { accept: 'text/html' });
      const policy = String(headers['content-security-policy']);
      const nonce = /style-src 'self' 'nonce-([^']+)';/.exec(policy)?.[1] ?? '';
      expect(policy).toContain("script-src 'self';");
      expect(text).toContain(`<meta property="csp-nonce" nonce="${nonce}" />`);
      expect(headers['cache-control']).toBe('no-store');
      nonces.add(nonce);
    }
    expect(nonces.size).toBe(5);
  });

  it('set the cookie for TLS, this site and no script', async () => {
    expect(await login()).toMatch(/; HttpOnly; SameSite=Strict; Secure/);
  });
});

describe('static files', () => {
  it('are never reached by a crooked path', async () => {
    const ups = ['..', '%2e%2e', '%2E%2E', '.%2e', '%252e%252e', '..%00', '..%c0%af', '%c0%ae%c0%ae', '..;', '....'];
    const paths = ups.flatMap((up) => [
      `/${up}/secret.txt`,
      `/assets/${up}/${up}/secret.txt`,
      `/assets/${up}%2f${up}%2fsecret.txt`,
      `/assets/${up}%5c${up}%5csecret.txt`,
      `/${up}\\secret.txt`,
    ]);
    for (const path of [
      ...paths,
      '//secret.txt',
      '/.env',
      '/assets/../.env',
      '/%2eenv',
      `${adminDir}/../secret.txt`,
      '/%',
      '/assets/%E0%A4',
    ]) {
      const { status, text } = await send(path);
      expect(text, path).not.toContain(SECRET);
      expect([200, 400, 404], `${path}: ${status}`).toContain(status);
    }
    expect((await send('/assets/app.js')).text).toBe('export {};');
    expect((await send('/', 'DELETE')).status).toBe(405);
  });
});

describe('another site', () => {
  const MUTATION = 'mutation { registerWorkflow(input: { name: "forged" }) { created } }';
  const workflows = async (): Promise<string[]> =>
    (await app.ask('{ workflows { nodes { name } } }')).workflows.nodes.map(({ name }: { name: string }) => name);

  it('changes nothing by a form, whatever it calls its body', async () => {
    const cookie = (await login()).split(';')[0] ?? '';
    const own = { cookie, host: 'muster.example', origin: 'https://muster.example' };
    const body = JSON.stringify({ query: MUTATION });
    const json = { 'content-type': 'application/json' };
    const types = [
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain',
      'text/plain; application/json',
      '',
    ];
    const forms: [Record<string, string>, string][] = [
      ...types.map((type): [Record<string, string>, string] => [{ ...own, 'content-type': type }, body]),
      [{ ...own, 'content-type': 'application/x-www-form-urlencoded' }, `query=${encodeURIComponent(MUTATION)}`],
      [{ cookie, host: 'muster.example', ...json }, body],
      [{ ...own, ...json, origin: 'https://evil.example' }, body],
      [{ ...own, ...json, origin: 'null' }, body],
      [{ ...own, ...json, host: 'evil.example', origin: 'https://evil.example' }, body],
    ];
    for (const [headers, text] of forms) {
      const { status } = await send('/graphql', 'POST', headers, text);
      expect([400, 403], JSON.stringify(headers)).toContain(status);
    }
    for (const headers of [own, { cookie, host: 'muster.example' }]) {
      const { status } = await send(`/graphql?query=${encodeURIComponent(MUTATION)}`, 'GET', headers);
      expect([400, 403]).toContain(status);
    }
    for (const method of ['PUT', 'DELETE', 'PATCH', 'HEAD'])
      expect((await send('/graphql', method, { ...own, ...json }, method === 'HEAD' ? '' : body)).status).toBe(400);
    // A route takes no cookie at all.
    expect((await send('/workflows/default/forged/run/async', 'POST', { ...own, ...json }, '{}')).status).toBe(401);
    expect(await workflows()).not.toContain('forged');
    expect((await send('/graphql', 'POST', { ...own, ...json }, body)).status).toBe(200);
    expect(await workflows()).toContain('forged');
  });

  it('reads nothing by an event stream or a socket', async () => {
    const cookie = (await login()).split(';')[0] ?? '';
    const stream = `/graphql?query=${encodeURIComponent('subscription { roleHealth { kind } }')}`;
    const accept = { cookie, accept: 'text/event-stream', host: 'muster.example' };
    for (const headers of [accept, { ...accept, origin: 'https://evil.example' }])
      expect((await send(stream, 'GET', headers)).status).toBe(403);
    const closeCode = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws', { headers });
        socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init' })));
        socket.on('message', () => socket.close(1000));
        socket.on('close', resolve);
        socket.on('error', reject);
      });
    expect(await closeCode({ cookie, origin: 'https://evil.example', host: 'muster.example' })).toBe(4403);
    expect(await closeCode({ cookie, host: 'muster.example' })).toBe(4403);
    expect(await closeCode({ cookie, origin: 'https://muster.example', host: 'muster.example' })).toBe(1000);
  });
});

describe('a proxy', () => {
  it('that rewrites Host is believed in what it says the client asked for', async () => {
    const cookie = (await login()).split(';')[0] ?? '';
    const body = JSON.stringify({ query: '{ viewer { name } }' });
    const inner = {
      cookie,
      'content-type': 'application/json',
      host: `127.0.0.1:${port}`,
      origin: 'https://muster.example',
    };
    expect((await send('/graphql', 'POST', inner, body)).status).toBe(403);
    expect((await send('/graphql', 'POST', { ...inner, 'x-forwarded-host': 'muster.example' }, body)).status).toBe(200);
    expect((await send('/graphql', 'POST', { ...inner, 'x-forwarded-host': 'evil.example' }, body)).status).toBe(403);
  });
});
