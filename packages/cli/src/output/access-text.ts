import type { ApiTokenFieldsFragment, LoginSessionFieldsFragment } from '@muster/client';
import { renderTable, titled } from './table.ts';
import type { Style } from './style.ts';

type Owned<T> = T & { readonly principal?: { readonly name: string } | null };

/** API tokens as a table; without their principals where all are of one. */
export function apiTokenTable(tokens: readonly Owned<ApiTokenFieldsFragment>[], style: Style): string {
  const rows = tokens.map((token) => [
    token.id,
    token.principal?.name ?? '',
    token.name,
    `${token.prefix}…`,
    token.scopes.length === 0 ? style.dim('all') : token.scopes.join(' '),
    token.status.toLowerCase(),
    token.expiresAt ?? style.dim('never'),
    token.lastUsedAt ?? style.dim('never'),
  ]);
  const titles = ['id', 'principal', 'name', 'begins', 'scopes', 'status', 'ends', 'last used'];
  return withoutEmpty(titles, rows, ['id', 'begins', 'ends', 'last used'], style);
}

/** Browser sessions as a table. */
export function sessionTable(sessions: readonly Owned<LoginSessionFieldsFragment>[], style: Style): string {
  const rows = sessions.map((session) => [
    session.id,
    session.principal?.name ?? '',
    session.method.toLowerCase(),
    session.address ?? '',
    session.userAgent ?? '',
    session.seenAt,
    session.expiresAt,
  ]);
  const titles = ['id', 'principal', 'by', 'from', 'browser', 'seen', 'ends'];
  return withoutEmpty(titles, rows, ['id', 'seen', 'ends'], style);
}

/** A column that says nothing is left out. */
function withoutEmpty(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  whole: readonly string[],
  style: Style,
): string {
  const kept = titles.map((_, index) => rows.some((row) => row[index] !== ''));
  return renderTable(
    titled(
      titles.filter((_, index) => kept[index]),
      whole,
    ),
    rows.map((row) => row.filter((_, index) => kept[index])),
    style,
  );
}
