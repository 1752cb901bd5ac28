/** The stable error codes of the public API; REST statuses stand beside them in `docs/errors.md`. */
export type ErrorCode =
  | 'BAD_INPUT'
  | 'POLICY_INVALID'
  | 'ROUTING_INPUT_INVALID'
  | 'UNKNOWN_WORKER'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'TOO_LARGE'
  | 'RATE_LIMITED'
  | 'NO_HEALTHY_VARIANT'
  | 'UNAVAILABLE'
  | 'INTERNAL';

/** One problem of an input: where, what was wrong, what would be right. */
export interface Issue {
  /** Path into the input, e.g. `variants.1.weight`; empty for the whole. */
  path: string;
  /** Stable, upper case, e.g. `WEIGHT_NEGATIVE`. */
  code: string;
  message: string;
  /** For policy text: UTF-16 offsets, end exclusive. */
  from?: number;
  to?: number;
}

/**
 * The one typed error of Muster. Thrown for everything that a caller can put right; anything else that is thrown is a bug.
 * `field` names the input field that is wrong, `issues` all problems at once, `details` machine-readable facts (e.g. the current revision).
 */
export class MusterError extends Error {
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly issues: readonly Issue[];
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    more: {
      field?: string;
      issues?: readonly Issue[];
      details?: Readonly<Record<string, unknown>>;
      cause?: unknown;
    } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = 'MusterError';
    this.code = code;
    this.field = more.field ?? more.issues?.[0]?.path;
    this.issues = more.issues ?? [];
    this.details = more.details ?? {};
  }
}
