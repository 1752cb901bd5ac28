import { describe, expect, it } from 'vitest';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { CursorKey, Page } from '../../graphql/connection.ts';
import { type WorkerOrder, workerOrderName, workerPage } from './worker-list.ts';

/** All that registered in the same moment: only the name tells them apart. */
const at = new Date('2026-01-01T00:00:00.123Z');
const workers = Array.from({ length: 10_000 }, (_, i) => ({
  facts: { name: `w-${(i * 7_919) % 10_000}`, role: 'worker', load: 0 },
  lastSeenAt: at,
  utilization: null,
})) as unknown as FleetWorker[];
const names = new Set(workers.map(({ facts }) => facts.name));

function keysOf(cursor: string | null): CursorKey[] | null {
  return cursor === null ? null : (JSON.parse(Buffer.from(cursor, 'base64url').toString()) as CursorKey[]).slice(1);
}

/** Every page, in list order. */
function walk(order: WorkerOrder, descending: boolean, backward: boolean): string[] {
  const seen: string[] = [];
  let cursor: CursorKey[] | null = null;
  for (;;) {
    const page: Page = { limit: 199, backward, after: backward ? null : cursor, before: backward ? cursor : null };
    const { edges, pageInfo } = workerPage(workers, order, descending, page);
    const found = edges.map(({ node }) => node.facts.name);
    if (backward) seen.unshift(...found);
    else seen.push(...found);
    if (!(backward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage)) return seen;
    cursor = keysOf(backward ? pageInfo.startCursor : pageInfo.endCursor);
  }
}

describe('pages of 10,000 workers that are all equal in what they are ordered by', () => {
  it.each<[WorkerOrder, boolean]>([
    ['LAST_SEEN', false],
    ['LAST_SEEN', true],
    ['LOAD', false],
    ['UTILIZATION', true],
  ])('by %s, descending %s, have each of them once, both ways', (order, descending) => {
    const forward = walk(order, descending, false);
    expect(forward).toHaveLength(names.size);
    expect(new Set(forward)).toEqual(names);
    expect(walk(order, descending, true)).toEqual(forward);
  });

  it('have cursors of their order alone', () => {
    expect(workerOrderName('LOAD', false)).not.toBe(workerOrderName('LOAD', true));
  });
});
