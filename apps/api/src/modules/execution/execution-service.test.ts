import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, eventually, type Harness, operator } from '../../dispatch/testing/harness.ts';
import type { SubmitItem, SubmitOutcome } from './submission.ts';

let database: TestDatabase;
let h: Harness;
let version: { versionId: number; workflowRef: string };

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  for (const table of ['execution', 'execution_routing', 'idempotency', 'worker', 'event'])
    await database.query(`DELETE FROM ${table}`);
  h = await createHarness(database);
  version = await h.version();
});
afterEach(async () => {
  await h.close();
  expect(h.failures).toEqual([]);
});

const item = (more: Partial<SubmitItem> = {}): SubmitItem => ({
  ...version,
  targetRoles: [],
  priority: 0,
  input: null,
  ...more,
});
const key = (name: string, fingerprint = 1) => ({
  idempotency: { key: name, mutation: 'runWorkflow', fingerprint: Uint8Array.of(fingerprint) },
});

function idOf(outcome: SubmitOutcome | undefined): string {
  if (outcome === undefined || 'error' in outcome) throw outcome?.error ?? new Error('no outcome');
  return outcome.id;
}
const codeOf = (outcome: SubmitOutcome | undefined): string =>
  outcome !== undefined && 'error' in outcome ? outcome.error.code : 'ok';

async function count(): Promise<number> {
  const { rows } = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM execution');
  return rows[0]?.n ?? -1;
}

describe('submit', () => {
  it('stores everything about a run, and nothing that was not said', async () => {
    await h.worker('w-1');
    await database.query(
      `INSERT INTO deployment (id, slug, variants, updated_by) OVERRIDING SYSTEM VALUE VALUES (5, 'five', '[{"label": "stable"}]', 'test')`,
    );
    const input = { text: 'nul \u0000, lone \ud800', big: 1e300 };
    const [full, bare] = await h.executions.submit(
      [
        item({
          input,
          variant: 'stable',
          deploymentId: 5,
          targetRoles: ['gpu "x"', 'a,b', 'c\\d', 'NULL', ''],
          sessionKey: 's',
          routingInput: { a: { b: 1 } },
          requiredWorker: ' w-1 ',
          preferredWorker: 'w-2',
          parkTtlSeconds: 7,
          priority: -3,
        }),
        item({ preferredWorker: ' w-2 ', routingInput: {} }),
      ],
      operator,
    );
    const row = await h.row(idOf(full));
    expect(row).toMatchObject({
      state: 'PENDING',
      version_id: version.versionId,
      deployment_id: 5,
      variant: 'stable',
      target_roles: ['gpu "x"', 'a,b', 'c\\d', 'NULL', ''],
      session_key: 's',
      required_worker: 'w-1',
      preferred_worker: null,
      park_ttl_s: 7,
      priority: -3,
      submitted_by: 'operator',
      input,
    });
    expect((row.park_deadline as Date).getTime() - (row.created_at as Date).getTime()).toBe(7_000);
    expect(await h.row(idOf(bare))).toMatchObject({
      preferred_worker: 'w-2',
      park_deadline: null,
      input: null,
      target_roles: [],
    });
    const { rows } = await database.query('SELECT execution_id, value FROM execution_routing');
    expect(rows).toEqual([{ execution_id: row.id, value: { a: { b: 1 } } }]);
  });

  it('joins concurrent calls into few statements', async () => {
    const outcomes = await Promise.all(Array.from({ length: 500 }, () => h.executions.submit([item()], operator)));
    expect(new Set(outcomes.flat().map(idOf)).size).toBe(500);
    expect(h.statements.get('submit')).toBe(3);
    expect(await count()).toBe(500);
  });

  it('lets each item succeed or fail alone', async () => {
    const outcomes = await h.executions.submit(
      [
        item(),
        item({ requiredWorker: 'nobody' }),
        item({ sessionKey: 'nul \u0000' }),
        item({ requiredWorker: 'no name!' }),
        item(),
      ],
      operator,
    );
    expect(outcomes.map(codeOf)).toEqual(['ok', 'UNKNOWN_WORKER', 'BAD_INPUT', 'BAD_INPUT', 'ok']);
    expect(await count()).toBe(2);
    expect(h.failures.splice(0)).toHaveLength(1);
  });
});

describe('an idempotency key', () => {
  it('gives the first result again, also within one batch, and refuses another input', async () => {
    const [first, again, other] = await h.executions.submit(
      [item(key('k')), item(key('k')), item(key('k', 2))],
      operator,
    );
    expect(first).toMatchObject({ replayed: false });
    expect(again).toEqual({ id: idOf(first), replayed: true });
    expect(codeOf(other)).toBe('CONFLICT');
    const later = await h.executions.submit([item(key('k')), item(key('k', 2))], operator);
    expect(later[0]).toEqual({ id: idOf(first), replayed: true });
    expect(codeOf(later[1])).toBe('CONFLICT');
    expect(await count()).toBe(1);
  });

  it('belongs to one principal and one mutation', async () => {
    const outcomes = [
      ...(await h.executions.submit([item(key('k'))], operator)),
      ...(await h.executions.submit([item(key('k', 2))], { ...operator, name: 'somebody else' })),
      ...(await h.executions.submit(
        [item({ idempotency: { ...key('k', 3).idempotency, mutation: 'runDeployment' } })],
        operator,
      )),
    ];
    expect(new Set(outcomes.map(idOf)).size).toBe(3);
  });

  it('says so where retention took the execution, and is free again after a week', async () => {
    const [first] = await h.executions.submit([item(key('k'))], operator);
    await database.query('DELETE FROM execution');
    const [again] = await h.executions.submit([item(key('k'))], operator);
    expect(again).toMatchObject({
      error: { code: 'CONFLICT', message: `accepted as ex_${idOf(first)}, since deleted` },
    });
    await database.query(`UPDATE idempotency SET at = at - interval '8 days'`);
    const [fresh] = await h.executions.submit([item(key('k', 9))], operator);
    expect(fresh).toMatchObject({ replayed: false });
  });

  it('is taken by one of two servers that race for it', async () => {
    const other = await createHarness(database);
    const outcomes = (
      await Promise.all(
        [h, other].map((one) =>
          one.executions.submit(
            Array.from({ length: 5 }, (_, i) => item(key(`r${i}`))),
            operator,
          ),
        ),
      )
    ).map((list) => list.map(idOf));
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(await count()).toBe(5);
    await other.close();
  });
});

describe('cancel', () => {
  it('works from every state that has not ended, and frees the slot of what was not claimed', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('w-1', { capacity: 2 });
    const cancelled: unknown[] = [];
    h.bus.subscribe('cancel', (message) => void cancelled.push(message));
    const scheduled = await h.submit(version);
    const running = await h.submit(version);
    const queued = await h.submit(version);
    await eventually(
      async () => (await h.state(scheduled)) === 'SCHEDULED' && (await h.state(running)) === 'SCHEDULED',
    );
    await h.claim(worker, [{ id: running, generation: 1 }]);
    for (const id of [queued, scheduled, running, running]) await h.executions.cancel(id, operator);
    expect(await Promise.all([queued, scheduled, running].map((id) => h.state(id)))).toEqual([
      'CANCELLED',
      'CANCELLED',
      'CANCELLING',
    ]);
    await eventually(() => h.fleet.loadOf(worker.id) === 1);
    expect(cancelled).toEqual([scheduled, running].map((id) => ({ worker: 'w-1', items: [{ id, generation: 1 }] })));
    expect(await h.claim(worker, [{ id: scheduled, generation: 1 }])).toEqual([]);
    await h.end(worker, [{ id: running, generation: 1, state: 'CANCELLED' }]);
    await h.executions.cancel(running, operator);
    const done = await h.submit(version);
    await eventually(async () => (await h.state(done)) === 'SCHEDULED');
    await h.claim(worker, [{ id: done, generation: 1 }]);
    await h.end(worker, [{ id: done, generation: 1 }]);
    await expect(h.executions.cancel(done, operator)).rejects.toMatchObject({ code: 'CONFLICT' });
    await expect(h.executions.cancel('0'.repeat(32), operator)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('retry', () => {
  it('makes a new execution of the same request, routing input too', async () => {
    await h.worker('w-1');
    const id = idOf(
      (
        await h.executions.submit(
          [
            item({
              input: { a: 1 },
              requiredWorker: 'w-1',
              variant: 'v',
              targetRoles: ['r'],
              routingInput: { k: 'v' },
              priority: 4,
              parkTtlSeconds: 0,
            }),
          ],
          operator,
        )
      )[0],
    );
    await expect(h.executions.retry(id, operator)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('PENDING'),
    });
    await h.executions.cancel(id, operator);
    const again = await h.executions.retry(id, { ...operator, name: 'anna' });
    const [old, fresh] = await Promise.all([h.row(id), h.row(again.id)]);
    const kept = ['version_id', 'variant', 'target_roles', 'required_worker', 'priority', 'park_ttl_s', 'input'];
    for (const column of kept) expect([column, fresh[column]]).toEqual([column, old[column]]);
    expect(fresh).toMatchObject({ state: 'PENDING', submitted_by: 'anna', retry_of: old.id, generation: 0 });
    const { rows } = await database.query('SELECT value FROM execution_routing WHERE execution_id = $1', [again.id]);
    expect(rows).toEqual([{ value: { k: 'v' } }]);
    await expect(h.executions.retry('0'.repeat(32), operator)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('resume', () => {
  it('queues what is paused for it, and refuses everything else', async () => {
    const id = await h.submit(version);
    await expect(h.executions.resume(id, null, operator)).rejects.toMatchObject({ code: 'CONFLICT' });
    const pause = (waiting: string) =>
      database.query(`UPDATE execution SET state = 'PAUSED', queued = false, waiting = $2 WHERE id = $1`, [
        id,
        waiting,
      ]);
    await pause('TIMER');
    await expect(h.executions.resume(id, null, operator)).rejects.toMatchObject({
      code: 'CONFLICT',
      message: expect.stringContaining('time'),
    });
    await pause('RESUME');
    await h.executions.resume(id, { ok: true }, operator);
    expect(await h.row(id)).toMatchObject({ state: 'RESUMING', queued: true, resumed: true, waiting: null });
    const { rows } = await database.query('SELECT type, data FROM event');
    expect(rows).toEqual([{ type: 'RESUMED', data: { kind: 'RESUME', by: 'operator', input: { ok: true } } }]);
    await expect(h.executions.resume('0'.repeat(32), null, operator)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('waitUntilSettled', () => {
  it('answers when it has ended, when it has parked, and after its time, by few reads', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('w-1', { capacity: 1000 });
    const ids = await Promise.all(Array.from({ length: 50 }, () => h.submit(version)));
    const waits = ids.map((id) => h.executions.waitUntilSettled(id, 30));
    h.statements.delete('execution_states');
    for (const id of ids) await eventually(async () => (await h.state(id)) === 'SCHEDULED');
    await h.claim(
      worker,
      ids.map((id) => ({ id, generation: 1 })),
    );
    await h.end(
      worker,
      ids.map((id) => ({ id, generation: 1 })),
    );
    await Promise.all(waits);
    expect(h.statements.get('execution_states') ?? 0).toBeLessThan(30);
    const parked = await h.submit({ ...version, targetRoles: ['nobody'] });
    await h.executions.waitUntilSettled(parked, 30);
    expect(await h.row(parked)).toMatchObject({ parked: true });
    await h.executions.waitUntilSettled('0'.repeat(32), 30);
    const open = await h.submit(version);
    await h.executions.waitUntilSettled(open, 0.2);
    expect(await h.state(open)).toBe('SCHEDULED');
  });

  it('lets everybody go when the server stops', async () => {
    const id = await h.submit(version);
    const wait = h.executions.waitUntilSettled(id, 60);
    await h.executions.close();
    await expect(wait).resolves.toBeUndefined();
  });
});
