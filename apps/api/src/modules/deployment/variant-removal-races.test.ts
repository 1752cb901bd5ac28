import { explain, fillExecutions, type TestDatabase, testDatabase } from '@muster/db/testing';
import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { uuidSource } from '../../dispatch/ids.ts';
import { createExecutor } from '../../dispatch/statements/executor.ts';
import { START_SCHEDULE, startScheduleValues } from '../../dispatch/statements/schedule-fire.ts';
import { type SubmitRow, submitExecutions } from '../../dispatch/statements/submit.ts';
import { until } from '../../testing/test-app.ts';
import { DeploymentStore, WAITING_OF_DEPLOYMENT, WAITING_OF_VARIANTS, WorkWaits } from './deployment-store.ts';

/** One transaction held open while the other comes: PostgreSQL only, as the embedded database has one session. */
let database: TestDatabase;
let store: DeploymentStore;
const author = { by: 'test', name: 'test', address: null, requestId: 'r', comment: null };
const variant = (label: string) => ({ label, flowId: 't/w', versionId: null, weight: 1, targetRoles: [], labels: {} });

beforeAll(async () => {
  database = await testDatabase('postgres');
  store = new DeploymentStore(
    database.prisma,
    () => database.uuidv7(),
    () => database.now(),
  );
  await fillExecutions(database, 20_000);
}, 300_000);
afterAll(() => database.drop());

async function create(slug: string): Promise<number> {
  const made = await store.create(
    slug,
    { module: null, description: null, variants: [variant('a'), variant('b')] },
    author,
    null,
  );
  if (made === 'key-used') throw new Error('no key was given');
  return made.id;
}
const removeA = (slug: string) =>
  store.update(
    slug,
    1,
    { module: null, description: null, variants: [variant('b')] },
    author,
    'deployment.update',
    false,
  );
const row = (deploymentId: number, label: string): SubmitRow => ({
  id: uuidSource(database).next(),
  versionId: 1,
  deploymentId,
  variant: label,
  targetRoles: [],
  sessionKey: null,
  parentId: null,
  retryOf: null,
  submittedBy: 't',
  priority: 0,
  requiredWorker: null,
  preferredWorker: null,
  parkTtlSeconds: null,
  input: null,
  routingInput: null,
  idempotency: { mutation: 'runDeployment', key: `k-${deploymentId}-${label}`, hmac: Buffer.of(1) },
});

/** Runs `first` in a transaction, and ends that only when what `second` has started waits for it. */
async function interleave<T>(
  first: (client: Client) => Promise<unknown>,
  second: () => Promise<T>,
): Promise<PromiseSettledResult<T>> {
  const client = await database.direct();
  try {
    await client.query('BEGIN');
    await first(client);
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const other = Promise.allSettled([second()]);
    await until(async () => {
      const waiting = await database.query('SELECT FROM pg_stat_activity WHERE $1::int = ANY (pg_blocking_pids(pid))', [
        rows[0]?.pid,
      ]);
      return waiting.rowCount > 0;
    }, 'the other to wait');
    await client.query('COMMIT');
    return (await other)[0];
  } finally {
    await client.end();
  }
}

describe('a removal and a submission at once', () => {
  it('the removal waits for the submission, and is refused', async () => {
    const id = await create('submitted-first');
    const made = await interleave(
      (client) =>
        submitExecutions(
          {
            run: async (statement, values) => {
              const { rows, rowCount } = await client.query(statement.text, [...values]);
              return { rows, rowCount: rowCount ?? 0 };
            },
          },
          [row(id, 'a')],
          0,
        ),
      () => removeA('submitted-first'),
    );
    expect(made.status === 'rejected' && made.reason).toBeInstanceOf(WorkWaits);
    expect((await store.byId(id))?.revision).toBe(1);
  });

  it.each(['update', 'delete'])(
    'the submission waits for the %s, and is refused; its key is not spent',
    async (how) => {
      const id = await create(`removed-first-${how}`);
      const made = await interleave(
        (client) =>
          how === 'delete'
            ? client.query('DELETE FROM deployment WHERE id = $1', [id])
            : client.query('UPDATE deployment SET variants = $2 WHERE id = $1', [id, JSON.stringify([variant('b')])]),
        () => submitExecutions(createExecutor(database), [row(id, 'a'), row(id, 'b')], 0),
      );
      const stored = await database.query<{ variant: string }>(
        'SELECT variant FROM execution WHERE deployment_id = $1',
        [id],
      );
      const keys = await database.query<{ key: string }>('SELECT key FROM idempotency WHERE key LIKE $1', [
        `k-${id}-%`,
      ]);
      const left = how === 'delete' ? [] : ['b'];
      expect(made.status === 'fulfilled' && made.value.length).toBe(left.length);
      expect(stored.rows.map((one) => one.variant)).toEqual(left);
      expect(keys.rows.map(({ key }) => key)).toEqual(left.map((label) => `k-${id}-${label}`));
    },
  );
});

describe('a run of a schedule', () => {
  it('is not started for a variant that is gone', async () => {
    const deploymentId = await create('scheduled');
    await removeA('scheduled');
    const made = await database.query<{ id: number }>(
      `INSERT INTO schedule (name, kind, interval_s, anchor_at, deployment, created_by)
       VALUES ('s', 'INTERVAL', 60, now(), 'scheduled', 't') RETURNING id`,
    );
    const schedule = { id: made.rows[0]?.id ?? 0, revision: 1 };
    const start = async (label: string) => {
      const target = { versionId: 1, deploymentId, variant: label, targetRoles: [] };
      const executionId = uuidSource(database).next();
      const values = startScheduleValues({ schedule, target, executionId, defaultParkTtlSeconds: 0, by: 't' });
      return (await database.query(START_SCHEDULE.text, values)).rowCount;
    };
    expect(await start('a')).toBe(0);
    expect(await start('b')).toBe(1);
    const { rows } = await database.query<{ variant: string }>(
      'SELECT x.variant FROM execution x WHERE x.schedule_id = $1',
      [schedule.id],
    );
    expect(rows).toEqual([{ variant: 'b' }]);
  });
});

describe('what is asked before a removal', () => {
  it('is found by its index alone, among 20,000 executions of the deployment', async () => {
    await database.query(
      `UPDATE execution SET deployment_id = 7, variant = CASE WHEN right(id::text, 1) < '8' THEN 'a' ELSE 'b' END`,
      [],
      {
        priority: 'background',
      },
    );
    await database.query('ANALYZE execution');
    for (const [text, values] of [
      [WAITING_OF_DEPLOYMENT, [7]],
      [WAITING_OF_VARIANTS, [7, ['a', 'c']]],
    ] as const) {
      const plan = await explain(database, text, values);
      const scans = plan.on('execution').map((node) => `${node['Node Type']} ${node['Index Name'] ?? ''}`);
      expect(scans, plan.text).toEqual([expect.stringMatching(/^Index (Only )?Scan execution_deployment_waiting$/)]);
      expect(
        plan.nodes.map((node) => node['Node Type']),
        plan.text,
      ).not.toContain('Sort');
      expect(plan.on('execution')[0]?.Filter, plan.text).toBeUndefined();
    }
  });
});
