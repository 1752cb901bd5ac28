import type { Log } from '../../../log.ts';
import type { NewSession } from '../../access/access.ts';
import type { FailedLogins } from '../failed-logins.ts';
import type { LoginRequest, LoginService } from '../login-service.ts';
import type { LoginThrottle } from '../login-throttle.ts';
import type { ExternalPrincipalStore } from './external-principal-store.ts';
import { mappedRoles, nameOf } from './oidc-claims.ts';
import { OidcProblem } from './oidc-problem.ts';
import type { OidcProviderClient } from './oidc-provider-client.ts';
import type { OidcSettings } from './oidc-settings.ts';
import type { OidcTransaction, SealedTransactions } from './sealed-transaction.ts';

export interface OidcLoginDeps {
  settings: OidcSettings;
  client: OidcProviderClient;
  sealed: SealedTransactions;
  principals: ExternalPrincipalStore;
  login: LoginService;
  failed: FailedLogins;
  throttle: LoginThrottle;
  log: Log;
  /** Whom a limit counts as one. */
  limitKey(address: string | null): string;
}

/** The login through the identity provider, from the redirect to the session. */
export class OidcLogin {
  readonly #deps: OidcLoginDeps;

  constructor(deps: OidcLoginDeps) {
    this.#deps = deps;
  }

  /** What people know the provider by. */
  get providerName(): string {
    return new URL(this.#deps.settings.issuer).host;
  }

  /** Where the browser goes, and the cookie value that it must come back with. Errors: OidcProblem. */
  async begin(
    redirectUri: string,
    where: Pick<OidcTransaction, 'returnTo' | 'before'>,
  ): Promise<{ url: URL; sealed: string }> {
    try {
      const { url, checks } = await this.#deps.client.begin(redirectUri);
      return { url, sealed: await this.#deps.sealed.seal({ ...checks, ...where }) };
    } catch (error) {
      throw this.#problem(error);
    }
  }

  /** The login that a cookie value is about; null: none, or too old. */
  open(sealed: string | null): Promise<OidcTransaction | null> {
    return sealed === null ? Promise.resolve(null) : this.#deps.sealed.open(sealed);
  }

  /** `callback`: the address that the provider sent the browser to. Errors: OidcProblem; RATE_LIMITED. */
  async finish(callback: URL, transaction: OidcTransaction, from: LoginRequest): Promise<NewSession> {
    const { client, principals, login, settings, throttle, limitKey } = this.#deps;
    const good = throttle.attempt('OIDC', null, limitKey(from.address));
    try {
      const { issuer, subject, claims } = await client.finish(callback, transaction);
      const id = await principals.enter(
        { issuer, subject, name: nameOf(claims, settings), roles: mappedRoles(claims, settings) },
        { address: from.address, requestId: from.requestId },
      );
      const session = await login.byProvider(id, from);
      if (session === null) throw new OidcProblem('disabled', 'The principal is gone or disabled.');
      good();
      return session;
    } catch (error) {
      throw this.#problem(error, from);
    }
  }

  /** Notes what went wrong, for whoever runs the server. */
  #problem(error: unknown, from?: LoginRequest): unknown {
    if (!(error instanceof OidcProblem)) return error;
    const { failed, log } = this.#deps;
    log.warn({ problem: error.code, err: error }, 'a login through the identity provider came to nothing');
    if (from) {
      const { address, requestId } = from;
      failed.note({ method: 'OIDC', name: error.person, address, requestId, reason: error.code });
    }
    return error;
  }
}
