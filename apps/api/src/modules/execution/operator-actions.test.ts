import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, type Harness, operator } from '../../dispatch/testing/harness.ts';
import { encodeId } from '../../graphql/ids.ts';

/** What an operator does to executions of others is in the audit, in the statement that does it; what one does to one's own is not. */
let database: TestDatabase;
let h: Harness;
let version: Awaited<ReturnType<Harness['version']>>;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  h = await createHarness(database);
  version = await h.version();
});
afterEach(() => h.close());

const anna = { ...operator, name: 'anna', address: '192.0.2.7' };
const entries = async (id: string) =>
  (
    await database.query(
      `SELECT actor, action, address, request_id AS request, data, at = to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0) AS timed
       FROM audit WHERE target = $1 ORDER BY id`,
      [`execution:${encodeId('ex', id)}`],
    )
  ).rows;
const pause = (id: string) =>
  database.query(`UPDATE execution SET state = 'PAUSED', queued = false, waiting = 'RESUME' WHERE id = $1`, [id]);

describe('an operator', () => {
  it('who cancels what is another’s leaves an entry, once', async () => {
    const id = await h.submit(version);
    await h.executions.cancel(id, anna, 'rq-1');
    await h.executions.cancel(id, anna, 'rq-2');
    expect(await entries(id)).toEqual([
      {
        actor: 'anna',
        action: 'execution.cancel',
        address: '192.0.2.7',
        request: 'rq-1',
        data: { before: { state: 'PENDING' }, after: { state: 'CANCELLED' } },
        timed: true,
      },
    ]);
  });

  it('who resumes what is another’s leaves an entry, without what it is resumed with', async () => {
    const id = await h.submit(version);
    await expect(h.executions.resume(id, null, anna, 'rq-0')).rejects.toMatchObject({ code: 'CONFLICT' });
    await pause(id);
    await h.executions.resume(id, { answer: 'CANARY' }, anna, 'rq-1');
    expect(await entries(id)).toEqual([
      {
        actor: 'anna',
        action: 'execution.resume',
        address: '192.0.2.7',
        request: 'rq-1',
        data: { before: { state: 'PAUSED' }, after: { state: 'RESUMING' } },
        timed: true,
      },
    ]);
  });

  it('cancels many at once, each with its own entry', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => h.submit(version)));
    await Promise.all(ids.map((id, i) => h.executions.cancel(id, i % 2 === 0 ? anna : operator, `rq-${i}`)));
    const found = await Promise.all(ids.map(entries));
    expect(found.map((rows) => rows.map(({ request }) => request))).toEqual(
      ids.map((_, i) => (i % 2 === 0 ? [`rq-${i}`] : [])),
    );
  });

  it('leaves none for what is his own, nor does the server by itself', async () => {
    const [cancelled, resumed, replaced] = await Promise.all([1, 2, 3].map(() => h.submit(version)));
    await h.executions.cancel(cancelled as string, operator, 'rq');
    await pause(resumed as string);
    await h.executions.resume(resumed as string, null, operator, 'rq');
    await h.executions.cancel(replaced as string, { ...operator, name: 'schedule' });
    for (const id of [cancelled, resumed, replaced]) expect(await entries(id as string)).toEqual([]);
  });

  it('is refused where the entry cannot be written', async () => {
    const id = await h.submit(version);
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON audit FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    await expect(h.executions.cancel(id, anna, 'rq')).rejects.toThrow('no room');
    expect(await h.state(id)).toBe('PENDING');
    await pause(id);
    await expect(h.executions.resume(id, null, anna, 'rq')).rejects.toThrow('no room');
    expect(await h.state(id)).toBe('PAUSED');
    await database.query('DROP TRIGGER refuse ON audit');
  });
});
