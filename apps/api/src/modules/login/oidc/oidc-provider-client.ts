import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { claimAt } from './oidc-claims.ts';
import { OidcProblem } from './oidc-problem.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** What one login must come back with. */
export interface Checks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** Whom the provider has vouched for. */
export interface Vouched {
  readonly issuer: string;
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

const TIMEOUT_SECONDS = 10;
/** How long what the provider says of itself is believed. */
const FRESH_MS = 3_600_000;

/** Talks to the identity provider: authorization code with PKCE, state and nonce; the signature of every ID token is checked. */
export class OidcProviderClient {
  readonly #settings: OidcSettings;
  readonly #now: () => number;
  #known: { at: number; configuration: Promise<Configuration> } | null = null;

  /** `now`: ms that only rise. */
  constructor(settings: OidcSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Where a browser logs in, and what it must come back with. Errors: OidcProblem `unavailable`. */
  async begin(redirectUri: string): Promise<{ url: URL; checks: Checks }> {
    const configuration = await this.#configuration();
    const checks = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier() };
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: this.#settings.scopes,
      state: checks.state,
      nonce: checks.nonce,
      code_challenge: await calculatePKCECodeChallenge(checks.verifier),
      code_challenge_method: 'S256',
    });
    return { url, checks };
  }

  /**
   * Exchanges the code in the address that the provider sent a browser back to. Errors: OidcProblem `denied` where the provider or the person
   * said no, `failed` for anything that is not as it must be, `unavailable`.
   */
  async finish(callback: URL, { state, nonce, verifier }: Checks): Promise<Vouched> {
    const configuration = await this.#configuration();
    try {
      const tokens = await authorizationCodeGrant(configuration, callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new OidcProblem('failed', 'The provider sent no ID token.');
      const { issuer, userinfo_endpoint: endpoint } = configuration.serverMetadata();
      const { rolesClaim, nameClaim } = this.#settings;
      // Many providers put only `sub` into the ID token and say the rest when they are asked.
      const isAll = [rolesClaim, nameClaim].every((claim) => claimAt(claims, claim) !== undefined);
      const more =
        isAll || endpoint === undefined ? {} : await fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return { issuer, subject: claims.sub, claims: { ...more, ...claims } };
    } catch (error) {
      throw problemOf(error);
    }
  }

  async #configuration(): Promise<Configuration> {
    const known = this.#known;
    if (known !== null && this.#now() - known.at < FRESH_MS) return known.configuration;
    const entry = { at: this.#now(), configuration: this.#discover() };
    this.#known = entry;
    try {
      return await entry.configuration;
    } catch (error) {
      // The next login asks again.
      if (this.#known === entry) this.#known = null;
      throw new OidcProblem('unavailable', 'The identity provider could not be asked what it offers.', {
        cause: error,
      });
    }
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret } = this.#settings;
    const url = new URL(issuer);
    // The configuration takes http for a provider on this machine alone.
    const execute = url.protocol === 'http:' ? [allowInsecureRequests] : [];
    const found = await discovery(url, clientId, undefined, None(), { execute, timeout: TIMEOUT_SECONDS });
    const metadata = found.serverMetadata();
    const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authentication =
      clientSecret === null
        ? None()
        : methods.includes('client_secret_basic')
          ? ClientSecretBasic(clientSecret)
          : ClientSecretPost(clientSecret);
    const configuration = new Configuration(metadata, clientId, undefined, authentication);
    configuration.timeout = TIMEOUT_SECONDS;
    for (const extend of execute) extend(configuration);
    enableNonRepudiationChecks(configuration);
    return configuration;
  }
}

function problemOf(error: unknown): OidcProblem {
  if (error instanceof OidcProblem) return error;
  if (error instanceof AuthorizationResponseError)
    return new OidcProblem('denied', 'The identity provider refused the login.', { cause: error });
  // What undici throws where nobody answers, and what a timeout is.
  if (error instanceof TypeError || (error instanceof Error && error.name === 'TimeoutError'))
    return new OidcProblem('unavailable', 'The identity provider did not answer.', { cause: error });
  return new OidcProblem('failed', 'What the identity provider answered does not hold.', { cause: error });
}
