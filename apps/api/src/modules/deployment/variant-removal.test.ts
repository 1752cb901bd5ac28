import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** Variants are removed, and deployments deleted, while work of theirs has no worker. Nobody is there to take any. */
let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
});
afterAll(() => app.close());

const variants = (weights: Record<string, number>) =>
  Object.entries(weights).map(([label, weight]) => ({ label, flowId: 'default/chat', weight }));
const create = (slug: string, weights: Record<string, number>) =>
  app.ask('mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { warnings } }', {
    input: { slug, variants: variants(weights) },
  });
const update = (slug: string, expectedRevision: number, weights: Record<string, number>, force?: boolean) =>
  app.post(
    'mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision } } }',
    {
      input: { slug, expectedRevision, variants: variants(weights), force },
    },
  );
const rollback = (slug: string, expectedRevision: number, toRevision: number, force?: boolean) =>
  app.post(
    'mutation ($input: RollbackDeploymentInput!) { rollbackDeployment(input: $input) { deployment { revision } } }',
    { input: { slug, expectedRevision, toRevision, force } },
  );
const remove = (slug: string, expectedRevision: number, force?: boolean) =>
  app.post('mutation ($input: DeleteDeploymentInput!) { deleteDeployment(input: $input) { slug } }', {
    input: { slug, expectedRevision, force },
  });
const run = async (deployment: string): Promise<{ id: string; variantLabel: string }> =>
  (
    await app.ask(
      'mutation ($input: RunDeploymentInput!) { runDeployment(input: $input) { execution { id variantLabel } } }',
      { input: { deployment } },
    )
  ).runDeployment.execution;
const parked = async (deployment: string): Promise<string> => {
  const { id } = await run(deployment);
  await until(
    async () => (await app.ask('query ($id: ID!) { execution(id: $id) { parked } }', { id })).execution.parked,
    'it parks',
  );
  return id;
};
const cancel = (id: string) =>
  app.ask('mutation ($id: ID!) { cancelExecution(input: { id: $id }) { execution { id } } }', { id });
const audit = async (slug: string) =>
  (
    await app.plane.database.query<{ action: string; data: unknown }>(
      'SELECT action, data FROM audit WHERE target = $1 ORDER BY id',
      [`deployment:${slug}`],
    )
  ).rows.map(({ action, data }) => [action, Number(/"left":(\d+)/.exec(JSON.stringify(data))?.[1] ?? 0)]);

describe('work that has no worker yet (E18)', () => {
  it('blocks the removal of its variant, by an update and by a rollback, and is named', async () => {
    await create('one', { a: 1 });
    await update('one', 1, { a: 0, b: 1 });
    const id = await parked('one');
    for (const [field, { errors }] of [
      ['variants', await update('one', 2, { a: 1 })],
      // The same variant under another label is another variant.
      ['variants', await update('one', 2, { a: 1, c: 1 })],
      ['toRevision', await rollback('one', 2, 1)],
    ] as const) {
      expect(errors[0]).toMatchObject({
        message: `1 execution of b has no worker yet: ${id}. Let them run or cancel them first; with force they stay, and keep their variant.`,
        extensions: {
          code: 'CONFLICT',
          field,
          waiting: { count: 1, countExact: true, variants: ['b'], ids: [id] },
        },
      });
    }
    const { deployment } = await app.ask('{ deployment(slug: "one") { revision variants { label } } }');
    expect(deployment).toEqual({ revision: 2, variants: [{ label: 'a' }, { label: 'b' }] });
    expect(await audit('one')).toEqual([
      ['deployment.create', 0],
      ['deployment.update', 0],
    ]);
    await cancel(id);
    expect((await rollback('one', 2, 1)).data.rollbackDeployment.deployment.revision).toBe(3);
  });

  it('blocks no change of weights, no new variant, and no removal of another', async () => {
    await create('two', { a: 1, b: 0, c: 0 });
    await parked('two');
    expect((await update('two', 1, { a: 0, b: 1, c: 0 })).errors).toEqual([]);
    expect((await update('two', 2, { a: 0, b: 1, d: 1 })).errors).toEqual([]);
    // Back to revision 2 brings c again and takes d away.
    expect((await rollback('two', 3, 2)).errors).toEqual([]);
  });

  it('blocks the deletion of its deployment; with force it stays, keeps its variant, and the audit has the number', async () => {
    await create('three', { a: 1 });
    const ids = [await parked('three'), await parked('three')];
    await update('three', 1, { a: 0, b: 1 });
    ids.push(await parked('three'));
    const { errors } = await remove('three', 2);
    expect(errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      field: 'slug',
      waiting: { count: 3, countExact: true, variants: ['a', 'b'], ids },
    });
    expect((await remove('three', 1, true)).errors[0]?.extensions.current).toBeTruthy();
    expect((await remove('three', 2, true)).data.deleteDeployment).toEqual({ slug: 'three' });
    expect(await audit('three')).toEqual([
      ['deployment.create', 0],
      ['deployment.update', 0],
      ['deployment.delete', 3],
    ]);
    const { execution } = await app.ask(`{ execution(id: "${ids[0]}") { state parked variantLabel } }`);
    expect(execution).toEqual({ state: 'PENDING', parked: true, variantLabel: 'a' });
  });

  it('is still counted for its deployment when its variant was removed with force', async () => {
    await create('four', { a: 1, b: 0 });
    const id = await parked('four');
    expect((await update('four', 1, { b: 1 }, true)).errors).toEqual([]);
    expect((await update('four', 2, { b: 2 })).errors).toEqual([]);
    const refused = (await remove('four', 3)).errors[0];
    expect(refused?.message).toContain(id);
    // A retry brings the variant that the first had.
    await cancel(id);
    const { retryExecution } = await app.ask(
      'mutation ($id: ID!) { retryExecution(input: { id: $id }) { execution { variantLabel } } }',
      { id },
    );
    expect(retryExecution.execution).toEqual({ variantLabel: 'a' });
  });

  it('is what is pending or paused; what a worker has, and what has ended, is not', async () => {
    await create('five', { a: 1 });
    const id = await parked('five');
    const become = (set: string) =>
      app.plane.database.query(`UPDATE execution SET parked = false, parked_reason = NULL, ${set} WHERE id = $1`, [
        id.slice(3),
      ]);
    await become(`state = 'PAUSED', queued = false, waiting = 'RESUME'`);
    expect((await remove('five', 1)).errors[0]?.extensions.code).toBe('CONFLICT');
    await become(`state = 'RESUMING', queued = true, waiting = NULL`);
    expect((await remove('five', 1)).errors[0]?.extensions.code).toBe('CONFLICT');
    await become(`state = 'SCHEDULED', queued = false, live = true, worker_id = 1, worker_name = 'w'`);
    expect((await remove('five', 1)).errors).toEqual([]);
  });
});

describe('removals among runs', () => {
  it('leave no work behind that nobody was told of', async () => {
    for (let round = 0; round < 12; round += 1) {
      const slug = `storm-${round}`;
      await create(slug, { a: 1, b: 0 });
      const runs: Promise<{ id: string; variantLabel: string }>[] = [];
      for (let i = 0; i < 8; i += 1) runs.push(run(slug));
      const removal = update(slug, 1, { b: 1 });
      for (let i = 0; i < 8; i += 1) runs.push(run(slug));
      const [made, { errors }] = await Promise.all([Promise.all(runs), removal]);
      const old = made.filter(({ variantLabel }) => variantLabel === 'a');
      if (errors.length === 0) expect(old, slug).toEqual([]);
      else {
        expect(errors[0]?.extensions.code).toBe('CONFLICT');
        expect(old, slug).toHaveLength(16);
      }
    }
  });
});

describe('a replica that has not heard of the removal', () => {
  /** Another replica's write, whose message is lost: this one finds it by its tick, seconds later. */
  const removeElsewhere = (slug: string) =>
    app.plane.database.query('UPDATE deployment SET variants = $2, revision = revision + 1 WHERE slug = $1', [
      slug,
      JSON.stringify([{ label: 'b', flowId: 'default/chat', versionId: null, weight: 1, targetRoles: [], labels: {} }]),
    ]);
  const startedFor = async (slug: string) =>
    (
      await app.plane.database.query<{ variant: string }>(
        'SELECT x.variant FROM execution x JOIN deployment d ON d.id = x.deployment_id WHERE d.slug = $1',
        [slug],
      )
    ).rows.map(({ variant }) => variant);

  it('picks anew for a call', async () => {
    await create('stale', { a: 1, b: 0 });
    await removeElsewhere('stale');
    expect((await run('stale')).variantLabel).toBe('b');
    await app.plane.database.query(`DELETE FROM deployment WHERE slug = 'stale'`);
    const { errors } = await app.post(
      'mutation { runDeployment(input: { deployment: "stale" }) { execution { id } } }',
    );
    expect(errors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND', field: 'deployment' });
  });

  it('starts nothing of the removed variant for a schedule, and its run as soon as it knows', async () => {
    await create('planned', { a: 1, b: 0 });
    await app.ask(
      'mutation { createSchedule(input: { name: "s", cron: "0 0 1 1 *", deployment: "planned" }) { warnings } }',
    );
    await removeElsewhere('planned');
    await app.plane.database.query(`UPDATE schedule SET next_at = clock_timestamp() WHERE name = 's'`);
    await until(async () => (await startedFor('planned')).length > 0, 'its run');
    expect(await startedFor('planned')).toEqual(['b']);
    const { schedule } = await app.ask('{ schedule(name: "s") { startedCount lastResult failedCount } }');
    expect(schedule).toEqual({ startedCount: 1, lastResult: 'STARTED', failedCount: 0 });
  });
});
