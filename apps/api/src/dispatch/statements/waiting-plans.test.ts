import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RESUME } from '../../modules/execution/execution-store.ts';
import type { Statement } from './executor.ts';
import { READ_EXPIRED } from './expire.ts';
import { QUEUE_START, READ_QUEUE_IDS, READ_QUEUED_BY_IDS } from './queue-reads.ts';
import { HEAL_WAITS, READ_DUE, READ_WAITS, WAKE_DUE } from './waits.ts';

/** What waits must cost nothing: 50,000 parked executions with a deadline and 50,000 paused ones with a timer, none of them due. */
let database: TestDatabase;
let id: string;
const COUNT = 50_000;

beforeAll(async () => {
  database = await testDatabase('postgres', { requestTimeoutMs: null });
  await database.query(
    `INSERT INTO workflow (namespace, name, created_by) VALUES ('t', 'w', 't');
     INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 3, '\\x00', 't' FROM workflow;`,
  );
  await database.query(
    `INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by, state, queued, parked, parked_reason, park_deadline)
     SELECT uuid_v7_at(now()), now(), now(), now(), 1, 't', 'PENDING', true, true, 'nobody', now() + n * interval '1 s' + interval '1 h'
     FROM generate_series(1, $1) n`,
    [COUNT],
  );
  await database.query(
    `WITH x AS (
       INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by, state, queued, waiting, waiting_position, awaited, wake_at, step_count)
       SELECT uuid_v7_at(now()), now(), now(), now(), 1, 't', 'PAUSED', false, 'TIMER', 0, '{0}', now() + n * interval '1 s' + interval '1 h', 1
       FROM generate_series(1, $1) n RETURNING id, wake_at)
     INSERT INTO step (execution_id, position, generation, kind, name, done, wake_at) SELECT id, 0, 1, 'TIMER', 'sleep', false, wake_at FROM x`,
    [COUNT],
  );
  const client = await database.direct();
  await client.query('VACUUM (ANALYZE) execution');
  await client.query('VACUUM (ANALYZE) step');
  await client.end();
  const { rows } = await database.query<{ id: string }>(`SELECT id FROM execution WHERE state = 'PAUSED' LIMIT 1`);
  id = rows[0]?.id ?? '';
}, 300_000);
afterAll(() => database.drop());

interface Node {
  'Node Type': string;
  'Relation Name'?: string;
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
}

/** Pages that the statement touches, and whether it reads a table from end to end. It is rolled back. */
async function cost(statement: Statement, values: readonly unknown[]): Promise<{ pages: number; scans: string[] }> {
  const client = await database.direct();
  try {
    await client.query('BEGIN');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`,
      [...values],
    );
    await client.query('ROLLBACK');
    const root = rows[0]?.['QUERY PLAN'][0].Plan as Node;
    const text = JSON.stringify(root);
    const scans = [...text.matchAll(/"Node Type":"Seq Scan"[^{}]*?"Relation Name":"(\w+)"/g)].map(
      (match) => match[1] ?? '',
    );
    return { pages: root['Shared Hit Blocks'] + root['Shared Read Blocks'], scans };
  } finally {
    await client.end();
  }
}

describe('with a hundred thousand executions that wait', () => {
  const idle: [string, Statement, () => unknown[], number][] = [
    ['the sweep of park deadlines', READ_EXPIRED, () => [], 10],
    ['the sweep of timers', READ_DUE, () => [], 10],
    ['a look at the head of the queue', READ_QUEUE_IDS, () => [QUEUE_START.priority, QUEUE_START.id, 500], 600],
    ['one page of the walk through what waits', READ_WAITS, () => [QUEUE_START.id], 3_000],
    ['a look at what has become queued', READ_QUEUED_BY_IDS, () => [[id]], 20],
    ['a wake-up by time', WAKE_DUE, () => [7, 'me', [id], 0], 100],
    ['a healed wait', HEAL_WAITS, () => [7, 'me', [id], 0], 100],
    ['a resume', RESUME, () => [id, id, 'me', '1', 0, id, '::1', 'rq'], 100],
  ];
  it.each(idle)('%s touches a few pages and scans nothing', async (_what, statement, values, most) => {
    const { pages, scans } = await cost(statement, values());
    expect(scans).toEqual([]);
    expect(pages).toBeLessThanOrEqual(most);
  });
});
