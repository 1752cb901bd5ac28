import type { JsonValue } from '@muster/core';
import { rawId } from '../../dispatch/ids.ts';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import type { EndError } from './report-service.ts';

export const STEP_KINDS = ['TASK', 'NOW', 'RANDOM', 'TIMER', 'RESUME', 'CALL'] as const;
export type StepKind = (typeof STEP_KINDS)[number];

/** What a claim's worker learns of a step. */
export interface RecordedStep {
  position: number;
  kind: StepKind;
  name: string;
  done: boolean;
  result: JsonValue;
  error: EndError | null;
  /** Raw UUID of a CALL's child. */
  child: string | null;
  /** Of a done step: its place among the results that reached the handler, as its worker counted. */
  order: number | null;
  /** Of a done step: the first generation whose handler sees it as done. */
  generation: number | null;
  /** Of an open TIMER. */
  remainingMs: number | null;
}

export interface StepPage {
  steps: RecordedStep[];
  /** Where to go on; null: that was all. */
  after: number | null;
}

const PAGE_ROWS = 500;
const PAGE_BYTES = 262_144;
/** Executions of one read: 4 MiB at most. */
const SLICE = 16;

/** Each page ends where it would grow beyond its bytes; one step is always in it, however large. */
const READ_STEPS: Statement = {
  name: 'read-steps',
  priority: 'hot',
  text: `SELECT g.id, s.position, s.kind, s.name, s.done, s.result::text AS result, s.error, s.child_id AS child, s.done_order AS "order",
  CASE WHEN s.done THEN s.generation END AS generation,
  CASE WHEN s.kind = 'TIMER' AND NOT s.done THEN greatest(0, extract(epoch FROM s.wake_at - clock_timestamp()) * 1000)::float8 END AS "remainingMs",
  s.place < s.found AS more
FROM unnest($1::uuid[], $2::int[]) AS g (id, after) CROSS JOIN LATERAL (
  SELECT p.*, sum(coalesce(octet_length(p.result::text), 0) + coalesce(octet_length(p.error::text), 0)) OVER w AS bytes,
    row_number() OVER w AS place, count(*) OVER () AS found
  FROM (SELECT * FROM step WHERE execution_id = g.id AND position > g.after ORDER BY position LIMIT ${PAGE_ROWS + 1}) p
  WINDOW w AS (ORDER BY p.position)
) s
WHERE s.place = 1 OR (s.bytes <= ${PAGE_BYTES} AND s.place <= ${PAGE_ROWS})
ORDER BY g.id, s.position`,
};

/** The recorded steps after a position, of each execution one page. Executions without any are left out. Ids are raw. */
export async function readSteps(
  db: Executor,
  wanted: readonly { id: string; after: number }[],
): Promise<Map<string, StepPage>> {
  const pages = new Map<string, StepPage>();
  for (let i = 0; i < wanted.length; i += SLICE) {
    const slice = wanted.slice(i, i + SLICE);
    const { rows } = await db.run<Omit<RecordedStep, 'result'> & { id: string; result: string | null; more: boolean }>(
      READ_STEPS,
      [slice.map((item) => item.id), slice.map((item) => item.after)],
    );
    for (const { id, result, more, child, ...row } of rows) {
      const key = rawId(id);
      const page = pages.get(key) ?? { steps: [], after: null };
      page.steps.push({
        ...row,
        result: result === null ? null : (JSON.parse(result) as JsonValue),
        child: child === null ? null : rawId(child),
      });
      page.after = more ? row.position : null;
      pages.set(key, page);
    }
  }
  return pages;
}
