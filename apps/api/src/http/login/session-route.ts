import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Access, NewSession } from '../../modules/access/access.ts';
import type { LoginRequest, LoginService } from '../../modules/login/login-service.ts';
import type { OidcLogin } from '../../modules/login/oidc/oidc-login.ts';
import { readJsonBody, requestIdOf, sendJson } from '../respond.ts';
import type { SessionCookies } from '../session-cookie.ts';

/** What the routes by which people come in stand on. */
export interface Entrance {
  readonly access: Access;
  readonly login: LoginService;
  /** null: there is no identity provider. */
  readonly oidc: OidcLogin | null;
  readonly cookies: SessionCookies;
  /** The origin under which people reach this server, and the only one that logins at the provider come back to. */
  readonly origin: string;
  isOwn(request: IncomingMessage): boolean;
  addressOf(request: IncomingMessage): string | null;
  hostOf(request: IncomingMessage): string | undefined;
}

const MAX_BODY = 4_096;

/**
 * `/session`. GET says how one can log in here and who has. POST with `{"code"}` (of a printed link), `{"token"}` or `{"name", "password"}` sets the
 * session cookie, always to a new value; the session that the browser had before ends. DELETE ends the session.
 * Errors: UNAUTHENTICATED, RATE_LIMITED with `Retry-After`, BAD_INPUT; FORBIDDEN from a foreign page.
 */
export async function handleSession(
  request: IncomingMessage,
  response: ServerResponse,
  options: Entrance,
): Promise<void> {
  const { access, cookies } = options;
  const before = cookies.read(request);
  if (request.headers.origin !== undefined && !options.isOwn(request))
    throw new MusterError('FORBIDDEN', 'Log in from a page of this server.');
  switch (request.method) {
    case 'GET': {
      const viewer = before === null ? null : await access.viewerOfSession(before, options.addressOf(request));
      return sendJson(response, 200, {
        viewer: viewer && { name: viewer.name },
        methods: {
          token: true,
          password: await options.login.hasPasswords(),
          oidc: options.oidc && { name: options.oidc.providerName, path: '/login/oidc' },
        },
      });
    }
    case 'DELETE':
      if (before !== null) await access.endSession(before);
      return sendJson(response, 200, { ok: true }, { 'set-cookie': cookies.clear() });
    case 'POST': {
      const { value } = await readJsonBody(request, MAX_BODY);
      const session = await logIn(value, loginRequest(request, options), options.login);
      if (before !== null) await access.endSession(before);
      return sendJson(response, 200, { ok: true }, { 'set-cookie': cookies.write(session) });
    }
    default:
      response.setHeader('allow', 'GET, POST, DELETE');
      throw new MusterError('BAD_INPUT', 'Use POST to log in, DELETE to log out, or GET to see how and who.');
  }
}

/** Where a login comes from, as it is noted. */
export function loginRequest(request: IncomingMessage, { addressOf }: Pick<Entrance, 'addressOf'>): LoginRequest {
  return {
    address: addressOf(request),
    userAgent: request.headers['user-agent'] ?? null,
    requestId: requestIdOf(request),
  };
}

function logIn(value: unknown, from: LoginRequest, login: LoginService): Promise<NewSession> {
  const body: Readonly<Record<string, unknown>> = typeof value === 'object' && value !== null ? { ...value } : {};
  const { code, token, name, password } = body;
  if (typeof code === 'string') return login.byCode(code, from);
  if (typeof token === 'string') return login.byToken(token, from);
  if (typeof name === 'string' && typeof password === 'string') return login.byPassword(name, password, from);
  throw new MusterError('BAD_INPUT', 'Send the code of a login link, a token, or a name and a password.', {
    field: 'code',
  });
}
