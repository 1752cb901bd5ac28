import { runWorkflow } from '../support/fleet.ts';
import { expect, test } from '../support/browser.ts';

test('a worker that starts appears without a reload, and its loss shows', async ({ page, startWorker }) => {
  await page.goto('/workers');
  await expect(page.getByRole('heading', { level: 1, name: 'Workers' })).toBeVisible();
  const worker = await startWorker({ name: 'appearing-1', role: 'appearing', labels: { region: 'eu' } });
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'appearing-1' }) });
  await expect(row).toContainText('Healthy');
  await expect(row).toContainText('region');
  await worker.kill();
  await expect(row).toContainText('Offline');
});

test('filters are in the address: a reload and a way back keep them', async ({ page, startWorker }) => {
  await startWorker({ name: 'filter-a', role: 'filter-a' });
  await startWorker({ name: 'filter-b', role: 'filter-b' });
  await page.goto('/workers');
  const header = (name: string) => page.getByRole('rowheader', { name, exact: true });
  await expect(header('filter-a')).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search workers' }).fill('filter-b');
  await expect(header('filter-a')).toBeHidden();
  await expect(page).toHaveURL(/q=filter-b/);
  await page.reload();
  await expect(header('filter-b')).toBeVisible();
  await expect(header('filter-a')).toBeHidden();
  await expect(page.getByRole('searchbox', { name: 'Search workers' })).toHaveValue('filter-b');

  await header('filter-b').getByRole('link').click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('filter-b');
  await page.goBack();
  await expect(page).toHaveURL(/q=filter-b/);
  await expect(header('filter-a')).toBeHidden();
});

test('a sorted column says so to everybody', async ({ page, startWorker }) => {
  await startWorker({ name: 'sorted-1', role: 'sorted' });
  await page.goto('/workers');
  const column = page.getByRole('columnheader', { name: 'Role' });
  await column.getByRole('button').click();
  await expect(column).toHaveAttribute('aria-sort', /ascending|descending/);
  await expect(page).toHaveURL(/sort=/);
});

test('the page of a worker has its metrics and its executions', async ({ page, server, startWorker }) => {
  await startWorker({ name: 'detail-1', role: 'detail', prefix: 'detail-', labels: { region: 'eu', zone: 'b' } });
  const id = await runWorkflow(server, 'e2e/detail-echo', { n: 1 }, { waitSeconds: 20 });
  await page.goto('/workers/detail-1');
  await expect(page.getByRole('heading', { level: 1 })).toContainText('detail-1');
  await expect(page.getByText('Healthy').first()).toBeVisible();
  const metrics = page.getByRole('table').filter({ hasText: 'flux.running_executions' });
  await expect(metrics.getByRole('row').filter({ hasText: 'flux.slots_free' })).toContainText('4');
  await page
    .getByRole('link', { name: /^Executions/ })
    .last()
    .click();
  await expect(page.getByRole('link', { name: new RegExp(id.slice(0, 10)) })).toBeVisible();
});

test('a worker that nobody knows has a page that says so', async ({ page }) => {
  await page.goto('/workers/nobody-knows');
  await expect(page.getByRole('heading', { level: 1, name: 'Worker not found' })).toBeVisible();
});
