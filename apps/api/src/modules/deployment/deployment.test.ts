import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  for (const name of ['chat', 'draw']) {
    await app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
      input: { name },
    });
  }
});
afterAll(() => app.close());

const variants = (...weights: number[]) =>
  weights.map((weight, i) => ({
    label: `v${i}`,
    flowId: 'default/chat',
    weight,
    targetRoles: i === 0 ? [] : [`role-${i}`],
  }));
const create = (input: Record<string, unknown>) =>
  app.post(
    'mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { id slug revision updatedBy } warnings } }',
    { input },
  );
const update = (input: Record<string, unknown>) =>
  app.post(
    'mutation ($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision module description variants { label weight } } } }',
    { input },
  );

describe('createDeployment', () => {
  it('makes it with revision 1 and warns of roles that nobody has announced', async () => {
    const { data } = await create({ slug: 'first', variants: variants(90, 10) });
    expect(data.createDeployment).toMatchObject({
      deployment: { slug: 'first', revision: 1, updatedBy: 'admin' },
      warnings: ['Variant v1 targets role role-1, which no worker has announced.'],
    });
  });

  it('refuses every problem at once, each with its path', async () => {
    const { status, errors } = await create({
      slug: 'Not a slug',
      variants: [
        { label: 'a', flowId: 'default/chat', weight: -1 },
        { label: 'a', flowId: 'default/nobody', weight: 0 },
      ],
    });
    expect(status).toBe(200);
    expect(errors[0]?.extensions.code).toBe('BAD_INPUT');
    expect(errors[0]?.extensions.issues.map(({ path }) => path)).toEqual([
      'slug',
      'variants.0.weight',
      'variants.1.label',
      'variants',
      'variants.1.flowId',
    ]);
    expect((await app.ask('{ deployment(slug: "Not a slug") { id } }')).deployment).toBeNull();
  });

  it('is a CONFLICT for a slug in use, and leaves nothing', async () => {
    const { errors } = await create({ slug: 'first', variants: variants(1) });
    expect(errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', field: 'slug' });
    const { rows } = await app.plane.database.query(
      'SELECT count(*)::int AS n FROM deployment_revision r JOIN deployment d ON d.id = r.deployment_id WHERE d.slug = $1',
      ['first'],
    );
    expect(rows).toEqual([{ n: 1 }]);
  });

  it('gives the first result again for the same key and input, and CONFLICT for another input', async () => {
    const input = { slug: 'keyed', variants: variants(1), idempotencyKey: 'k-1' };
    const first = await create(input);
    const second = await create(input);
    expect(second.data.createDeployment.deployment).toEqual(first.data.createDeployment.deployment);
    expect((await create({ ...input, slug: 'other' })).errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      field: 'idempotencyKey',
    });
    await app.ask('mutation { deleteDeployment(input: { slug: "keyed", expectedRevision: 1 }) { slug } }');
    expect((await create(input)).errors[0]?.message).toBe(
      `accepted as ${first.data.createDeployment.deployment.id}, since deleted`,
    );
  });
});

describe('updateDeployment', () => {
  it('writes over the expected revision only, and says what is there instead', async () => {
    await create({ slug: 'contested', variants: variants(1), module: 'billing' });
    const done = await update({ slug: 'contested', expectedRevision: 1, variants: variants(5, 5), comment: 'half' });
    expect(done.data.updateDeployment.deployment).toMatchObject({
      revision: 2,
      module: 'billing',
      variants: [{ weight: 5 }, { weight: 5 }],
    });
    const late = await update({ slug: 'contested', expectedRevision: 1, variants: variants(7) });
    expect(late.errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      field: 'expectedRevision',
      current: { revision: 2, updatedBy: 'admin', updatedAt: expect.stringMatching(/Z$/) },
    });
  });

  it('lets one of many that come together win', async () => {
    await create({ slug: 'raced', variants: variants(1) });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => update({ slug: 'raced', expectedRevision: 1, variants: variants(i + 1) })),
    );
    expect(answers.filter(({ errors }) => errors.length === 0)).toHaveLength(1);
    expect(answers.flatMap(({ errors }) => errors.map(({ extensions }) => extensions.code))).toEqual(
      Array.from({ length: 7 }, () => 'CONFLICT'),
    );
  });

  it('keeps a history, goes back to it, and notes every change in the audit', async () => {
    await create({ slug: 'kept', variants: variants(1), comment: 'start' });
    await update({ slug: 'kept', expectedRevision: 1, variants: variants(2), comment: 'more' });
    const { rollbackDeployment } = await app.ask(
      'mutation { rollbackDeployment(input: { slug: "kept", toRevision: 1, expectedRevision: 2 }) { deployment { revision variants { weight } history(first: 2) { totalCount pageInfo { hasNextPage endCursor } nodes { revision comment } } } } }',
    );
    expect(rollbackDeployment.deployment).toMatchObject({
      revision: 3,
      variants: [{ weight: 1 }],
      history: {
        totalCount: 3,
        pageInfo: { hasNextPage: true },
        nodes: [
          { revision: 3, comment: 'Back to revision 1' },
          { revision: 2, comment: 'more' },
        ],
      },
    });
    const rest = await app.ask(
      'query ($after: String) { deployment(slug: "kept") { history(first: 2, after: $after) { nodes { revision comment } pageInfo { hasNextPage } } } }',
      {
        after: rollbackDeployment.deployment.history.pageInfo.endCursor,
      },
    );
    expect(rest.deployment.history).toEqual({
      nodes: [{ revision: 1, comment: 'start' }],
      pageInfo: { hasNextPage: false },
    });
    const { rows } = await app.plane.database.query('SELECT action, actor FROM audit WHERE target = $1 ORDER BY id', [
      'deployment:kept',
    ]);
    expect(rows).toEqual(
      ['create', 'update', 'rollback'].map((verb) => ({ action: `deployment.${verb}`, actor: 'admin' })),
    );
  });

  it('forgets the old name at once', async () => {
    await create({ slug: 'gone', variants: variants(1) });
    await app.ask('mutation { deleteDeployment(input: { slug: "gone", expectedRevision: 1 }) { slug } }');
    const { errors } = await app.post('{ resolveDeployment(slug: "gone") { sticky } }');
    expect(errors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND', field: 'slug' });
  });
});

describe('resolving', () => {
  it('leaves out dead variants, tells shares with and without them, and fails where none is left', async () => {
    await create({ slug: 'assistant', variants: variants(90, 10) });
    const { deployment, resolveDeployment } = await app.ask(
      '{ deployment(slug: "assistant") { health unavailable variants { label share effectiveShare dead observedShare observedCount roles { role healthy workers } } } resolveDeployment(slug: "assistant", sessionKey: "s-1") { variant { label } sticky skipped skippedVariants { label reason deadRoles } version { workflowRef } } }',
    );
    expect(deployment).toMatchObject({ health: 'DEGRADED', unavailable: false });
    expect(deployment.variants).toEqual([
      { label: 'v0', share: 0.9, effectiveShare: 1, dead: false, observedShare: null, observedCount: 0, roles: [] },
      {
        label: 'v1',
        share: 0.1,
        effectiveShare: 0,
        dead: true,
        observedShare: null,
        observedCount: 0,
        roles: [{ role: 'role-1', healthy: false, workers: 0 }],
      },
    ]);
    expect(resolveDeployment).toEqual({
      variant: { label: 'v0' },
      sticky: true,
      skipped: ['v1'],
      skippedVariants: [{ label: 'v1', reason: 'ROLES_DEAD', deadRoles: ['role-1'] }],
      version: { workflowRef: 'default/chat' },
    });
    await create({ slug: 'lost', variants: variants(0, 1) });
    const { errors } = await app.post('mutation { runDeployment(input: { deployment: "lost" }) { execution { id } } }');
    expect(errors[0]?.extensions.code).toBe('NO_HEALTHY_VARIANT');
    expect(errors[0]?.message).toContain('no variants with healthy target roles');
    expect(
      (await app.ask('{ deployments(filter: { health: [UNAVAILABLE] }) { nodes { slug unavailable } } }')).deployments
        .nodes,
    ).toEqual([{ slug: 'lost', unavailable: true }]);
  });

  it('previews what would move', async () => {
    await create({ slug: 'moving', variants: [{ label: 'a', flowId: 'default/chat', weight: 1 }] });
    const { previewDeployment } = await app.ask(
      'query ($input: PreviewDeploymentInput!) { previewDeployment(input: $input) { movedShare unavailable variants { label share sampled } } }',
      {
        input: {
          slug: 'moving',
          sampleSessions: 400,
          variants: [
            { label: 'a', flowId: 'default/chat', weight: 1 },
            { label: 'b', flowId: 'default/draw', weight: 1 },
          ],
        },
      },
    );
    expect(previewDeployment.movedShare).toBeCloseTo(0.5, 12);
    expect(previewDeployment.variants[0].sampled + previewDeployment.variants[1].sampled).toBe(400);
    expect(previewDeployment.variants[1].sampled).toBeGreaterThan(100);
    expect((await app.ask('{ deployment(slug: "moving") { revision } }')).deployment.revision).toBe(1);
  });
});

describe('the list of deployments', () => {
  it('pages both ways in every order, with a cursor of that order only', async () => {
    const page = (args: string) =>
      app.post(
        `{ deployments(${args}) { nodes { slug } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
      );
    for (const order of ['SLUG', 'UPDATED', 'LAST_EXECUTION']) {
      const all = (await page(`orderBy: ${order}`)).data.deployments.nodes.map(({ slug }: { slug: string }) => slug);
      const forward: string[] = [];
      for (let after = ''; ; ) {
        const { nodes, pageInfo } = (await page(`orderBy: ${order}, first: 3${after}`)).data.deployments;
        forward.push(...nodes.map(({ slug }: { slug: string }) => slug));
        if (!pageInfo.hasNextPage) break;
        after = `, after: "${pageInfo.endCursor}"`;
      }
      expect(forward).toEqual(all);
      const back = (await page(`orderBy: ${order}, last: 2`)).data.deployments;
      expect(back.nodes.map(({ slug }: { slug: string }) => slug)).toEqual(all.slice(-2));
      expect(back.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
      const other = await page(`orderBy: ${order}, descending: true, after: "${back.pageInfo.startCursor}"`);
      expect(other.errors[0]?.extensions).toMatchObject({ code: 'BAD_INPUT', field: 'after' });
    }
  });
});
