import type { EndItem } from './reporter.ts';
import type { AbortCause, HandlerError, Settled } from './run-host.ts';

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
  // What waits has no claim any more, whatever came meanwhile.
  if (cause === 'replaced' || settled.kind === 'suspended') return { kind: 'nothing' };
  if (cause === 'timed out') {
    const message = `The handler did not finish within ${timeoutSeconds ?? 0} s.`;
    return failed({ type: 'TimeoutError', message, retryable: false });
  }
  if (settled.kind === 'returned') return { kind: 'end', end: { state: 'COMPLETED', output: settled.output } };
  if (cause === 'cancelled') return { kind: 'end', end: { state: 'CANCELLED' } };
  if (cause === 'silence' || cause === 'stopping') return { kind: 'release', reason: releaseReasons[cause] };
  return failed(settled.error);
}

/** Reads what a handler returned as its output: a value that cannot be sent, or is too large, is a failure. */
export function settleValue(value: unknown): Settled {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    return outputError(`The output is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (text === undefined && value !== undefined)
    return outputError(`The output is not JSON: a ${typeof value} cannot be sent.`);
  const bytes = text === undefined ? 0 : Buffer.byteLength(text);
  if (bytes > maxOutputBytes) {
    return outputError(
      `The output has ${bytes} bytes as JSON; at most ${maxOutputBytes} (1 MiB) are taken. Store it elsewhere and return a reference.`,
    );
  }
  return { kind: 'returned', output: value ?? null };
}

function outputError(message: string): Settled {
  return { kind: 'threw', error: { type: 'OutputError', message, retryable: false } };
}

function failed(error: HandlerError): Outcome {
  return { kind: 'end', end: { state: 'FAILED', error } };
}
