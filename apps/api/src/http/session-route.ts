import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';
import type { Credentials } from './credentials.ts';
import { readJsonBody, sendJson } from './respond.ts';

/**
 * POST /session with `{"code"}`, the one-time code of a printed link, sets the session cookie; DELETE clears it.
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
  const body = await readJsonBody(request, 4_096);
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  if (typeof code !== 'string')
    throw new MusterError('BAD_INPUT', 'code must be the code of a login link.', { field: 'code' });
  const session = credentials.redeemLoginCode(code);
  if (!session)
    throw new MusterError(
      'UNAUTHENTICATED',
      'This login link was used before or is too old. Make a new one by starting again, or use the token.',
    );
  sendJson(
    response,
    200,
    { ok: true },
    { 'set-cookie': `${cookieName}=${session.cookie}; ${attributes}; Max-Age=${session.maxAgeSeconds}` },
  );
}
