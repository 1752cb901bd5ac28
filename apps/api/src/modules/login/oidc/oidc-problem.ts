/** Why a login through the provider came to nothing; the login page has a sentence for each. */
export type OidcProblemCode =
  | 'denied'
  | 'expired'
  | 'failed'
  | 'unavailable'
  | 'no-role'
  | 'no-name'
  | 'name-taken'
  | 'last-admin'
  | 'disabled';

/** `message` is for the log and says nothing secret. */
export class OidcProblem extends Error {
  readonly code: OidcProblemCode;
  /** Who it was, where that is known. */
  readonly person: string | null;

  constructor(code: OidcProblemCode, message: string, options: { cause?: unknown; person?: string } = {}) {
    super(message, { cause: options.cause });
    this.name = 'OidcProblem';
    this.code = code;
    this.person = options.person ?? null;
  }
}
