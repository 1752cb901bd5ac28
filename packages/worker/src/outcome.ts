import type { EndItem } from './reporter.ts';

/** Why a handler was aborted; decides what its execution ends as. */
export type AbortCause = 'cancelled' | 'timed out' | 'lost' | 'silence' | 'stopping' | 'replaced';

export type Settled =
  | { readonly kind: 'returned'; readonly value: unknown }
  | { readonly kind: 'threw'; readonly error: unknown };

/** What to tell the server about a handler that has come to its end. */
export type Outcome =
  | { readonly kind: 'end'; readonly end: Omit<EndItem, 'id' | 'generation'> }
  | { readonly kind: 'release'; readonly reason: string }
  | { readonly kind: 'nothing' };

/** Outputs of more bytes than this, as JSON, are refused. */
export const maxOutputBytes = 1024 * 1024;

const releaseReasons = { silence: 'no acknowledged heartbeat', stopping: 'worker stopping' } as const;

/**
 * The outcome of a handler. A value that was returned counts, except after a timeout; what was thrown after an abort is
 * read by the abort's cause. After a lost claim the end is still reported: the fence refuses it and keeps it as an event.
 */
export function outcomeOf(settled: Settled, cause: AbortCause | undefined, timeoutSeconds: number | null): Outcome {
  if (cause === 'replaced') return { kind: 'nothing' };
  if (cause === 'timed out') {
    const message = `The handler did not finish within ${timeoutSeconds ?? 0} s.`;
    return failed({ type: 'TimeoutError', message, retryable: false });
  }
  if (settled.kind === 'returned') return completed(settled.value);
  if (cause === 'cancelled') return { kind: 'end', end: { state: 'CANCELLED' } };
  if (cause === 'silence' || cause === 'stopping') return { kind: 'release', reason: releaseReasons[cause] };
  return failed(describeError(settled.error));
}

function completed(value: unknown): Outcome {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return failed({ type: 'OutputError', message: `The output is not JSON: ${why}`, retryable: false });
  }
  if (text === undefined && value !== undefined) {
    const message = `The output is not JSON: a ${typeof value} cannot be sent.`;
    return failed({ type: 'OutputError', message, retryable: false });
  }
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (bytes > maxOutputBytes) {
    const message = `The output has ${bytes} bytes as JSON; at most ${maxOutputBytes} (1 MiB) are taken. Store it elsewhere and return a reference.`;
    return failed({ type: 'OutputError', message, retryable: false });
  }
  return { kind: 'end', end: { state: 'COMPLETED', output: value ?? null } };
}

function failed(error: NonNullable<EndItem['error']>): Outcome {
  return { kind: 'end', end: { state: 'FAILED', error } };
}

function describeError(thrown: unknown): NonNullable<EndItem['error']> {
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
