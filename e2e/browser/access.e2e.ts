import { complaintsOf, keptBy } from '../support/access.ts';
import { expect, expectAccessible, test } from '../support/browser.ts';
import { post } from '../support/graphql.ts';

test('an API token is shown once, kept nowhere, works, and ends when it is revoked', async ({ page, server }) => {
  const complaints = complaintsOf(page);
  await page.goto('/access/tokens');
  await page.getByRole('button', { name: 'Create token' }).click();
  await expect(page).toHaveURL(/dialog=create/);
  const form = page.getByRole('dialog', { name: 'Create an API token' });
  await form.getByLabel('Name').fill('nightly');
  await form.getByLabel('Narrowed to').fill('worker:*:read\nworker:*:eat');
  await expect(form.getByText(/^Line 2: .*worker:\{name\}/)).toBeVisible();
  await form.getByRole('button', { name: 'Create token' }).click();
  await expect(form).toBeVisible();
  await form.getByLabel('Narrowed to').fill('worker:*:read');
  await form.getByRole('button', { name: 'Create token' }).click();
  const shown = page.getByRole('dialog', { name: 'The new API token' });
  const secret = await shown.getByRole('status', { name: 'Secret' }).innerText();
  expect(secret).toMatch(/^mst_/);
  expect(page.url()).not.toContain(secret);
  await expectAccessible(page);
  await shown.getByRole('button', { name: 'Done' }).click();
  await expect(shown).toHaveCount(0);
  expect(await keptBy(page)).not.toContain(secret);

  const asToken = { url: server.url, token: secret } as typeof server;
  expect((await post(asToken, '{ viewer { permissions } }')).data).toEqual({
    viewer: { permissions: ['worker:*:read'] },
  });
  await page.getByRole('button', { name: 'Revoke nightly' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
  const row = page.getByRole('row').filter({ hasText: 'nightly' });
  await expect(row).toContainText('Revoked');
  expect((await post(asToken, '{ viewer { name } }')).errors?.[0]?.extensions?.code).toBe('UNAUTHENTICATED');
  await page.goto('/audit?action=token.&actor=admin');
  await expect(page.getByRole('row').nth(1)).toContainText('token.revoke');
  await expect(page.getByRole('main')).not.toContainText(secret);
  expect(complaints).toEqual([]);
});

test('a join token is shown once with the command to run, kept nowhere, revoked and purged', async ({ page }) => {
  await page.goto('/access/join-tokens?dialog=create');
  const form = page.getByRole('dialog', { name: 'Create a join token' });
  await form.getByRole('textbox', { name: 'Worker' }).fill('acc-7');
  await form.getByRole('textbox', { name: 'Role' }).fill('gpu');
  await form.getByLabel('Labels').fill('region');
  await page.keyboard.press('Enter');
  await expect(form.getByText('“region” is not of the form key=value.')).toBeVisible();
  await page.keyboard.press('Backspace');
  await form.getByLabel('Labels').fill('region=eu');
  await page.keyboard.press('Enter');
  await form.getByRole('button', { name: 'Create join token' }).click();
  const shown = page.getByRole('dialog', { name: 'The new join token' });
  const secret = await shown.getByRole('status', { name: 'Secret' }).innerText();
  await expect(shown.getByRole('region', { name: 'Command' })).toContainText(`MUSTER_JOIN_TOKEN=${secret}`);
  await page.keyboard.press('Escape');
  await expect(shown).toHaveCount(0);
  expect(await keptBy(page)).not.toContain(secret);
  const row = page.getByRole('row').filter({ hasText: 'acc-7' });
  await expect(row).toContainText('Active');
  await row.getByRole('button', { name: /^Revoke/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke join token' }).click();
  await expect(row).toContainText('Revoked');
  await page.getByRole('button', { name: 'Purge…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Purge' }).click();
  await expect(row).toHaveCount(0);
});
