import { createTestDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** Two servers on one PostgreSQL: what is changed at one is what the other goes by. */
let a: TestApp;
let b: TestApp;
let remove: () => Promise<void>;

beforeAll(async () => {
  const created = await createTestDatabase('postgres');
  if (typeof created.target !== 'string') throw new Error('a URL was expected');
  ({ remove } = created);
  const where = { databaseUrl: created.target, databaseDirectUrl: created.target };
  a = await startTestApp(where);
  b = await startTestApp(where);
  await a.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
});
afterAll(async () => {
  await a.close();
  await b.close();
  await remove();
});

const variants = (odd: boolean) => [
  { label: 'odd', flowId: 'default/chat', weight: odd ? 1 : 0 },
  { label: 'even', flowId: 'default/chat', weight: odd ? 0 : 1 },
];
const create = (slug: string) =>
  a.ask('mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { warnings } }', {
    input: { slug, variants: variants(true) },
  });
const update = (app: TestApp, slug: string, expectedRevision: number) =>
  app.post('mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { warnings } }', {
    input: { slug, expectedRevision, variants: variants(expectedRevision % 2 === 0) },
  });

/** What a session gets at this replica, and by which revision; null: it does not know the deployment. */
async function resolved(app: TestApp, slug: string): Promise<{ revision: number; label: string } | null> {
  const { data, errors } = await app.post(
    'query ($slug: String!) { deployment(slug: $slug) { revision } resolveDeployment(slug: $slug, sessionKey: "s") { variant { label } } }',
    { slug },
  );
  if (errors.length > 0) return null;
  return { revision: data.deployment.revision, label: data.resolveDeployment.variant.label };
}

describe('a change at one replica', () => {
  it('is what the other resolves by as soon as it has heard of it, never a mixture of old and new', async () => {
    await create('switched');
    // So many that the slow tick, which finds what no message told, would take longer than this test may.
    for (let revision = 1; revision <= 30; revision += 1) {
      const label = revision % 2 === 0 ? 'even' : 'odd';
      const seen = await until(async () => {
        const found = await resolved(b, 'switched');
        if (found !== null) expect(found.label).toBe(found.revision % 2 === 0 ? 'even' : 'odd');
        return found?.revision === revision && found;
      }, `revision ${revision}`);
      expect(seen).toEqual({ revision, label });
      expect((await update(a, 'switched', revision)).errors).toEqual([]);
    }
  });

  it('is found where its message was lost', async () => {
    await create('lost');
    await until(() => resolved(b, 'lost'), 'the deployment');
    await a.plane.database.query(`UPDATE deployment SET revision = 2, variants = $1 WHERE slug = 'lost'`, [
      JSON.stringify(variants(false).map((one) => ({ ...one, versionId: null, targetRoles: [], labels: {} }))),
    ]);
    const found = await until(async () => {
      const now = await resolved(b, 'lost');
      return now?.revision === 2 && now;
    }, 'the second revision');
    expect(found.label).toBe('even');
  });

  it('and one at the other, made from the same revision: one wins, and both go by it', async () => {
    await create('raced');
    await until(() => resolved(b, 'raced'), 'the deployment');
    for (let revision = 1; revision <= 10; revision += 1) {
      const answers = await Promise.all([update(a, 'raced', revision), update(b, 'raced', revision)]);
      expect(answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code))).toEqual(['CONFLICT']);
      for (const app of [a, b])
        await until(async () => (await resolved(app, 'raced'))?.revision === revision + 1, 'the same revision');
    }
    const { rows } = await a.plane.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM deployment_revision r JOIN deployment d ON d.id = r.deployment_id WHERE d.slug = 'raced'`,
    );
    expect(rows).toEqual([{ n: 11 }]);
  });

  it('takes a name away, also where it is given again at once', async () => {
    await create('again');
    await until(() => resolved(b, 'again'), 'the deployment');
    await a.ask('mutation { deleteDeployment(input: { slug: "again", expectedRevision: 1 }) { slug } }');
    await a.ask(
      'mutation { createDeployment(input: { slug: "again", variants: [{ label: "new", flowId: "default/chat", weight: 1 }] }) { warnings } }',
    );
    await until(async () => (await resolved(b, 'again'))?.label === 'new', 'the new one');
    await a.ask('mutation { deleteDeployment(input: { slug: "again", expectedRevision: 1 }) { slug } }');
    await until(async () => (await resolved(b, 'again')) === null, 'none');
    expect(await resolved(a, 'again')).toBeNull();
  });
});

describe('a workflow that was registered at one replica', () => {
  it('runs at the other at once, and its next version as soon as the other has heard of it', async () => {
    for (let i = 1; i <= 5; i += 1) {
      const input = { name: `fresh-${i}` };
      await a.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
        input,
      });
      const run = async () =>
        (
          await b.ask(
            'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { version { number } } } }',
            { input: { workflow: input.name } },
          )
        ).runWorkflow.execution.version.number;
      expect(await run()).toBe(1);
      await a.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
        input: { ...input, affinity: '{"zone": "moon"}' },
      });
      await until(async () => (await run()) === 2, 'the second version');
    }
  });
});
