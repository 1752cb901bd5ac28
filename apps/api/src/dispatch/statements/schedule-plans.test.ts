import {
  explain,
  explainGeneric,
  fillExecutions,
  type Plan,
  type TestDatabase,
  testDatabase,
} from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from './executor.ts';
import {
  FIRE_SCHEDULE,
  PASS_SCHEDULE,
  READ_DUE_SCHEDULES,
  READ_NEXT_SCHEDULE,
  READ_OPEN_OF_SCHEDULE,
  READ_QUEUED_SCHEDULES,
  START_SCHEDULE,
} from './schedule-fire.ts';

/** Plans are PostgreSQL's: the embedded database runs the same statements, over the same indexes. */
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase('postgres');
  await fillExecutions(database, 20_000);
  // One in four paused, one in fifty with a run that waits; runs over the next five hours. Half of the executions are a schedule's.
  await database.query(
    `INSERT INTO schedule (name, kind, interval_s, anchor_at, workflow, created_by, paused, next_at, queued_at)
     SELECT 's-' || n, 'INTERVAL', 3600, now(), 't/t', 't', n % 4 = 0, CASE WHEN n % 4 <> 0 THEN now() + n * interval '1 s' END,
       CASE WHEN n % 50 = 1 THEN now() END
     FROM generate_series(1, 20000) n`,
    [],
    { priority: 'background' },
  );
  await database.query(
    `UPDATE execution SET schedule_id = 1 + ('x' || right(id::text, 3))::bit(12)::int % 100, schedule_run = created_at
     WHERE right(id::text, 1) < '8'`,
    [],
    { priority: 'background' },
  );
  await database.query('ANALYZE schedule');
  await database.query('ANALYZE execution');
}, 300_000);
afterAll(() => database.drop());

const id = '01900000000070008000000000000000';
const at = new Date('2026-11-30T08:00Z');
const start = [id, 1, 1, 'v', ['r'], 0];

const cases: [Statement, unknown[], { schedule: string[]; execution: string[] }][] = [
  [READ_DUE_SCHEDULES, [at, [1]], { schedule: ['schedule_next'], execution: [] }],
  [READ_NEXT_SCHEDULE, [[1]], { schedule: ['schedule_next'], execution: [] }],
  [READ_QUEUED_SCHEDULES, [0], { schedule: ['schedule_queued'], execution: ['execution_schedule_open'] }],
  [READ_OPEN_OF_SCHEDULE, [5, at], { schedule: [], execution: ['execution_schedule_open'] }],
  [
    FIRE_SCHEDULE,
    [1, 'me', ...start, 5, at, 1, at, 0, false, at],
    { schedule: ['schedule_pkey'], execution: ['execution_schedule_open'] },
  ],
  [PASS_SCHEDULE, [1, 'me', 5, 1, at, at, 0, false, '{}', at], { schedule: ['schedule_pkey'], execution: [] }],
  [START_SCHEDULE, [5, 1, ...start, 't'], { schedule: ['schedule_pkey'], execution: [] }],
];

function indexesOn(plan: Plan, table: string): string[] {
  const scans = plan.on(table).filter((node) => node['Node Type'].includes('Scan'));
  return [
    ...new Set(
      scans.map((node) => (node['Node Type'].startsWith('Index') ? (node['Index Name'] ?? '') : node['Node Type'])),
    ),
  ];
}

async function expectPlans(): Promise<void> {
  for (const [statement, values, wanted] of cases) {
    for (const plan of [
      await explainGeneric(database, statement.text, values),
      await explain(database, statement.text, values),
    ]) {
      expect(indexesOn(plan, 'schedule'), `${statement.name}\n${plan.text}`).toEqual(wanted.schedule);
      expect(indexesOn(plan, 'execution'), `${statement.name}\n${plan.text}`).toEqual(wanted.execution);
    }
  }
}

describe('the statements of schedules', () => {
  it(
    'find what is due by its index, and everything else by a key, among 20,000 schedules and 20,000 executions',
    expectPlans,
  );

  it('still do after every schedule has run ten times without a VACUUM', async () => {
    await database.query('ALTER TABLE schedule SET (autovacuum_enabled = false)');
    for (let i = 0; i < 10; i += 1) {
      await database.query(
        `UPDATE schedule SET next_at = next_at + interval '1 s', started_count = started_count + 1`,
        [],
        { priority: 'background' },
      );
    }
    await expectPlans();
  });
});
