/** One problem of an input, as the server names it. */
export interface ClientIssue {
  readonly path: string;
  readonly code: string;
  readonly message: string;
  readonly from?: number;
  readonly to?: number;
}

/** The part of a GraphQL error that this package reads. */
export interface WireError {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/**
 * The one error of this package: what the server refused, or that it could not be reached.
 * `code` is one of the public codes (BAD_INPUT, FORBIDDEN, NOT_FOUND, CONFLICT, …); `UNAVAILABLE` also stands for a
 * connection that could not be made, broke, or did not answer in time, in which case it is not known whether the
 * server took the request.
 */
export class ClientError extends Error {
  readonly code: string;
  readonly requestId: string | undefined;
  readonly field: string | undefined;
  readonly issues: readonly ClientIssue[];
  /** Everything else the server sent along, e.g. `current` of a revision conflict. */
  readonly extensions: Readonly<Record<string, unknown>>;

  constructor(code: string, message: string, extensions: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ClientError';
    this.code = code;
    this.extensions = extensions;
    this.requestId = textOf(extensions['requestId']);
    this.field = textOf(extensions['field']);
    this.issues = Array.isArray(extensions['issues']) ? extensions['issues'].filter(isIssue) : [];
  }
}

/** The error for the `errors` of an answer: the first one counts. An empty list reads as INTERNAL. */
export function errorFromWire(errors: readonly WireError[]): ClientError {
  const first = errors[0];
  if (first === undefined) return new ClientError('INTERNAL', 'The server answered without data and without an error.');
  return new ClientError(textOf(first.extensions?.['code']) ?? 'INTERNAL', first.message, first.extensions);
}

/** UNAVAILABLE with the reason; the outcome of what was asked is not known. */
export function unavailable(message: string, cause?: unknown): ClientError {
  return new ClientError('UNAVAILABLE', message, {}, cause);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isIssue(value: unknown): value is ClientIssue {
  return typeof value === 'object' && value !== null && 'path' in value && 'message' in value;
}
