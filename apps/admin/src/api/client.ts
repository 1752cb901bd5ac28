import type { TypedDocumentString } from './generated/graphql.ts';
import { signedOut } from './session.ts';

/** One problem of an input as the API reports it: `path` into the input, stable `code`, sentence. */
export interface ApiIssue {
  path: string;
  code: string;
  message: string;
}

/** A failed call in the words of the API. `code` is one of the contract's codes, or NETWORK where no answer came. */
export class ApiError extends Error {
  readonly code: string;
  readonly requestId: string | null;
  readonly field: string | null;
  readonly issues: readonly ApiIssue[];
  /** `current` of a CONFLICT on a revision. */
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, extensions: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.requestId = typeof extensions['requestId'] === 'string' ? extensions['requestId'] : null;
    this.field = typeof extensions['field'] === 'string' ? extensions['field'] : null;
    this.issues = readIssues(extensions['issues']);
    this.extensions = extensions;
  }
}

function readIssues(value: unknown): ApiIssue[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (!isRecord(item)) return [];
    const path = item['path'];
    return [
      {
        path: Array.isArray(path) ? path.join('.') : String(path ?? ''),
        code: String(item['code'] ?? ''),
        message: String(item['message'] ?? ''),
      },
    ];
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The first error of a GraphQL answer as an ApiError; also used for errors that arrive over the socket. */
export function toApiError(errors: unknown): ApiError {
  const first: unknown = Array.isArray(errors) ? errors[0] : errors;
  if (first instanceof ApiError) return first;
  if (isRecord(first)) {
    const extensions = isRecord(first['extensions']) ? first['extensions'] : {};
    return new ApiError(
      String(extensions['code'] ?? 'INTERNAL'),
      String(first['message'] ?? 'Unexpected error.'),
      extensions,
    );
  }
  return new ApiError('NETWORK', first instanceof Error ? first.message : 'The server did not answer.');
}

/**
 * Runs one operation over HTTP with the session cookie.
 * Throws ApiError for everything that goes wrong; an answer of 401 also ends the session, which shows the sign-in screen.
 */
export async function execute<TResult, TVariables>(
  document: TypedDocumentString<TResult, TVariables>,
  variables: TVariables,
  options: { signal?: AbortSignal } = {},
): Promise<TResult> {
  let response: Response;
  try {
    response = await fetch('/graphql', {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json' },
      body: JSON.stringify({ query: document.toString(), variables }),
      signal: options.signal ?? null,
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError('NETWORK', 'The server did not answer. Dispatch goes on without this page.');
  }
  const body: unknown = await response.json().catch(() => null);
  if (response.status === 401) signedOut();
  if (!isRecord(body))
    throw new ApiError(statusCode(response.status), `The server answered ${response.status} without a readable body.`);
  if (Array.isArray(body['errors']) && body['errors'].length > 0) {
    const error = toApiError(body['errors']);
    if (error.code === 'UNAUTHENTICATED') signedOut();
    throw error;
  }
  // The shape is the server's promise for this document; codegen wrote TResult from the same schema.
  return body['data'] as TResult;
}

function statusCode(status: number): string {
  if (status === 401) return 'UNAUTHENTICATED';
  if (status === 403) return 'FORBIDDEN';
  return status >= 500 ? 'UNAVAILABLE' : 'BAD_INPUT';
}
