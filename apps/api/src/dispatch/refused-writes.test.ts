import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, eventually, type Harness, type TestWorker } from './testing/harness.ts';

/** The database refuses one kind of write for a while: slots in use stay what the table says, and all of it ends. */
let database: TestDatabase;
let h: Harness;
let worker: TestWorker;
let given: { id: string; generation: number }[];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.query('DELETE FROM execution');
  await database.query('DELETE FROM worker');
  h = await createHarness(database, { claimSeconds: 60 });
  await h.dispatcher.start();
  worker = await h.worker('w', { capacity: 2 });
  given = [];
  h.bus.subscribe('assigned', ({ items }) => void given.push(...items));
});
afterEach(async () => {
  await accept();
  await h.close();
});

/** From now on no execution becomes `state`. */
async function refuse(state: string): Promise<void> {
  await database.query(`CREATE OR REPLACE FUNCTION refuse_state() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.state = '${state}' AND OLD.state <> NEW.state THEN RAISE EXCEPTION 'no execution becomes ${state}'; END IF; RETURN NEW; END $$`);
  await database.query(
    'CREATE TRIGGER refuse_state BEFORE UPDATE ON execution FOR EACH ROW EXECUTE FUNCTION refuse_state()',
  );
}

const accept = () => database.query('DROP TRIGGER IF EXISTS refuse_state ON execution');

async function liveRows(): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    'SELECT count(*)::int AS n FROM execution WHERE live AND worker_id = $1',
    [worker.id],
  );
  return rows[0]?.n ?? 0;
}

/** Rows whose flags say another thing than their state. */
async function contradictions(): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM execution
     WHERE live <> (state IN ('SCHEDULED', 'CLAIMED', 'RUNNING', 'CANCELLING')) OR queued <> (state IN ('PENDING', 'RESUMING'))
       OR live <> (worker_id IS NOT NULL AND finished_state IS NULL) OR (finished_state IS NULL) <> (finished_at IS NULL)`,
  );
  return rows[0]?.n ?? -1;
}

async function slotsAre(n: number): Promise<void> {
  await eventually(async () => h.fleet.loadOf(worker.id) === n && (await liveRows()) === n, 20_000);
  expect(await contradictions()).toBe(0);
}

async function submitThree(): Promise<string[]> {
  const version = await h.version();
  return Promise.all([1, 2, 3].map(() => h.submit(version)));
}

/** Everything that is assigned, now and from now on, runs and ends. */
async function finish(ids: readonly string[], started: readonly { id: string; generation: number }[]): Promise<void> {
  h.serve(worker);
  const claimed = given.length === 0 ? [] : await h.claim(worker, given);
  for (const item of [...claimed, ...started]) await h.end(worker, [item]);
  for (const id of ids) await eventually(async () => (await h.state(id)) === 'COMPLETED', 30_000);
  await slotsAre(0);
}

describe('slots in use are what runs, and come free again, where the database refuses', () => {
  it('an assignment', async () => {
    await refuse('SCHEDULED');
    const ids = await submitThree();
    await eventually(() => h.lines.join('').includes('a decision could not be stored'));
    await slotsAre(0);
    expect(given).toEqual([]);
    await accept();
    await finish(ids, []);
  });

  it('a claim', async () => {
    const ids = await submitThree();
    await eventually(() => given.length === 2);
    await refuse('RUNNING');
    await expect(h.claim(worker, given)).rejects.toThrow('no execution becomes RUNNING');
    await slotsAre(2);
    await accept();
    await finish(ids, []);
  });

  it('an end', async () => {
    const ids = await submitThree();
    await eventually(() => given.length === 2);
    const started = await h.claim(worker, given);
    await refuse('COMPLETED');
    await expect(h.end(worker, started)).rejects.toThrow('no execution becomes COMPLETED');
    await slotsAre(2);
    await accept();
    await finish(ids, started);
  });

  it('a release', async () => {
    const ids = await submitThree();
    await eventually(() => given.length === 2);
    await h.claim(worker, given);
    await refuse('PENDING');
    const release = { workerId: worker.id, instance: null, cause: 'RETURNED', message: 'worker w is busy' } as const;
    await expect(h.releaser.releaseWorker(release)).rejects.toThrow('no execution becomes PENDING');
    await slotsAre(2);
    await accept();
    given.length = 0;
    expect(await h.releaser.releaseWorker(release)).toHaveLength(2);
    await finish(ids, []);
  });
});
