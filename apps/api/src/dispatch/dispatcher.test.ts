import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createHarness, eventually, type Harness, operator } from './testing/harness.ts';

let database: TestDatabase;
let h: Harness;

beforeAll(async () => {
  database = await testDatabase();
}, 120_000);
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM execution');
  await database.query('DELETE FROM worker');
  h = await createHarness(database);
});
afterEach(async () => {
  await h.close();
  if (process.env.SHOW) console.log(h.lines.join(''));
  expect(h.failures).toEqual([]);
});

describe('the dispatcher', () => {
  it('assigns what is submitted, says why, and frees the slot at the end', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('w-1', { capacity: 2 });
    h.serve(worker);
    const version = await h.version();
    const id = await h.submit({ ...version, input: { hello: 'world' } });
    await eventually(async () => (await h.state(id)) === 'COMPLETED');
    expect(await h.row(id)).toMatchObject({ generation: 1, attempt: 1, worker_name: 'w-1', live: false });
    const [decision] = (await h.decisions.byExecution(id, { limit: 10 })).items;
    expect(decision).toMatchObject({
      executionId: id,
      attempt: 1,
      generation: 1,
      decision: { outcome: 'ASSIGNED', winner: 'w-1', method: 'LEAST_LOADED', eligibleCount: 1 },
    });
    expect(decision?.explanation[0]).toContain('w-1');
    expect(h.fleet.loadOf(worker.id)).toBe(0);
  });

  it('lets unmatchable work stand aside and starts what is behind it (F1)', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('w-1');
    h.serve(worker);
    const version = await h.version();
    const outcomes = await h.executions.submit(
      Array.from({ length: 200 }, () => ({ ...version, input: null, targetRoles: ['nobody'], priority: 5 })),
      operator,
    );
    expect(outcomes.every((outcome) => 'id' in outcome)).toBe(true);
    const id = await h.submit(version);
    await eventually(async () => (await h.state(id)) === 'COMPLETED');
    await eventually(async () => {
      const { rows } = await database.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM execution WHERE parked AND parked_reason LIKE '%without role nobody%'`,
      );
      return rows[0]?.n === 200;
    });
    // One frame for the shape and reason, one decision each.
    const { rows } = await database.query<{ decisions: number; frames: number }>(
      `SELECT count(*)::int AS decisions, count(DISTINCT frame_id)::int AS frames FROM decision WHERE outcome = 'PARKED'`,
    );
    expect(rows[0]).toEqual({ decisions: 200, frames: 1 });
  });

  it('starts parked work as soon as somebody can take it (H10)', async () => {
    await h.dispatcher.start();
    const version = await h.version();
    const id = await h.submit({ ...version, targetRoles: ['gpu'] });
    await eventually(async () => (await h.row(id)).parked === true);
    expect((await h.dispatcher.whyWaiting([id])).get(id)).toMatchObject({ outcome: 'PARKED' });
    h.serve(await h.worker('g-1', { role: 'gpu' }));
    await eventually(async () => (await h.state(id)) === 'COMPLETED');
    expect((await h.dispatcher.whyWaiting([id])).size).toBe(0);
    expect(await h.row(id)).toMatchObject({ parked: false, parked_reason: null });
  });

  it('fills slots, queues the rest, and ends all of it; shown as what it is (A21, H12)', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('w-1', { capacity: 2 });
    const running: { id: string; generation: number }[] = [];
    h.serve(worker, async (item) => {
      running.push(item);
    });
    const version = await h.version();
    const ids = await Promise.all(Array.from({ length: 10 }, () => h.submit(version)));
    await eventually(() => running.length === 2);
    const states = await Promise.all(ids.map((id) => h.state(id)));
    expect(states.filter((state) => state === 'RUNNING')).toHaveLength(2);
    expect(states.filter((state) => state === 'PENDING')).toHaveLength(8);
    expect(h.fleet.loadOf(worker.id)).toBe(2);
    while (running.length > 0) {
      const item = running.shift();
      if (item !== undefined) await h.end(worker, [item]);
      await eventually(
        async () =>
          running.length > 0 ||
          (await Promise.all(ids.map((id) => h.state(id)))).every((state) => state === 'COMPLETED'),
      );
    }
    expect(h.fleet.loadOf(worker.id)).toBe(0);
  });

  it('releases what is not claimed, skips that worker next time, and counts no attempt (A11)', async () => {
    await h.close();
    h = await createHarness(database, { claimSeconds: 1 });
    await h.dispatcher.start();
    await h.worker('a-lazy', { capacity: 10 });
    const version = await h.version();
    const id = await h.submit(version);
    await eventually(async () => (await h.row(id)).worker_name === 'a-lazy');
    h.serve(await h.worker('b-busy', { capacity: 1 }));
    await eventually(async () => (await h.state(id)) === 'COMPLETED');
    expect(await h.row(id)).toMatchObject({ worker_name: 'b-busy', generation: 3, attempt: 1 });
    const { rows } = await database.query(
      'SELECT outcome, worker_name, number, generation FROM attempt WHERE execution_id = $1',
      [id],
    );
    expect(rows).toEqual([{ outcome: 'UNCLAIMED', worker_name: 'a-lazy', number: 1, generation: 1 }]);
    const newest = (await h.decisions.byExecution(id, { limit: 1 })).items[0]?.decision;
    expect(newest?.candidates.find((candidate) => candidate.worker === 'a-lazy')?.rejected).toBe('UNCLAIMED_BEFORE');
  });
});
