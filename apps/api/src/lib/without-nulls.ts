export type WithoutNulls<T> = { [K in keyof T]?: Exclude<T[K], null | undefined> | undefined };

/** An input object in which null means the same as absent. */
export function withoutNulls<T extends object>(input: T): WithoutNulls<T> {
  return Object.fromEntries(
    Object.entries(input).filter(([, value]) => value !== null && value !== undefined),
  ) as WithoutNulls<T>;
}
