import { expect, test } from '../support/browser.ts';

test('one Tab from load reaches the skip link, which leads to the content', async ({ page }) => {
  await page.goto('/workers');
  await expect(page.getByRole('heading', { level: 1, name: 'Workers' })).toBeVisible();
  await page.keyboard.press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('main')).toBeFocused();
});

test('after a navigation the focus is on the heading, and the title says where one is', async ({ page }) => {
  await page.goto('/workers');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Executions' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Executions' })).toBeFocused();
  await expect(page).toHaveTitle(/Executions .*Muster/);
});

test('the palette finds a worker by a part of its name', async ({ page, startWorker }) => {
  await startWorker({ name: 'palette-worker-1', role: 'palette' });
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await page.keyboard.press('Control+K');
  const dialog = page.getByRole('dialog', { name: 'Command palette' });
  await expect(dialog).toBeVisible();
  await page.keyboard.type('palette-work');
  await expect(dialog.getByText('palette-worker-1')).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/workers\/palette-worker-1$/);
  await expect(page.getByRole('heading', { level: 1 })).toContainText('palette-worker-1');
});

test('the colour scheme survives a reload', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto('/workers');
  const scheme = () => page.locator('html').getAttribute('data-mantine-color-scheme');
  const before = await scheme();
  await page.getByRole('button', { name: /^colour scheme/i }).click();
  await page.getByRole('menuitem', { name: 'Dark' }).click();
  await expect.poll(scheme).not.toBe(before);
  const chosen = await scheme();
  await page.reload();
  expect(await scheme()).toBe(chosen);
});

test('an address that no page has says so and leads back', async ({ page }) => {
  await page.goto('/no/such/page');
  await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible();
});

test('without a session the app asks for a token, and the printed link signs in', async ({ browser, server }) => {
  const context = await browser.newContext({ baseURL: server.url });
  const page = await context.newPage();
  await page.goto('/workers');
  await expect(page.getByLabel(/^token/i)).toBeVisible();
  const [, link = ''] = /(http:\S+#login=\S+)/.exec(server.output) ?? [];
  await page.goto(link);
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible();
  await expect(page).not.toHaveURL(/login=/);
  await context.close();
});
