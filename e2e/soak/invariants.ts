import { readFileSync } from 'node:fs';
import type { ClientBase } from 'pg';
import { type Accepted, resumeAnswer } from './soak-load.ts';
import type { HandlerLine } from './soak-settings.ts';

/** What must hold whatever died: each name, and the cases in which it does not. */
export type Findings = Record<string, string[]>;

/** Of rows that a query finds to be wrong, the first few. */
async function wrong(db: ClientBase, text: string): Promise<string[]> {
  const { rows } = await db.query<{ found: string }>(
    `SELECT found::text AS found FROM (${text}) AS f (found) LIMIT 20`,
  );
  return rows.map((row) => row.found);
}

/** Reads what the tables say after everything has ended, and holds the handlers' journals against it. */
export async function findBroken(db: ClientBase, accepted: readonly Accepted[], journals: string[]): Promise<Findings> {
  const lines = journals.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      // A process that was killed may leave half a line behind.
      .filter((line) => line.endsWith('}'))
      .map((line): HandlerLine => JSON.parse(line)),
  );
  return {
    'everything accepted is there': await missing(db, accepted),
    'everything has ended': await wrong(
      db,
      `SELECT x.id || ' ' || x.state FROM execution x WHERE x.finished_state IS NULL`,
    ),
    'everything has completed': await wrong(
      db,
      `SELECT x.id || ' ' || x.state || ' ' || coalesce(x.error::text, '') FROM execution x WHERE x.finished_state IS DISTINCT FROM 'COMPLETED'`,
    ),
    'nothing was accepted twice': await twice(db, accepted),
    'each has ended once': await wrong(
      db,
      `SELECT x.id || ' ' || count(t.type) FROM execution x
       LEFT JOIN execution_timeline t ON t.execution_id = x.id AND t.type IN ('COMPLETED', 'FAILED', 'CANCELLED')
       GROUP BY x.id HAVING count(t.type) <> 1`,
    ),
    'the sequence of each timeline is unbroken': await wrong(
      db,
      `SELECT t.execution_id || ': ' || string_agg(t.sequence || ' ' || t.type, ', ' ORDER BY t.sequence) FROM execution_timeline t
       GROUP BY t.execution_id HAVING count(DISTINCT t.sequence) <> count(*)`,
    ),
    'no two claims lived at the same time': await wrong(
      db,
      `SELECT c.execution_id || ': generation ' || c.generation || ' was claimed at ' || c.claimed_at || ', the one before ended at ' || c.before
       FROM (
         SELECT a.execution_id, a.generation, a.claimed_at, lag(a.ended_at) OVER (PARTITION BY a.execution_id ORDER BY a.generation) AS before
         FROM (
           SELECT execution_id, generation, claimed_at, ended_at FROM attempt
           UNION ALL SELECT id, generation, claimed_at, finished_at FROM execution
         ) a
       ) c WHERE c.claimed_at < c.before`,
    ),
    'no load is left': await wrong(db, `SELECT x.id || ' on ' || x.worker_name FROM execution x WHERE x.live`),
    'no recorded task ran again': await ranAgain(db, lines),
    'what has completed was run to its end by the worker that reported it': await endedBy(db, lines),
    'the outputs are right': await wrongOutputs(db, accepted),
  };
}

async function missing(db: ClientBase, accepted: readonly Accepted[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `SELECT i.id FROM unnest($1::text[]) AS i (id) LEFT JOIN execution x ON x.id = substr(i.id, 4)::uuid WHERE x.id IS NULL LIMIT 20`,
    [accepted.map(({ id }) => id)],
  );
  return rows.map((row) => row.id);
}

/** Every execution without a parent was accepted by somebody, once. */
async function twice(db: ClientBase, accepted: readonly Accepted[]): Promise<string[]> {
  const { rows } = await db.query<{ n: number }>('SELECT count(*)::int AS n FROM execution WHERE parent_id IS NULL');
  const ids = new Set(accepted.map(({ id }) => id)).size;
  const n = rows[0]?.n ?? 0;
  return n === ids && ids === accepted.length ? [] : [`${n} executions, ${accepted.length} accepted as ${ids}`];
}

/** A task that was recorded under one generation must not be run by a later one. */
async function ranAgain(db: ClientBase, lines: readonly HandlerLine[]): Promise<string[]> {
  const ran = lines.filter((line) => line.did === 'task');
  const { rows } = await db.query<{ found: string }>(
    `SELECT r.id || ' position ' || r.position || ': recorded by generation ' || s.generation || ', run by ' || r.generation AS found
     FROM unnest($1::text[], $2::int[], $3::int[]) AS r (id, position, generation)
     JOIN step s ON s.execution_id = substr(r.id, 4)::uuid AND s.position = r.position
     WHERE s.kind = 'TASK' AND s.done AND s.generation < r.generation LIMIT 20`,
    [ran.map((line) => line.execution), ran.map((line) => line.position), ran.map((line) => line.generation)],
  );
  return rows.map((row) => row.found);
}

/** The end that was taken is one that a handler has come to, under that generation. */
async function endedBy(db: ClientBase, lines: readonly HandlerLine[]): Promise<string[]> {
  const ends = new Set(
    lines.filter((line) => line.did === 'end').map((line) => `${line.execution} ${line.generation} ${line.worker}`),
  );
  const { rows } = await db.query<{ id: string; generation: number; worker: string }>(
    `SELECT 'ex_' || replace(id::text, '-', '') AS id, generation, worker_name AS worker FROM execution WHERE finished_state = 'COMPLETED'`,
  );
  return rows
    .map(({ id, generation, worker }) => `${id} ${generation} ${worker}`)
    .filter((end) => !ends.has(end))
    .slice(0, 20);
}

const outputs: Record<Accepted['flow'], (n: number) => unknown> = {
  plain: (n) => n,
  tasks: (n) => [n, n + 1, n + 2],
  paused: (n) => [n, resumeAnswer, n + 2],
  parent: (n) => [n, [n + 1, n + 2, n + 3]],
  napper: (n) => n,
};

async function wrongOutputs(db: ClientBase, accepted: readonly Accepted[]): Promise<string[]> {
  const { rows } = await db.query<{ id: string; output: unknown }>(
    `SELECT 'ex_' || replace(id::text, '-', '') AS id, output FROM execution WHERE finished_state = 'COMPLETED' AND parent_id IS NULL`,
  );
  const byId = new Map(rows.map(({ id, output }) => [id, JSON.stringify(output)]));
  return accepted
    .filter(({ id, flow, input }) => byId.has(id) && byId.get(id) !== JSON.stringify(outputs[flow](input.number)))
    .map(({ id, flow, input }) => `${id} ${flow} ${input.number}: ${byId.get(id)}`)
    .slice(0, 20);
}
