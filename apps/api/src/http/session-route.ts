import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Credentials } from './credentials.ts';
import { readJsonBody, sendJson } from './respond.ts';

/**
 * POST /session with `{"code"}`, the one-time code of a printed link, or `{"token"}` sets the session cookie; DELETE clears it.
 * Errors: UNAUTHENTICATED for a code that is unknown, spent or too old; FORBIDDEN from a foreign page.
 */
export async function handleSession(
  request: IncomingMessage,
  response: ServerResponse,
  options: {
    credentials: Credentials;
    cookieName: string;
    isOwn: (request: IncomingMessage) => boolean;
    secure: boolean;
  },
): Promise<void> {
  const { credentials, cookieName, isOwn, secure } = options;
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
  if (request.headers.origin !== undefined && !isOwn(request))
    throw new MusterError('FORBIDDEN', 'Log in from a page of this server.');
  if (request.method === 'DELETE') {
    sendJson(response, 200, { ok: true }, { 'set-cookie': `${cookieName}=; ${attributes}; Max-Age=0` });
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
  const session = typeof code === 'string' ? credentials.redeemLoginCode(code) : credentials.redeemToken(String(token));
  if (!session) {
    throw new MusterError(
      'UNAUTHENTICATED',
      typeof code === 'string'
        ? 'This login link was used before or is too old. Make a new one by starting again, or use the token.'
        : 'The token is not valid.',
    );
  }
  sendJson(
    response,
    200,
    { ok: true },
    { 'set-cookie': `${cookieName}=${session.cookie}; ${attributes}; Max-Age=${session.maxAgeSeconds}` },
  );
}
