import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { administrator, type Viewer } from '../modules/viewer/viewer.ts';

const LOGIN_CODE_MS = 15 * 60_000;
const SESSION_MS = 30 * 24 * 3_600_000;
const MAX_LOGIN_CODES = 100;

export interface Credentials {
  /** Compares in constant time. null: no such token. */
  viewerOfToken(token: string): Viewer | null;
  /** null: expired, forged or not ours. */
  viewerOfSession(cookie: string): Viewer | null;
  /** A code that logs one browser in, once, within 15 minutes. */
  makeLoginCode(): string;
  /** Spends a code and gives a session, or null. */
  redeemLoginCode(code: string): NewSession | null;
  /** A session for whoever has the token, or null. */
  redeemToken(token: string): NewSession | null;
}

/** The value of a session cookie. */
export interface NewSession {
  readonly cookie: string;
  readonly maxAgeSeconds: number;
}

/**
 * One token for the installation. Sessions carry their expiry and an HMAC under `cookieKey`, so that they survive a restart and are known
 * to every replica; the token takes part in the key, so that a new token ends them all.
 */
export function createCredentials(adminToken: string, cookieKey: Uint8Array, clock: Clock): Credentials {
  const expected = digest(adminToken);
  const key = createHmac('sha256', cookieKey).update(expected).digest();
  const codes = new Map<string, number>();
  const seal = (body: string): string => createHmac('sha256', key).update(body).digest('base64url');
  const newSession = (): NewSession => {
    const body = `${clock.now() + SESSION_MS}.${randomBytes(12).toString('base64url')}`;
    return { cookie: `${body}.${seal(body)}`, maxAgeSeconds: SESSION_MS / 1000 };
  };
  return {
    viewerOfToken: (token) => (timingSafeEqual(digest(token), expected) ? administrator : null),
    viewerOfSession(cookie) {
      const cut = cookie.lastIndexOf('.');
      const body = cookie.slice(0, cut);
      if (cut < 0 || !timingSafeEqual(digest(seal(body)), digest(cookie.slice(cut + 1)))) return null;
      const expires = Number(body.split('.')[0]);
      return Number.isSafeInteger(expires) && clock.now() < expires ? administrator : null;
    },
    makeLoginCode() {
      const code = randomBytes(24).toString('base64url');
      codes.set(hexDigest(code), clock.now() + LOGIN_CODE_MS);
      if (codes.size > MAX_LOGIN_CODES) codes.delete(codes.keys().next().value as string);
      return code;
    },
    redeemLoginCode(code) {
      const hash = hexDigest(code);
      const expires = codes.get(hash);
      codes.delete(hash);
      if (expires === undefined || clock.now() >= expires) return null;
      return newSession();
    },
    redeemToken: (token) => (timingSafeEqual(digest(token), expected) ? newSession() : null),
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function hexDigest(text: string): string {
  return digest(text).toString('hex');
}
