// What the sweeps over parked and paused executions cost as more and more of them wait: a thousand, then a million, in the same run on PostgreSQL.
// `npx tsx bench/waiting.ts [executions]`
import process from 'node:process';
import { testDatabase } from '@muster/db/testing';
import { READ_EXPIRED } from '../apps/api/src/dispatch/statements/expire.ts';
import { READ_DUE, WAKE_DUE } from '../apps/api/src/dispatch/statements/waits.ts';

const few = 1_000;
const most = Number(process.argv[2] ?? 1_000_000);
const awake = 4_000;
const repetitions = 50;

const database = await testDatabase('postgres', { requestTimeoutMs: null });
const run = (text: string, values: readonly unknown[] = []) => database.query(text, values, { priority: 'background' });

/** So many that wait, half of them parked with a deadline, half paused for a timer, all of it an hour and more ahead. */
async function fill(count: number): Promise<void> {
  const half = Math.floor(count / 2);
  await run(
    `INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by, state, queued, parked, parked_reason, park_deadline)
     SELECT uuid_v7_at(now()), now(), now(), now(), 1, 'bench', 'PENDING', true, true, 'nobody', now() + n * interval '1 s' + interval '1 h'
     FROM generate_series(1, $1::int) n`,
    [half],
  );
  await run(
    `WITH x AS (
       INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by, state, queued, waiting, waiting_position, awaited, wake_at, step_count)
       SELECT uuid_v7_at(now()), now(), now(), now(), 1, 'bench', 'PAUSED', false, 'TIMER', 0, '{0}', now() + n * interval '1 s' + interval '1 h', 1
       FROM generate_series(1, $1::int) n RETURNING id, wake_at)
     INSERT INTO step (execution_id, position, generation, kind, name, done, wake_at) SELECT id, 0, 1, 'TIMER', 'sleep', false, wake_at FROM x`,
    [half],
  );
  await run('ANALYZE execution');
  await run('ANALYZE step');
}

/** Median milliseconds of a sweep that finds nothing to do. */
async function idle(text: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < repetitions; i += 1) {
    const begun = performance.now();
    await run(text);
    times.push(performance.now() - begun);
  }
  return times.toSorted((a, b) => a - b)[repetitions >> 1] ?? 0;
}

/** Milliseconds until the timers of so many have been swept, 200 a statement. */
async function wake(count: number): Promise<number> {
  await run(
    `UPDATE execution SET wake_at = now() - interval '1 s'
     WHERE id IN (SELECT id FROM execution WHERE wake_at IS NOT NULL ORDER BY wake_at LIMIT $1)`,
    [count],
  );
  await run(
    `UPDATE step SET wake_at = now() - interval '1 s' WHERE execution_id IN (SELECT id FROM execution WHERE wake_at < now())`,
  );
  const begun = performance.now();
  for (;;) {
    const { rows } = await database.query<{ id: string }>(READ_DUE.text, [], { priority: 'hot' });
    if (rows.length === 0) return performance.now() - begun;
    await run(WAKE_DUE.text, ['7', 'bench', rows.map(({ id }) => id), 0]);
  }
}

await run(`INSERT INTO workflow (namespace, name, created_by) VALUES ('bench', 'waits', 'bench')`);
await run(
  `INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 3, '\\x00', 'bench' FROM workflow`,
);
await run(`UPDATE leadership SET epoch = 7, holder = 'bench'`);
console.log('| waiting | look for expired park times | look for due timers | one timer woken, of 200 |');
console.log('|---|---|---|---|');
const sweeps: number[][] = [];
for (const count of [few, most]) {
  await fill(count);
  const woken = Math.min(awake, count / 4);
  const row = [await idle(READ_EXPIRED.text), await idle(READ_DUE.text), (await wake(woken)) / woken];
  sweeps.push(row);
  console.log(`| ${count.toLocaleString('en')} | ${row.map((ms) => `${ms.toFixed(2)} ms`).join(' | ')} |`);
}
const [small = [], large = []] = sweeps;
console.log(`| ratio | ${large.map((ms, i) => (ms / (small[i] ?? ms)).toFixed(1)).join(' | ')} |`);
await database.drop();
process.exit();
