import type {
  ExecutionFilter,
  ExecutionsQuery,
  ExecutionState,
  ExecutionStateCountsQuery,
} from '../../api/generated/graphql.ts';
import { applyToPage, type Change } from '../../api/live-list.ts';
import type { ExecutionRow } from './execution-queries.ts';

export const PAGE_SIZE = 50;

export type ExecutionCountsFragment = ExecutionStateCountsQuery['executionCounts'][number];

export interface ListState {
  q: string;
  state: readonly ExecutionState[];
  parked: '' | '1';
  workflow: string;
  deployment: string;
  variant: string;
  worker: string;
  role: string;
  session: string;
}

/** The API's filter for what stands in the address. */
export function toFilter(state: ListState): ExecutionFilter {
  return {
    ...(state.q !== '' && { search: state.q }),
    ...(state.state.length > 0 && { states: [...state.state] }),
    ...(state.parked === '1' && { parked: true }),
    ...(state.workflow !== '' && { workflow: state.workflow }),
    ...(state.deployment !== '' && { deployment: state.deployment }),
    ...(state.variant !== '' && { variant: state.variant }),
    ...(state.worker !== '' && { worker: state.worker }),
    ...(state.role !== '' && { role: state.role }),
    ...(state.session !== '' && { sessionKey: state.session }),
  };
}

export function hasFilter(filter: ExecutionFilter): boolean {
  return Object.keys(filter).length > 0;
}

/** Ids carry the time of creation, so the list's order is the ids' order, newest first. */
export function newestFirst(a: { id: string }, b: { id: string }): number {
  return a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

/** Applies a change to a page of the list as it stands in the cache; the total moves with what came and went. */
export function applyToQuery(data: ExecutionsQuery, change: Change<ExecutionRow>, first: boolean): ExecutionsQuery {
  const before = { rows: data.executions.nodes, size: PAGE_SIZE, first };
  const page = applyToPage(before, change, (row) => row.id, newestFirst);
  if (page === before) return data;
  const gone = before.rows.filter((row) => change.removed.includes(row.id)).length;
  const came = change.kind === 'ADDED' ? change.items.length : 0;
  return {
    executions: {
      ...data.executions,
      nodes: [...page.rows],
      totalCount: Math.max(page.rows.length, data.executions.totalCount + came - gone),
    },
  };
}
