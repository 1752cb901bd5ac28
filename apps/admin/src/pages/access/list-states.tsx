import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiError } from '../../api/client.ts';
import { FIRST_PAGE, neighbours, type PagePlace } from '../../api/paging.ts';
import { countAtLeast } from '../../format.ts';
import { ListRows, TableFoot } from '../../ui/table.tsx';
import { ErrorView, NoMatchView, SkeletonRows } from '../../ui/view-states.tsx';

interface Page<T> {
  nodes: readonly T[];
  totalCount: number;
  totalCountExact: boolean;
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor?: string | null;
    endCursor?: string | null;
  };
}

/** How many there are, as the head shows it; null while it is not known. */
export function totalOf<T>(page: Page<T> | undefined, replaced: boolean): string | null {
  return page && !replaced ? countAtLeast(page.totalCount, page.totalCountExact) : null;
}

/** A paged list in whatever state it is: being read, failed or refused, empty, without a match, or its rows with their foot. */
export function ListStates<T>({
  query,
  page,
  place,
  noun,
  filtered,
  empty,
  renderRows,
  onPlace,
  onClear,
}: {
  query: Pick<UseQueryResult<unknown, ApiError>, 'isPending' | 'isPlaceholderData' | 'error' | 'refetch'>;
  page: Page<T> | undefined;
  place: PagePlace;
  /** In the plural, as it stands after a number. */
  noun: string;
  filtered: boolean;
  empty: ReactNode;
  renderRows: (nodes: readonly T[]) => ReactNode;
  onPlace: (place: PagePlace) => void;
  onClear: () => void;
}) {
  const near = page && neighbours(place, page.pageInfo);
  const replaced = query.isPlaceholderData;
  if (query.isPending || (replaced && page?.nodes.length === 0)) return <SkeletonRows label={noun} />;
  if (!page || !near) {
    if (!query.error) return null;
    const what = `${noun.charAt(0).toUpperCase()}${noun.slice(1)} could not be read`;
    return <ErrorView what={what} failure={query.error} onRetry={() => void query.refetch()} />;
  }
  if (page.nodes.length === 0) {
    return filtered ? <NoMatchView onClear={onClear}>There are no such {noun}.</NoMatchView> : empty;
  }
  const one = page.totalCount === 1 && page.totalCountExact;
  return (
    <ListRows replaced={replaced} label={noun}>
      {renderRows(page.nodes)}
      <TableFoot
        busy={replaced}
        onPrevious={near.previous && (() => onPlace(near.previous ?? FIRST_PAGE))}
        onNext={near.next && (() => onPlace(near.next ?? FIRST_PAGE))}
      >
        {countAtLeast(page.totalCount, page.totalCountExact)} {one ? noun.replace(/ies$/, 'y').replace(/s$/, '') : noun}
      </TableFoot>
    </ListRows>
  );
}
