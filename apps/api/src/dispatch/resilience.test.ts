import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readLive } from './statements/queue-reads.ts';
import { createHarness, eventually, type Harness, operator } from './testing/harness.ts';

/** What breaks in a fleet, and what must not break with it. */
let database: TestDatabase;
let h: Harness;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await database.drop();
});
beforeEach(async () => {
  await database.query('DELETE FROM execution');
  await database.query('DELETE FROM worker');
  await database.query('DELETE FROM worker_pulse');
  h = await createHarness(database);
});
afterEach(async () => {
  await h.close();
  expect(h.failures).toEqual([]);
});

async function restart(options: Parameters<typeof createHarness>[1] = {}): Promise<void> {
  await h.close();
  expect(h.failures).toEqual([]);
  h = await createHarness(database, options);
}

async function running(id: string): Promise<boolean> {
  return (await h.state(id)) === 'RUNNING';
}

describe('a worker that is lost', () => {
  it('is released after silence and its work runs elsewhere; its late result is refused (A8, A9, B7, B9)', async () => {
    await restart({ staleSeconds: 3, offlineSeconds: 4 });
    await h.dispatcher.start();
    const first = await h.worker('a', { capacity: 5 });
    h.serve(first, async () => {});
    const version = await h.version();
    const ids = await Promise.all([1, 2, 3].map(() => h.submit(version)));
    for (const id of ids) await eventually(() => running(id));
    h.silence('a');
    h.serve(await h.worker('b', { capacity: 5 }));
    for (const id of ids) await eventually(async () => (await h.state(id)) === 'COMPLETED', 20_000);
    for (const id of ids) expect(await h.row(id)).toMatchObject({ worker_name: 'b', generation: 3, attempt: 2 });
    const late = await h.end(
      first,
      ids.map((id) => ({ id, generation: 1 })),
    );
    expect(late).toEqual([]);
    const { rows } = await database.query('SELECT outcome, worker_name FROM attempt ORDER BY execution_id');
    expect(rows).toEqual(ids.map(() => ({ outcome: 'WORKER_LOST', worker_name: 'a' })));
    expect(h.fleet.loadOf(first.id)).toBe(0);
  });

  it('keeps its work when it recovers before it counts as lost (A17)', async () => {
    await restart({ staleSeconds: 3, offlineSeconds: 5 });
    await h.dispatcher.start();
    const worker = await h.worker('a');
    h.serve(worker, async () => {});
    const id = await h.submit(await h.version());
    await eventually(() => running(id));
    h.silence('a');
    await eventually(() => h.fleet.get('a')?.facts.status === 'STALE');
    await h.worker('a', { instance: worker.instance });
    await eventually(() => h.fleet.get('a')?.facts.status === 'HEALTHY');
    expect(await h.row(id)).toMatchObject({ state: 'RUNNING', generation: 1 });
  });

  it('ends an execution that has no attempts left with a clear error', async () => {
    await restart({ staleSeconds: 3, offlineSeconds: 3 });
    await h.dispatcher.start();
    h.serve(await h.worker('a'), async () => {});
    const id = await h.submit(await h.version({ maxAttempts: 1 }));
    await eventually(() => running(id));
    h.silence('a');
    await eventually(async () => (await h.state(id)) === 'FAILED', 20_000);
    expect((await h.row(id)).error).toMatchObject({
      type: 'WorkerLostError',
      message: expect.stringContaining('worker a was not heard'),
    });
    await eventually(() => h.figures.read().failedPerSecond > 0);
  });

  it('frees its work once when it is removed (A4)', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('a');
    h.serve(worker, async () => {});
    const id = await h.submit(await h.version());
    await eventually(() => running(id));
    await database.query('UPDATE worker SET removed_at = clock_timestamp() WHERE id = $1', [worker.id]);
    h.silence('a');
    h.fleet.remove('a');
    const release = { workerId: worker.id, instance: null, cause: 'REMOVED', message: 'worker a was removed' } as const;
    const [once, twice] = await Promise.all([h.releaser.releaseWorker(release), h.releaser.releaseWorker(release)]);
    expect(once.length + twice.length).toBe(1);
    expect(await h.row(id)).toMatchObject({ state: 'PENDING', worker_id: null, generation: 2 });
  });

  it('is found out by the leader where the replica that should have released it died', async () => {
    await h.dispatcher.start();
    h.serve(await h.worker('a'), async () => {});
    const id = await h.submit(await h.version());
    await eventually(() => running(id));
    const successor = await h.worker('a');
    await eventually(async () => (await h.row(id)).instance === successor.instance, 20_000);
    expect(await h.row(id)).toMatchObject({ state: 'SCHEDULED', generation: 3, attempt: 1 });
  });
});

describe('a restart of the server', () => {
  it('finds what was accepted and not dispatched, without any message, and runs it once (B12, B14)', async () => {
    const version = await h.version();
    const ids = await Promise.all(Array.from({ length: 10 }, () => h.submit(version)));
    for (let i = 0; i < 3; i += 1) {
      await restart();
      await h.dispatcher.start();
      expect((await Promise.all(ids.map((id) => h.state(id)))).every((state) => state === 'PENDING')).toBe(true);
    }
    h.serve(await h.worker('a'));
    for (const id of ids) await eventually(async () => (await h.state(id)) === 'COMPLETED');
    const { rows } = await database.query('SELECT count(*)::int AS n, max(generation) AS generation FROM execution');
    expect(rows).toEqual([{ n: 10, generation: 1 }]);
  });

  it('leaves running work of living workers alone, and counts it (B5)', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('a', { capacity: 2 });
    h.serve(worker, async () => {});
    const version = await h.version();
    const ids = await Promise.all([h.submit(version), h.submit(version)]);
    for (const id of ids) await eventually(() => running(id));
    await restart({ claimSeconds: 1 });
    await h.worker('a', { capacity: 2, instance: worker.instance });
    await h.dispatcher.start();
    await eventually(() => h.fleet.loadOf(worker.id) === 2);
    const third = await h.submit(version);
    await eventually(async () => (await h.row(third)).parked === true);
    expect((await h.row(third)).parked_reason).toContain('at capacity');
    for (const id of ids) expect(await h.row(id)).toMatchObject({ state: 'RUNNING', generation: 1 });
  });

  it('takes back an assignment that was made before it and never claimed', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('a');
    const id = await h.submit(await h.version());
    await eventually(async () => (await h.state(id)) === 'SCHEDULED');
    await restart({ claimSeconds: 1 });
    h.serve(await h.worker('a', { instance: worker.instance }));
    await h.dispatcher.start();
    await eventually(async () => (await h.state(id)) === 'COMPLETED', 20_000);
    expect((await h.row(id)).generation).toBe(3);
  });
});

describe('containment', () => {
  it('dispatches the others when one execution, policy or write is bad', async () => {
    await h.dispatcher.start();
    h.serve(await h.worker('a'));
    const good = await h.version();
    const broken = await h.version({
      routing: { terms: [{ kind: 'prefer', selector: 7, op: '<>', weight: 'heavy' }] },
    });
    const odd = await h.version({ affinity: 'nonsense', requests: { gpu: 'many' } });
    const ids = await Promise.all([broken, odd, good, broken, good].map((version) => h.submit(version)));
    const [degraded = '', refused = '', fine = ''] = ids;
    await eventually(async () => (await h.state(fine)) === 'COMPLETED');
    await eventually(async () => (await h.state(degraded)) === 'COMPLETED');
    expect(await h.state(refused)).not.toBe('COMPLETED');
    const decision = (await h.decisions.latestByExecutions([degraded])).get(degraded)?.decision;
    expect(decision).toMatchObject({ method: 'LEAST_LOADED', winner: 'a' });
    expect(decision?.degraded).toContain('term 1');
  });

  it('tries a refused batch item by item: one row that the database will not take stops nobody', async () => {
    await database.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.session_key = 'poison' AND NEW.state = 'SCHEDULED' THEN RAISE EXCEPTION 'refused'; END IF; RETURN NEW; END $$`);
    await database.query('CREATE TRIGGER refuse BEFORE UPDATE ON execution FOR EACH ROW EXECUTE FUNCTION refuse()');
    try {
      await h.dispatcher.start();
      const worker = await h.worker('a');
      h.serve(worker);
      const version = await h.version();
      const items = ['a', 'poison', 'b'].map((sessionKey) => ({
        ...version,
        sessionKey,
        targetRoles: [],
        priority: 0,
        input: null,
      }));
      const outcomes = await h.executions.submit(items, operator);
      const ids = outcomes.map((outcome) => ('id' in outcome ? outcome.id : ''));
      await eventually(
        async () => (await h.state(ids[0] ?? '')) === 'COMPLETED' && (await h.state(ids[2] ?? '')) === 'COMPLETED',
      );
      expect(await h.state(ids[1] ?? '')).toBe('PENDING');
      await eventually(() => h.fleet.loadOf(worker.id) === 0);
    } finally {
      await database.query('DROP TRIGGER refuse ON execution');
    }
  });

  it('goes on when the bus fails (I13)', async () => {
    await h.dispatcher.start();
    h.serve(await h.worker('a'));
    h.bus.subscribe('execution', () => {
      throw new Error('a bad listener');
    });
    const id = await h.submit(await h.version());
    await eventually(async () => (await h.state(id)) === 'COMPLETED');
    expect(h.failures.length).toBeGreaterThan(0);
    h.failures.length = 0;
  });

  it('heals loads that drifted from the table within one rebuild (F8, F10)', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('a', { capacity: 1 });
    h.fleet.setLive('f'.repeat(32), worker.id, 1);
    const id = await h.submit(await h.version());
    h.serve(worker);
    await eventually(async () => (await h.state(id)) === 'COMPLETED', 15_000);
    const { rows } = await database.query(
      `SELECT count(*)::int AS n FROM execution WHERE live <> (state IN ('SCHEDULED', 'CLAIMED', 'RUNNING', 'CANCELLING')) OR queued <> (state IN ('PENDING', 'RESUMING'))`,
    );
    expect(rows).toEqual([{ n: 0 }]);
    expect(await readLive(h.executor)).toEqual([]);
  });
});

describe('waiting', () => {
  it('fails after its park time, naming what it waited for, and not before it was released (F3)', async () => {
    await restart({ staleSeconds: 3, offlineSeconds: 3 });
    await h.dispatcher.start();
    h.serve(await h.worker('a'), async () => {});
    const version = await h.version({ affinity: [{ kind: 'match', selector: 'label:region', op: '!=', value: 'eu' }] });
    const id = await h.submit({ ...version, requiredWorker: 'a', targetRoles: ['worker'], parkTtlSeconds: 2 });
    await eventually(() => running(id));
    expect((await h.row(id)).park_deadline).toBeNull();
    h.silence('a');
    await eventually(async () => (await h.row(id)).generation === 2, 15_000);
    const released = await h.row(id);
    await eventually(async () => (await h.state(id)) === 'FAILED', 15_000);
    const failed = await h.row(id);
    expect((failed.finished_at as Date).getTime() - (released.queued_at as Date).getTime()).toBeGreaterThanOrEqual(
      2_000,
    );
    expect(failed.error).toMatchObject({ type: 'ParkTimeoutError' });
    const { message } = failed.error as { message: string };
    for (const part of ['worker a', 'role worker', 'label("region") != "eu"']) expect(message).toContain(part);
  });

  it('fails at once what can never match, with no worker connected', async () => {
    await h.dispatcher.start();
    const version = await h.version({
      affinity: [{ kind: 'match', selector: 'label:region', op: '==', value: { $input: 'region' } }],
    });
    const id = await h.submit({ ...version, input: { other: 1 } });
    await eventually(async () => (await h.state(id)) === 'FAILED');
    expect((await h.row(id)).error).toMatchObject({ type: 'AffinityResolutionError', retryable: false });
    expect((await h.decisions.latestByExecutions([id])).get(id)?.decision.outcome).toBe('FAILED');
  });

  it('says no capacity of a full fleet, looks at a long queue once per change, and reads little of it (F2)', async () => {
    await h.dispatcher.start();
    const worker = await h.worker('a', { capacity: 1 });
    h.serve(worker, async () => {});
    const version = await h.version();
    const busy = await h.submit(version);
    await eventually(() => running(busy));
    for (let i = 0; i < 4; i += 1) {
      await h.executions.submit(
        Array.from({ length: 500 }, () => ({ ...version, targetRoles: [], priority: 0, input: null })),
        operator,
      );
    }
    await eventually(async () => {
      const { rows } = await database.query(`SELECT FROM execution WHERE parked_reason LIKE '%at capacity%' LIMIT 1`);
      return rows.length === 1;
    });
    expect(h.dispatcher.stats().parkedReasons[0]).toMatchObject({
      count: 2_000,
      reason: expect.stringContaining('at capacity'),
    });
    await eventually(async () => {
      const { rows } = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM execution WHERE parked');
      return rows[0]?.n === 2_000;
    }, 30_000);
    // Everything is said: from now on little of the table is read, and nothing is written.
    h.statements.clear();
    await eventually(() => (h.statements.get('queue_ids') ?? 0) >= 3);
    expect(h.statements.get('queued_by_ids') ?? 0).toBe(0);
    expect(h.statements.get('park') ?? 0).toBe(0);
    expect(h.statements.get('queue_ids') ?? 0).toBeLessThan(10);
  });

  it('asks the database as often for one execution whatever the size of the fleet (F5)', async () => {
    await h.dispatcher.start();
    for (let i = 0; i < 60; i += 1) h.serve(await h.worker(`w-${i}`));
    const version = await h.version();
    const first = await h.submit(version);
    await eventually(async () => (await h.state(first)) === 'COMPLETED');
    h.statements.clear();
    const id = await h.submit(version);
    await eventually(async () => (await h.state(id)) === 'COMPLETED');
    const hot = ['submit', 'assign', 'claim', 'end'];
    expect(hot.map((name) => h.statements.get(name))).toEqual([1, 1, 1, 1]);
    expect(h.statements.get('queued_by_ids') ?? 0).toBe(0);
  });

  it('keeps the routing value out of everything that is stored or logged (G18)', async () => {
    await h.dispatcher.start();
    await h.worker('a');
    const canary = 'c4n4ry';
    const version = await h.version({
      affinity: [
        {
          kind: 'match',
          selector: { kind: 'label', prefix: 'cohort.', routing_input: 'cohort' },
          op: '==',
          value: 'true',
        },
      ],
      routing: {
        terms: [{ kind: 'prefer', selector: 'label:x', op: '==', value: { $routing_input: 'cohort' }, weight: 1 }],
      },
    });
    const waiting = await h.submit({ ...version, routingInput: { cohort: canary } });
    const failing = await h.submit({ ...version, routingInput: { cohort: `${canary} !` } });
    await eventually(async () => (await h.row(waiting)).parked === true && (await h.state(failing)) === 'FAILED');
    const stored = await h.decisions.latestByExecutions([waiting, failing]);
    expect(stored.size).toBe(2);
    const seen = [
      JSON.stringify([...stored.values()]),
      JSON.stringify([...(await h.dispatcher.whyWaiting([waiting])).values()]),
      JSON.stringify([await h.row(waiting), await h.row(failing)]),
      JSON.stringify(h.dispatcher.stats()),
      h.lines.join(''),
    ];
    for (const text of seen) expect(text).not.toContain(canary);
    const { rows } = await database.query('SELECT value FROM execution_routing WHERE execution_id = $1', [waiting]);
    expect(rows).toEqual([{ value: { cohort: canary } }]);
  });
});
