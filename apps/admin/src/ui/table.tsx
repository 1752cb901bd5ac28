import { Button } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import type { Sort } from '../url-state.ts';

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

/** Foot of a list: how many, and the way to the neighbouring pages. null: there is none. */
export function TableFoot({
  children,
  onPrevious,
  onNext,
}: {
  children: ReactNode;
  onPrevious?: (() => void) | null;
  onNext?: (() => void) | null;
}) {
  const pages = onPrevious !== undefined || onNext !== undefined;
  return (
    <div className="tfoot">
      <span>{children}</span>
      {pages && (
        <span className="end">
          <Button disabled={!onPrevious} onClick={() => onPrevious?.()}>
            Previous
          </Button>
          <Button disabled={!onNext} onClick={() => onNext?.()}>
            Next
          </Button>
        </span>
      )}
    </div>
  );
}
