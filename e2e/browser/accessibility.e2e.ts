import { createDeployment, registerWorkflow, runWorkflow } from '../support/fleet.ts';
import { ask } from '../support/graphql.ts';
import { expect, expectAccessible, expectNoSidewaysScroll, test } from '../support/browser.ts';
import type { Server } from '../support/server.ts';
import { WorkerProcess } from '../support/worker-process.ts';

interface Things {
  readonly execution: string;
  readonly decision: string;
  readonly parked: string;
}

/** Something on every page: a worker, a deployment with a dead variant, an execution with its decision. */
async function furnish(server: Server): Promise<Things> {
  await createDeployment(server, 'axe', [
    { label: 'stable', flowId: 'e2e/axe-echo', weight: 90 },
    { label: 'canary', flowId: 'e2e/axe-echo', weight: 10, targetRoles: ['axe-gone', 'axe-preview', 'axe'] },
    { label: 'shadow', flowId: 'e2e/axe-echo', weight: 10, targetRoles: ['axe-gone'] },
  ]);
  const id = await runWorkflow(server, 'e2e/axe-echo', { text: 'hello' }, { waitSeconds: 20 });
  const data = await ask<{ execution: { latestDecision: { id: string } } }>(
    server,
    'query Decision($id: ID!) { execution(id: $id) { latestDecision { id } } }',
    { id },
  );
  await registerWorkflow(server, 'e2e', 'axe-nowhere', { affinity: '{"region": "mars", "gpu": "h100", "zone": "b"}' });
  const parked = await runWorkflow(server, 'e2e/axe-nowhere', {});
  return { execution: id, decision: data.execution.latestDecision.id, parked };
}

/** Every page, with data, empty and not found. */
const pages: readonly { readonly name: string; readonly path: (things: Things) => string }[] = [
  { name: 'overview', path: () => '/' },
  { name: 'workers', path: () => '/workers' },
  { name: 'workers that nothing matches', path: () => '/workers?q=nothing-matches' },
  { name: 'worker', path: () => '/workers/axe-1' },
  { name: 'worker not found', path: () => '/workers/nobody' },
  { name: 'deployments', path: () => '/deployments' },
  { name: 'new deployment', path: () => '/deployments/new' },
  { name: 'deployment', path: () => '/deployments/axe' },
  { name: 'executions', path: () => '/executions' },
  { name: 'new execution', path: () => '/executions/new' },
  { name: 'execution', path: ({ execution }) => `/executions/${execution}` },
  { name: 'parked execution', path: ({ parked }) => `/executions/${parked}` },
  { name: 'decision', path: ({ decision }) => `/decisions/${decision}` },
  { name: 'workflows', path: () => '/workflows' },
  { name: 'workflow', path: () => '/workflows/e2e/axe-echo' },
  { name: 'no page', path: () => '/no/such/page' },
];

const policy = 'score(prefer(label("region") == "eu", weight=3), least(load()))';

const desk = { width: 1440, height: 900 };
const phone = { width: 390, height: 844 };

let worker: WorkerProcess;
let things: Things;

test.beforeAll(async ({ server }) => {
  const settings = { name: 'axe-1', role: 'axe', prefix: 'axe-', labels: { region: 'eu' }, routing: policy };
  worker = await WorkerProcess.start(server, settings);
  things = await furnish(server);
});

test.afterAll(() => worker.kill());

for (const { name, path } of pages) {
  test(`${name}: no violation on a desk and on a phone, in light and dark, and no sideways scroll`, async ({
    page,
  }) => {
    await page.goto(path(things));
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await page.waitForLoadState('networkidle');
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
      for (const viewport of [desk, phone]) {
        await page.setViewportSize(viewport);
        await expectAccessible(page);
        await expectNoSidewaysScroll(page);
      }
    }
    await page.setViewportSize(desk);
    // On a desk, nothing of a table is out of sight.
    for (const table of await page.getByRole('region', { name: /, table$/ }).all()) {
      const hidden = await table.evaluate((region) => region.scrollWidth - region.clientWidth);
      expect(hidden, (await table.getAttribute('aria-label')) ?? '').toBe(0);
    }
  });
}
