import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidSource, type UuidSource } from '../ids.ts';
import { type AssignItem, assignExecutions } from './assign.ts';
import { cancelExecutions } from './cancel.ts';
import type { DecisionWrite } from './decision-rows.ts';
import { createExecutor, type Executor } from './executor.ts';
import { expireExecutions, readExpired } from './expire.ts';
import { failExecutions } from './fail.ts';
import { type LeaderSession, LeadershipLostError } from './fence.ts';
import { parkExecutions } from './park.ts';
import { readLive, readQueuedByIds } from './queue-reads.ts';
import { type ReleaseCause, releaseAssignments } from './release.ts';
import { deleteEnded } from './retention.ts';
import { submitExecutions } from './submit.ts';

let database: TestDatabase;
let db: Executor;
let ids: UuidSource;
let versionId: number;
let workerId: number;

const session: LeaderSession = { epoch: '7', holder: 'me' };
const settings = { parkTtlSeconds: 0, claimSeconds: 5, offlineSeconds: 60, cancelSeconds: 30 };

beforeAll(async () => {
  database = await testDatabase();
  db = createExecutor(database);
  ids = uuidSource(database);
  const version = await database.query<{ id: number }>(
    `WITH w AS (INSERT INTO workflow (namespace, name, created_by) VALUES ('t', 't', 't') RETURNING id)
     INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 2, '\\x00', 't' FROM w RETURNING id`,
  );
  versionId = version.rows[0]?.id ?? 0;
  const worker = await database.query<{ id: number }>(
    `INSERT INTO worker (name, instance, role, hostname, version, started_at) VALUES ('w-1', 'i-1', 'worker', 'h', '1', now()) RETURNING id`,
  );
  workerId = worker.rows[0]?.id ?? 0;
});
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM execution');
  await database.query(
    `UPDATE leadership SET epoch = 7, holder = 'me', expires_at = clock_timestamp() + interval '1 hour'`,
  );
});

async function submit(count = 1, more: { parkTtlSeconds?: number } = {}): Promise<string[]> {
  const rows = Array.from({ length: count }, () => ({
    id: ids.next(),
    versionId,
    deploymentId: null,
    variant: null,
    targetRoles: [],
    sessionKey: null,
    parentId: null,
    retryOf: null,
    submittedBy: 't',
    priority: 0,
    requiredWorker: null,
    preferredWorker: null,
    parkTtlSeconds: more.parkTtlSeconds ?? null,
    input: null,
    routingInput: null,
    idempotency: null,
  }));
  await submitExecutions(db, rows, 0);
  return rows.map((row) => row.id);
}

function decision(): DecisionWrite {
  return {
    decisionId: ids.next(),
    frameId: null,
    waitMs: 1,
    durationUs: 1,
    winner: null,
    eligible: 1,
    rejected: 0,
    blinded: false,
    method: 'LEAST_LOADED',
    reason: null,
    degraded: null,
    kept: [0],
    loads: [40_000],
    refs: [0, 0],
  };
}

function assignment(id: string, generation = 0): AssignItem {
  return { ...decision(), id, generation, winner: workerId, workerName: 'w-1', instance: 'i-1' };
}

async function one(id: string | undefined): Promise<Record<string, unknown>> {
  const { rows } = await database.query('SELECT * FROM execution WHERE id = $1', [id]);
  return rows[0] ?? {};
}

async function runningOn(id: string): Promise<void> {
  await assignExecutions(db, session, [], [assignment(id)]);
  await database.query(
    `UPDATE execution SET state = 'RUNNING', attempt = attempt + 1, claimed_at = clock_timestamp(), started_at = clock_timestamp(),
       claimed_seq = 3, started_seq = 4, event_seq = 4 WHERE id = $1`,
    [id],
  );
}

const release = (id: string, generation: number, cause: ReleaseCause) => ({
  id,
  generation,
  workerId,
  instance: 'i-1',
  cause,
  backoffMs: 500,
  message: 'worker w-1 was lost',
});

describe('the fence of the leader', () => {
  const statements: [string, (session: LeaderSession, id: string) => Promise<unknown>][] = [
    ['assign', (s, id) => assignExecutions(db, s, [], [assignment(id)])],
    ['park', (s, id) => parkExecutions(db, s, [], [{ ...decision(), id, generation: 0, reason: 'nobody' }])],
    [
      'fail',
      (s, id) =>
        failExecutions(db, s, [], [{ ...decision(), id, generation: 0, error: { type: 'X', message: 'x' } }], 0),
    ],
    ['expire', (s, id) => expireExecutions(db, s, [{ id, generation: 0, message: 'too long' }], 0)],
    ['release', (s, id) => releaseAssignments(db, s, [release(id, 1, 'RETURNED')], settings)],
    ['delete', (s) => deleteEnded(db, s, { after: '0'.repeat(32), before: 'f'.repeat(32), limit: 10 })],
  ];

  it.each(statements)('%s writes nothing for a wrong epoch or a wrong holder', async (name, run) => {
    const [id = ''] = await submit(1, { parkTtlSeconds: 1 });
    await database.query(`UPDATE execution SET park_deadline = clock_timestamp() - interval '1 s' WHERE id = $1`, [id]);
    if (name === 'release') await runningOn(id);
    if (name === 'delete') await cancelExecutions(db, [{ id, eventId: ids.next(), by: 't' }], 0);
    const before = await one(id);
    const decisions = async () => (await database.query('SELECT FROM decision WHERE execution_id = $1', [id])).rowCount;
    const decided = await decisions();
    for (const wrong of [
      { epoch: '6', holder: 'me' },
      { epoch: '8', holder: 'me' },
      { epoch: '7', holder: 'you' },
    ]) {
      await expect(run(wrong, id)).rejects.toThrow(LeadershipLostError);
    }
    expect(await one(id)).toEqual(before);
    expect(await decisions()).toBe(decided);
    await run(session, id);
    expect(await one(id)).not.toEqual(before);
  });
});

describe('assign', () => {
  it('assigns once, also where a batch names an execution twice, and explains it once (B6)', async () => {
    const [id = ''] = await submit();
    const rows = await assignExecutions(db, session, [], [assignment(id), assignment(id)]);
    expect(rows).toMatchObject([{ id, generation: 1, revision: 2 }]);
    expect((await database.query('SELECT FROM decision WHERE execution_id = $1', [id])).rowCount).toBe(1);
    expect(await assignExecutions(db, session, [], [assignment(id), assignment(id, 1)])).toEqual([]);
    expect(await one(id)).toMatchObject({
      state: 'SCHEDULED',
      generation: 1,
      worker_name: 'w-1',
      queued: false,
      live: true,
    });
  });

  it('gives an execution to one of two that race for it (B1, B2)', async () => {
    const [id = ''] = await submit();
    const results = await Promise.all(
      Array.from({ length: 8 }, () => assignExecutions(db, session, [], [assignment(id)])),
    );
    expect(results.filter((rows) => rows.length === 1)).toHaveLength(1);
    expect((await one(id)).generation).toBe(1);
  });

  it('keeps loads beyond 16 bits', async () => {
    const [id = ''] = await submit();
    await assignExecutions(db, session, [], [assignment(id)]);
    const { rows } = await database.query(
      'SELECT loads, n, generation, attempt FROM decision WHERE execution_id = $1',
      [id],
    );
    expect(rows).toEqual([{ loads: [40_000], n: 2, generation: 1, attempt: 1 }]);
  });
});

describe('park', () => {
  it('writes once per change of reason, and leaves the clock alone', async () => {
    const [id = ''] = await submit(1, { parkTtlSeconds: 60 });
    const deadline = (await one(id)).park_deadline;
    const item = (reason: string) => ({ ...decision(), id, generation: 0, reason });
    expect(await parkExecutions(db, session, [], [item('a')])).toHaveLength(1);
    const since = (await one(id)).parked_since;
    expect(await parkExecutions(db, session, [], [item('a')])).toHaveLength(0);
    expect(await parkExecutions(db, session, [], [item('b')])).toHaveLength(1);
    expect(await one(id)).toMatchObject({
      parked: true,
      parked_reason: 'b',
      parked_since: since,
      park_deadline: deadline,
    });
    expect((await database.query('SELECT FROM decision WHERE execution_id = $1', [id])).rowCount).toBe(2);
  });
});

describe('expire', () => {
  it('ends only what is overdue, by the run’s own time or the server’s, and never what waits for ever', async () => {
    const [own = ''] = await submit(1, { parkTtlSeconds: 60 });
    const [forever = ''] = await submit(1, { parkTtlSeconds: 0 });
    expect(await readExpired(db)).toEqual([]);
    await database.query(`UPDATE execution SET park_deadline = park_deadline - interval '61 s'`);
    expect(await readExpired(db)).toMatchObject([{ id: own, generation: 0 }]);
    const items = [own, forever].map((id) => ({ id, generation: 0, message: 'too long' }));
    expect((await expireExecutions(db, session, items, 0)).map((row) => row.id)).toEqual([own]);
    expect(await one(own)).toMatchObject({
      state: 'FAILED',
      finished_state: 'FAILED',
      error: { type: 'ParkTimeoutError', message: 'too long', retryable: false },
    });
    expect((await one(forever)).state).toBe('PENDING');
  });
});

describe('release', () => {
  it('restarts the park clock, moves the generation on and keeps what was superseded (F3, F6)', async () => {
    const [id = ''] = await submit(1, { parkTtlSeconds: 60 });
    await runningOn(id);
    expect((await one(id)).park_deadline).toBeNull();
    const [row] = await releaseAssignments(db, session, [release(id, 1, 'RETURNED')], settings);
    expect(row).toMatchObject({ id, generation: 2, state: 'PENDING', workerId, workerName: 'w-1' });
    const after = await one(id);
    expect(after).toMatchObject({
      queued: true,
      live: false,
      worker_id: null,
      attempt: 1,
      claimed_at: null,
      skip_worker_id: null,
    });
    const left = (after.park_deadline as Date).getTime() - (after.queued_at as Date).getTime();
    expect(left).toBe(60_000);
    const { rows } = await database.query(
      'SELECT outcome, number, generation, scheduled_seq, ended_seq, error FROM attempt WHERE execution_id = $1',
      [id],
    );
    expect(rows).toEqual([
      {
        outcome: 'WORKER_LOST',
        number: 1,
        generation: 1,
        scheduled_seq: 2,
        ended_seq: 5,
        error: { type: 'WorkerLostError', message: 'worker w-1 was lost', retryable: true },
      },
    ]);
  });

  it('fails what has no attempts left, with a clear type, and ends what was being cancelled', async () => {
    const [lost = '', cancelled = ''] = await submit(2);
    for (const id of [lost, cancelled]) await runningOn(id);
    await database.query('UPDATE execution SET attempt = 2 WHERE id = $1', [lost]);
    await cancelExecutions(db, [{ id: cancelled, eventId: ids.next(), by: 't' }], 0);
    const rows = await releaseAssignments(
      db,
      session,
      [release(lost, 1, 'RETURNED'), release(cancelled, 1, 'RETURNED')],
      settings,
    );
    expect(new Map(rows.map((row) => [row.id, row.state]))).toEqual(
      new Map([
        [lost, 'FAILED'],
        [cancelled, 'CANCELLED'],
      ]),
    );
    expect(await one(lost)).toMatchObject({
      generation: 1,
      worker_name: 'w-1',
      error: { type: 'WorkerLostError', message: 'worker w-1 was lost in attempt 2, the last one', retryable: true },
    });
    expect((await database.query('SELECT FROM attempt')).rowCount).toBeGreaterThan(0);
  });

  it('checks again, under the lock of the row, that the worker is gone (A17)', async () => {
    const [id = ''] = await submit();
    await runningOn(id);
    await database.query(
      `INSERT INTO worker_pulse (worker_id, instance, seen_at, healthy) VALUES ($1, 'i-1', clock_timestamp(), true)
       ON CONFLICT (worker_id) DO UPDATE SET seen_at = excluded.seen_at`,
      [workerId],
    );
    const causes: ReleaseCause[] = ['UNCLAIMED', 'SILENT', 'DISCONNECTED', 'LEFT', 'REPLACED', 'REMOVED'];
    for (const cause of causes) {
      expect([cause, await releaseAssignments(db, session, [release(id, 1, cause)], settings)]).toEqual([cause, []]);
    }
    await database.query(`UPDATE worker_pulse SET seen_at = clock_timestamp() - interval '61 s'`);
    expect(await releaseAssignments(db, session, [release(id, 1, 'SILENT')], settings)).toHaveLength(1);
    await database.query('DELETE FROM worker_pulse');
  });

  it('takes back what was not claimed in time, and skips that worker next time', async () => {
    const [id = ''] = await submit();
    await assignExecutions(db, session, [], [assignment(id)]);
    expect(await releaseAssignments(db, session, [release(id, 1, 'UNCLAIMED')], settings)).toEqual([]);
    await database.query(`UPDATE execution SET scheduled_at = scheduled_at - interval '6 s'`);
    expect(await releaseAssignments(db, session, [release(id, 1, 'UNCLAIMED')], settings)).toHaveLength(1);
    expect(await one(id)).toMatchObject({ state: 'PENDING', attempt: 0, skip_worker_id: workerId });
    expect(await readQueuedByIds(db, [id])).toMatchObject([{ id, generation: 2, skipWorker: 'w-1' }]);
    expect(await readLive(db)).toEqual([]);
  });
});

describe('cancel', () => {
  it('ends at once what nobody works on, and asks the worker for the rest', async () => {
    const [pending = '', scheduled = '', running = ''] = await submit(3);
    await assignExecutions(db, session, [], [assignment(scheduled)]);
    await runningOn(running);
    const all = [pending, scheduled, running].map((id) => ({ id, eventId: ids.next(), by: 'anna' }));
    const rows = new Map((await cancelExecutions(db, all, 0)).map((row) => [row.id, row.state]));
    expect(rows).toEqual(
      new Map([
        [pending, 'CANCELLED'],
        [scheduled, 'CANCELLED'],
        [running, 'CANCELLING'],
      ]),
    );
    expect(
      await cancelExecutions(
        db,
        all.map((item) => ({ ...item, eventId: ids.next() })),
        0,
      ),
    ).toEqual([]);
    const { rows: events } = await database.query('SELECT type, sequence, data FROM event WHERE execution_id = $1', [
      pending,
    ]);
    expect(events).toEqual([{ type: 'CANCEL_REQUESTED', sequence: 2, data: { by: 'anna' } }]);
    expect(await one(pending)).toMatchObject({ finished_seq: 3, event_seq: 3 });
  });
});
