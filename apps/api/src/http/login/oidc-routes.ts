import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { OidcLogin } from '../../modules/login/oidc/oidc-login.ts';
import { OidcProblem } from '../../modules/login/oidc/oidc-problem.ts';
import { TRANSACTION_SECONDS } from '../../modules/login/oidc/sealed-transaction.ts';
import { cookieValue } from '../session-cookie.ts';
import { returnPath } from './return-path.ts';
import { type Entrance, loginRequest } from './session-route.ts';

type WithProvider = Entrance & { readonly oidc: OidcLogin };

const START = '/login/oidc';
const CALLBACK = '/login/oidc/callback';

/**
 * GET /login/oidc sends the browser to the identity provider, and GET /login/oidc/callback takes it back in: with a session to the path
 * `?return=` that it asked for, or with a problem to the login page. null: another path.
 */
export function handleOidc(
  request: IncomingMessage,
  response: ServerResponse,
  entrance: Entrance,
): Promise<void> | null {
  const { oidc } = entrance;
  if (oidc === null) return null;
  const options = { ...entrance, oidc };
  const url = requestUrl(request, entrance.origin);
  if (url === null || (url.pathname !== START && url.pathname !== CALLBACK)) return null;
  if (request.method !== 'GET') {
    response.setHeader('allow', 'GET');
    throw new MusterError('BAD_INPUT', 'Use GET.');
  }
  return url.pathname === START ? begin(request, response, url, options) : finish(request, response, url, options);
}

async function begin(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  { oidc, cookies, origin, hostOf }: WithProvider,
): Promise<void> {
  const returnTo = returnPath(url.searchParams.get('return'));
  const { host } = new URL(origin);
  // The cookie must be where the provider sends the browser back to. Once is enough: a proxy may say another name than people see.
  if (hostOf(request)?.toLowerCase() !== host && !url.searchParams.has('here'))
    return redirect(response, `${origin}${START}?here=1&return=${encodeURIComponent(returnTo)}`);
  try {
    const { url: to, sealed } = await oidc.begin(`${origin}${CALLBACK}`, { returnTo, before: cookies.read(request) });
    redirect(response, to.href, [transactionCookie(origin, sealed, TRANSACTION_SECONDS)]);
  } catch (error) {
    redirect(response, problemPath(returnTo, error));
  }
}

async function finish(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  options: WithProvider,
): Promise<void> {
  const { access, oidc, cookies, origin } = options;
  const spent = transactionCookie(origin, '', 0);
  const transaction = await oidc.open(cookieValue(request, transactionName(origin)));
  if (transaction === null) return redirect(response, problemPath('/', new OidcProblem('expired', '')), [spent]);
  const { returnTo, before } = transaction;
  try {
    const session = await oidc.finish(url, transaction, loginRequest(request, options));
    if (before !== null) await access.endSession(before);
    redirect(response, returnPath(returnTo), [spent, cookies.write(session)]);
  } catch (error) {
    redirect(response, problemPath(returnTo, error), [spent]);
  }
}

/** In the fragment, which no server or proxy logs. Other errors than those of a login are the server's. */
function problemPath(returnTo: string, error: unknown): string {
  if (error instanceof OidcProblem) return `${returnPath(returnTo)}#login-problem=${error.code}`;
  if (error instanceof MusterError && error.code === 'RATE_LIMITED')
    return `${returnPath(returnTo)}#login-problem=throttled`;
  throw error;
}

function redirect(response: ServerResponse, location: string, cookies: readonly string[] = []): void {
  response.writeHead(303, {
    location,
    'cache-control': 'no-store',
    ...(cookies.length === 0 ? {} : { 'set-cookie': [...cookies] }),
  });
  response.end();
}

/** Lax: the browser comes back from another site. */
function transactionCookie(origin: string, value: string, seconds: number): string {
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  return `${transactionName(origin)}=${value}; Path=${CALLBACK}; HttpOnly; SameSite=Lax${secure}; Max-Age=${seconds}`;
}

/** Ports share cookies. */
function transactionName(origin: string): string {
  return `muster_login_${new URL(origin).port || 'web'}`;
}

function requestUrl({ url = '/' }: IncomingMessage, origin: string): URL | null {
  return url.startsWith('/') && URL.canParse(`${origin}${url}`) ? new URL(`${origin}${url}`) : null;
}
