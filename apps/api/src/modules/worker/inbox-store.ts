import { rawId } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Holder } from './report-store.ts';

export interface OnWorkerRow {
  id: string;
  generation: number;
  state: string;
  versionId: number;
}

/** Everything that is live on this instance, oldest first. */
export async function readOnWorker(db: Executor, holder: Holder): Promise<OnWorkerRow[]> {
  const { rows } = await db.run<OnWorkerRow>(
    {
      name: 'inbox-read',
      priority: 'hot',
      text: `
SELECT id, generation, state, version_id AS "versionId" FROM execution
WHERE live AND worker_id = $1 AND instance = $2 ORDER BY id`,
    },
    [holder.workerId, holder.instance],
  );
  return rows.map((row) => ({ ...row, id: rawId(row.id) }));
}
