import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createClientAddress, isNetwork, limitKey } from './client-address.ts';

function request(remoteAddress: string | undefined, headers: Record<string, string> = {}): IncomingMessage {
  return { socket: { remoteAddress }, headers: { host: 'inner:4000', ...headers } } as unknown as IncomingMessage;
}
const forwarded = {
  'x-forwarded-for': '198.51.100.9',
  'x-forwarded-host': 'muster.example',
  'x-forwarded-proto': 'https',
};

describe('without proxies', () => {
  const clients = createClientAddress([]);

  it('no header counts', () => {
    const came = request('127.0.0.1', forwarded);
    expect([clients.addressOf(came), clients.hostOf(came), clients.isTls(came)]).toEqual([
      '127.0.0.1',
      'inner:4000',
      false,
    ]);
  });

  it('the other end is told in its usual form', () => {
    expect(clients.addressOf(request('::ffff:10.1.2.3'))).toBe('10.1.2.3');
    expect(clients.addressOf(request('fe80::1%eth0'))).toBe('fe80::1');
    expect(clients.addressOf(request(undefined))).toBeNull();
  });
});

describe('behind proxies', () => {
  const clients = createClientAddress(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);
  const addressOf = (peer: string, chain: string): string | null =>
    clients.addressOf(request(peer, { 'x-forwarded-for': chain }));

  it('takes the nearest address that is none of theirs', () => {
    expect(addressOf('10.0.0.1', '198.51.100.9')).toBe('198.51.100.9');
    expect(addressOf('10.0.0.1', '198.51.100.9, 10.7.7.7, 192.0.2.7')).toBe('198.51.100.9');
    expect(addressOf('::ffff:10.0.0.1', '[2001:db9::5]:4711')).toBe('2001:db9::5');
    expect(addressOf('2001:db8::1', '198.51.100.9:1234')).toBe('198.51.100.9');
  });

  it('does not believe what the client wrote in front of it', () => {
    expect(addressOf('10.0.0.1', '127.0.0.1, 198.51.100.9')).toBe('198.51.100.9');
    expect(addressOf('10.0.0.1', '127.0.0.1, <script>, 10.0.0.2')).toBe('10.0.0.2');
    expect(addressOf('10.0.0.1', `${'10.0.0.2,'.repeat(10_000)} 198.51.100.9`)).toBe('198.51.100.9');
    expect(addressOf('10.0.0.1', '')).toBe('10.0.0.1');
  });

  it('believes nobody else', () => {
    for (const peer of ['198.51.100.9', '11.0.0.1', '192.0.2.8', '2001:db9::1']) {
      const came = request(peer, forwarded);
      expect(clients.addressOf(came)).toBe(peer);
      expect([clients.hostOf(came), clients.isTls(came)]).toEqual(['inner:4000', false]);
    }
  });

  it('takes host and scheme from them', () => {
    const came = request('10.0.0.1', forwarded);
    expect([clients.hostOf(came), clients.isTls(came)]).toEqual(['muster.example', true]);
    const more = request('10.0.0.1', {
      'x-forwarded-host': 'evil.example, muster.example',
      'x-forwarded-proto': 'https, http',
    });
    expect([clients.hostOf(more), clients.isTls(more)]).toEqual(['muster.example', false]);
  });
});

it('knows what can be a proxy', () => {
  expect(['10.0.0.1', '10.0.0.0/8', '::1', 'fd00::/8'].filter(isNetwork)).toHaveLength(4);
  expect(
    ['', 'proxy', '10.0.0.0/33', '10.0.0', '1/8', '::1/129', '10.0.0.0/8/8', '10.0.0.0/'].filter(isNetwork),
  ).toEqual([]);
});

it('counts an IPv6 customer as one', () => {
  expect(limitKey('2001:db8:1:2:3:4:5:6')).toBe(limitKey('2001:db8:1:2::9'));
  expect(limitKey('2001:db8:1:2::9')).not.toBe(limitKey('2001:db8:1:3::9'));
  expect(limitKey('::ffff:10.0.0.1')).toBe('10.0.0.1');
  expect(limitKey(null)).toBe('unknown');
});
