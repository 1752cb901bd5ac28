import type { IncomingMessage } from 'node:http';
import type { NewSession } from '../modules/access/access.ts';

export interface SessionCookies {
  /** The value that a browser sent, or null. */
  read(request: IncomingMessage): string | null;
  /** `set-cookie` for a session. */
  write(session: NewSession): string;
  /** `set-cookie` that makes a browser forget it. */
  clear(): string;
}

/** HttpOnly, for this site's own pages only, and over TLS alone where people come by TLS. Ports share cookies, so the name has the port. */
export function createSessionCookies(port: number, secure: boolean): SessionCookies {
  const name = `muster_${port}`;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  return {
    read: (request) => cookieValue(request, name),
    write: ({ cookie, maxAgeSeconds }) => `${name}=${cookie}; ${attributes}; Max-Age=${maxAgeSeconds}`,
    clear: () => `${name}=; ${attributes}; Max-Age=0`,
  };
}

/** The value of a cookie that a browser sent; null: none. */
export function cookieValue(request: IncomingMessage, name: string): string | null {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const cut = part.indexOf('=');
    if (cut > 0 && part.slice(0, cut).trim() === name) return part.slice(cut + 1).trim();
  }
  return null;
}
