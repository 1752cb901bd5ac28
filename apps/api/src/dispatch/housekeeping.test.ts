import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createInProcessBus } from '../bus/in-process-bus.ts';
import { createLog } from '../log.ts';
import { Housekeeping } from './housekeeping.ts';
import { createExecutor, type Executor } from './statements/executor.ts';
import type { LeaderSession } from './statements/fence.ts';
import { tablesWithDeadRows } from './statements/retention.ts';
import { eventually } from './testing/harness.ts';

let database: TestDatabase;
let executor: Executor;
let session: LeaderSession | null;
let monotonic = 0;

beforeAll(async () => {
  database = await testDatabase();
  executor = createExecutor(database);
  await database.query(`UPDATE leadership SET epoch = 7, holder = 'me', expires_at = 'infinity'`);
  await database.query(
    `WITH w AS (INSERT INTO workflow (namespace, name, created_by) VALUES ('t', 't', 't') RETURNING id)
     INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 1, '\\x00', 't' FROM w`,
  );
});
afterAll(async () => {
  await database.drop();
});

function housekeeping(retention: { executions: number | null; days: number | null }, db = executor): Housekeeping {
  session = { epoch: '7', holder: 'me' };
  return new Housekeeping({
    executor: db,
    bus: createInProcessBus(() => {}),
    kind: database.kind,
    retention,
    session: () => session,
    clock: { now: () => 0, monotonic: () => monotonic },
    now: () => database.now(),
    log: createLog('silent'),
  });
}

/** Executions of the last `days` days, the newest first; every tenth is still running. */
async function fill(count: number, days: number): Promise<void> {
  await database.query('DELETE FROM execution');
  await database.query(
    `INSERT INTO execution (id, created_at, queued_at, updated_at, version_id, submitted_by, state, queued, live, finished_state, worker_id, finished_at, input)
     SELECT (substr(uuid_v7_floor(t.at)::text, 1, 14) || '7' || lpad(n::text, 3, '0') || '-8000-' || lpad(n::text, 12, '0'))::uuid,
       t.at, t.at, t.at, 1, 't', CASE WHEN n % 10 = 0 THEN 'RUNNING' ELSE 'COMPLETED' END, false, n % 10 = 0,
       CASE WHEN n % 10 <> 0 THEN 'COMPLETED' END, CASE WHEN n % 10 = 0 THEN 1 END, CASE WHEN n % 10 <> 0 THEN t.at END, '{}'
     FROM generate_series(0, $1::int - 1) n, LATERAL (SELECT clock_timestamp() - make_interval(secs => n * 86400.0 * $2::int / $1::int) AS at) t`,
    [count, days],
  );
}

async function count(where: string): Promise<number> {
  const { rows } = await database.query<{ n: number }>(`SELECT count(*)::int AS n FROM execution WHERE ${where}`);
  return rows[0]?.n ?? 0;
}

describe('housekeeping', () => {
  it('keeps so many ended executions, the newest, and all that have not ended', async () => {
    await fill(800, 10);
    const kept = await database.query(
      `SELECT id FROM execution WHERE finished_state IS NOT NULL ORDER BY id DESC LIMIT 100`,
    );
    expect(await housekeeping({ executions: 100, days: null }).enforceRetention()).toBe(620);
    const left = await database.query(`SELECT id FROM execution WHERE finished_state IS NOT NULL ORDER BY id DESC`);
    expect(left.rows).toEqual(kept.rows);
    expect(await count(`state = 'RUNNING'`)).toBe(80);
    expect(await housekeeping({ executions: 100, days: null }).enforceRetention()).toBe(0);
  });

  it('deletes what has ended and is older than so many days, with all that hangs on it', async () => {
    await fill(100, 10);
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM execution WHERE finished_state IS NOT NULL ORDER BY id LIMIT 1`,
    );
    const oldest = rows[0]?.id;
    await database.query(`INSERT INTO execution_routing VALUES ($1, '{}')`, [oldest]);
    await database.query(
      `INSERT INTO decision (id, execution_id, wait_ms, duration_us, n, generation, version_id, eligible, rejected, attempt, outcome, method)
       VALUES ($1, $1, 0, 0, 1, 1, 1, 0, 0, 1, 'PARKED', 'ROUTING')`,
      [oldest],
    );
    await housekeeping({ executions: null, days: 5 }).enforceRetention();
    expect(await count(`finished_state IS NOT NULL AND created_at < clock_timestamp() - interval '5 days'`)).toBe(0);
    expect(await count(`finished_state IS NOT NULL`)).toBeGreaterThan(40);
    expect(await count(`state = 'RUNNING'`)).toBe(10);
    for (const table of ['execution_routing', 'decision']) {
      const found = await database.query(`SELECT FROM ${table} WHERE execution_id = $1`, [oldest]);
      expect(found.rowCount).toBe(0);
    }
  });

  it('does nothing for a session that is over', async () => {
    await fill(20, 10);
    const keeping = housekeeping({ executions: 0, days: null });
    session = { epoch: '6', holder: 'me' };
    await expect(keeping.enforceRetention()).rejects.toThrow('over');
    session = null;
    expect(await keeping.enforceRetention()).toBe(0);
    expect(await count('true')).toBe(20);
  });

  it('forgets idempotency keys after a week', async () => {
    await database.query(
      `INSERT INTO idempotency (principal, mutation, key, hmac, at)
       SELECT 'p', 'm', n::text, '\\x00', clock_timestamp() - make_interval(days => 6 + n % 2, hours => 1) FROM generate_series(1, 1200) n`,
    );
    await housekeeping({ executions: null, days: null }).enforceRetention();
    const { rows } = await database.query<{ n: number }>('SELECT count(*)::int AS n FROM idempotency');
    expect(rows[0]?.n).toBe(600);
  });

  it('makes the partitions of the coming days, and drops days that nothing reaches into', async () => {
    await fill(10, 1);
    await database.query(`SELECT * FROM maintain_partitions(clock_timestamp() - interval '20 days', 0, NULL)`);
    const names = async (): Promise<string[]> => {
      const { rows } = await database.query<{ name: string }>(
        `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'decision'::regclass`,
      );
      return rows.map((row) => row.name);
    };
    const before = await names();
    await housekeeping({ executions: null, days: null }).maintainPartitions();
    expect(await names()).toEqual(before);
    await housekeeping({ executions: null, days: 7 }).maintainPartitions();
    expect((await names()).length).toBe(before.length - 1);
  });

  it('tidies the embedded database, which has nobody else to do it, and leaves PostgreSQL to its autovacuum', async () => {
    await fill(3_000, 1);
    await database.query('UPDATE execution SET revision = revision + 1');
    // The database counts dead rows once a second at most.
    const dead = async (): Promise<boolean> =>
      (await tablesWithDeadRows(executor, 1_000)).some((table) => table.name === 'execution');
    await eventually(dead);
    const ran: string[] = [];
    const keeping = housekeeping(
      { executions: null, days: null },
      {
        run: (statement, values) => {
          ran.push(statement.name);
          return executor.run(statement, values);
        },
      },
    );
    monotonic += 70_000;
    await keeping.tick();
    const embedded = database.kind === 'embedded';
    expect(ran.includes('vacuum_execution')).toBe(embedded);
    expect(ran.includes('checkpoint')).toBe(embedded);
    if (embedded) await eventually(async () => !(await dead()));
  });
});
