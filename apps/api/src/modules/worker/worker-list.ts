import { compareCodePoints, type WorkerAvailability, type WorkerStatus } from '@muster/core';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import {
  type Connection,
  type CursorKey,
  type CursorKeyKind,
  type Page,
  pageInMemory,
} from '../../graphql/connection.ts';

export interface WorkerFilter {
  roles?: readonly string[] | null | undefined;
  statuses?: readonly WorkerStatus[] | null | undefined;
  availabilities?: readonly WorkerAvailability[] | null | undefined;
  labels?: readonly { key: string; value: string }[] | null | undefined;
  search?: string | null | undefined;
  versions?: readonly string[] | null | undefined;
  names?: readonly string[] | null | undefined;
  workflow?: string | null | undefined;
}

export type WorkerOrder = 'NAME' | 'ROLE' | 'LOAD' | 'UTILIZATION' | 'LAST_SEEN';

/** Says whether a worker is in the filtered list. A field's list is ORed, the fields are ANDed. */
export function workerMatcher(filter: WorkerFilter | null | undefined): (worker: FleetWorker) => boolean {
  if (!filter) return () => true;
  const { roles, statuses, availabilities, labels, versions, names, workflow } = filter;
  const search = filter.search?.trim().toLowerCase();
  return ({ facts, hostname, version }) =>
    (!roles || roles.includes(facts.role)) &&
    (!statuses || statuses.includes(facts.status)) &&
    (!availabilities || availabilities.includes(facts.availability)) &&
    (!labels || labels.every(({ key, value }) => facts.labels.get(key) === value)) &&
    (!versions || versions.includes(version)) &&
    (!names || names.includes(facts.name)) &&
    (workflow == null || facts.workflows.length === 0 || facts.workflows.includes(workflow)) &&
    (!search || [facts.name, hostname, facts.role].some((text) => text.toLowerCase().includes(search)));
}

const ORDER_KEYS: Record<WorkerOrder, (worker: FleetWorker) => string | number> = {
  NAME: ({ facts }) => facts.name,
  ROLE: ({ facts }) => facts.role,
  LOAD: ({ facts }) => facts.load,
  // Without a capacity there is none: before all others.
  UTILIZATION: ({ utilization }) => utilization ?? -1,
  LAST_SEEN: ({ lastSeenAt }) => lastSeenAt.getTime(),
};

export function workerOrderName(order: WorkerOrder, descending: boolean): string {
  return `workers-${order}${descending ? '-desc' : ''}`;
}

export function workerOrderKeys(order: WorkerOrder): CursorKeyKind[] {
  return [order === 'NAME' || order === 'ROLE' ? 'text' : 'number', 'text'];
}

/** One page of workers in an order, ties by name. */
export function workerPage(
  workers: readonly FleetWorker[],
  order: WorkerOrder,
  descending: boolean,
  page: Page,
): Connection<FleetWorker> {
  const keyOf = ORDER_KEYS[order];
  const keysOf = (worker: FleetWorker): CursorKey[] => [keyOf(worker), worker.facts.name];
  const sign = descending ? -1 : 1;
  const compare = (a: readonly CursorKey[], b: readonly CursorKey[]): number =>
    sign * (compareKey(a[0], b[0]) || compareKey(a[1], b[1]));
  const sorted = workers.map((worker) => ({ worker, keys: keysOf(worker) })).sort((a, b) => compare(a.keys, b.keys));
  return pageInMemory(
    page,
    workerOrderName(order, descending),
    sorted.map(({ worker }) => worker),
    keysOf,
    compare,
  );
}

function compareKey(a: CursorKey | undefined, b: CursorKey | undefined): number {
  if (typeof a === 'string' && typeof b === 'string') return compareCodePoints(a, b);
  return Number(a) - Number(b);
}
