import type { Page } from '@playwright/test';
import { createDeployment, registerWorkflow } from '../support/fleet.ts';
import { ask } from '../support/graphql.ts';
import { expect, test } from '../support/browser.ts';

async function openDeployment(page: Page, slug: string): Promise<void> {
  await page.goto(`/deployments/${slug}`);
  await expect(page.getByRole('heading', { level: 1 })).toContainText(slug);
}

/** The target-role picker of a variant, by the label of the variant. */
const picker = (page: Page, variant: string) =>
  page.getByRole('button', { name: new RegExp(`^target roles of ${variant}`, 'i') });

test('the option of a role moves from offline to healthy while the picker is open', async ({
  page,
  server,
  startWorker,
}) => {
  await registerWorkflow(server, 'e2e', 'pick-echo');
  await createDeployment(server, 'pick', [
    { label: 'stable', flowId: 'e2e/pick-echo', weight: 90 },
    { label: 'canary', flowId: 'e2e/pick-echo', weight: 10, targetRoles: ['pick-gpu'] },
  ]);
  await openDeployment(page, 'pick');
  await picker(page, 'stable').click();
  const offline = page.getByRole('group', { name: /known, none alive/i });
  const healthy = page.getByRole('group', { name: /^healthy/i });
  await expect(offline.getByRole('option', { name: /pick-gpu/ })).toBeVisible();
  await expect(healthy.getByRole('option', { name: /pick-gpu/ })).toBeHidden();

  await startWorker({ name: 'pick-gpu-1', role: 'pick-gpu', prefix: 'pick-' });
  await expect(healthy.getByRole('option', { name: /pick-gpu/ })).toBeVisible();
  await expect(offline.getByRole('option', { name: /pick-gpu/ })).toBeHidden();
});

test('the banner of a deployment without a live variant goes when such a worker starts', async ({
  page,
  server,
  startWorker,
}) => {
  await registerWorkflow(server, 'e2e', 'banner-echo');
  await createDeployment(server, 'banner', [
    { label: 'only', flowId: 'e2e/banner-echo', weight: 1, targetRoles: ['banner-role'] },
  ]);
  await openDeployment(page, 'banner');
  const banner = page.getByText(/NO_HEALTHY_VARIANT/);
  await expect(banner).toBeVisible();
  await startWorker({ name: 'banner-1', role: 'banner-role', prefix: 'banner-' });
  await expect(banner).toBeHidden();
});

test('the list shows a dead role by name, and the effective share', async ({ page, server }) => {
  await registerWorkflow(server, 'e2e', 'chips-echo');
  await createDeployment(server, 'chips', [
    { label: 'stable', flowId: 'e2e/chips-echo', weight: 90 },
    { label: 'canary', flowId: 'e2e/chips-echo', weight: 10, targetRoles: ['chips-gone'] },
  ]);
  await page.goto('/deployments');
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: /chips/ }) });
  await expect(row).toContainText('chips-gone');
  await expect(row).toContainText(/degraded/i);
});

test('a save on an old revision tells who was faster, and loses nothing', async ({ page, server }) => {
  await registerWorkflow(server, 'e2e', 'conflict-echo');
  await createDeployment(server, 'conflict', [
    { label: 'one', flowId: 'e2e/conflict-echo', weight: 50 },
    { label: 'two', flowId: 'e2e/conflict-echo', weight: 50 },
  ]);
  await openDeployment(page, 'conflict');
  const weight = page.getByRole('textbox', { name: /weight.*one|one.*weight/i });
  await weight.fill('70');
  await ask(
    server,
    'mutation Update($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision } } }',
    {
      input: {
        slug: 'conflict',
        expectedRevision: 1,
        variants: [
          { label: 'one', flowId: 'e2e/conflict-echo', weight: 10 },
          { label: 'two', flowId: 'e2e/conflict-echo', weight: 90 },
        ],
      },
    },
  );
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page.getByRole('dialog', { name: 'Save conflict' }).getByRole('button', { name: 'Save', exact: true }).click();
  const conflict = page.getByRole('dialog', { name: 'Changed by someone else' });
  await expect(conflict).toContainText(/revision 2/);
  await page.keyboard.press('Escape');
  await expect(weight).toHaveValue('70');
});
