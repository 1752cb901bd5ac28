import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findBroken } from './invariants.ts';
import { resumeAnswer, type Accepted } from './soak-load.ts';
import type { HandlerLine } from './soak-settings.ts';

let database: TestDatabase;
let db: Awaited<ReturnType<TestDatabase['direct']>>;
let home: string;

beforeAll(async () => {
  database = await testDatabase('postgres');
  db = await database.direct();
  home = mkdtempSync(path.join(tmpdir(), 'muster-journals-'));
});
afterAll(async () => {
  await db.end();
  await database.drop();
  rmSync(home, { recursive: true, force: true });
});

const uuid = (n: number): string => `01900000-0000-7000-8000-${String(n).padStart(12, '0')}`;
const id = (n: number): string => `ex_${uuid(n).replaceAll('-', '')}`;

/** An execution that has completed in its second generation, with the output of a `plain` one. */
async function completed(n: number, more: Record<string, string> = {}): Promise<Accepted> {
  const columns: Record<string, string> = {
    id: `'${uuid(n)}'`,
    created_at: "'2026-01-01T00:00:00Z'",
    queued_at: "'2026-01-01T00:00:00Z'",
    updated_at: "'2026-01-01T00:00:10Z'",
    version_id: '1',
    submitted_by: "'soak'",
    state: "'COMPLETED'",
    finished_state: "'COMPLETED'",
    queued: 'false',
    generation: '3',
    attempt: '2',
    worker_id: '1',
    worker_name: "'w-1'",
    instance: "'i'",
    scheduled_at: "'2026-01-01T00:00:05Z'",
    claimed_at: "'2026-01-01T00:00:06Z'",
    started_at: "'2026-01-01T00:00:06Z'",
    finished_at: "'2026-01-01T00:00:10Z'",
    scheduled_seq: '6',
    claimed_seq: '7',
    started_seq: '8',
    finished_seq: '9',
    event_seq: '9',
    output: `'${n}'`,
    ...more,
  };
  await db.query(`INSERT INTO execution (${Object.keys(columns)}) VALUES (${Object.values(columns)})`);
  await db.query(
    `INSERT INTO attempt (execution_id, scheduled_at, claimed_at, started_at, ended_at, generation, worker_id, scheduled_seq, claimed_seq, started_seq,
       ended_seq, number, outcome, worker_name, instance)
     VALUES ($1, '2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:02Z', '2026-01-01T00:00:04Z', 1, 2, 2, 3, 4, 5, 1, 'WORKER_LOST', 'w-2', 'j')`,
    [uuid(n)],
  );
  await db.query(
    `INSERT INTO step (execution_id, position, generation, kind, name, result) VALUES ($1, 0, 1, 'TASK', 'piece-0', '1')`,
    [uuid(n)],
  );
  return { id: id(n), flow: 'plain', input: { number: n, ms: 1 } };
}

const end = (n: number, generation = 3): HandlerLine => ({ did: 'end', execution: id(n), generation, worker: 'w-1' });

/** What is found to be broken, by its name. */
async function broken(accepted: readonly Accepted[], lines: readonly HandlerLine[]): Promise<string[]> {
  const journal = path.join(home, 'journal');
  // The last line is cut off, as a kill leaves it.
  writeFileSync(journal, `${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"did":"sta`);
  const findings = await findBroken(db, accepted, [journal]);
  return Object.keys(findings).filter((what) => findings[what]?.length !== 0);
}

async function fresh(): Promise<void> {
  await db.query('DELETE FROM execution');
  await db.query('DELETE FROM attempt');
  await db.query('DELETE FROM step');
}

test('a history in order is found whole', async () => {
  await fresh();
  expect(await broken([await completed(1)], [end(1)])).toEqual([]);
});

test.each<[string, () => Promise<[Accepted[], HandlerLine[]]>]>([
  [
    'everything accepted is there',
    async () => [
      [await completed(1), { ...(await completed(2)), id: id(3) }],
      [end(1), end(2)],
    ],
  ],
  [
    'everything has completed',
    async () => [[await completed(1, { state: "'FAILED'", finished_state: "'FAILED'" })], [end(1)]],
  ],
  ['nothing was accepted twice', async () => [[await completed(1)].slice(1), [end(1)]]],
  ['the sequence of each timeline is unbroken', async () => [[await completed(1, { scheduled_seq: '5' })], [end(1)]]],
  [
    'no two claims lived at the same time',
    async () => [[await completed(1, { claimed_at: "'2026-01-01T00:00:03Z'" })], [end(1)]],
  ],
  [
    'no recorded task ran again',
    async () => [
      [await completed(1)],
      [{ did: 'task', execution: id(1), generation: 3, worker: 'w-1', position: 0 }, end(1)],
    ],
  ],
  [
    'what has completed was run to its end by the worker that reported it',
    async () => [[await completed(1)], [end(1, 1)]],
  ],
  ['the outputs are right', async () => [[await completed(1, { output: `'${resumeAnswer}'` })], [end(1)]]],
])('%s: a breach of it is found', async (what, breach) => {
  await fresh();
  const [accepted, lines] = await breach();
  expect(await broken(accepted, lines)).toContain(what);
});

test('what is still on a worker is found', async () => {
  await fresh();
  const running = {
    state: "'RUNNING'",
    finished_state: 'NULL',
    live: 'true',
    finished_at: 'NULL',
    finished_seq: 'NULL',
  };
  expect(await broken([await completed(1, running)], [end(1)])).toEqual(
    expect.arrayContaining([
      'everything has ended',
      'everything has completed',
      'no load is left',
      'each has ended once',
    ]),
  );
});
