import { expect, expectAccessible, expectNoSidewaysScroll, test } from '../support/browser.ts';
import { refuseEverything, refusedSentence, takePermissions } from '../support/network.ts';

/** Every page that shows something, and what must not be said where nothing may be read. */
const pages: readonly { readonly name: string; readonly path: string; readonly heading: RegExp }[] = [
  { name: 'overview', path: '/', heading: /^Overview$/ },
  { name: 'workers', path: '/workers', heading: /^Workers$/ },
  { name: 'worker', path: '/workers/hidden-1', heading: /^hidden-1$/ },
  { name: 'executions of a worker', path: '/workers/hidden-1?tab=executions', heading: /^hidden-1$/ },
  { name: 'deployments', path: '/deployments', heading: /^Deployments$/ },
  { name: 'deployment', path: '/deployments/hidden', heading: /^hidden$/ },
  { name: 'history of a deployment', path: '/deployments/hidden?tab=history', heading: /^hidden$/ },
  { name: 'executions', path: '/executions', heading: /^Executions$/ },
  { name: 'execution', path: '/executions/ex_hidden', heading: /^ex_hidden$/ },
  { name: 'decision', path: '/decisions/dd_hidden', heading: /^Decision$/ },
  { name: 'workflows', path: '/workflows', heading: /^Workflows$/ },
  { name: 'workflow', path: '/workflows/e2e/hidden', heading: /^e2e\/hidden$/ },
];

/** What an empty or broken view would say; none of it is true where nothing may be read. */
const untrue =
  /nothing|no worker|no deployment|no workflow|no decision|no execution|not found|0 healthy|is skipped|could not be drawn|reading the/i;

for (const { name, path, heading } of pages) {
  test(`${name}: what may not be read says so`, async ({ page }) => {
    await refuseEverything(page);
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
    const main = page.getByRole('main');
    await expect(main.getByRole('heading', { level: 2, name: 'Not allowed' }).first()).toBeVisible();
    await expect(main.getByText(refusedSentence).first()).toBeVisible();
    await expect(main.getByRole('status', { name: /^reading/i })).toHaveCount(0);
    await expect(main).not.toContainText(untrue);
    await expect(main.getByRole('table')).toHaveCount(0);
    await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible();
    await expectAccessible(page);
    await page.setViewportSize({ width: 390, height: 844 });
    await expectNoSidewaysScroll(page);
  });
}

test('the form for a deployment says that it may not read workflows, and calls no role dead', async ({ page }) => {
  await refuseEverything(page);
  await page.goto('/deployments/new');
  await expect(page.getByRole('alert').filter({ hasText: 'The workflows could not be read' })).toContainText(
    'FORBIDDEN',
  );
  await expect(page.getByRole('main')).not.toContainText(/will be skipped|0 healthy/);
  await expectAccessible(page);
});

test('the form for an execution says that it may not read what could be run', async ({ page }) => {
  await refuseEverything(page);
  await page.goto('/executions/new');
  await expect(page.getByText(`The deployments could not be read: ${refusedSentence} FORBIDDEN`)).toBeVisible();
  await expectAccessible(page);
});

test('a verb without its permission stays visible, does nothing, and says what it needs', async ({ page }) => {
  await takePermissions(page);
  for (const [path, verb, permission] of [
    ['/deployments', 'Create deployment', 'deployment:{slug}:write'],
    ['/executions', 'Start an execution', 'deployment:{slug}:run or workflow:{namespace}:{name}:run'],
  ] as const) {
    await page.goto(path);
    const button = page.getByRole('button', { name: verb });
    await expect(button).toBeDisabled();
    await expect(button).toHaveAccessibleDescription(`Needs ${permission}`);
    await button.focus();
    await expect(page.getByRole('tooltip', { name: `Needs ${permission}` })).toBeVisible();
    await button.click({ force: true });
    await expect(page).toHaveURL(new RegExp(`${path}$`));
  }
});
