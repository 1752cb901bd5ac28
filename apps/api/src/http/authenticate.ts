import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Access } from '../modules/access/access.ts';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { SessionCookies } from './session-cookie.ts';

export interface Authenticator {
  /**
   * Who sent this request: by `Authorization: Bearer …`, else by cookie. null: nobody. With `response`, a cookie gets its new value where that is due.
   * Errors: UNAUTHENTICATED for credentials that are wrong, FORBIDDEN for a cookie from a foreign page.
   */
  viewerOf(request: IncomingMessage, response?: ServerResponse): Promise<Viewer | null>;
  /** By `Authorization` alone. null: there is none. Errors: UNAUTHENTICATED. */
  viewerOfToken(request: IncomingMessage): Promise<Viewer | null>;
  /** Where a request comes from; null: not known any more. */
  addressOf(request: IncomingMessage): string | null;
}

export interface AuthenticatorOptions {
  access: Access;
  cookies: SessionCookies;
  isOwn(request: IncomingMessage): boolean;
  addressOf(request: IncomingMessage): string | null;
}

export function createAuthenticator({ access, cookies, isOwn, addressOf }: AuthenticatorOptions): Authenticator {
  const viewerOfToken = async (request: IncomingMessage): Promise<Viewer | null> => {
    const { authorization } = request.headers;
    if (authorization === undefined) return null;
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    const viewer = token === undefined ? null : await access.viewerOfToken(token, addressOf(request));
    if (!viewer) throw unauthenticated('The token is not valid.');
    return viewer;
  };
  return {
    addressOf,
    viewerOfToken,
    async viewerOf(request, response) {
      const byToken = await viewerOfToken(request);
      if (byToken !== null) return byToken;
      const cookie = cookies.read(request);
      if (cookie === null) return null;
      if (!isOwn(request)) {
        throw new MusterError(
          'FORBIDDEN',
          'A session cookie is accepted only from a page of this server; scripts send Authorization: Bearer.',
        );
      }
      const viewer = await access.viewerOfSession(cookie, addressOf(request));
      if (!viewer) throw unauthenticated('The session has ended; log in again.');
      const rotated = response === undefined ? null : await access.rotateSession(cookie);
      if (rotated !== null) response?.appendHeader('set-cookie', cookies.write(rotated));
      return viewer;
    },
  };
}

export function unauthenticated(
  message = 'Send Authorization: Bearer with the token of this installation, or log in.',
): MusterError {
  return new MusterError('UNAUTHENTICATED', message);
}
