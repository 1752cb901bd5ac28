import type { Context } from '../../graphql/context.ts';
import { type Connection, connectionOf, encodeCursor, type PageArgs, pageOf } from '../../graphql/connection.ts';
import { withoutNulls } from '../../lib/without-nulls.ts';
import type { AuditRow } from './audit-row.ts';
import type { AuditFilter } from './audit-store.ts';

/** As the API takes it. */
export type AuditFilterArgs = { readonly [K in keyof AuditFilter]: AuditFilter[K] | null };

const ORDER = 'audit';

/** null: it names what no entry can have. */
export function readAuditFilter(args: AuditFilterArgs | null | undefined): AuditFilter | null {
  const { action, ...filter } = withoutNulls(args ?? {});
  const texts = [filter.actor, action, filter.target];
  if (texts.some((text) => text !== undefined && /\0|\p{Surrogate}/u.test(text))) return null;
  return action ? { ...filter, action } : filter;
}

/** One page, newest first. Errors: FORBIDDEN, BAD_INPUT. */
export async function auditConnection(
  context: Context,
  args: PageArgs,
  given: AuditFilterArgs | null | undefined,
): Promise<Connection<AuditRow>> {
  const { viewer, services } = context;
  const page = pageOf(args, ORDER, ['uuid'], context);
  const filter = readAuditFilter(given);
  const found = await services.audit.page(filter ?? {}, filter === null ? { ...page, limit: 0 } : page, viewer);
  if (filter === null)
    return connectionOf(page, ORDER, [], false, keysOf, () => Promise.resolve({ count: 0, exact: true }));
  const connection = connectionOf(page, ORDER, found.items, found.more, keysOf, () =>
    services.audit.count(filter, viewer),
  );
  // The walk gave up before the page was full: going on from where it ended finds the rest.
  if (found.cursor !== null)
    connection.pageInfo[page.backward ? 'startCursor' : 'endCursor'] = encodeCursor(ORDER, [found.cursor]);
  return connection;
}

function keysOf(row: AuditRow): string[] {
  return [row.id];
}
