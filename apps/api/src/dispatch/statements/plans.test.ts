import {
  explain,
  explainGeneric,
  fillExecutions,
  fillSteps,
  type Plan,
  type TestDatabase,
  testDatabase,
} from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ASSIGN } from './assign.ts';
import { CANCEL } from './cancel.ts';
import type { Statement } from './executor.ts';
import { EXPIRE, READ_EXPIRED } from './expire.ts';
import { FAIL } from './fail.ts';
import { PARK } from './park.ts';
import { QUEUE_START, READ_LIVE, READ_QUEUE_IDS, READ_QUEUED_BY_IDS } from './queue-reads.ts';
import { RELEASE, RELEASE_BY_LEADER } from './release.ts';
import { SUBMIT } from './submit.ts';
import { RESUME } from '../../modules/execution/execution-store.ts';
import { READ_CANCELLED_PARENTS, READ_OPEN_CHILDREN } from './cancel-children.ts';
import { HEAL_WAITS, READ_DUE, WAKE_DUE } from './waits.ts';

/** Plans are PostgreSQL's: the embedded database runs the same statements, over the same indexes. */
let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase('postgres');
  await fillExecutions(database, 20_000);
  await fillSteps(database, 20_000);
}, 300_000);
afterAll(async () => {
  await database.drop();
});

const id = '01900000000070008000000000000000';
const frames = [[id], [1], [false], [Buffer.of(0)], ['{1}'], [Buffer.of(0)]];
const items = [
  [id],
  [0],
  [id],
  [id],
  [1],
  [1],
  [1],
  [1],
  [1],
  [false],
  ['X'],
  ['x'],
  ['x'],
  ['{0}'],
  ['{0}'],
  ['{0,0}'],
];
const released = [[id], [1], [1], ['i'], ['SILENT'], [0], ['x'], 0, 5, 60, [null], [null], 30, [null]];

/** Writes by id: `execution` is found by its primary key and nothing else. */
const byPrimaryKey: [Statement, unknown[]][] = [
  [ASSIGN, [1, 'me', ...frames, ...items, ['w'], ['i']]],
  [PARK, [1, 'me', ...frames, ...items]],
  [FAIL, [1, 'me', ...frames, ...items, ['{}'], 0]],
  [EXPIRE, [1, 'me', [id], [0], ['{}'], 0]],
  [RELEASE_BY_LEADER, [1, 'me', ...released]],
  [RELEASE, released],
  [CANCEL, [[id], [id], ['x'], 0, [id], ['::1'], ['rq']]],
  [READ_QUEUED_BY_IDS, [[id]]],
  [WAKE_DUE, [1, 'me', [id], 0]],
  [HEAL_WAITS, [1, 'me', [id], 0]],
  [RESUME, [id, id, 'me', '1', 0, id, '::1', 'rq']],
];

/** Reads of the queue and of what is live: one index each. */
const byIndex: [Statement, unknown[], string][] = [
  [READ_QUEUE_IDS, [QUEUE_START.priority, QUEUE_START.id, 500], 'execution_queue'],
  [READ_LIVE, [QUEUE_START.id, 10_000], 'execution_live'],
  [READ_EXPIRED, [], 'execution_park_deadline'],
  [READ_DUE, [], 'execution_wake'],
  [READ_CANCELLED_PARENTS, [], 'execution_cancel_children'],
  [READ_OPEN_CHILDREN, [[id]], 'execution_parent'],
];

function indexesOn(plan: Plan, table = 'execution'): string[] {
  const scans = plan.on(table).filter((node) => node['Node Type'].includes('Scan'));
  return [
    ...new Set(
      scans.map((node) => (node['Node Type'].startsWith('Index') ? (node['Index Name'] ?? '') : node['Node Type'])),
    ),
  ];
}

async function bothPlans(statement: Statement, values: unknown[]): Promise<Plan[]> {
  return [await explainGeneric(database, statement.text, values), await explain(database, statement.text, values)];
}

async function expectPlans(): Promise<void> {
  for (const [statement, values] of byPrimaryKey) {
    for (const plan of await bothPlans(statement, values)) {
      expect(indexesOn(plan), `${statement.name}\n${plan.text}`).toEqual(['execution_pkey']);
      for (const index of indexesOn(plan, 'step')) expect(index, `${statement.name}\n${plan.text}`).toBe('step_pkey');
    }
  }
  for (const [statement, values, index] of byIndex) {
    for (const plan of await bothPlans(statement, values)) {
      expect(indexesOn(plan), `${statement.name}\n${plan.text}`).toEqual([index]);
    }
  }
}

describe('the plans of the hot statements', () => {
  it('find executions by the primary key, and queues by their index, on 20,000 rows', expectPlans);

  it('still do after every row was updated ten times without a VACUUM', async () => {
    await database.query('ALTER TABLE execution SET (autovacuum_enabled = false)');
    for (let i = 0; i < 10; i += 1) {
      await database.query('UPDATE execution SET revision = revision + 1', [], { priority: 'background' });
    }
    await expectPlans();
  });

  it('read nothing of executions to insert one', async () => {
    const one = [
      [id],
      [1],
      [null],
      [null],
      ['{}'],
      [null],
      [null],
      [null],
      ['x'],
      [0],
      [null],
      [null],
      [null],
      [null],
      [null],
      [null],
      [null],
      [null],
      0,
    ];
    for (const plan of await bothPlans(SUBMIT, one)) {
      expect(plan.on('execution').filter((node) => node['Node Type'].includes('Scan'))).toEqual([]);
    }
  });
});
