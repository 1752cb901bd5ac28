import { randomUUID } from 'node:crypto';
import { type TestDatabase, testDatabase } from '@muster/db/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../../dispatch/testing/harness.ts';
import { rawId } from '../../dispatch/ids.ts';
import { cancelExecutions } from '../../dispatch/statements/cancel.ts';
import { createExecutor, type Executor } from '../../dispatch/statements/executor.ts';
import { resumeExecution } from '../execution/execution-store.ts';
import { endExecutions } from './report-store.ts';
import { callExecutions, recordSteps } from './step-store.ts';
import { suspendExecutions } from './suspend-store.ts';

/**
 * What happens when a suspension and that which it waits for meet: a third session holds the parent's row, both statements begin (and so take their
 * snapshot) and queue for it, then it is let go. Only PostgreSQL has more than one session.
 */
let database: TestDatabase;
let db: Executor;
let blocker: Client;
let versionId: number;
const holder = { workerId: 1, instance: 'i' };

beforeAll(async () => {
  database = await testDatabase('postgres');
  db = createExecutor(database);
  blocker = await database.direct();
  const { rows } = await database.query<{ id: number }>(
    `WITH w AS (INSERT INTO workflow (namespace, name, created_by) VALUES ('test', 'race', 'test') RETURNING id)
     INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 3, '\\x00', 'test' FROM w RETURNING id`,
  );
  versionId = rows[0]?.id ?? 0;
});
afterAll(async () => {
  await blocker.end();
  await database.drop();
});

async function running(id = rawId(database.uuidv7())): Promise<{ id: string; generation: number }> {
  await database.query(
    `INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by, state, queued, live, worker_id, worker_name, instance,
       generation, attempt, scheduled_at, claimed_at, scheduled_seq, claimed_seq, event_seq)
     VALUES ($1, now(), now(), now(), $2, 't', 'RUNNING', false, true, 1, 'w', 'i', 1, 1, now(), now(), 2, 3, 3)
     ON CONFLICT (id) DO UPDATE SET state = 'RUNNING', queued = false, live = true, worker_id = 1, worker_name = 'w', instance = 'i', generation = 1`,
    [id, versionId],
  );
  return { id, generation: 1 };
}

async function withChild(): Promise<{
  parent: { id: string; generation: number };
  child: { id: string; generation: number };
}> {
  const parent = await running();
  const child = rawId(database.uuidv7());
  const call = { ...parent, position: 0, name: 'c', child, versionId, input: null, routingInput: null, priority: null };
  expect(await callExecutions(db, holder, [call], 0)).toEqual([{ held: true, fits: true, written: true }]);
  return { parent, child: await running(child) };
}

/** Runs both while the row is locked, the first ahead of the second. */
async function meet<A, B>(id: string, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  await blocker.query('BEGIN');
  await blocker.query('SELECT FROM execution WHERE id = $1 FOR UPDATE', [id]);
  const waiting = async (count: number): Promise<boolean> => {
    const { rows } = await database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows[0]?.n === count;
  };
  const one = first();
  await eventually(() => waiting(1));
  const two = second();
  await eventually(() => waiting(2));
  await blocker.query('COMMIT');
  return Promise.all([one, two]);
}

async function stateOf(id: string): Promise<unknown> {
  const { rows } = await database.query<{ state: string }>('SELECT state FROM execution WHERE id = $1', [id]);
  return rows[0]?.state;
}

async function stepOf(id: string, position = 0) {
  const { rows } = await database.query(
    'SELECT done, result, error, generation FROM step WHERE execution_id = $1 AND position = $2',
    [id, position],
  );
  return rows[0];
}

const suspending = (held: { id: string; generation: number }) => () =>
  suspendExecutions(db, holder, [{ ...held, positions: [0] }], 0);

describe('a child ends', () => {
  it('just before its parent is suspended, after the suspension has read the steps: the parent goes on at once', async () => {
    const { parent, child } = await withChild();
    const end = () => endExecutions(db, holder, [{ ...child, state: 'COMPLETED', output: '7', error: null }], 0);
    const [, { moved }] = await meet(parent.id, end, suspending(parent));
    expect(moved).toMatchObject([{ id: parent.id, state: 'RESUMING' }]);
    expect(await stepOf(parent.id)).toEqual({ done: true, result: 7, error: null, generation: 2 });
  });

  it('after it has looked at a parent that is being suspended: the parent is woken', async () => {
    const { parent, child } = await withChild();
    const end = () => endExecutions(db, holder, [{ ...child, state: 'COMPLETED', output: '7', error: null }], 0);
    const [{ moved }, ended] = await meet(parent.id, suspending(parent), end);
    expect(moved).toMatchObject([{ state: 'PAUSED' }]);
    expect(ended).toMatchObject([{ id: child.id, wokenId: expect.any(String) as string }]);
    expect(await stateOf(parent.id)).toBe('RESUMING');
    expect(await stepOf(parent.id)).toEqual({ done: true, result: 7, error: null, generation: 2 });
  });

  it('is cancelled in that moment: the parent is woken all the same', async () => {
    const { parent, child } = await withChild();
    await database.query(
      `UPDATE execution SET state = 'PENDING', queued = true, live = false, worker_id = NULL WHERE id = $1`,
      [child.id],
    );
    const cancel = () => cancelExecutions(db, [{ id: child.id, eventId: database.uuidv7(), by: 't' }], 0);
    await meet(parent.id, suspending(parent), cancel);
    expect(await stateOf(parent.id)).toBe('RESUMING');
    expect(await stepOf(parent.id)).toMatchObject({ done: true, error: { type: 'CancelledError' } });
  });

  it('in one statement with its parent: neither is woken, both have ended', async () => {
    const { parent, child } = await withChild();
    const end = (held: { id: string; generation: number }) => ({
      ...held,
      state: 'COMPLETED' as const,
      output: '1',
      error: null,
    });
    const rows = await endExecutions(db, holder, [end(parent), end(child)], 0);
    expect(rows.map((row) => row.wokenId)).toEqual([null, null]);
    expect([await stateOf(parent.id), await stateOf(child.id)]).toEqual(['COMPLETED', 'COMPLETED']);
  });
});

describe('two children that end at once', () => {
  it('wake their parent once, with both results', async () => {
    const { parent, child } = await withChild();
    const second = rawId(database.uuidv7());
    const call = {
      ...parent,
      position: 1,
      name: 'c',
      child: second,
      versionId,
      input: null,
      routingInput: null,
      priority: null,
    };
    await callExecutions(db, holder, [call], 0);
    const other = await running(second);
    await suspendExecutions(db, holder, [{ ...parent, positions: [0, 1] }], 0);
    const end = (held: { id: string; generation: number }, output: string) => () =>
      endExecutions(db, holder, [{ ...held, state: 'COMPLETED', output, error: null }], 0);
    const [a, b] = await meet(parent.id, end(child, '1'), end(other, '2'));
    expect([...a, ...b].filter((row) => row.wokenId !== null)).toHaveLength(1);
    expect([await stepOf(parent.id, 0), await stepOf(parent.id, 1)]).toMatchObject([{ result: 1 }, { result: 2 }]);
  });
});

describe('two resumes at once', () => {
  it('give the handler one of the inputs, and the other caller is told', async () => {
    const parent = await running();
    const open = {
      position: 0,
      kind: 'RESUME',
      name: 'p',
      done: false,
      result: null,
      error: null,
      order: null,
      delayMs: null,
    } as const;
    await recordSteps(db, holder, [{ ...parent, ...open }]);
    await suspendExecutions(db, holder, [{ ...parent, positions: [0] }], 0);
    const resume = (input: string) => () =>
      resumeExecution(db, { id: parent.id, eventId: randomUUID(), by: 't', input, parkTtlSeconds: 0, note: null });
    const [a, b] = await meet(parent.id, resume('1'), resume('2'));
    expect([a === null, b === null]).toEqual([false, true]);
    expect(await stepOf(parent.id)).toMatchObject({ done: true, result: 1 });
  });
});

describe('a step that is reported twice at once', () => {
  it('is recorded once and counted once', async () => {
    const held = await running();
    const item = {
      position: 0,
      kind: 'TASK',
      name: 't',
      done: true,
      result: '[1]',
      error: null,
      order: 0,
      delayMs: null,
    } as const;
    const record = () => recordSteps(db, holder, [{ ...held, ...item }]);
    const [a, b] = await meet(held.id, record, record);
    expect([a[0]?.written, b[0]?.written]).toEqual([true, false]);
    const { rows } = await database.query('SELECT step_count, step_bytes FROM execution WHERE id = $1', [held.id]);
    expect(rows).toEqual([{ step_count: 1, step_bytes: 3 }]);
  });
});
