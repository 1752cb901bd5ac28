import { MusterError } from '@muster/core';
import { builder } from './builder.ts';
import type { Context } from './context.ts';

export const DEFAULT_PAGE = 50;
export const MAX_PAGE = 200;
/** Nodes that all connections of one answer may ask for together; nested pages multiply. */
export const MAX_NODES = 20_000;

export type CursorKey = string | number;

/** What a key of a cursor must look like: a raw UUID, a whole number, any number or any text. */
export type CursorKeyKind = 'uuid' | 'int' | 'number' | 'text';

const KEY_CHECKS: Record<CursorKeyKind, (key: unknown) => boolean> = {
  uuid: (key) => typeof key === 'string' && /^[0-9a-f]{32}$/.test(key),
  int: (key) => Number.isSafeInteger(key) && Math.abs(key as number) <= 2_147_483_647,
  number: (key) => typeof key === 'number',
  text: (key) => typeof key === 'string' && !/\0|\p{Surrogate}/u.test(key),
};

export interface PageArgs {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}

/** One page of a keyset list: at most `limit` items after/before the keys (exclusive); `backward`: the last of them. */
export interface Page {
  readonly limit: number;
  readonly backward: boolean;
  readonly after: readonly CursorKey[] | null;
  readonly before: readonly CursorKey[] | null;
}

export interface Edge<T> {
  node: T;
  cursor: string;
}

export interface Connection<T> {
  edges: Edge<T>[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null };
  /** Asked only where the caller selects it. */
  count(): Promise<{ count: number; exact: boolean }>;
}

/**
 * Checks page arguments. `order` is part of every cursor, so that a cursor of another order or list is refused.
 * Errors: BAD_INPUT naming the argument and the limit.
 */
export function pageOf(args: PageArgs, order: string, keys: readonly CursorKeyKind[], context: Context): Page {
  if (args.first != null && args.last != null) {
    throw new MusterError('BAD_INPUT', 'Give first or last, not both.', { field: 'last' });
  }
  for (const name of ['first', 'last'] as const) {
    const value = args[name];
    if (value != null && (value < 0 || value > MAX_PAGE)) {
      throw new MusterError('BAD_INPUT', `${name} must be from 0 to ${MAX_PAGE}.`, { field: name });
    }
  }
  const limit = args.last ?? args.first ?? DEFAULT_PAGE;
  spendNodes(context, limit);
  return {
    limit,
    backward: args.last != null,
    after: args.after == null ? null : decodeCursor(args.after, order, keys, 'after'),
    before: args.before == null ? null : decodeCursor(args.before, order, keys, 'before'),
  };
}

/** Counts the nodes that an answer may grow to. Errors: BAD_INPUT naming the limit. */
export function spendNodes(context: Context, nodes: number): void {
  context.nodes += nodes;
  if (context.nodes > MAX_NODES) {
    throw new MusterError(
      'BAD_INPUT',
      `One answer may ask for at most ${MAX_NODES} nodes in all its connections; ask for smaller pages.`,
      { field: 'first' },
    );
  }
}

export function encodeCursor(order: string, keys: readonly CursorKey[]): string {
  return Buffer.from(JSON.stringify([order, ...keys])).toString('base64url');
}

function decodeCursor(
  cursor: string,
  order: string,
  keys: readonly CursorKeyKind[],
  field: 'after' | 'before',
): CursorKey[] {
  let decoded: unknown;
  try {
    decoded = /^[A-Za-z0-9_-]{1,4096}$/.test(cursor) ? JSON.parse(Buffer.from(cursor, 'base64url').toString()) : null;
  } catch {
    decoded = null;
  }
  const fits =
    Array.isArray(decoded) &&
    decoded[0] === order &&
    decoded.length === keys.length + 1 &&
    keys.every((kind, i) => KEY_CHECKS[kind]((decoded as unknown[])[i + 1]));
  if (!fits) {
    throw new MusterError('BAD_INPUT', `${field} is not a cursor of this list and order.`, { field });
  }
  return (decoded as CursorKey[]).slice(1);
}

/**
 * Wraps the items of a page, given in list order. `more`: there are further ones in the direction of reading.
 * The other direction is known only by whether a cursor was given, as Relay allows.
 */
export function connectionOf<T>(
  page: Page,
  order: string,
  items: readonly T[],
  more: boolean,
  keysOf: (item: T) => readonly CursorKey[],
  count: () => Promise<{ count: number; exact: boolean }>,
): Connection<T> {
  const edges = items.map((node) => ({ node, cursor: encodeCursor(order, keysOf(node)) }));
  let counted: Promise<{ count: number; exact: boolean }> | undefined;
  return {
    edges,
    pageInfo: {
      hasNextPage: page.backward ? page.before !== null : more,
      hasPreviousPage: page.backward ? more : page.after !== null,
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    count: () => (counted ??= count()),
  };
}

/** One page of a list that lies in memory, in list order. `compare` orders an item against keys. */
export function pageInMemory<T>(
  page: Page,
  order: string,
  sorted: readonly T[],
  keysOf: (item: T) => readonly CursorKey[],
  compareKeys: (a: readonly CursorKey[], b: readonly CursorKey[]) => number,
): Connection<T> {
  const { after, before } = page;
  const within = sorted.filter(
    (item) =>
      (after === null || compareKeys(keysOf(item), after) > 0) &&
      (before === null || compareKeys(keysOf(item), before) < 0),
  );
  const cut = page.backward ? within.slice(Math.max(0, within.length - page.limit)) : within.slice(0, page.limit);
  const total = { count: sorted.length, exact: true };
  return connectionOf(page, order, cut, within.length > cut.length, keysOf, () => Promise.resolve(total));
}

const PageInfo = builder.objectRef<Connection<unknown>['pageInfo']>('PageInfo').implement({
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage'),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage'),
    startCursor: t.exposeString('startCursor', { nullable: true }),
    endCursor: t.exposeString('endCursor', { nullable: true }),
  }),
});

type ObjectRefOf<T> = ReturnType<typeof builder.objectRef<T>>;

/**
 * The connection and edge types of a node type. `bounded`: totalCount stops at 10,000 and says so in totalCountExact.
 */
export function connectionType<T extends object>(
  name: string,
  node: ObjectRefOf<T>,
  options: { bounded?: boolean } = {},
): ObjectRefOf<Connection<T>> {
  const EdgeType = builder.objectRef<Edge<T>>(`${name}Edge`);
  EdgeType.implement({
    fields: (t) => ({
      node: t.field({ type: node, resolve: (edge) => edge.node as never }),
      cursor: t.exposeString('cursor'),
    }),
  });
  const ConnectionType = builder.objectRef<Connection<T>>(`${name}Connection`);
  ConnectionType.implement({
    fields: (t) => ({
      edges: t.field({ type: [EdgeType], resolve: (connection) => connection.edges }),
      nodes: t.field({ type: [node], resolve: (connection) => connection.edges.map((edge) => edge.node) as never }),
      pageInfo: t.field({ type: PageInfo, resolve: (connection) => connection.pageInfo }),
      totalCount: t.int({ resolve: async (connection) => (await connection.count()).count }),
      ...(options.bounded
        ? {
            totalCountExact: t.boolean({
              description: 'false: there are more than totalCount says.',
              resolve: async (connection) => (await connection.count()).exact,
            }),
          }
        : {}),
    }),
  });
  return ConnectionType;
}
