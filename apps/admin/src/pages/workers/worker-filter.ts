import type { KeyValueInput, WorkerAvailability, WorkerStatus } from '../../api/generated/graphql.ts';
import type { Sort } from '../../url-state.ts';
import type { WorkerRow } from './worker-queries.ts';

export type WorkerColumn = 'name' | 'role' | 'load' | 'lastSeen';

/** "region=eu w-1" → the label region=eu and the text "w-1". */
export function readWorkerSearch(typed: string): { q: string; labels: string[] } {
  const tokens = typed.split(/\s+/).filter((token) => token !== '');
  const labels = tokens.filter((token) => /^[^=]+=.+$/.test(token));
  return { q: tokens.filter((token) => !labels.includes(token)).join(' '), labels };
}

/** "region=eu" as the API's filter wants it; a value may itself contain "=". */
export function toLabels(labels: readonly string[]): KeyValueInput[] {
  return labels.flatMap((label) => {
    const at = label.indexOf('=');
    return at > 0 ? [{ key: label.slice(0, at), value: label.slice(at + 1) }] : [];
  });
}

/** How many rows have each status and, on its own axis, each availability. */
export function countWorkers(rows: readonly WorkerRow[]): Record<WorkerStatus | WorkerAvailability, number> {
  const counts = { HEALTHY: 0, UNHEALTHY: 0, STALE: 0, OFFLINE: 0, ACTIVE: 0, CORDONED: 0, DRAINING: 0 };
  for (const row of rows) {
    counts[row.status] += 1;
    counts[row.availability] += 1;
  }
  return counts;
}

/** Statuses are ORed, availabilities are ORed, the two axes are ANDed; none chosen means all. */
export function matchesStatus(
  row: WorkerRow,
  statuses: readonly WorkerStatus[],
  availabilities: readonly WorkerAvailability[],
): boolean {
  return (
    (statuses.length === 0 || statuses.includes(row.status)) &&
    (availabilities.length === 0 || availabilities.includes(row.availability))
  );
}

const byName = new Intl.Collator('en', { numeric: true }).compare;

/** In the chosen order; equal rows stay by name, so that nothing jumps while loads change. */
export function sortWorkers(rows: readonly WorkerRow[], sort: Sort<WorkerColumn>): WorkerRow[] {
  const sign = sort.descending ? -1 : 1;
  return rows.toSorted((a, b) => sign * compare(a, b, sort.by) || byName(a.name, b.name));
}

function compare(a: WorkerRow, b: WorkerRow, column: WorkerColumn): number {
  switch (column) {
    case 'name':
      return byName(a.name, b.name);
    case 'role':
      return byName(a.role, b.role);
    case 'load':
      return a.load - b.load;
    case 'lastSeen':
      // Ascending means the youngest heartbeat first, as the column shows ages.
      return Date.parse(b.lastSeenAt) - Date.parse(a.lastSeenAt);
  }
}

/** The reason beside a status that is not plainly good; null where there is nothing to say. */
export function statusReason(
  row: Pick<WorkerRow, 'status' | 'statusReasons' | 'registered' | 'connected'>,
): string | null {
  if (row.statusReasons.length > 0) return row.statusReasons.join(', ');
  if (!row.registered) return 'known only by heartbeat';
  if (row.status === 'HEALTHY' && !row.connected) return 'not connected';
  return null;
}
