import type { Page } from './connection.ts';

/** How many there are; not exact beyond 10,000. */
export interface Count {
  count: number;
  exact: boolean;
}

/** Rows of a page that was read with one more than its limit; a backward page was read in reverse. */
export function cutPage<T>(rows: readonly T[], page: Page): { items: T[]; more: boolean } {
  const items = rows.slice(0, page.limit);
  return { items: page.backward ? items.reverse() : items, more: rows.length > page.limit };
}

/** Of a count that stopped at 10,001. */
export function boundedCount(n: number): Count {
  return n > 10_000 ? { count: 10_000, exact: false } : { count: n, exact: true };
}
