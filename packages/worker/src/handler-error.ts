import type { HandlerError } from './run-host.ts';

/** Describes what was thrown, with every text bounded. Anything can be thrown. */
export function describeError(thrown: unknown): HandlerError {
  if (!(thrown instanceof Error)) {
    return {
      type: 'Error',
      message: cut(typeof thrown === 'string' ? thrown : String(thrown), 4_000),
      retryable: false,
    };
  }
  const retryable = 'retryable' in thrown && thrown.retryable === true;
  const described = { type: cut(thrown.name || 'Error', 200), message: cut(thrown.message, 4_000), retryable };
  return thrown.stack === undefined ? described : { ...described, stack: cut(thrown.stack, 16_000) };
}

function cut(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
