import { type ExecutionState, MusterError } from '@muster/core';
import type { Context } from '../../graphql/context.ts';
import { type Connection, connectionOf, encodeCursor, type PageArgs, pageOf } from '../../graphql/connection.ts';
import { decodeUuid } from '../../graphql/ids.ts';
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
  filter: ExecutionFilter | null | undefined,
  services: Services,
): Promise<ExecutionQuery | null> {
  if (!filter) return {};
  const query: ExecutionQuery = {
    states: filter.states ?? undefined,
    variant: filter.variant ?? undefined,
    parked: filter.parked ?? undefined,
    sessionKey: filter.sessionKey ?? undefined,
    createdAfter: filter.createdAfter ?? undefined,
    createdBefore: filter.createdBefore ?? undefined,
    requiredWorker: filter.requiredWorker ?? undefined,
    finishedAfter: filter.finishedAfter ?? undefined,
    finishedBefore: filter.finishedBefore ?? undefined,
    parkedBefore: filter.parkedBefore ?? undefined,
  };
  for (const text of [
    filter.variant,
    filter.sessionKey,
    filter.requiredWorker,
    filter.search,
    filter.worker,
    filter.role,
    filter.workflow,
    filter.namespace,
  ]) {
    // No stored text has these, and the database would refuse the statement.
    if (text != null && /\0|\p{Surrogate}/u.test(text)) return null;
  }
  if (filter.ids != null) {
    if (filter.ids.length > MAX_LIST)
      throw new MusterError('BAD_INPUT', `ids takes at most ${MAX_LIST} ids.`, { field: 'filter.ids' });
    query.ids = filter.ids.map((id) => decodeUuid('ex', id)).filter((id) => id !== null);
  }
  if (filter.parent != null) {
    const parent = decodeUuid('ex', filter.parent);
    if (parent === null) return null;
    query.parentId = parent;
  }
  if (filter.deployment != null) {
    const deployment = services.deployments.get(filter.deployment);
    if (!deployment) return null;
    query.deploymentId = deployment.id;
  }
  if (filter.workflow != null || filter.namespace != null) {
    const ref =
      filter.workflow == null || filter.workflow.includes('/') ? filter.workflow : `default/${filter.workflow}`;
    query.versionIds = await services.workflowStore.versionIds({
      ref: ref ?? undefined,
      namespace: filter.namespace ?? undefined,
    });
    if (query.versionIds.length === 0) return null;
  }
  if (filter.worker != null || filter.role != null) {
    const { executionReader } = services;
    const byName = filter.worker == null ? null : await executionReader.workerIds({ name: filter.worker });
    const byRole = filter.role == null ? null : await executionReader.workerIds({ role: filter.role });
    query.workerIds = byName && byRole ? byName.filter((id) => byRole.includes(id)) : (byName ?? byRole ?? []);
    if (query.workerIds.length === 0) return null;
  }
  const search = filter.search?.trim();
  if (search) query.search = readSearch(search);
  return query;
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
  const { executionReader } = context.services;
  const page = pageOf(args, ORDER, ['uuid'], context);
  const resolved = await resolveExecutionFilter(filter, context.services);
  const query = resolved === null ? null : mergeQueries(resolved, base);
  if (query === null)
    return connectionOf(page, ORDER, [], false, keysOf, () => Promise.resolve({ count: 0, exact: true }));
  const { items, more, cursor } = await executionReader.page(query, page);
  const connection = connectionOf(page, ORDER, items, more, keysOf, () => executionReader.count(query));
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
