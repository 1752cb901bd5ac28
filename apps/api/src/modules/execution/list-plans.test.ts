import { millionExecutions, type PlanNode, type TestDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExecutor, type Executor, type Statement } from '../../dispatch/statements/executor.ts';
import type { Page } from '../../graphql/connection.ts';
import { DecisionStore } from '../decision/decision-store.ts';
import type { DecisionFilter } from '../decision/stored-decision.ts';
import { type ExecutionQuery, MAX_WALK } from './execution-filter.ts';
import { ExecutionReader } from './execution-reader.ts';

/**
 * What lists read of 1,000,000 executions, measured by EXPLAIN ANALYZE on the statements that the stores really send. Plans are PostgreSQL's, and so is
 * the database here, whichever the run is about; the run on the embedded database leaves this file out.
 */
let database: TestDatabase;
let common: { version: number; deployment: number };
const LIMIT = 50;
const RARE = {
  version: 9_001,
  deployment: 9_002,
  worker: 9_003,
  session: 'rare',
  parent: `${'9'.repeat(12)}70008${'0'.repeat(15)}`,
};
const MIDDLE = 500_000;
let middle: string;

beforeAll(async () => {
  const { database: filledDatabase, filled } = await millionExecutions();
  database = filledDatabase;
  common = { version: filled.versionIds[0] as number, deployment: filled.deploymentId };
  // Rare values lie among the oldest rows, where a walk of the primary key would come last; the statistics know nothing of them.
  await database.query(
    `UPDATE execution SET version_id = $1, deployment_id = $2, worker_id = $3, session_key = $4, parent_id = $5::uuid
      WHERE id IN (SELECT id FROM execution ORDER BY id OFFSET 100 LIMIT 7)`,
    [RARE.version, RARE.deployment, RARE.worker, RARE.session, RARE.parent],
  );
  await database.query(
    'UPDATE execution SET parked = true, parked_reason = $1, parked_since = now() WHERE queued AND substr(id::text, 36) = $2',
    ['x', 'a'],
  );
  await database.query("UPDATE execution SET priority = 5 WHERE queued AND substr(id::text, 36) = 'b'");
  await database.query(
    `INSERT INTO decision (id, execution_id, wait_ms, duration_us, n, generation, version_id, winner, eligible, rejected, attempt, outcome, method)
      SELECT id, id, 1, 1, 1, 1, version_id, worker_id, 1, 0, 1, 'ASSIGNED', 'LEAST_LOADED' FROM execution ORDER BY id DESC LIMIT 200000`,
  );
  await database.query('ANALYZE decision');
  const { rows } = await database.query<{ id: string }>(
    'SELECT id::text AS id FROM execution ORDER BY id OFFSET $1 LIMIT 1',
    [MIDDLE],
  );
  middle = (rows[0]?.id ?? '').replaceAll('-', '');
}, 600_000);
afterAll(() => database.drop());

interface Reading {
  /** Rows of the table that were looked at, whether they fitted or not. */
  rows: number;
  /** What scans of the table went by. */
  by: Set<string>;
  plan: string;
}

/** Runs each statement and says what it read of a table; statements on other tables are left out. */
async function readings(table: string, work: (executor: Executor) => Promise<unknown>): Promise<Reading[]> {
  const sent: [Statement, readonly unknown[]][] = [];
  const executor = createExecutor(database);
  await work({
    run: (statement, values) => {
      sent.push([statement, values]);
      return executor.run(statement, values);
    },
  });
  expect(sent.length).toBeGreaterThan(0);
  return Promise.all(sent.map(([statement, values]) => reading(table, statement, values)));
}

async function reading(table: string, statement: Statement, values: readonly unknown[]): Promise<Reading> {
  const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${statement.text}`,
    values,
  );
  const root = rows[0]?.['QUERY PLAN'][0].Plan as PlanNode;
  const result: Reading = { rows: 0, by: new Set(), plan: `${statement.text}\n${JSON.stringify(root, null, 1)}` };
  const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
  const visit = (node: PlanNode, above: PlanNode | null): void => {
    const own = (node['Relation Name'] ?? '').replace(/_(?:\d{8}|default)$/, '') === table;
    const bitmap = node['Node Type'] === 'Bitmap Index Scan' && !own && above?.['Relation Name'] === table;
    if ((own && node['Node Type'] !== 'Bitmap Heap Scan') || bitmap) {
      const each =
        number(node['Actual Rows']) +
        number(node['Rows Removed by Filter']) +
        number(node['Rows Removed by Index Recheck']);
      result.rows += each * number(node['Actual Loops']);
      if (each * number(node['Actual Loops']) > 0) result.by.add(node['Index Name'] ?? node['Node Type']);
    }
    for (const child of node.Plans ?? []) visit(child, node);
  };
  visit(root, null);
  return result;
}

const pages = (): [string, Page][] => [
  ['the first page', { limit: LIMIT, backward: false, after: null, before: null }],
  ['a page from the middle', { limit: LIMIT, backward: false, after: [middle], before: null }],
  ['the last page', { limit: LIMIT, backward: true, after: null, before: null }],
  ['the page before the middle', { limit: LIMIT, backward: true, after: null, before: [middle] }],
];

/** A filter that one index answers, and that index. */
const driven: [string, () => ExecutionQuery, string][] = [
  ['no filter', () => ({}), 'execution_pkey'],
  ['a version of many', () => ({ versionIds: [common.version] }), 'execution_version'],
  ['a rare version', () => ({ versionIds: [RARE.version] }), 'execution_version'],
  [
    'a workflow of 30 versions',
    () => ({ versionIds: Array.from({ length: 30 }, (_, i) => common.version + i) }),
    'execution_version',
  ],
  ['a deployment of many', () => ({ deploymentId: common.deployment }), 'execution_deployment'],
  ['a rare deployment', () => ({ deploymentId: RARE.deployment }), 'execution_deployment'],
  ['a worker of many', () => ({ workerIds: [7] }), 'execution_worker'],
  ['a rare worker', () => ({ workerIds: [RARE.worker] }), 'execution_worker'],
  ['a role of 30 workers', () => ({ workerIds: Array.from({ length: 30 }, (_, i) => i + 1) }), 'execution_worker'],
  ['a session key', () => ({ sessionKey: 'session-7' }), 'execution_session'],
  ['a rare session key', () => ({ sessionKey: RARE.session }), 'execution_session'],
  ['a search for a session key', () => ({ search: { sessionKey: RARE.session } }), 'execution_session'],
  ['a parent of many', () => ({ parentId: '01900000000070008000000000000000' }), 'execution_parent'],
  ['a rare parent', () => ({ parentId: RARE.parent }), 'execution_parent'],
  ['FAILED', () => ({ states: ['FAILED'] }), 'execution_finished'],
  ['COMPLETED and FAILED', () => ({ states: ['COMPLETED', 'FAILED'] }), 'execution_finished'],
  ['what waits', () => ({ states: ['PENDING', 'RESUMING'] }), 'execution_queue'],
  ['what is live', () => ({ states: ['SCHEDULED', 'CLAIMED', 'RUNNING', 'CANCELLING'] }), 'execution_live'],
  ['what is paused', () => ({ states: ['PAUSED'] }), 'execution_waiting'],
];

/** A filter that an index answers in part, or none: its rows are walked. */
const walked: [string, () => ExecutionQuery][] = [
  ['parked', () => ({ parked: true })],
  ['one of the live states', () => ({ states: ['CLAIMED'] })],
  ['what fails of a version', () => ({ versionIds: [common.version], states: ['FAILED'] })],
  ['a binding that nothing has', () => ({ requiredWorker: 'nobody' })],
  ['a variant that nothing has', () => ({ variant: 'nothing' })],
  [
    'a variant that nothing has, of many versions',
    () => ({ versionIds: Array.from({ length: 30 }, (_, i) => common.version + i), variant: 'nothing' }),
  ],
  [
    'a variant that nothing has, of many workers',
    () => ({ workerIds: Array.from({ length: 30 }, (_, i) => i + 1), variant: 'nothing' }),
  ],
  ['a variant that nothing has, in two states', () => ({ states: ['COMPLETED', 'FAILED'], variant: 'nothing' })],
  ['a rare worker in a state', () => ({ workerIds: [RARE.worker], states: ['CANCELLED'] })],
];

describe('a list of 1,000,000 executions', () => {
  it.each(driven)('by %s goes by its index and stops at the limit', async (_what, query, index) => {
    for (const [what, page] of pages()) {
      for (const { rows, by, plan } of await readings('execution', (db) =>
        new ExecutionReader(db).page(query(), page),
      )) {
        const message = `${what}: ${rows} rows by ${[...by].join(', ')}\n${plan}`;
        expect(
          [...by].filter((used) => used !== index && used !== 'execution_pkey'),
          message,
        ).toEqual([]);
        // The index, then the rows of the page by their key; several branches each see one row beyond what is taken of them.
        expect(rows, message).toBeLessThanOrEqual(2 * (LIMIT + 1) + 100);
      }
    }
  });

  it.each(walked)('by %s walks at most 20,000 rows', async (_what, query) => {
    for (const [what, page] of pages()) {
      const all = await readings('execution', (db) => new ExecutionReader(db).page(query(), page));
      const plans = all.map(({ rows, by, plan }) => `${rows} rows by ${[...by].join(', ')}\n${plan}`).join('\n');
      for (const { by } of all) expect([...by], `${what}: ${plans}`).not.toContain('Seq Scan');
      // Each walked row is read once by the index and once by its key.
      for (const { rows } of all) expect(rows, `${what}: ${plans}`).toBeLessThanOrEqual(2 * MAX_WALK + 100);
    }
  });

  it('counts at most 10,001 by an index, and 20,000 where rows are walked', async () => {
    for (const [what, query] of [...driven, ...walked]) {
      for (const { rows, by, plan } of await readings('execution', (db) => new ExecutionReader(db).count(query()))) {
        expect([...by], `${what}\n${plan}`).not.toContain('Seq Scan');
        expect(rows, `${what}: ${rows}\n${plan}`).toBeLessThanOrEqual(2 * MAX_WALK + 100);
      }
    }
  });

  it('counts states within the same bounds', async () => {
    const { rows } = await database.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM execution WHERE queued OR live OR waiting IS NOT NULL',
    );
    for (const { rows: read, by, plan } of await readings('execution', (db) =>
      new ExecutionReader(db).counts({}, false),
    )) {
      expect([...by], plan).not.toContain('Seq Scan');
      expect(read, plan).toBeLessThanOrEqual((rows[0]?.n ?? 0) + 3 * 10_001);
    }
    for (const [what, query] of [...driven, ...walked]) {
      for (const { rows: read, by, plan } of await readings('execution', (db) =>
        new ExecutionReader(db).counts(query(), true),
      )) {
        expect([...by], `${what}\n${plan}`).not.toContain('Seq Scan');
        expect(read, `${what}: ${read}\n${plan}`).toBeLessThanOrEqual(2 * MAX_WALK + 100);
      }
    }
  });
});

describe('a list of 200,000 decisions', () => {
  const filters: [string, () => DecisionFilter, number][] = [
    ['no filter', () => ({}), 2 * LIMIT],
    ['an execution', () => ({ executionId: middle }), LIMIT],
    ['a winner that never won', () => ({ winner: 999_999 }), MAX_WALK + 1],
    ['a version', () => ({ versionIds: [common.version] }), MAX_WALK + 1],
    ['outcomes that there are none of', () => ({ outcomes: ['PARKED'] }), MAX_WALK + 1],
    ['a candidate that never was one', () => ({ candidate: 999_999 }), MAX_WALK + 1],
    ['a rare deployment', () => ({ deploymentId: RARE.deployment }), MAX_WALK + 1],
  ];
  it.each(filters)('by %s walks by the key, within bounds', async (_what, filter, bound) => {
    for (const request of [{ limit: LIMIT }, { limit: LIMIT, backward: true }]) {
      for (const { rows, by, plan } of await readings('decision', (db) =>
        new DecisionStore(db).list(filter(), request),
      )) {
        expect([...by], plan).not.toContain('Seq Scan');
        expect(rows, plan).toBeLessThanOrEqual(bound);
      }
    }
    for (const { rows, plan } of await readings('decision', (db) => new DecisionStore(db).count(filter())))
      expect(rows, plan).toBeLessThanOrEqual(MAX_WALK + 1);
  });
});
