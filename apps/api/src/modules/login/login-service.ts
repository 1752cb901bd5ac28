import { MusterError } from '@muster/core';
import type { PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import { encodeId } from '../../graphql/ids.ts';
import type { Access, NewSession } from '../access/access.ts';
import type { KnownPrincipal } from '../access/credential-reads.ts';
import type { LoginMethod, LoginOrigin } from '../access/session-writes.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { FailedLogins } from './failed-logins.ts';
import type { LoginThrottle } from './login-throttle.ts';

export interface LoginDeps {
  access: Access;
  prisma: PrismaClient;
  newId(): string;
  /** ms that only rise. */
  monotonic(): number;
  throttle: LoginThrottle;
  failed: FailedLogins;
  /** Whom a limit counts as one. */
  limitKey(address: string | null): string;
  /** null for an unknown name, a wrong password and whoever may not enter, after the same work. */
  verifyPassword(name: string, password: string): Promise<KnownPrincipal | null>;
}

/** Where a login comes from. */
export interface LoginRequest extends LoginOrigin {
  readonly requestId: string;
}

const FRESH_MS = 5_000;

/** Every way in that a person has. Each session is a new one and stands in the audit. */
export class LoginService {
  readonly #deps: LoginDeps;
  #passwords: { at: number; found: Promise<boolean> } | null = null;

  constructor(deps: LoginDeps) {
    this.#deps = deps;
  }

  /** Whether anybody could log in with a password; as it was at most five seconds ago. */
  hasPasswords(): Promise<boolean> {
    const { prisma, monotonic } = this.#deps;
    if (this.#passwords === null || monotonic() - this.#passwords.at >= FRESH_MS) {
      const where = { passwordHash: { not: null }, disabledAt: null };
      const found = prisma.principal.findFirst({ where, select: { id: true } }).then((row) => row !== null);
      this.#passwords = { at: monotonic(), found };
      found.catch(() => (this.#passwords = null));
    }
    return this.#passwords.found;
  }

  /** By the code of a printed link. Errors: UNAUTHENTICATED, RATE_LIMITED. */
  async byCode(code: string, from: LoginRequest): Promise<NewSession> {
    const message =
      'This login link was used before or is too old. Make a new one by starting again, or use the token.';
    return this.#attempt('LINK', null, from, message, () => this.#deps.access.redeemLoginCode(code, from));
  }

  /** By a token of a person or a service account. Errors: UNAUTHENTICATED, RATE_LIMITED. */
  async byToken(token: string, from: LoginRequest): Promise<NewSession> {
    return this.#attempt('TOKEN', null, from, 'The token is not valid.', () =>
      this.#deps.access.redeemToken(token, from),
    );
  }

  /**
   * By name and password. Errors: UNAUTHENTICATED, in the same words for a name that nobody has, a wrong password and a disabled principal;
   * RATE_LIMITED.
   */
  async byPassword(name: string, password: string, from: LoginRequest): Promise<NewSession> {
    return this.#attempt('PASSWORD', name, from, 'Name and password do not fit.', async () => {
      const known = await this.#deps.verifyPassword(name, password);
      return known && this.#deps.access.startSession(known.id, 'PASSWORD', from);
    });
  }

  /** For a principal that an identity provider has vouched for. null: it is gone or disabled. */
  async byProvider(principalId: number, from: LoginRequest): Promise<NewSession | null> {
    const session = await this.#deps.access.startSession(principalId, 'OIDC', from);
    if (session !== null) await this.#note(session, 'OIDC', from);
    return session;
  }

  async #attempt(
    method: LoginMethod,
    name: string | null,
    from: LoginRequest,
    refusal: string,
    enter: () => Promise<NewSession | null>,
  ): Promise<NewSession> {
    const { throttle, failed, limitKey } = this.#deps;
    const good = throttle.attempt(method, name, limitKey(from.address));
    const session = await enter();
    if (session === null) {
      failed.note({ method, name, address: from.address, requestId: from.requestId });
      throw new MusterError('UNAUTHENTICATED', refusal);
    }
    good();
    await this.#note(session, method, from);
    return session;
  }

  /** A session that cannot be noted is none. */
  async #note(session: NewSession, method: LoginMethod, from: LoginRequest): Promise<void> {
    const { access, prisma, newId } = this.#deps;
    try {
      const viewer = await access.viewerOfSession(session.cookie, from.address);
      if (viewer?.credential.kind !== 'session') throw new MusterError('UNAUTHENTICATED', 'The session has ended.');
      const { name, credential } = viewer;
      await prisma.$transaction((tx) =>
        appendAudit(tx, rawId(newId()), {
          author: { name, address: from.address, requestId: from.requestId },
          action: 'login.succeeded',
          target: `principal:${name}`,
          before: null,
          after: { method, session: encodeId('se', credential.id) },
        }),
      );
    } catch (error) {
      await access.endSession(session.cookie);
      throw error;
    }
  }
}
