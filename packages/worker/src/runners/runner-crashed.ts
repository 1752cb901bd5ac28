import type { HandlerError } from '../run-host.ts';

/** Type of the error of an attempt whose process died under it; the server counts it as a crash and tries again. */
export const crashType = 'CrashError';

/** Characters of its stderr that the error of a crash tells. */
const mostTail = 2_000;

/** How a process came to its end. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The end of what it wrote to stderr. */
  readonly stderr: string;
  /** It could not even be started. */
  readonly startError?: string;
}

/** What the watch of a child writes to stderr before it ends the child for its memory. */
export const memoryMark = 'muster-runner: out of memory';

/** The error of an attempt whose process ended before its handler did. */
export function crashError(end: ProcessEnd, memoryLimitMb: number): HandlerError {
  const tail = end.stderr.trim().slice(-mostTail);
  const message = `${reason(end, memoryLimitMb)}${tail === '' ? '' : `\nThe end of its stderr:\n${tail}`}`;
  return { type: crashType, message, retryable: true };
}

function reason({ code, signal, stderr, startError }: ProcessEnd, memoryLimitMb: number): string {
  if (startError !== undefined) return `No process could be started for the handler: ${startError}`;
  if (stderr.includes(memoryMark) || stderr.includes('heap out of memory'))
    return `The process of the handler took more than its ${memoryLimitMb} MiB of memory and was ended.`;
  const how = signal === null ? `with code ${code}` : `by ${signal}`;
  return `The process of the handler ended ${how} before the handler did.`;
}
