import type { IncomingMessage } from 'node:http';
import { MusterError } from '@muster/core';
import type { Viewer } from '../modules/viewer/viewer.ts';
import type { Credentials } from './credentials.ts';

export interface Authenticator {
  /**
   * Who sent this request: by `Authorization: Bearer …`, else by cookie. null: nobody.
   * Errors: UNAUTHENTICATED for credentials that are wrong, FORBIDDEN for a cookie from a foreign page.
   */
  viewerOf(request: IncomingMessage): Viewer | null;
  /** By `Authorization` alone. null: there is none. Errors: UNAUTHENTICATED. */
  viewerOfToken(request: IncomingMessage): Viewer | null;
}

export function createAuthenticator(
  credentials: Credentials,
  cookieName: string,
  isOwn: (request: IncomingMessage) => boolean,
): Authenticator {
  const viewerOfToken = (request: IncomingMessage): Viewer | null => {
    const { authorization } = request.headers;
    if (authorization === undefined) return null;
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1];
    const viewer = token === undefined ? null : credentials.viewerOfToken(token);
    if (!viewer) throw unauthenticated('The token is not valid.');
    return viewer;
  };
  return {
    viewerOfToken,
    viewerOf(request) {
      const byToken = viewerOfToken(request);
      if (byToken !== null) return byToken;
      const cookie = readCookie(request, cookieName);
      if (cookie === null) return null;
      if (!isOwn(request)) {
        throw new MusterError(
          'FORBIDDEN',
          'A session cookie is accepted only from a page of this server; scripts send Authorization: Bearer.',
        );
      }
      const viewer = credentials.viewerOfSession(cookie);
      if (!viewer) throw unauthenticated('The session has ended; log in again.');
      return viewer;
    },
  };
}

export function unauthenticated(
  message = 'Send Authorization: Bearer with the token of this installation, or log in.',
): MusterError {
  return new MusterError('UNAUTHENTICATED', message);
}

function readCookie(request: IncomingMessage, name: string): string | null {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const cut = part.indexOf('=');
    if (cut > 0 && part.slice(0, cut).trim() === name) return part.slice(cut + 1).trim();
  }
  return null;
}
