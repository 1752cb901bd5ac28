import { rawId } from '../ids.ts';
import type { Executor, Statement } from './executor.ts';

/** Cancelled executions that are looked at in one read, and their children. */
const PARENTS = 100;
const CHILDREN = 200;

export const READ_CANCELLED_PARENTS: Statement = {
  name: 'cancelled_parents',
  priority: 'hot',
  text: `SELECT id FROM execution WHERE cancel_children ORDER BY id LIMIT ${PARENTS}`,
};

/** Cancelled executions whose children may go on, at most 100. */
export async function readCancelledParents(db: Executor): Promise<string[]> {
  const { rows } = await db.run<{ id: string }>(READ_CANCELLED_PARENTS, []);
  return rows.map(({ id }) => rawId(id));
}

export const READ_OPEN_CHILDREN: Statement = {
  name: 'open_children',
  priority: 'hot',
  text: `SELECT c.id FROM unnest($1::uuid[]) AS p (id) CROSS JOIN LATERAL (
  SELECT x.id FROM execution x WHERE x.parent_id = p.id AND x.finished_state IS NULL AND x.state <> 'CANCELLING'
  ORDER BY x.parent_id, x.id LIMIT ${CHILDREN}) c LIMIT ${CHILDREN}`,
};

/** Children that have not ended and are not being cancelled, at most 200. */
export async function readOpenChildren(db: Executor, parents: readonly string[]): Promise<string[]> {
  const { rows } = await db.run<{ id: string }>(READ_OPEN_CHILDREN, [parents]);
  return rows.map(({ id }) => rawId(id));
}

export const CHILDREN_CANCELLED: Statement = {
  name: 'children_cancelled',
  priority: 'hot',
  text: `UPDATE execution x SET cancel_children = false FROM unnest($1::uuid[]) AS p (id)
WHERE x.id = p.id AND x.cancel_children AND NOT EXISTS (
  SELECT FROM execution c WHERE c.parent_id = p.id AND c.finished_state IS NULL AND c.state <> 'CANCELLING')`,
};

/** Forgets those of these executions that have no open children any more. A cancelled execution gets no new ones. */
export async function markChildrenCancelled(db: Executor, parents: readonly string[]): Promise<void> {
  await db.run(CHILDREN_CANCELLED, [parents]);
}
