import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explain, explainGeneric } from './testing/explain.ts';
import { type Filled, fillExecutions } from './testing/fill-executions.ts';
import { type TestDatabase, testDatabase } from './testing/test-database.ts';

const ROWS = 20_000;

describe('plans over many executions', () => {
  let database: TestDatabase;
  let filled: Filled;
  beforeAll(async () => {
    database = await testDatabase('postgres');
    filled = await fillExecutions(database, ROWS);
  });
  afterAll(() => database.drop());

  it('are made on a mix of states', async () => {
    const { rows } = await database.query<{ state: string; n: number }>(
      'SELECT state, count(*) AS n FROM execution GROUP BY 1',
    );
    const counts = Object.fromEntries(rows.map((row) => [row.state, row.n]));
    expect(counts).toMatchObject({ PENDING: 60, RUNNING: 40, PAUSED: 20 });
    expect(rows.reduce((sum, row) => sum + row.n, 0)).toBe(ROWS);
    expect(filled.versionIds).toHaveLength(10);
  });

  it.each([
    ['the queue', 'WHERE queued ORDER BY priority DESC, id LIMIT 200', [], 'execution_queue'],
    ['what is on workers', 'WHERE live ORDER BY id', [], 'execution_live'],
    ['park deadlines', 'WHERE queued AND park_deadline <= now() LIMIT 500', [], 'execution_park_deadline'],
    ['timers', 'WHERE wake_at <= now() LIMIT 500', [], 'execution_wake'],
    ['paused ones', 'WHERE waiting IS NOT NULL ORDER BY id DESC LIMIT 51', [], 'execution_waiting'],
    ['one worker’s', 'WHERE worker_id = $1::int ORDER BY id DESC LIMIT 51', [3], 'execution_worker'],
    ['one session’s', 'WHERE session_key = $1::text ORDER BY id DESC LIMIT 51', ['session-1'], 'execution_session'],
    [
      'children',
      'WHERE parent_id = $1::uuid ORDER BY id LIMIT 51',
      ['01900000-0000-7000-8000-000000000000'],
      'execution_parent',
    ],
    [
      'all, newest first',
      'WHERE id < $1::uuid ORDER BY id DESC LIMIT 51',
      ['ffffffff-ffff-7fff-bfff-ffffffffffff'],
      'execution_pkey',
    ],
  ])('read %s by an index of their own, without sorting', async (_, where, values, index) => {
    const plan = await explainGeneric(database, `SELECT id FROM execution ${where}`, values);
    expect(plan.nodes.map((node) => node['Index Name']).filter(Boolean), plan.text).toEqual([index]);
    expect(
      plan.nodes.filter((node) => node['Node Type'].includes('Sort')),
      plan.text,
    ).toEqual([]);
  });

  // A plan that knows no values assumes an average filter and walks the primary key, which is wrong for a rare one: lists are never prepared by name.
  it.each([
    ['version', 'version_id = $1::int', 0, 'execution_version'],
    ['deployment', 'deployment_id = $1::int', 0, 'execution_deployment'],
    ['end', 'finished_state = $1::text', 'CANCELLED', 'execution_finished'],
  ])('read the few of one %s by its index, given the value', async (_, filter, value, index) => {
    const plan = await explain(database, `SELECT id FROM execution WHERE ${filter} ORDER BY id DESC LIMIT 51`, [value]);
    expect(plan.nodes.map((node) => node['Index Name']).filter(Boolean), plan.text).toEqual([index]);
  });

  it('keep a guarded update on its primary key, and the update HOT', async () => {
    const claim = `UPDATE execution SET state = 'RUNNING', claimed_at = now(), started_at = now(), revision = revision + 1
      FROM unnest($1::uuid[], $2::int[]) AS c(id, generation)
      WHERE execution.id = c.id AND execution.generation = c.generation AND state = 'SCHEDULED'`;
    const plan = await explainGeneric(database, claim, [['ffffffff-ffff-7fff-bfff-ffffffffffff'], [1]]);
    expect(
      plan.on('execution').map((node) => [node['Node Type'], node['Index Name']]),
      plan.text,
    ).toEqual([
      ['ModifyTable', undefined],
      ['Index Scan', 'execution_pkey'],
    ]);
    await database.query(
      `UPDATE execution SET state = 'CLAIMED', claimed_at = now(), revision = revision + 1 WHERE live AND state = 'RUNNING'`,
    );
    const hot = `SELECT n_tup_hot_upd AS hot, n_tup_upd AS all FROM pg_stat_user_tables WHERE relname = 'execution'`;
    await expect
      .poll(async () => (await database.query(hot)).rows, { timeout: 20_000 })
      .toEqual([{ hot: 40, all: 40 }]);
  });

  it('read the decisions of one execution from the partitions since it began', async () => {
    const text = 'SELECT id FROM decision WHERE execution_id = $1::uuid AND id >= $1::uuid ORDER BY id DESC LIMIT 1';
    const plan = await explain(database, text, [database.uuidv7(database.now() + 86_400_000)]);
    const tables = plan.on('decision').map((node) => node['Relation Name']);
    expect(tables, plan.text).not.toContain(
      `decision_${new Date(database.now()).toISOString().slice(0, 10).replaceAll('-', '')}`,
    );
    expect(
      plan.on('decision').every((node) => node['Node Type'] !== 'Seq Scan'),
      plan.text,
    ).toBe(true);
  });
});
