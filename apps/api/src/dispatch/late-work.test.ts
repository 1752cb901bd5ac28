import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createInProcessBus } from '../bus/in-process-bus.ts';
import { ExecutionService } from '../modules/execution/execution-service.ts';
import { createHarness, eventually, type Harness, operator } from './testing/harness.ts';

let database: TestDatabase;
let h: Harness;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.query('DELETE FROM execution');
  await database.query('DELETE FROM worker');
  h = await createHarness(database);
});
afterEach(async () => {
  await h.close();
  expect(h.failures).toEqual([]);
});

const either = [false, true];
/** Pinned to a role or bound to a worker, cordoned first or not, with one slot or without a limit, an hour late or fresh. */
const cases = either.flatMap((pinned) =>
  either.flatMap((paused) => either.flatMap((limited) => either.map((late) => ({ pinned, paused, limited, late })))),
);

describe('work runs as soon as somebody may take it', () => {
  it('whether pinned to a role, for a worker that was paused, of limited capacity, or late: in every combination', async () => {
    const version = await h.version();
    const submit = (index: number): Promise<string[]> => {
      const target = cases[index]?.pinned
        ? { targetRoles: [`role-${index}`] }
        : { requiredWorker: `w-${index}`, targetRoles: [] };
      return Promise.all([1, 2, 3].map(() => h.submit({ ...version, ...target })));
    };
    const workers = await Promise.all(
      cases.map(({ paused, limited }, index) =>
        h.worker(`w-${index}`, {
          role: `role-${index}`,
          capacity: limited ? 1 : null,
          availability: paused ? 'CORDONED' : 'ACTIVE',
        }),
      ),
    );
    for (const worker of workers) h.serve(worker);
    const ids = await Promise.all(cases.map(({ late }, index) => (late ? submit(index) : Promise.resolve([]))));
    await database.query(
      `UPDATE execution SET created_at = created_at - interval '1 h', queued_at = queued_at - interval '1 h', not_before = now() - interval '1 min'`,
    );
    await h.dispatcher.start();
    await Promise.all(cases.map(async ({ late }, index) => late || (ids[index] = await submit(index))));

    const ended = async (paused: boolean) =>
      eventually(async () => {
        const wanted = cases.flatMap((one, index) => (one.paused === paused ? (ids[index] ?? []) : []));
        const { rows } = await database.query<{ n: number }>(
          `SELECT count(*)::int AS n FROM execution WHERE state = 'COMPLETED' AND id = ANY($1)`,
          [wanted],
        );
        return rows[0]?.n === wanted.length;
      }, 30_000);
    await ended(false);
    const waiting = await database.query<{ state: string; n: number }>(
      `SELECT state, count(*)::int AS n FROM execution WHERE state <> 'COMPLETED' GROUP BY 1`,
    );
    expect(waiting.rows).toEqual([{ state: 'PENDING', n: 24 }]);
    for (const [index, { paused }] of cases.entries())
      if (paused) await h.changeWorker(`w-${index}`, { availability: 'ACTIVE' });
    await ended(true);
    const { rows } = await database.query('SELECT count(*)::int AS n, max(generation) AS generation FROM execution');
    expect(rows).toEqual([{ n: 48, generation: 1 }]);
  });
});

describe('an execution that was stored and of which no message told', () => {
  it('is found by the leader, and runs once', async () => {
    await h.dispatcher.start();
    h.serve(await h.worker('a'));
    const version = await h.version();
    const known = await h.submit(version);
    await eventually(async () => (await h.state(known)) === 'COMPLETED');
    const silent = new ExecutionService({
      executor: h.executor,
      bus: createInProcessBus((_topic, error) => h.failures.push(error)),
      ids: h.ids,
      parkTtlSeconds: 0,
      queue: { accept: () => {} },
      binding: { exists: () => false },
      onError: (error) => h.failures.push(error),
    });
    const [outcome] = await silent.submit([{ ...version, targetRoles: [], priority: 0, input: null }], operator);
    const id = outcome !== undefined && 'id' in outcome ? outcome.id : '';
    await eventually(async () => (await h.state(id)) === 'COMPLETED', 20_000);
    expect(await h.row(id)).toMatchObject({ generation: 1, attempt: 1 });
    await silent.close();
  });
});
