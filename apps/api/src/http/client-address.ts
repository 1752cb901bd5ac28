import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = readonly [Address, number];

/** What a request says of how it came here, believed as far as the proxies on its way are known. */
export interface ClientAddress {
  /** The nearest address that is none of the configured proxies'; null: the connection is gone. */
  addressOf(request: IncomingMessage): string | null;
  /** The name that the client asked for, with its port. */
  hostOf(request: IncomingMessage): string | undefined;
  /** Whether the client came by TLS, by the word of a proxy. */
  isTls(request: IncomingMessage): boolean;
}

/** Most proxies that one request may have come through. */
const MAX_HOPS = 16;

/**
 * `trusted`: addresses and networks (`10.0.0.0/8`) of the proxies. `X-Forwarded-For`, `-Host` and `-Proto` count only where the other end of
 * the connection is one of them; anybody could write the rest. With no proxies every header of the kind is ignored.
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const networks = trusted.map(parseNetwork).filter((network) => network !== null);
  const isProxy = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== null && networks.some((network) => contains(network, address));
  };
  const peerOf = (request: IncomingMessage): string | null => shown(request.socket.remoteAddress ?? '');
  const fromProxy = (request: IncomingMessage): boolean => {
    const peer = networks.length === 0 ? null : peerOf(request);
    return peer !== null && isProxy(peer);
  };
  return {
    addressOf(request) {
      const peer = peerOf(request);
      if (peer === null || !fromProxy(request)) return peer;
      const hops = list(request.headers['x-forwarded-for']).slice(-MAX_HOPS).reverse();
      let nearest = peer;
      for (const hop of hops) {
        const address = shown(hop);
        // What is no address was not written by a proxy of ours.
        if (address === null) break;
        nearest = address;
        if (!isProxy(address)) break;
      }
      return nearest;
    },
    hostOf(request) {
      const forwarded = fromProxy(request) ? list(request.headers['x-forwarded-host']).at(-1) : undefined;
      return forwarded ?? request.headers.host;
    },
    isTls: (request) => fromProxy(request) && list(request.headers['x-forwarded-proto']).at(-1) === 'https',
  };
}

/** Whether this can be a trusted proxy: an address, or a network in CIDR form. */
export function isNetwork(text: string): boolean {
  return parseNetwork(text) !== null;
}

/** Whom a limit counts as one: an IPv4 address, or the /64 that one IPv6 customer has to himself. */
export function limitKey(address: string | null): string {
  const parsed = address === null ? null : parseAddress(address);
  if (parsed === null) return 'unknown';
  return parsed instanceof ipaddr.IPv6 ? `${parsed.parts.slice(0, 4).join(':')}::/64` : parsed.toString();
}

/** Values of a header that may be repeated or hold several. */
function list(header: string | string[] | undefined): string[] {
  return String(header ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** In its usual form, without brackets, port or zone; null: no address. */
function shown(text: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? (/^[\d.]+:\d+$/.test(text) ? text.split(':')[0] : text);
  return parseAddress(bare ?? '')?.toString() ?? null;
}

/** IPv4 inside IPv6 is IPv4. */
function parseAddress(text: string): Address | null {
  const bare = text.split('%', 1)[0] ?? '';
  const whole = bare.includes(':') ? ipaddr.IPv6.isValid(bare) : ipaddr.IPv4.isValidFourPartDecimal(bare);
  return whole ? ipaddr.process(bare) : null;
}

function parseNetwork(text: string): Network | null {
  const [base = '', bits, ...more] = text.split('/');
  const address = parseAddress(base);
  if (address === null || more.length > 0) return null;
  const all = address.kind() === 'ipv4' ? 32 : 128;
  if (bits === undefined) return [address, all];
  return /^\d{1,3}$/.test(bits) && Number(bits) <= all ? [address, Number(bits)] : null;
}

function contains([base, bits]: Network, address: Address): boolean {
  if (base instanceof ipaddr.IPv4) return address instanceof ipaddr.IPv4 && address.match(base, bits);
  return address instanceof ipaddr.IPv6 && address.match(base, bits);
}
