/** Where a page of a keyset list begins, as it stands in the address: after a cursor, before one, or at the start. */
export interface PagePlace {
  after: string;
  before: string;
}

export const FIRST_PAGE: PagePlace = { after: '', before: '' };

interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor?: string | null;
  endCursor?: string | null;
}

/** The paging arguments of the API for a place. */
export function pageArgs(place: PagePlace, size: number) {
  return place.before === ''
    ? { first: size, after: place.after === '' ? null : place.after, last: null, before: null }
    : { first: null, after: null, last: size, before: place.before };
}

/** The neighbouring places; null where there is none. Where one has come from somewhere, that side exists. */
export function neighbours(place: PagePlace, info: PageInfo): { previous: PagePlace | null; next: PagePlace | null } {
  const isLater = place.after !== '' || (place.before !== '' && info.hasPreviousPage);
  const hasNext = place.before !== '' || info.hasNextPage;
  return {
    previous: isLater && info.startCursor ? { after: '', before: info.startCursor } : null,
    next: hasNext && info.endCursor ? { after: info.endCursor, before: '' } : null,
  };
}
