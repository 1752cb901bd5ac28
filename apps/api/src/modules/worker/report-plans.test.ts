import { explain, explainGeneric, fillExecutions, fillSteps, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import {
  appendEvents,
  claimExecutions,
  endExecutions,
  readFences,
  readHeldClaims,
  readInput,
  recordLateWrites,
  startExecutions,
} from './report-store.ts';
import { callExecutions, recordSteps } from './step-store.ts';
import { suspendExecutions } from './suspend-store.ts';

/** Plans of the statements that every execution runs: executions are found by primary key alone, also over dead rows (data-model). */
let database: Awaited<ReturnType<typeof testDatabase>>;

beforeAll(async () => {
  database = await testDatabase('postgres');
  await database.query('ALTER TABLE execution SET (autovacuum_enabled = false)');
  await fillExecutions(database, 20_000);
  await fillSteps(database, 20_000);
  await database.query('ANALYZE execution');
});
afterAll(() => database.drop());

const id = '01930000000070008000000000000000';
const holder = { workerId: 1, instance: 'i' };
const held = { id, generation: 1 };

const statements: Record<string, (db: Executor) => Promise<unknown>> = {
  claim: (db) => claimExecutions(db, holder, [{ ...held, started: true }]),
  'held claims': (db) => readHeldClaims(db, holder, [held]),
  'read input': (db) => readInput(db, id),
  start: (db) => startExecutions(db, holder, [held]),
  end: (db) => endExecutions(db, holder, [{ ...held, state: 'COMPLETED', output: '1', error: null }], 0),
  events: (db) => appendEvents(db, holder, 'w', [{ ...held, eventId: id, type: 'note', data: '1' }]),
  fences: (db) => readFences(db, 1, [id]),
  steps: (db) =>
    recordSteps(db, holder, [
      { ...held, position: 0, kind: 'TASK', name: 'a', done: true, result: '1', error: null, order: 0, delayMs: null },
    ]),
  call: (db) =>
    callExecutions(
      db,
      holder,
      [{ ...held, position: 1, name: 'a', child: id, versionId: 1, input: '1', routingInput: null, priority: null }],
      0,
    ),
  suspend: (db) => suspendExecutions(db, holder, [{ ...held, positions: [1] }], 0),
  'late writes': (db) => recordLateWrites(db, 'w', [{ ...held, eventId: id, wrote: 'COMPLETED' }]),
};

/** The statement that a store function sends, with its values. */
async function captured(
  run: (db: Executor) => Promise<unknown>,
): Promise<{ statement: Statement; values: readonly unknown[] }> {
  let sent: { statement: Statement; values: readonly unknown[] } | null = null;
  await run({
    run: (statement, values) => {
      sent = { statement, values };
      return Promise.resolve({ rows: [], rowCount: 0 });
    },
  });
  if (sent === null) throw new Error('nothing was sent');
  return sent;
}

async function expectPrimaryKeyOnly(run: (db: Executor) => Promise<unknown>): Promise<void> {
  const { statement, values } = await captured(run);
  for (const plan of [
    await explainGeneric(database, statement.text, values),
    await explain(database, statement.text, values),
  ]) {
    const reads = plan.on('execution').filter((node) => node['Node Type'] !== 'ModifyTable');
    expect(reads.length, plan.text).toBeGreaterThan(0);
    expect(
      reads.map((node) => node['Index Name']),
      plan.text,
    ).toEqual(reads.map(() => 'execution_pkey'));
    for (const node of plan.on('step').filter((one) => one['Node Type'] !== 'ModifyTable')) {
      expect(node['Index Name'], plan.text).toBe('step_pkey');
    }
  }
}

describe('the plan of', () => {
  it.each(Object.keys(statements))('%s reads executions by primary key', async (name) => {
    await expectPrimaryKeyOnly(statements[name] as (db: Executor) => Promise<unknown>);
  });

  it('each stays so over dead rows: every row updated ten times, no VACUUM between', async () => {
    for (let round = 0; round < 10; round++) await database.query('UPDATE execution SET revision = revision + 1');
    for (const run of Object.values(statements)) await expectPrimaryKeyOnly(run);
  });
});
