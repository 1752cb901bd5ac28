import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { MusterError } from '@muster/core';

/** Statuses of typed errors outside GraphQL execution. */
const STATUS: Partial<Record<MusterError['code'], number>> = {
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  TOO_LARGE: 413,
  RATE_LIMITED: 429,
  NO_HEALTHY_VARIANT: 503,
  UNAVAILABLE: 503,
  INTERNAL: 500,
};

export function statusOf(error: MusterError): number {
  return STATUS[error.code] ?? 400;
}

/** The caller's own id where it is harmless, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  response.end(text);
}

/** How long a caller should wait, where the error says so. */
export function retryHeaders({ details }: MusterError): Record<string, string> {
  const { retryAfterSeconds } = details;
  return typeof retryAfterSeconds === 'number' ? { 'retry-after': String(retryAfterSeconds) } : {};
}

/** `{"error": {code, message, field?, issues?, requestId}}` with its status. */
export function sendError(
  response: ServerResponse,
  error: MusterError,
  requestId: string,
  headers: Record<string, string> = {},
  status: number = statusOf(error),
): void {
  const { code, message, field, issues } = error;
  const body = {
    error: { code, message, ...(field ? { field } : {}), ...(issues.length > 0 ? { issues } : {}), requestId },
  };
  sendJson(response, status, body, { ...retryHeaders(error), ...headers });
}

/**
 * Reads and parses a body that says it is JSON, and gives its text too. A broken one is told without any of its text.
 * Errors: BAD_INPUT for another content type or broken JSON, TOO_LARGE beyond `limit` bytes.
 */
export async function readJsonBody(
  request: IncomingMessage,
  limit: number,
): Promise<{ readonly text: string; readonly value: unknown }> {
  const type = (request.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    throw new MusterError('BAD_INPUT', 'The Content-Type must be application/json.', { field: 'Content-Type' });
  const bytes = await readBody(request, limit);
  return parseJson(bytes);
}

/** The bytes of a body. Errors: TOO_LARGE beyond `limit`; no more than that is kept. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer> {
  const tooLarge = () => new MusterError('TOO_LARGE', `The body may have at most ${limit} bytes.`);
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > limit) throw tooLarge();
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}

/** One JSON value in UTF-8. Errors: BAD_INPUT, without any of the text. */
export function parseJson(bytes: Buffer): { readonly text: string; readonly value: unknown } {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: JSON.parse(text) };
  } catch {
    throw new MusterError('BAD_INPUT', 'The body must be one JSON value in UTF-8.');
  }
}
