import type { TestDatabase } from '@muster/db/testing';
import { rawId } from '../../../dispatch/ids.ts';

export interface TestEntry {
  actor?: string;
  action?: string;
  target?: string;
  data?: unknown;
  /** ms. */
  at?: number;
}

/** Writes an entry as a service would; answers its raw id. */
export async function writeEntry(database: TestDatabase, entry: TestEntry = {}): Promise<string> {
  const id = rawId(database.uuidv7(entry.at));
  await database.query(
    `INSERT INTO audit (id, at, actor, action, target, address, request_id, data) VALUES ($1, $2, $3, $4, $5, '192.0.2.1', 'rq', $6)`,
    [
      id,
      new Date(Number.parseInt(id.slice(0, 12), 16)),
      entry.actor ?? 'anna',
      entry.action ?? 'deployment.update',
      entry.target ?? 'deployment:chat',
      JSON.stringify(entry.data ?? { before: { weight: 1 }, after: { weight: 2 } }),
    ],
  );
  return id;
}
