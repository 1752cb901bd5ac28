/** What must be there. Throws where it is not: that is a bug, or a table edited by hand. */
export function invariant<T>(value: T | null | undefined, message: string): T {
  if (value === null || value === undefined) throw new Error(message);
  return value;
}
