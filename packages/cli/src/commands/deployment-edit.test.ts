import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(answers: Parameters<typeof answeringServer>[0]) {
  const server = await answeringServer(answers);
  cleanups.push(() => server.close());
  return server;
}

const stable = { label: 'stable', flowId: 'demo/chat', versionId: null, weight: 90, targetRoles: [], labels: [] };
const canary = {
  label: 'canary',
  flowId: 'demo/chat',
  versionId: 'wv_2',
  weight: 10,
  targetRoles: ['gpu-worker'],
  labels: [{ key: 'team', value: 'ml' }],
};
const present = { slug: 'assistant', revision: 7, variants: [stable, canary] };
const saved = {
  warnings: ['Variant canary targets role gpu-worker, which no worker has announced.'],
  deployment: {
    slug: 'assistant',
    revision: 8,
    variants: [
      { label: 'stable', flowId: 'demo/chat', weight: 50, targetRoles: [], share: 0.5, effectiveShare: 1, dead: false },
      {
        label: 'canary',
        flowId: 'demo/chat',
        weight: 50,
        targetRoles: ['gpu-worker'],
        share: 0.5,
        effectiveShare: 0,
        dead: true,
      },
    ],
  },
};

describe('create', () => {
  test('variants in the order they are given, with all that one can say', async () => {
    const { url, received } = await serve({ DeploymentCreate: { data: { createDeployment: saved } } });
    const { code, out, err } = await runCommand(
      [
        'deployment',
        'create',
        'assistant',
        '--variant',
        'stable=chat',
        '--variant',
        'canary=demo/chat,weight=0,role=gpu-worker,role=api,version=wv_2,label:team=ml',
        '--module',
        'web',
        '--comment',
        'first',
      ],
      { url },
    );
    expect({ code, err }).toEqual({ code: 0, err: `! ${saved.warnings[0]}` });
    expect(out).toContain('assistant is at revision 8.');
    expect(out).toMatch(/canary +demo\/chat +50 +50 % +dead +gpu-worker/);
    expect(received[0]?.variables['input']).toEqual({
      slug: 'assistant',
      module: 'web',
      description: null,
      comment: 'first',
      idempotencyKey: null,
      variants: [
        { label: 'stable', flowId: 'default/chat', weight: 100, targetRoles: [], labels: [], versionId: null },
        {
          label: 'canary',
          flowId: 'demo/chat',
          weight: 0,
          targetRoles: ['gpu-worker', 'api'],
          labels: [{ key: 'team', value: 'ml' }],
          versionId: 'wv_2',
        },
      ],
    });
  });

  test.each([
    [[], 'at least one variant'],
    [['stable'], 'begins with LABEL=WORKFLOW'],
    [['=demo/chat'], 'begins with LABEL=WORKFLOW'],
    [['stable=demo/chat,weight'], '"weight" is not key=value'],
    [['stable=demo/chat,weight=1.5'], 'The weight of stable must be a whole number from 0 to 1000000'],
    [['stable=demo/chat,weight=1,weight=2'], 'is given twice'],
    [['stable=demo/chat,roles=a'], 'roles is not one of weight, role, version, label:KEY'],
  ])('%j is a usage error', async (variants, message) => {
    const args = ['deployment', 'create', 'x', ...variants.flatMap((one) => ['--variant', one])];
    const { code, out, err } = await runCommand(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

describe('set-weights', () => {
  test('writes all variants back, with the revision that was read', async () => {
    const { url, received } = await serve({
      DeploymentForUpdate: { data: { deployment: present } },
      DeploymentUpdate: { data: { updateDeployment: saved } },
    });
    const args = ['deployment', 'set-weights', 'assistant', 'canary=50', '--comment', 'more', '--json'];
    const { code, out, err } = await runCommand(args, { url });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toEqual(saved);
    expect(received[1]?.variables['input']).toEqual({
      slug: 'assistant',
      expectedRevision: 7,
      comment: 'more',
      variants: [stable, { ...canary, weight: 50 }],
    });
  });

  test('of a variant that is not there changes nothing', async () => {
    const { url, received } = await serve({ DeploymentForUpdate: { data: { deployment: present } } });
    const { code, err } = await runCommand(['deployment', 'set-weights', 'assistant', 'beta=5'], { url });
    expect({ code, err }).toEqual({ code: 2, err: 'assistant has no variant beta; it has stable, canary.' });
    expect(received).toHaveLength(1);
  });

  test('somebody else was faster: exit code 1', async () => {
    const { url, received } = await serve({
      DeploymentForUpdate: { data: { deployment: present } },
      DeploymentUpdate: { error: { code: 'CONFLICT', message: 'It is at revision 9 by now.' } },
    });
    const args = ['deployment', 'set-weights', 'assistant', 'canary=5', '--expected-revision', '6'];
    expect(await runCommand(args, { url })).toEqual({ code: 1, out: '', err: 'It is at revision 9 by now.' });
    expect(received[1]?.variables['input']).toMatchObject({ expectedRevision: 6 });
  });

  test('of a deployment that is not there: exit code 3', async () => {
    const { url } = await serve({ DeploymentForUpdate: { data: { deployment: null } } });
    expect(await runCommand(['deployment', 'set-weights', 'x', 'a=1'], { url })).toMatchObject({ code: 3 });
    expect(await runCommand(['deployment', 'rollback', 'x'], { url })).toMatchObject({ code: 3 });
  });
});

describe('rollback', () => {
  test('to the revision before, or to the one that is named', async () => {
    const { url, received } = await serve({
      DeploymentForUpdate: { data: { deployment: present } },
      DeploymentRollback: { data: { rollbackDeployment: saved } },
    });
    expect((await runCommand(['deployment', 'rollback', 'assistant'], { url })).code).toBe(0);
    expect((await runCommand(['deployment', 'rollback', 'assistant', '3', '--force'], { url })).code).toBe(0);
    const inputs = received
      .filter(({ operation }) => operation === 'DeploymentRollback')
      .map(({ variables }) => variables['input']);
    expect(inputs).toEqual([
      { slug: 'assistant', toRevision: 6, expectedRevision: 7, comment: null, force: false },
      { slug: 'assistant', toRevision: 3, expectedRevision: 7, comment: null, force: true },
    ]);
  });

  test('that would leave work behind says so: exit code 1', async () => {
    const { url } = await serve({
      DeploymentForUpdate: { data: { deployment: present } },
      DeploymentRollback: { error: { code: 'CONFLICT', message: '1 execution of canary has no worker yet: ex_1.' } },
    });
    const ran = await runCommand(['deployment', 'rollback', 'assistant'], { url });
    expect(ran).toEqual({ code: 1, out: '', err: '1 execution of canary has no worker yet: ex_1.' });
  });

  test('where there is nothing before', async () => {
    const { url } = await serve({ DeploymentForUpdate: { data: { deployment: { ...present, revision: 1 } } } });
    const ran = await runCommand(['deployment', 'rollback', 'assistant'], { url });
    expect(ran).toEqual({ code: 1, out: '', err: 'assistant has only one revision.' });
  });
});

test('history', async () => {
  const nodes = [
    { revision: 2, variants: [stable, canary], comment: 'half', author: 'admin', at: new Date().toISOString() },
    { revision: 1, variants: [stable], comment: null, author: 'ops', at: new Date().toISOString() },
  ];
  const pageInfo = { hasNextPage: false, endCursor: null };
  const { url } = await serve({
    DeploymentHistory: { data: { deployment: { slug: 'assistant', revision: 2, history: { pageInfo, nodes } } } },
  });
  const { out } = await runCommand(['deployment', 'history', 'assistant'], { url });
  expect(out.split('\n')[1]).toMatch(/^2 +\d+ s ago +admin +stable 90, canary 10 +half$/);
  expect(JSON.parse((await runCommand(['deployment', 'history', 'assistant', '--json'], { url })).out)).toEqual(nodes);
});
