import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { call, codes, completed, type Held, suspend } from '../../testing/durable-items.ts';
import { operator, startTestControlPlane, type TestControlPlane } from '../../testing/test-control-plane.ts';
import { onDuty, type WorkerOnDuty } from '../../testing/worker-on-duty.ts';

let plane: TestControlPlane;
let version: number;
let worker: WorkerOnDuty;
let count = 0;

beforeAll(async () => {
  plane = await startTestControlPlane();
  version = await plane.registerWorkflow('durable');
});
afterAll(() => plane.stop());
beforeEach(async () => {
  count += 1;
  worker = await onDuty(plane, `w-${count}`, { capacity: null });
});
afterEach(() => worker.leave());

async function running(): Promise<Held> {
  const id = await plane.submit(version);
  const { generation } = await worker.claimed(id);
  return { id, generation };
}

async function row(id: string): Promise<Record<string, unknown>> {
  const { rows } = await plane.database.query('SELECT * FROM execution WHERE id = $1', [id]);
  return rows[0] ?? {};
}

/** Tables in which some row has this text. */
async function tablesWith(text: string): Promise<string[]> {
  const { rows: tables } = await plane.database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await plane.database.query<{ row: string }>(`SELECT t::text AS row FROM "${name}" t`);
    if (rows.some(({ row: line }) => line.includes(text))) found.push(name);
  }
  return found;
}

/** What the next claim says of its steps. */
async function resumed(id: string) {
  const claim = await worker.claimed(id);
  return { claim, steps: claim.steps, held: { id, generation: claim.generation } };
}

describe('a call', () => {
  it('makes one child, however often it is sent, with the caller as hint, and gives its output to the parent', async () => {
    const held = await running();
    const { calls } = await worker.report({ calls: [call(held, 0)] });
    const child = calls[0]?.child ?? '';
    expect(calls[0]).toMatchObject({ code: null, child: expect.stringMatching(/^[0-9a-f]{32}$/) as string });
    expect((await worker.report({ calls: [call(held, 0), call(held, 0)] })).calls.map((one) => one.child)).toEqual([
      child,
      child,
    ]);
    expect(await row(child)).toMatchObject({
      preferred_worker: worker.name,
      submitted_by: 'operator',
      parent_position: 0,
    });
    await worker.report({ suspends: [suspend(held, 0)] });
    expect(await row(held.id)).toMatchObject({ state: 'PAUSED', waiting: 'CHILD', child_count: 1 });
    const { generation, input } = await worker.claimed(child);
    expect(input).toEqual({ n: 1 });
    await worker.report({ ends: [completed({ id: child, generation }, { total: 3 })] });
    const { steps, held: again } = await resumed(held.id);
    expect(steps).toMatchObject([{ kind: 'CALL', done: true, result: { total: 3 }, error: null, child }]);
    await worker.report({ ends: [completed(again)] });
  });

  it('is refused alone where it cannot be made', async () => {
    const held = await running();
    const { calls } = await worker.report({
      calls: [
        call(held, 0, { workflow: 'test/nowhere' }),
        call(held, 0, { version: 99 }),
        call(held, 0, { routingInput: [1] }),
        call(held, 0, { priority: 5_000 }),
        call(held, 0, { version: 1, priority: 7 }),
      ],
    });
    expect(codes(calls)).toEqual(['BAD_INPUT', 'BAD_INPUT', 'ROUTING_INPUT_INVALID', 'BAD_INPUT', null]);
    expect(await row(calls[4]?.child ?? '')).toMatchObject({ priority: 7 });
    await plane.executions.cancel(held.id, operator);
    await worker.report({ ends: [{ ...held, state: 'CANCELLED', output: undefined, error: null }] });
  });

  it('is refused where calls are nested 64 deep, with the workflows that call each other', async () => {
    /** So many executions, each of which has called the next; the last has called `held`. */
    const callers = async (held: Held, many: number): Promise<void> => {
      const ids = Array.from({ length: many }, () => plane.ids.next());
      await plane.database.query(
        `INSERT INTO execution (id, parent_id, created_at, queued_at, updated_at, version_id, submitted_by, state, finished_state, queued)
         SELECT c.id, lag(c.id) OVER (ORDER BY c.n), now(), now(), now(), $2::int, 'x', 'COMPLETED', 'COMPLETED', false
         FROM unnest($1::uuid[]) WITH ORDINALITY AS c (id, n)`,
        [ids, version],
      );
      await plane.database.query('UPDATE execution SET parent_id = $2 WHERE id = $1', [held.id, ids.at(-1)]);
    };
    const [deep, deepest] = [await running(), await running()];
    await callers(deep, 62);
    await callers(deepest, 63);
    const { calls } = await worker.report({ calls: [call(deep, 0), call(deepest, 0)] });
    expect(codes(calls)).toEqual([null, 'BAD_INPUT']);
    expect(calls[1]?.message).toBe(
      'Calls are nested 64 deep already (… test/durable → test/durable → test/durable → test/durable): does a workflow call itself without end?',
    );
    for (const held of [deep, deepest]) {
      await plane.executions.cancel(held.id, operator);
      await worker.report({ ends: [{ ...held, state: 'CANCELLED', output: undefined, error: null }] });
    }
  });

  const endings: [string, string, (child: string) => Promise<void>][] = [
    [
      'failed',
      'Broken',
      async (child) => {
        const { generation } = await worker.claimed(child);
        const error = { type: 'Broken', message: 'b', stack: null, retryable: false };
        await worker.report({ ends: [{ id: child, generation, state: 'FAILED', output: undefined, error }] });
      },
    ],
    [
      'cancelled while nobody had it',
      'CancelledError',
      async (child) => {
        await worker.report({
          releases: [{ id: child, generation: (await worker.assigned(child)).generation, reason: null }],
        });
        await plane.executions.cancel(child, operator);
      },
    ],
    [
      'out of attempts',
      'WorkerLostError',
      async (child) => {
        const { generation } = await worker.claimed(child);
        await plane.database.query('UPDATE execution SET attempt = 3 WHERE id = $1', [child]);
        await worker.report({ releases: [{ id: child, generation, reason: 'gone' }] });
      },
    ],
    [
      'parked for too long',
      'ParkTimeoutError',
      async (child) => {
        const { generation } = await worker.assigned(child);
        await plane.database.query(`UPDATE execution SET park_ttl_s = 1, required_worker = 'nobody' WHERE id = $1`, [
          child,
        ]);
        await worker.report({ releases: [{ id: child, generation, reason: null }] });
      },
    ],
  ];
  it.each(endings)('that %s tells its parent so', async (_how, type, finish) => {
    const held = await running();
    const { calls } = await worker.report({ calls: [call(held, 0)] });
    const child = calls[0]?.child ?? '';
    await worker.report({ suspends: [suspend(held, 0)] });
    await finish(child);
    const { steps, held: again } = await resumed(held.id);
    expect(steps).toMatchObject([{ kind: 'CALL', done: true, result: null, error: { type } }]);
    await worker.report({ ends: [completed(again)] });
  });

  it('that can never be placed tells its parent so', async () => {
    await plane.registerWorkflow('picky', {
      affinity: [{ kind: 'match', selector: 'label:region', op: '==', value: { $input: 'region' } }],
    });
    const held = await running();
    const picky = call(held, 0, { workflow: 'test/picky', input: {} });
    await worker.report({ calls: [picky] });
    await worker.report({ suspends: [suspend(held, 0)] });
    const { steps, held: again } = await resumed(held.id);
    expect(steps).toMatchObject([{ kind: 'CALL', done: true, error: { type: 'AffinityResolutionError' } }]);
    await worker.report({ ends: [completed(again)] });
  });

  it('is cancelled with its parent, and what it called itself too', async () => {
    const held = await running();
    const child = (await worker.report({ calls: [call(held, 0)] })).calls[0]?.child ?? '';
    const inner = await worker.claimed(child);
    const grandchild =
      (await worker.report({ calls: [call({ id: child, generation: inner.generation }, 0)] })).calls[0]?.child ?? '';
    await worker.report({ suspends: [suspend(held, 0), suspend({ id: child, generation: inner.generation }, 0)] });
    await plane.executions.cancel(held.id, operator);
    expect([(await row(held.id)).state, (await row(child)).state, (await row(grandchild)).state]).toEqual([
      'CANCELLED',
      'CANCELLED',
      'CANCELLED',
    ]);
    expect(await row(held.id)).toMatchObject({ cancel_children: false });
  });

  it('keeps its routing input to itself: nothing of it stands anywhere but in its own table', async () => {
    const canary = 'canary-7f3a91';
    const held = await running();
    const routed = call(held, 0, { routingInput: { cohort: canary } });
    const { calls } = await worker.report({ calls: [routed, call(held, 1, { routingInput: { [canary]: [canary] } })] });
    expect(codes(calls)).toEqual([null, 'ROUTING_INPUT_INVALID']);
    const child = calls[0]?.child ?? '';
    await worker.report({ suspends: [suspend(held, 0)] });
    const claim = await worker.claimed(child);
    const late = await worker.report({ calls: [routed] });
    expect(await tablesWith(canary)).toEqual(['execution_routing']);
    await worker.report({ ends: [completed({ id: child, generation: claim.generation })] });
    const { claim: parent, held: again } = await resumed(held.id);
    expect(await tablesWith(canary)).toEqual([]);
    expect(JSON.stringify([calls, late, claim, parent])).not.toContain(canary);
    expect(plane.lines.filter((line) => line.includes(canary))).toEqual([]);
    expect(plane.lines.some((line) => line.includes('"routingKeys":["cohort"]'))).toBe(true);
    await worker.report({ ends: [completed(again)] });
  });

  it('tells the worker nothing about bindings and hints', async () => {
    const held = await running();
    const child = (await worker.report({ calls: [call(held, 0)] })).calls[0]?.child ?? '';
    const claim = await worker.claimed(child);
    expect(Object.keys(claim).toSorted()).toEqual([
      'attempt',
      'generation',
      'input',
      'maxAttempts',
      'steps',
      'stepsAfter',
      'timeoutSeconds',
      'token',
      'version',
      'workflow',
      'workflowRunner',
    ]);
    expect(JSON.stringify(claim)).not.toContain(worker.name);
    await worker.report({ ends: [completed({ id: child, generation: claim.generation }), completed(held)] });
  });
});

describe('a parent that is suspended at the very moment its child ends', () => {
  it('is never forgotten', async () => {
    for (let round = 0; round < 25; round += 1) {
      const held = await running();
      const child = (await worker.report({ calls: [call(held, 0)] })).calls[0]?.child ?? '';
      const { generation } = await worker.claimed(child);
      const [paused, ended] = await Promise.all([
        worker.report({ suspends: [suspend(held, 0)] }),
        worker.report({ ends: [completed({ id: child, generation }, round)] }),
      ]);
      expect([codes(paused.suspends), codes(ended.ends)]).toEqual([[null], [null]]);
      const { steps, held: again } = await resumed(held.id);
      expect(steps).toMatchObject([{ done: true, result: round }]);
      await worker.report({ ends: [completed(again)] });
    }
    expect(plane.lines.filter((line) => line.includes('whose wait was over'))).toEqual([]);
  });

  it('is found by a slow walk where the wake-up was lost all the same', async () => {
    const held = await running();
    const child = (await worker.report({ calls: [call(held, 0)] })).calls[0]?.child ?? '';
    const { generation } = await worker.claimed(child);
    await plane.database.query('UPDATE execution SET parent_position = NULL WHERE id = $1', [child]);
    await worker.report({ suspends: [suspend(held, 0)], ends: [completed({ id: child, generation }, 'lost')] });
    const { steps, held: again } = await resumed(held.id);
    expect(steps).toMatchObject([{ done: true, result: 'lost' }]);
    await worker.report({ ends: [completed(again)] });
  });
});
