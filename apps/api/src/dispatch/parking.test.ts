import { type TestDatabase, testDatabase, testDatabaseKind } from '@muster/db/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { recordSteps } from '../modules/worker/step-store.ts';
import { suspendExecutions } from '../modules/worker/suspend-store.ts';
import { createHarness, eventually, type Harness, operator, type TestWorker } from './testing/harness.ts';

let database: TestDatabase;
let h: Harness;

beforeEach(async () => {
  database = await testDatabase(testDatabaseKind());
  h = await createHarness(database, { parkTtlSeconds: 7 });
  await h.dispatcher.start();
});
afterEach(async () => {
  await h.close();
  await database.drop();
});

/** What the worker gets is claimed and pauses at once, the first time; after that it runs on. */
function pausing(worker: TestWorker): void {
  h.serve(worker, async ({ id, generation }) => {
    if (generation > 1) return;
    const holder = { workerId: worker.id, instance: worker.instance };
    const open = {
      position: 0,
      kind: 'RESUME',
      name: 'go',
      done: false,
      result: null,
      error: null,
      order: null,
      delayMs: null,
    } as const;
    await recordSteps(h.executor, holder, [{ id, generation, ...open }]);
    const { moved } = await suspendExecutions(h.executor, holder, [{ id, generation, positions: [0] }], 7);
    h.bus.publish('live', { items: moved.map((row) => ({ id: row.id, workerId: null, generation: row.generation })) });
  });
}

const paused = (id: string) => eventually(async () => (await h.state(id)) === 'PAUSED');
const parked = (id: string) => eventually(async () => (await h.row(id)).parked === true, 20_000);

/** Seconds between becoming unassigned and the deadline. */
async function ttl(id: string): Promise<number | null> {
  const { park_deadline: until, queued_at: since } = await h.row(id);
  return until === null ? null : ((until as Date).getTime() - (since as Date).getTime()) / 1000;
}

describe('the park clock', () => {
  it("runs with the run's own time, else the server's, never with 0, and anew after a pause", async () => {
    const worker = await h.worker('a');
    pausing(worker);
    const version = await h.version();
    const own = await h.submit({ ...version, parkTtlSeconds: 60 });
    const server = await h.submit(version);
    const forever = await h.submit({ ...version, parkTtlSeconds: 0 });
    for (const id of [own, server, forever]) await paused(id);
    for (const id of [own, server, forever]) expect(await ttl(id)).toBeNull();
    await h.changeWorker('a', { availability: 'CORDONED' });
    for (const id of [own, server, forever]) {
      const before = Date.now() - 60_000;
      await h.executions.resume(id, null, operator);
      expect(((await h.row(id)).queued_at as Date).getTime()).toBeGreaterThan(before);
    }
    expect([await ttl(own), await ttl(server), await ttl(forever)]).toEqual([60, 7, null]);
  });

  it('ends what nobody takes after a pause, and names binding, roles and affinity, but nothing of the routing input', async () => {
    const worker = await h.worker('a', { labels: { region: 'eu', cohort: 'x' } });
    pausing(worker);
    const version = await h.version({
      affinity: [
        { kind: 'match', selector: 'label:region', op: '==', value: 'eu' },
        { kind: 'match', selector: 'label:cohort', op: '==', value: { $routing_input: 'cohort' } },
      ],
    });
    const id = await h.submit({
      ...version,
      requiredWorker: 'a',
      targetRoles: ['worker'],
      routingInput: { cohort: 'x' },
      parkTtlSeconds: 1,
    });
    await paused(id);
    await h.changeWorker('a', { availability: 'CORDONED' });
    await h.executions.resume(id, null, operator);
    await eventually(async () => (await h.state(id)) === 'FAILED', 20_000);
    const { error } = (await h.row(id)) as { error: { type: string; message: string } };
    expect(error.type).toBe('ParkTimeoutError');
    expect(error.message).toContain('worker a; role worker; ');
    expect(error.message).toContain('routing constraint unsatisfied');
    expect(error.message).toContain('region');
    expect(error.message).not.toContain('cohort');
  });
});

describe('a full fleet', () => {
  it('is told from one that does not match, also after a pause', async () => {
    const worker = await h.worker('a', { capacity: 1 });
    pausing(worker);
    const version = await h.version();
    const id = await h.submit(version);
    await paused(id);
    const busy = await h.submit({ ...version, priority: 10 });
    await paused(busy);
    h.fleet.setLive('f'.repeat(32), worker.id, 1);
    await h.executions.resume(id, null, operator);
    const mismatch = await h.submit({ ...version, targetRoles: ['gpu'] });
    await Promise.all([parked(id), parked(mismatch)]);
    expect((await h.row(id)).parked_reason).toContain('at capacity');
    expect((await h.row(mismatch)).parked_reason).not.toContain('capacity');
    expect((await h.row(id)).state).toBe('RESUMING');
  });
});

describe('a binding', () => {
  it('holds after a pause: nobody else gets it, and it goes on when the bound worker is back', async () => {
    const worker = await h.worker('bound');
    pausing(worker);
    const other = await h.worker('other');
    pausing(other);
    const id = await h.submit({ ...(await h.version()), requiredWorker: 'bound', parkTtlSeconds: 0 });
    await paused(id);
    await h.changeWorker('bound', { availability: 'CORDONED' });
    await h.executions.resume(id, null, operator);
    await parked(id);
    expect(await h.row(id)).toMatchObject({ state: 'RESUMING', worker_id: null });
    const again = h.next('assigned', ({ items }) => items.some((item) => item.id === id));
    await h.changeWorker('bound', { availability: 'ACTIVE' });
    expect((await again).worker).toBe('bound');
    const { rows } = await database.query('SELECT 1 FROM attempt WHERE execution_id = $1 AND worker_name = $2', [
      id,
      'other',
    ]);
    expect(rows).toEqual([]);
  });
});

describe('a hint', () => {
  it('never binds: what was paused on a worker that is away goes on elsewhere, else where it was', async () => {
    const first = await h.worker('m');
    pausing(first);
    const version = await h.version();
    const stays = await h.submit({ ...version, preferredWorker: 'nobody' });
    const moves = await h.submit(version);
    for (const id of [stays, moves]) await paused(id);
    // Fewer executions and the smaller name: without the hint it would be taken.
    const second = await h.worker('a');
    pausing(second);
    const again = h.next('assigned', ({ items }) => items.some((item) => item.id === stays));
    await h.executions.resume(stays, null, operator);
    expect((await again).worker).toBe('m');
    await h.changeWorker('m', { availability: 'CORDONED' });
    const away = h.next('assigned', ({ items }) => items.some((item) => item.id === moves));
    await h.executions.resume(moves, null, operator);
    expect((await away).worker).toBe('a');
    expect((await h.row(stays)).preferred_worker).toBe('nobody');
  });
});
