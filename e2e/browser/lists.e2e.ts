import type { Page } from '@playwright/test';
import { expect, test } from '../support/browser.ts';
import { registerWorkflow, runWorkflow } from '../support/fleet.ts';
import { holdAnswers } from '../support/network.ts';

/** One more than a page of the list. */
const COUNT = 51;

/** More than one page of executions that nobody takes, newest first. Ids carry the time of creation. */
let ids: readonly string[] = [];

test.beforeAll(async ({ server }) => {
  await registerWorkflow(server, 'e2e', 'lists', { affinity: '{"zone": "lists-nowhere"}' });
  const runs = Array.from({ length: COUNT }, (_, n) => runWorkflow(server, 'e2e/lists', { n }));
  ids = (await Promise.all(runs)).toSorted().toReversed();
});

const row = (page: Page, id: string | undefined) =>
  page.getByRole('rowheader').filter({ has: page.locator(`a[href="/executions/${id}"]`) });

const next = (page: Page) => page.getByRole('button', { name: 'Next' });
const previous = (page: Page) => page.getByRole('button', { name: 'Previous' });

test('while the next page or another filter is read, no old row stands under its name', async ({ page }) => {
  const [newest] = ids;
  const oldest = ids.at(-1);
  await page.goto('/executions?workflow=e2e%2Flists');
  await expect(row(page, newest)).toBeVisible();
  await expect(page.getByText('51 executions', { exact: true })).toBeVisible();

  let release = await holdAnswers(page, 'query Executions');
  await next(page).click();
  await expect(page).toHaveURL(/after=/);
  await expect(row(page, newest)).toBeHidden();
  await expect(page.getByRole('status', { name: 'Reading executions' })).toBeVisible();
  // The neighbours of a page that is not there yet are unknown: Previous would lead before the first page.
  await expect(next(page)).toBeFocused();
  await previous(page).press('Enter');
  release();
  await expect(row(page, oldest)).toBeVisible();
  await expect(row(page, newest)).toHaveCount(0);

  await page.unrouteAll();
  release = await holdAnswers(page, 'query Executions');
  await page.getByRole('button', { name: /^completed/i }).click();
  await expect(page.getByRole('button', { name: /^completed/i })).toHaveAttribute('aria-pressed', 'true');
  await expect(row(page, oldest)).toBeHidden();
  release();
  await expect(page.getByRole('heading', { name: 'Nothing matches these filters' })).toBeVisible();
});

test('the Back button of the browser restores the page and the filters of the executions', async ({ page }) => {
  const [newest] = ids;
  const oldest = ids.at(-1);
  const pending = page.getByRole('button', { name: /^pending/i });
  await page.goto('/executions?workflow=e2e%2Flists');
  await expect(row(page, newest)).toBeVisible();
  await pending.click();
  await expect(pending).toHaveAttribute('aria-pressed', 'true');
  await next(page).click();
  await expect(row(page, oldest)).toBeVisible();
  await row(page, oldest).getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1, name: oldest ?? '' })).toBeVisible();

  await page.goBack();
  await expect(row(page, oldest)).toBeVisible();
  await expect(row(page, newest)).toHaveCount(0);
  await expect(pending).toHaveAttribute('aria-pressed', 'true');
  await expect(page.getByRole('button', { name: 'workflow e2e/lists, remove filter' })).toBeVisible();
  await page.goBack();
  await expect(row(page, newest)).toBeVisible();
  await expect(pending).toHaveAttribute('aria-pressed', 'true');
  await page.goBack();
  await expect(pending).toHaveAttribute('aria-pressed', 'false');
  await expect(row(page, newest)).toBeVisible();
});
