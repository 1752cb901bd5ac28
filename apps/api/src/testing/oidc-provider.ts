import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { Provider } from 'oidc-provider';

/** Somebody whom the provider of a test knows; changed at will. */
export interface ProviderAccount {
  subject: string;
  name: string;
  roles: string[];
}

export interface TestProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Who is at the browser now. */
  account: ProviderAccount;
  /** Stands before the provider: may change an answer or give another one. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>) | null;
  /** A token in the provider's name, signed by the key that it publishes. */
  sign(claims: JWTPayload): Promise<string>;
  close(): Promise<void>;
}

/**
 * A real OpenID Connect provider on a port of its own, where whoever comes is `account` and agrees to everything: what people do there is
 * nothing that the server sees.
 */
export async function startTestProvider(redirectUri: () => string): Promise<TestProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const clientId = 'muster';
  const clientSecret = 'a-secret-of-the-test-provider';
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: 'of-the-test', alg: 'RS256', use: 'sig' };
  const provider = new Provider(issuer, {
    jwks: { keys: [key] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri()],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub', 'preferred_username', 'roles'] },
    scopes: ['openid', 'profile', 'email'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['a key of the test provider'] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, Interaction: 600, Session: 600, Grant: 600 },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, preferred_username: test.account.name, roles: test.account.roles }),
    }),
    interactions: { url: (_context, interaction) => `/agree/${interaction.uid}` },
  });
  provider.on('server_error', (_context, error) => void process.stderr.write(`${error.stack ?? error.message}\n`));
  const handle = provider.callback();
  const agree = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const accountId = test.account.subject;
    const grant = new provider.Grant({ accountId, clientId });
    grant.addOIDCScope('openid profile email');
    const result = { login: { accountId, remember: false }, consent: { grantId: await grant.save() } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  };
  server.on('request', (request, response) => {
    void (async () => {
      if ((await test.intercept?.(request, response)) === true) return;
      if (request.url?.startsWith('/agree/')) await agree(request, response);
      else await handle(request, response);
    })().catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  const test: TestProvider = {
    issuer,
    clientId,
    clientSecret,
    account: { subject: 's-1', name: 'ada', roles: [] },
    intercept: null,
    sign: (claims) => new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: key.kid }).sign(privateKey),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return test;
}
