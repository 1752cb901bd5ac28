/** Exit codes of every command; part of its interface. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, notFound: 3, denied: 4, unavailable: 5 } as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** A command's own failure: one sentence and its exit code. */
export class CommandError extends Error {
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode) {
    super(message);
    this.name = 'CommandError';
    this.exitCode = exitCode;
  }
}

/** The exit code for a public error code. */
export function exitCodeOf(code: string): ExitCode {
  switch (code) {
    case 'BAD_INPUT':
    case 'POLICY_INVALID':
    case 'ROUTING_INPUT_INVALID':
    case 'UNKNOWN_WORKER':
    case 'TOO_LARGE':
      return exitCodes.usage;
    case 'NOT_FOUND':
      return exitCodes.notFound;
    case 'UNAUTHENTICATED':
    case 'FORBIDDEN':
      return exitCodes.denied;
    case 'UNAVAILABLE':
    case 'NO_HEALTHY_VARIANT':
    case 'RATE_LIMITED':
      return exitCodes.unavailable;
    default:
      return exitCodes.failed;
  }
}
