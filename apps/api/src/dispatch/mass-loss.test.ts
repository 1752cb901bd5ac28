import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../clock.ts';
import { QUIET_AFTER_CHANGE_MS } from './lost-workers.ts';
import { createHarness, eventually, type Harness } from './testing/harness.ts';

let database: TestDatabase;
let h: Harness;
/** The server has been up for longer than lost connections prove nothing. */
let upFor = 0;

beforeEach(async () => {
  upFor = 0;
  database = await testDatabase();
  const later = Object.create(database, { now: { value: () => database.now() + upFor } }) as TestDatabase;
  // This clock stands: on a slow machine the leadership would be lost and taken again, and then connections prove nothing for a minute.
  h = await createHarness(later, {
    staleSeconds: 3,
    offlineSeconds: 30,
    clock: { ...systemClock, monotonic: () => 0 },
  });
  await h.dispatcher.start();
  await eventually(() => h.dispatcher.leading && h.lines.join('').includes('dispatching now'));
  upFor = QUIET_AFTER_CHANGE_MS + 1_000;
});
afterEach(async () => {
  await h.close();
  await database.drop();
});

it('a whole role that is cut off keeps its claims for a time, with an alert; who comes back goes on, the others are released after that', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `w-${i}`);
  const workers = await Promise.all(names.map((name) => h.worker(name, { capacity: 3 })));
  const alone = await h.worker('alone', { role: 'gpu', capacity: 3 });
  for (const worker of [...workers, alone]) h.serve(worker, async () => {});
  const version = await h.version();
  const ids = await Promise.all(Array.from({ length: 24 }, () => h.submit({ ...version, targetRoles: ['worker'] })));
  const control = await h.submit({ ...version, targetRoles: ['gpu'] });
  for (const id of [...ids, control]) await eventually(async () => (await h.state(id)) === 'RUNNING', 20_000);

  const cutOff = new Date(database.now());
  for (const { name } of [...workers, alone]) {
    h.silence(name);
    await h.changeWorker(name, { disconnectedAt: cutOff });
  }
  // Of the other role one worker went, which is no mass: its work is released, in a sweep that leaves the eight alone.
  await eventually(async () => (await h.row(control)).generation === 2, 30_000);
  expect(h.lines.filter((line) => line.includes('"alert":"MASS_LOSS"'))).toMatchObject([
    expect.stringContaining('"role":"worker"'),
  ]);
  const untouched = async () => (await Promise.all(ids.map((id) => h.row(id)))).filter((row) => row.generation === 1);
  expect(await untouched()).toHaveLength(24);

  for (const { name, instance } of workers.slice(0, 4)) {
    await h.worker(name, { instance, capacity: 3 });
  }
  await eventually(async () => (await untouched()).length === 12, 60_000);
  expect(new Set((await untouched()).map((row) => row.worker_name))).toEqual(new Set(names.slice(0, 4)));
  const { rows } = await database.query(
    `SELECT worker_name, outcome, count(*)::int AS n FROM attempt WHERE worker_name LIKE 'w-%' GROUP BY 1, 2 ORDER BY 1`,
  );
  expect(rows).toEqual(names.slice(4).map((name) => ({ worker_name: name, outcome: 'WORKER_LOST', n: 3 })));
  expect((await Promise.all(ids.map((id) => h.state(id)))).filter((state) => state === 'RUNNING')).toHaveLength(12);
}, 180_000);
