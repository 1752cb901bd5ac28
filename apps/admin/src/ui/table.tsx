import { Button } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Sort } from '../url-state.ts';
import { SkeletonRows } from './view-states.tsx';

/** A column head that sorts. */
export function SortHead<T extends string>({
  column,
  sort,
  onSort,
  children,
  className,
}: {
  column: T;
  sort: Sort<T>;
  onSort: (next: Sort<T>) => void;
  children: ReactNode;
  className?: string;
}) {
  const active = sort.by === column;
  const Icon = sort.descending ? IconArrowDown : IconArrowUp;
  return (
    <th
      scope="col"
      className={className}
      aria-sort={active ? (sort.descending ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        className="sort"
        onClick={() => onSort({ by: column, descending: active ? !sort.descending : false })}
      >
        {children}
        {active && <Icon size={12} aria-hidden />}
      </button>
    </th>
  );
}

/**
 * The rows of a list, with their foot. `replaced`: what is shown belongs to another page, order or filter than the one chosen.
 * Old rows never stand under a new name: they are hidden at once and only keep their place until the new ones are there.
 */
export function ListRows({ replaced, label, children }: { replaced: boolean; label: string; children: ReactNode }) {
  return (
    <div className={`rows${replaced ? ' replaced' : ''}`} aria-busy={replaced}>
      {children}
      {replaced && <SkeletonRows label={label} rows={12} />}
    </div>
  );
}

/** Foot of a list: how many, and the way to the neighbouring pages. null: there is none. `busy`: the page is being read. */
export function TableFoot({
  children,
  busy = false,
  onPrevious,
  onNext,
}: {
  children: ReactNode;
  busy?: boolean;
  onPrevious?: (() => void) | null;
  onNext?: (() => void) | null;
}) {
  const pages = onPrevious !== undefined || onNext !== undefined;
  return (
    <div className="tfoot">
      <span className="what">{children}</span>
      {pages && (
        <span className="end">
          <PageButton busy={busy} onFollow={onPrevious ?? null}>
            Previous
          </PageButton>
          <PageButton busy={busy} onFollow={onNext ?? null}>
            Next
          </PageButton>
        </span>
      )}
    </div>
  );
}

/** While a page is read, its neighbours are not known. The button then does nothing, but keeps the focus. */
function PageButton({
  busy,
  onFollow,
  children,
}: {
  busy: boolean;
  onFollow: (() => void) | null;
  children: ReactNode;
}) {
  const waiting = busy && onFollow !== null;
  return (
    <Button
      disabled={onFollow === null}
      {...(waiting && { 'data-disabled': true, 'aria-disabled': true })}
      onClick={() => !waiting && onFollow?.()}
    >
      {children}
    </Button>
  );
}
