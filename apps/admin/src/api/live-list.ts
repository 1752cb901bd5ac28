/** The kinds of event of a live collection, as in the schema. */
export type ChangeKind = 'SNAPSHOT' | 'ADDED' | 'UPDATED' | 'REMOVED' | 'RESYNC';

export interface Change<T> {
  kind: ChangeKind;
  sequence: number;
  complete: boolean;
  items: readonly T[];
  removed: readonly string[];
}

/** A whole collection, kept by SNAPSHOT and changes. `assembling` collects a snapshot that comes in several events. */
export interface LiveList<T> {
  items: readonly T[];
  sequence: number;
  assembling: readonly T[] | null;
}

export function emptyList<T>(items: readonly T[] = []): LiveList<T> {
  return { items, sequence: -1, assembling: null };
}

/**
 * Applies one event. While a snapshot is being assembled the old rows stay, so that a resync does not flash; changes that
 * arrive in between go into both. A change that is not newer than what is applied is dropped; a SNAPSHOT or RESYNC with an older sequence begins a
 * new stream (after a reconnect) and counts.
 */
export function applyChange<T>(list: LiveList<T>, change: Change<T>, idOf: (item: T) => string): LiveList<T> {
  if (change.kind === 'RESYNC') return { ...list, assembling: [], sequence: change.sequence };
  if (change.kind === 'SNAPSHOT') {
    // A sequence that starts again belongs to a new stream: what the lost one had begun is void.
    const begun = change.sequence > list.sequence ? list.assembling : null;
    const gathered = upsert(begun ?? [], change.items, idOf);
    return change.complete
      ? { items: gathered, sequence: change.sequence, assembling: null }
      : { ...list, sequence: change.sequence, assembling: gathered };
  }
  if (change.sequence <= list.sequence) return list;
  const merge = (items: readonly T[]): readonly T[] => drop(upsert(items, change.items, idOf), change.removed, idOf);
  return {
    items: merge(list.items),
    assembling: list.assembling === null ? null : merge(list.assembling),
    sequence: change.sequence,
  };
}

function upsert<T>(items: readonly T[], news: readonly T[], idOf: (item: T) => string): readonly T[] {
  if (news.length === 0) return items;
  const byId = new Map(news.map((item) => [idOf(item), item]));
  const kept = items.map((item) => {
    const id = idOf(item);
    const replacement = byId.get(id);
    byId.delete(id);
    return replacement ?? item;
  });
  return [...kept, ...byId.values()];
}

function drop<T>(items: readonly T[], ids: readonly string[], idOf: (item: T) => string): readonly T[] {
  if (ids.length === 0) return items;
  const gone = new Set(ids);
  return items.filter((item) => !gone.has(idOf(item)));
}

/** A page of a list that the server pages, newest first. */
export interface LivePage<T> {
  rows: readonly T[];
  size: number;
  /** Only the first page takes new rows. */
  first: boolean;
}

/**
 * Applies one event to a page: rows on it change or go; new rows go to the top of the first page, which keeps its length.
 * `compare` is the list's order (negative: a comes first). A row older than the last row of a full page belongs to a later page.
 */
export function applyToPage<T>(
  page: LivePage<T>,
  change: Change<T>,
  idOf: (item: T) => string,
  compare: (a: T, b: T) => number,
): LivePage<T> {
  if (change.kind === 'RESYNC') return page;
  const known = new Set(page.rows.map(idOf));
  const updates = change.items.filter((item) => known.has(idOf(item)));
  let rows = drop(upsert(page.rows, updates, idOf), change.removed, idOf);
  if (page.first) {
    const last = page.rows.at(-1);
    const full = page.rows.length >= page.size;
    const fresh = change.items.filter(
      (item) => !known.has(idOf(item)) && (!full || last === undefined || compare(item, last) < 0),
    );
    if (fresh.length > 0) rows = [...fresh, ...rows].toSorted(compare).slice(0, page.size);
  }
  return rows === page.rows ? page : { ...page, rows };
}
