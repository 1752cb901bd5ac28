import { createTestDatabase } from '@muster/db/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operator, startTestControlPlane, type TestControlPlane } from '../../testing/test-control-plane.ts';
import { until } from '../../testing/test-app.ts';
import { onDuty, type WorkerOnDuty } from '../../testing/worker-on-duty.ts';

/** Two replicas on one PostgreSQL, with workers at both. */
let replicas: TestControlPlane[];
let remove: () => Promise<void>;
const send = pg.Client.prototype.query;
const texts: string[] = [];

beforeAll(async () => {
  const created = await createTestDatabase('postgres');
  if (typeof created.target !== 'string') throw new Error('a URL was expected');
  ({ remove } = created);
  const where = {
    databaseUrl: created.target,
    databaseDirectUrl: created.target,
    staleSeconds: 600,
    offlineSeconds: 900,
    claimSeconds: 60,
  };
  replicas = [await startTestControlPlane(where), await startTestControlPlane(where)];
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const first = args[0] as string | { text: string };
    texts.push(typeof first === 'string' ? first : first.text);
    return (send as (...all: unknown[]) => unknown).apply(this, args);
  } as never;
});
afterAll(async () => {
  pg.Client.prototype.query = send;
  for (const replica of replicas) await replica.stop();
  await remove();
});

const workers: WorkerOnDuty[] = [];

/** That many workers in all, of which each replica holds half. */
async function grow(count: number): Promise<void> {
  while (workers.length < count) {
    const more = Array.from({ length: Math.min(50, count - workers.length) }, (_, i) => workers.length + i);
    workers.push(
      ...(await Promise.all(
        more.map((n) => onDuty(replicas[n % 2] as TestControlPlane, `w-${n}`, { role: n === 0 ? 'busy' : 'idle' })),
      )),
    );
  }
  await until(() => replicas.every(({ fleet }) => fleet.all().length === count), 'both know all workers');
}

/** Statements from the submission of one execution to its end, at both replicas: its writes, and all, also what comes by time alone. */
async function statementsOfOne(versionId: number): Promise<{ writes: number; all: number }> {
  const [first] = replicas as [TestControlPlane, TestControlPlane];
  const [busy] = workers as [WorkerOnDuty];
  texts.length = 0;
  const [outcome] = await first.executions.submit(
    [{ versionId, workflowRef: 'test/echo', targetRoles: ['busy'], input: null, priority: 0 }],
    operator,
  );
  const id = outcome !== undefined && 'id' in outcome ? outcome.id : '';
  const { generation } = await busy.claimed(id);
  await busy.report({ ends: [{ id, generation, state: 'COMPLETED', output: undefined, error: null }] });
  return {
    writes: texts.filter((text) => /INSERT INTO execution|UPDATE execution|INSERT INTO (?:decision|attempt)/.test(text))
      .length,
    all: texts.length,
  };
}

it('one execution costs as many statements among five hundred idle workers at two replicas as among ten', async () => {
  const version = await (replicas[0] as TestControlPlane).registerWorkflow('echo');
  await grow(10);
  await statementsOfOne(version);
  const { writes } = await statementsOfOne(version);
  expect(writes).toBeGreaterThan(2);
  await grow(500);
  const among = await statementsOfOne(version);
  expect(among.writes).toBe(writes);
  // Of those that come by time there are some tens in a second. If each worker's connection asked, there would be 500.
  expect(among.all).toBeLessThan(250);
}, 240_000);
