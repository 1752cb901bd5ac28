import type { ApiError } from './client.ts';

/** The problem that the API reports for one field of the input, or null. */
export function fieldIssue(error: ApiError | null, field: string): string | null {
  if (!error) return null;
  const own = (path: string): boolean => path.replace(/^(variables\.)?input\./, '').split('.')[0] === field;
  const issue = error.issues.find((each) => own(each.path));
  return issue?.message ?? (error.field !== null && own(error.field) ? error.message : null);
}

/** The error where none of these fields shows it. */
export function unplaced(error: ApiError | null, fields: readonly string[]): ApiError | null {
  return error && fields.every((field) => fieldIssue(error, field) === null) ? error : null;
}
