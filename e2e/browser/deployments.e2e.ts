import type { Page } from '@playwright/test';
import { createDeployment, registerWorkflow } from '../support/fleet.ts';
import { ask } from '../support/graphql.ts';
import { expect, test } from '../support/browser.ts';
import type { Server } from '../support/server.ts';

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

test('the banner of a skipped variant, and the word in the list, go when a worker of its role starts', async ({
  page,
  server,
  startWorker,
}) => {
  await registerWorkflow(server, 'e2e', 'skipped-echo');
  await createDeployment(server, 'skipped', [
    { label: 'stable', flowId: 'e2e/skipped-echo', weight: 90 },
    { label: 'canary', flowId: 'e2e/skipped-echo', weight: 10, targetRoles: ['skipped-role'] },
  ]);
  await openDeployment(page, 'skipped');
  const banner = page.getByRole('alert').filter({ hasText: 'canary is skipped' });
  await expect(banner).toContainText('no healthy worker has the role skipped-role');
  await expect(banner).toContainText('Its 10 % goes to stable');
  await expect(shareOf(page, 'canary')).toContainText('10 %→0 %');
  const list = await page.context().newPage();
  await list.goto('/deployments?q=skipped');
  const row = list.getByRole('row').filter({ has: list.getByRole('rowheader', { name: 'skipped' }) });
  await expect(row).toContainText('Degraded');

  await startWorker({ name: 'skipped-1', role: 'skipped-role', prefix: 'skipped-' });
  await expect(banner).toBeHidden();
  await expect(shareOf(page, 'canary')).toContainText('10 %→10 %');
  await expect(row).toContainText('All live');
});

/** The row of a variant in the editor. */
const shareOf = (page: Page, variant: string) =>
  page.getByRole('row').filter({ has: page.getByRole('textbox', { name: `Weight of ${variant}` }) });

test('weights that do not add up to 100 are shares of their sum; a negative one is an error of its field', async ({
  page,
  server,
}) => {
  await registerWorkflow(server, 'e2e', 'weights-echo');
  await createDeployment(server, 'weights', [
    { label: 'one', flowId: 'e2e/weights-echo', weight: 50 },
    { label: 'two', flowId: 'e2e/weights-echo', weight: 50 },
    { label: 'rest', flowId: 'e2e/weights-echo', weight: 0 },
  ]);
  await openDeployment(page, 'weights');
  const weight = (label: string) => page.getByRole('textbox', { name: `Weight of ${label}` });
  await weight('one').fill('80');
  await weight('two').fill('70');
  await expect(shareOf(page, 'one')).toContainText('53.3 %');
  await expect(shareOf(page, 'two')).toContainText('46.7 %');
  // Nothing is left for the third one, and nothing less than that.
  await expect(weight('rest')).toHaveValue('0');
  await expect(shareOf(page, 'rest')).toContainText('0 %');
  await expect(page.getByRole('main')).not.toContainText(/[-−]\d/);
  const save = page.getByRole('button', { name: 'Review and save' });
  await expect(save).toBeEnabled();

  await weight('rest').fill('-50');
  await expect(weight('rest')).toHaveAttribute('aria-invalid', 'true');
  await expect(shareOf(page, 'rest').getByRole('alert')).toHaveText(
    'Weight must be a whole number from 0 to 1,000,000. It was -50.',
  );
  await expect(shareOf(page, 'rest')).toContainText('0 %→0 %');
  await expect(save).toBeDisabled();
});

test('a weight of 0 is shown as 0 %, in the editor, in the bars and in the list', async ({ page, server }) => {
  await registerWorkflow(server, 'e2e', 'zero-echo');
  await createDeployment(server, 'zero', [
    { label: 'all', flowId: 'e2e/zero-echo', weight: 100 },
    { label: 'none', flowId: 'e2e/zero-echo', weight: 0 },
  ]);
  await openDeployment(page, 'zero');
  await expect(page.getByRole('textbox', { name: 'Weight of none' })).toHaveValue('0');
  await expect(shareOf(page, 'none')).toContainText('0 %→0 %');
  await expect(
    shareOf(page, 'none').getByRole('img', { name: 'configured 0 %, effective 0 %, observed nothing' }),
  ).toBeVisible();
  await page.goto('/deployments?q=zero');
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'zero' }) });
  await expect(row).toContainText('none 0 %');
});

/** Types 70 over the 50 of variant `one` while somebody else saves 10 and 90, and tries to save. */
async function provokeConflict(page: Page, server: Server, slug: string) {
  const flowId = `e2e/${slug}-echo`;
  await registerWorkflow(server, 'e2e', `${slug}-echo`);
  await createDeployment(server, slug, [
    { label: 'one', flowId, weight: 50 },
    { label: 'two', flowId, weight: 50 },
  ]);
  await openDeployment(page, slug);
  const weight = page.getByRole('textbox', { name: 'Weight of one' });
  await weight.fill('70');
  await ask(
    server,
    'mutation Update($input: UpdateDeploymentInput!) { updateDeployment(input: $input) { deployment { revision } } }',
    {
      input: {
        slug,
        expectedRevision: 1,
        variants: [
          { label: 'one', flowId, weight: 10 },
          { label: 'two', flowId, weight: 90 },
        ],
      },
    },
  );
  await page.getByRole('button', { name: 'Review and save' }).click();
  await page
    .getByRole('dialog', { name: `Save ${slug}` })
    .getByRole('button', { name: 'Save', exact: true })
    .click();
  const conflict = page.getByRole('dialog', { name: 'Changed by someone else' });
  await expect(conflict).toContainText(/revision 2/);
  return { conflict, weight };
}

/** Revision and weights as the API has them. */
async function weightsOf(server: Server, slug: string) {
  const { deployment } = await ask<{
    deployment: { revision: number; variants: { label: string; weight: number }[] };
  }>(server, 'query Weights($slug: String!) { deployment(slug: $slug) { revision variants { label weight } } }', {
    slug,
  });
  return {
    revision: deployment.revision,
    ...Object.fromEntries(deployment.variants.map(({ label, weight }) => [label, weight])),
  };
}

test('a save on an old revision tells who was faster, and loses nothing; yours can be copied', async ({
  page,
  server,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const { conflict, weight } = await provokeConflict(page, server, 'conflict');
  await expect(conflict.getByRole('listitem').filter({ hasText: 'one weight 50 → 10' })).toBeVisible();
  await expect(conflict.getByRole('listitem').filter({ hasText: 'one weight 50 → 70' })).toBeVisible();
  await conflict.getByRole('button', { name: 'Copy yours' }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('one weight: 50 → 70');
  await page.keyboard.press('Escape');
  await expect(conflict).toBeHidden();
  await expect(weight).toHaveValue('70');
  expect(await weightsOf(server, 'conflict')).toEqual({ revision: 2, one: 10, two: 90 });
});

test('of two saves, theirs can be taken', async ({ page, server }) => {
  const { conflict, weight } = await provokeConflict(page, server, 'theirs');
  await conflict.getByRole('button', { name: 'Take theirs' }).click();
  await expect(conflict).toBeHidden();
  await expect(weight).toHaveValue('10');
  await expect(page.getByRole('textbox', { name: 'Weight of two' })).toHaveValue('90');
  await expect(page.getByRole('region', { name: 'Review of changes' })).toBeHidden();
  expect(await weightsOf(server, 'theirs')).toEqual({ revision: 2, one: 10, two: 90 });
});

test('of two saves, yours can be kept, which is asked twice', async ({ page, server }) => {
  const { conflict, weight } = await provokeConflict(page, server, 'yours');
  await conflict.getByRole('button', { name: 'Keep yours…' }).click();
  expect(await weightsOf(server, 'yours')).toEqual({ revision: 2, one: 10, two: 90 });
  await conflict.getByRole('button', { name: 'Overwrite revision 2' }).click();
  await expect(conflict).toBeHidden();
  await expect(weight).toHaveValue('70');
  await expect(page.getByText('Revision 3 saved')).toBeVisible();
  expect(await weightsOf(server, 'yours')).toEqual({ revision: 3, one: 70, two: 50 });
});

test('work without a worker holds up a removal and a deletion, until one goes on all the same', async ({
  page,
  server,
}) => {
  const flowId = 'e2e/waits-echo';
  await registerWorkflow(server, 'e2e', 'waits-echo');
  await createDeployment(server, 'waits', [
    { label: 'old', flowId, weight: 1 },
    { label: 'new', flowId, weight: 0 },
  ]);
  const { runDeployment } = await ask<{ runDeployment: { execution: { id: string } } }>(
    server,
    'mutation { runDeployment(input: { deployment: "waits" }) { execution { id } } }',
  );
  await openDeployment(page, 'waits');
  await page.getByRole('textbox', { name: 'Weight of new' }).fill('1');
  await page.getByRole('button', { name: /^Remove old/ }).click();
  await page.getByRole('button', { name: 'Review and save' }).click();
  const review = page.getByRole('dialog', { name: 'Save waits' });
  await review.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(review).toContainText(`1 execution of old has no worker yet: ${runDeployment.execution.id}`);
  await review.getByRole('button', { name: 'Save anyway' }).click();
  await expect(review).toBeHidden();
  await expect(page.getByText('Revision 2 saved')).toBeVisible();

  await page.getByRole('button', { name: 'More actions for waits' }).click();
  await page.getByRole('menuitem', { name: 'Delete…' }).click();
  const deletion = page.getByRole('dialog', { name: 'Delete waits?' });
  await deletion.getByRole('textbox', { name: 'Name' }).fill('waits');
  await deletion.getByRole('button', { name: 'Delete waits', exact: true }).click();
  await expect(deletion).toContainText(runDeployment.execution.id);
  await deletion.getByRole('button', { name: 'Delete waits anyway' }).click();
  await expect(page.getByText('waits deleted')).toBeVisible();
});
