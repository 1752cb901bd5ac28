import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startTestApp } from '../testing/test-app.ts';
import { bindPort } from './bound-port.ts';
import { createOriginCheck } from './own-origin.ts';

const asks = (options: Parameters<typeof createOriginCheck>[0], host: string, origin: string): boolean =>
  createOriginCheck(options)({ headers: { host, origin } } as IncomingMessage);

describe('a page of our own', () => {
  const behindProxy = { host: '127.0.0.1', port: 4000, publicUrl: 'https://muster.example.org' };

  it.each([
    ['muster.example.org', 'https://muster.example.org', true],
    ['Muster.Example.org', 'https://muster.example.org', true],
    ['127.0.0.1:4000', 'http://127.0.0.1:4000', true],
    ['muster.example.org', 'http://muster.example.org', false],
    ['muster.example.org:8443', 'https://muster.example.org:8443', false],
    ['muster.example.org', 'https://evil.example.org', false],
    ['evil.example.org', 'https://muster.example.org', false],
    ['127.0.0.1:4000', 'https://muster.example.org', false],
    ['muster.example.org', 'null', false],
  ])('behind a proxy: Host %s from %s: %s', (host, origin, expected) => {
    expect(asks(behindProxy, host, origin)).toBe(expected);
  });

  it('is not the public address where none is given', () => {
    expect(asks({ ...behindProxy, publicUrl: null }, 'muster.example.org', 'https://muster.example.org')).toBe(false);
  });
});

describe('MUSTER_PUBLIC_URL', () => {
  it('is what links lead to, and its cookie is believed from there and goes over https only', async () => {
    const probe = await bindPort({ port: 0, host: '127.0.0.1' });
    await probe.close();
    const app = await startTestApp({ port: probe.port, publicUrl: 'https://muster.example.org' });
    expect(app.loginLink()).toMatch(/^https:\/\/muster\.example\.org\/#login=/);
    const call = (path: string, headers: Record<string, string>, body: unknown) =>
      send(probe.port, path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body));
    const own = { host: 'muster.example.org', origin: 'https://muster.example.org' };
    const code = app.loginLink().split('#login=')[1];
    const login = await call('/session', own, { code });
    expect(login.cookie).toContain('; Secure');
    const cookie = login.cookie.split(';')[0] ?? '';
    const query = { query: '{ viewer { name } }' };
    expect((await call('/graphql', { ...own, cookie }, query)).status).toBe(200);
    expect((await call('/graphql', { ...own, origin: 'http://muster.example.org', cookie }, query)).status).toBe(403);
    await app.close();
  });
});

/** As fetch, with Host and Origin as given. */
function send(
  port: number,
  path: string,
  headers: Record<string, string>,
  body: string,
): Promise<{ status: number; cookie: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers }, (response) => {
      response.resume();
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, cookie: String(response.headers['set-cookie']) }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
