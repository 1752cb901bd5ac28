import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Access } from '../modules/access/access.ts';
import type { LoginOrigin } from '../modules/access/session-writes.ts';
import { readJsonBody, sendJson } from './respond.ts';
import type { SessionCookies } from './session-cookie.ts';

/**
 * POST /session with `{"code"}`, the one-time code of a printed link, or `{"token"}` sets the session cookie, always a new one; DELETE ends the
 * session.
 * Errors: UNAUTHENTICATED for a code that is unknown, spent or too old; FORBIDDEN from a foreign page.
 */
export async function handleSession(
  request: IncomingMessage,
  response: ServerResponse,
  options: {
    access: Access;
    cookies: SessionCookies;
    isOwn: (request: IncomingMessage) => boolean;
    addressOf: (request: IncomingMessage) => string | null;
  },
): Promise<void> {
  const { access, cookies, isOwn, addressOf } = options;
  const before = cookies.read(request);
  if (request.headers.origin !== undefined && !isOwn(request))
    throw new MusterError('FORBIDDEN', 'Log in from a page of this server.');
  if (request.method === 'DELETE') {
    if (before !== null) await access.endSession(before);
    sendJson(response, 200, { ok: true }, { 'set-cookie': cookies.clear() });
    return;
  }
  if (request.method !== 'POST') {
    response.setHeader('allow', 'POST, DELETE');
    throw new MusterError('BAD_INPUT', 'Use POST to log in or DELETE to log out.');
  }
  const { value: body } = await readJsonBody(request, 4_096);
  const { code, token } =
    typeof body === 'object' && body !== null ? (body as { code?: unknown; token?: unknown }) : {};
  if (typeof code !== 'string' && typeof token !== 'string') {
    throw new MusterError('BAD_INPUT', 'Send the code of a login link, or the token.', { field: 'code' });
  }
  const origin: LoginOrigin = { address: addressOf(request), userAgent: request.headers['user-agent'] ?? null };
  const session = await (typeof code === 'string'
    ? access.redeemLoginCode(code, origin)
    : access.redeemToken(String(token), origin));
  if (!session) {
    throw new MusterError(
      'UNAUTHENTICATED',
      typeof code === 'string'
        ? 'This login link was used before or is too old. Make a new one by starting again, or use the token.'
        : 'The token is not valid.',
    );
  }
  if (before !== null) await access.endSession(before);
  sendJson(response, 200, { ok: true }, { 'set-cookie': cookies.write(session) });
}
