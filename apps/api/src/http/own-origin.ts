import type { IncomingMessage } from 'node:http';
import { hostname, networkInterfaces } from 'node:os';

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Tells whether a request names this server in Host and comes from a page of it (Origin). A cookie is believed only then: another site
 * can make a browser send it, and a foreign name can be made to resolve to this address.
 */
export function createOriginCheck(options: {
  host: string;
  port: number;
  publicUrl: string | null;
  /** The host that the client asked for; behind a proxy not what stands in Host. */
  hostOf?: (request: IncomingMessage) => string | undefined;
}): (request: IncomingMessage) => boolean {
  const publicUrl = options.publicUrl === null ? null : new URL(options.publicUrl);
  const names = new Set(LOOPBACK);
  if (options.host === '0.0.0.0' || options.host === '::') {
    names.add(hostname().toLowerCase());
    for (const addresses of Object.values(networkInterfaces())) {
      for (const address of addresses ?? [])
        names.add(address.family === 'IPv6' ? `[${address.address.split('%')[0]}]` : address.address);
    }
  } else {
    names.add(options.host.includes(':') ? `[${options.host.toLowerCase()}]` : options.host.toLowerCase());
  }
  return (request) => {
    const { origin } = request.headers;
    const host = options.hostOf ? options.hostOf(request) : request.headers.host;
    if (!host || !origin) return false;
    if (publicUrl !== null && origin === publicUrl.origin && host.toLowerCase() === publicUrl.host) return true;
    if (!URL.canParse(origin) || !URL.canParse(`http://${host}`)) return false;
    const target = new URL(`http://${host}`);
    return (
      names.has(target.hostname) && Number(target.port || 80) === options.port && origin === `http://${target.host}`
    );
  };
}
