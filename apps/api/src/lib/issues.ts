import { type ErrorCode, type Issue, MusterError } from '@muster/core';

/** One error for all problems of an input; its message tells the first and how many more there are. */
export function issuesError(code: ErrorCode, issues: readonly Issue[]): MusterError {
  const [first, ...more] = issues;
  const named = first === undefined || first.path === '' || first.message.startsWith(first.path);
  const text =
    first === undefined ? 'The input is not valid.' : named ? first.message : `${first.path}: ${first.message}`;
  return new MusterError(code, more.length > 0 ? `${text} (and ${more.length} more)` : text, { issues });
}
