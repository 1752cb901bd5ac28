import { type ExecutionState, MusterError } from '@muster/core';
import type { Context } from '../../graphql/context.ts';
import { type Connection, connectionOf, encodeCursor, type PageArgs, pageOf } from '../../graphql/connection.ts';
import { decodeUuid } from '../../graphql/ids.ts';
import { withoutNulls } from '../../lib/without-nulls.ts';
import type { Services } from '../../services.ts';
import type { ExecutionQuery } from './execution-filter.ts';
import type { ExecutionRow } from './execution-rows.ts';

/** As the API takes it. */
export interface ExecutionFilter {
  states?: readonly ExecutionState[] | null | undefined;
  workflow?: string | null | undefined;
  deployment?: string | null | undefined;
  variant?: string | null | undefined;
  worker?: string | null | undefined;
  role?: string | null | undefined;
  parked?: boolean | null | undefined;
  sessionKey?: string | null | undefined;
  createdAfter?: Date | null | undefined;
  createdBefore?: Date | null | undefined;
  search?: string | null | undefined;
  ids?: readonly string[] | null | undefined;
  namespace?: string | null | undefined;
  requiredWorker?: string | null | undefined;
  parent?: string | null | undefined;
  finishedAfter?: Date | null | undefined;
  finishedBefore?: Date | null | undefined;
  parkedBefore?: Date | null | undefined;
}

const ORDER = 'executions';
const MAX_LIST = 200;

/** Names become keys. null: something is named that does not exist, so nothing matches. Errors: BAD_INPUT for lists that are too long. */
export async function resolveExecutionFilter(
  given: ExecutionFilter | null | undefined,
  { services, viewer }: Pick<Context, 'services' | 'viewer'>,
): Promise<ExecutionQuery | null> {
  const { workflow, namespace, deployment, worker, role, ids, parent, search, ...same } = withoutNulls(given ?? {});
  const texts = [workflow, namespace, worker, role, search, same.variant, same.sessionKey, same.requiredWorker];
  // No stored text has these, and the database would refuse the statement.
  if (texts.some((text) => text !== undefined && /\0|\p{Surrogate}/u.test(text))) return null;
  const query: ExecutionQuery = { ...same };
  if (ids !== undefined) query.ids = readIds(ids);
  if (parent !== undefined) query.parentId = decodeUuid('ex', parent) ?? NOTHING;
  if (deployment !== undefined) query.deploymentId = services.deploymentReads.get(deployment, viewer)?.id ?? -1;
  if (workflow !== undefined || namespace !== undefined) {
    const ref = workflow === undefined || workflow.includes('/') ? workflow : `default/${workflow}`;
    query.versionIds = await services.workflowReads.versionIds({ ref, namespace }, viewer);
  }
  if (worker !== undefined || role !== undefined) query.workerIds = await resolveWorkers({ worker, role }, services);
  const text = search?.trim();
  if (text) query.search = readSearch(text);
  return isImpossible(query) ? null : query;
}

/** What nothing has, for names that lead nowhere. */
const NOTHING = '';

function isImpossible({ parentId, deploymentId, versionIds, workerIds }: ExecutionQuery): boolean {
  return parentId === NOTHING || deploymentId === -1 || versionIds?.length === 0 || workerIds?.length === 0;
}

function readIds(ids: readonly string[]): string[] {
  if (ids.length > MAX_LIST)
    throw new MusterError('BAD_INPUT', `ids takes at most ${MAX_LIST} ids.`, { field: 'filter.ids' });
  return ids.map((id) => decodeUuid('ex', id)).filter((id) => id !== null);
}

/** Ids of the workers of this name and role. */
async function resolveWorkers(
  { worker, role }: { worker: string | undefined; role: string | undefined },
  { executionReads }: Services,
): Promise<number[]> {
  const byRole = role === undefined ? null : await executionReads.workerIds({ role });
  if (worker === undefined) return byRole ?? [];
  const byName = await executionReads.workerIds({ name: worker });
  return byRole === null ? byName : byName.filter((id) => byRole.includes(id));
}

function readSearch(text: string): ExecutionQuery['search'] {
  const digits = text.toLowerCase().replace(/^ex_/, '').replaceAll('-', '');
  if (!/^[0-9a-f]{8,32}$/.test(digits)) return { sessionKey: text };
  return { from: digits.padEnd(32, '0'), to: digits.padEnd(32, 'f'), sessionKey: text };
}

/** One page of executions, newest first; `base` is what the place of the connection adds to the filter. */
export async function executionConnection(
  context: Context,
  args: PageArgs,
  filter: ExecutionFilter | null | undefined,
  base: ExecutionQuery,
): Promise<Connection<ExecutionRow>> {
  const { services, viewer } = context;
  const { executionReads } = services;
  const page = pageOf(args, ORDER, ['uuid'], context);
  const resolved = await resolveExecutionFilter(filter, context);
  const query = resolved === null ? null : mergeQueries(resolved, base);
  if (query === null)
    return connectionOf(page, ORDER, [], false, keysOf, () => Promise.resolve({ count: 0, exact: true }));
  const { items, more, cursor } = await executionReads.page(query, page, viewer);
  const connection = connectionOf(page, ORDER, items, more, keysOf, () => executionReads.count(query, viewer));
  // The walk gave up before the page was full: going on from where it ended finds the rest.
  if (cursor !== null) connection.pageInfo[page.backward ? 'startCursor' : 'endCursor'] = encodeCursor(ORDER, [cursor]);
  return connection;
}

/** Both must hold. null: they exclude each other. */
function mergeQueries(filter: ExecutionQuery, base: ExecutionQuery): ExecutionQuery | null {
  const merged = { ...filter, ...base };
  if (filter.workerIds && base.workerIds) {
    const both = filter.workerIds.filter((id) => base.workerIds?.includes(id));
    return both.length === 0 ? null : { ...merged, workerIds: both };
  }
  if (filter.parentId !== undefined && base.parentId !== undefined && filter.parentId !== base.parentId) return null;
  return merged;
}

function keysOf(row: ExecutionRow): string[] {
  return [row.id];
}
