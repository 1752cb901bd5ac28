import type { Page } from '@playwright/test';
import { execution, registerWorkflow, runWorkflow } from '../support/fleet.ts';
import { ask } from '../support/graphql.ts';
import { expect, test } from '../support/browser.ts';

test('start an execution on the page and read why it went where it went', async ({ page, startWorker }) => {
  await startWorker({ name: 'why-eu-1', role: 'why', prefix: 'why-', labels: { region: 'eu' }, routing: whyPolicy });
  await startWorker({ name: 'why-us-1', role: 'why', prefix: 'why-', labels: { region: 'us' }, routing: whyPolicy });
  await page.goto('/executions/new?workflow=e2e%2Fwhy-echo');
  await page.getByRole('textbox', { name: /^input/i }).fill('{"region":"us"}');
  await page.getByRole('button', { name: /^(start|run|submit)/i }).click();
  await expect(page).toHaveURL(/\/executions\/ex_/);
  await expect(page.getByText('Completed').first()).toBeVisible();
  await expect(page.getByText(/why-us-1/).first()).toBeVisible();
});

const whyPolicy = 'score(prefer(label("region") == input("region"), weight=10), least(load()))';

/** A number as a cell of the table shows it. */
async function numberIn(page: Page, text: string | null): Promise<number> {
  const found = /-?\d+(?:\.\d+)?/.exec((text ?? '').replaceAll('−', '-').replaceAll(',', ''));
  if (!found) throw new Error(`no number in "${text}" on ${page.url()}`);
  return Number(found[0]);
}

test('the decision table adds up: the total of each worker is the sum of its cells', async ({
  page,
  server,
  startWorker,
}) => {
  for (const [name, region] of [
    ['sum-1', 'eu'],
    ['sum-2', 'us'],
    ['sum-3', 'eu'],
  ] as const) {
    await startWorker({ name, role: 'sum', prefix: 'sum-', labels: { region }, routing: whyPolicy });
  }
  const id = await runWorkflow(server, 'e2e/sum-echo', { region: 'eu' }, { waitSeconds: 20 });
  const { execution: found } = await ask<{ execution: { latestDecision: { id: string; winner: string } } }>(
    server,
    'query Decision($id: ID!) { execution(id: $id) { latestDecision { id winner } } }',
    { id },
  );
  await page.goto(`/decisions/${found.latestDecision.id}`);
  const table = page.getByRole('grid').filter({ hasText: /total/i });
  await expect(table.getByRole('row').filter({ hasText: found.latestDecision.winner })).toBeVisible();

  const headers = await table.getByRole('columnheader').allTextContents();
  const totalColumn = headers.findIndex((header) => /total/i.test(header));
  expect(totalColumn).toBeGreaterThan(1);
  const rows = table.getByRole('row').filter({ has: page.getByRole('rowheader') });
  expect(await rows.count()).toBeGreaterThanOrEqual(3);
  for (const row of await rows.all()) {
    const cells = await row
      .getByRole('cell')
      .or(row.getByRole('rowheader'))
      .or(row.getByRole('gridcell'))
      .allTextContents();
    const total = await numberIn(page, cells[totalColumn] ?? null);
    let sum = 0;
    for (const text of cells.slice(1, totalColumn)) sum += await numberIn(page, text);
    expect(sum, cells.join(' | ')).toBeCloseTo(total, 1);
  }
});

test('an execution that nobody can take says so, and goes on when somebody can', async ({
  page,
  server,
  startWorker,
}) => {
  await registerWorkflow(server, 'e2e', 'park-echo', { affinity: '{"zone": "park"}' });
  const id = await runWorkflow(server, 'e2e/park-echo', { n: 1 });
  await page.goto(`/executions/${id}`);
  await expect(page.getByText(/parked/i).first()).toBeVisible();
  await startWorker({
    name: 'park-1',
    role: 'park',
    prefix: 'park-',
    labels: { zone: 'park' },
    affinity: '{"zone": "park"}',
  });
  await expect(page.getByText('Completed').first()).toBeVisible();
  expect((await execution(server, id)).workerName).toBe('park-1');
});

test('the list filters by state, and the address keeps it', async ({ page, server, startWorker }) => {
  await startWorker({ name: 'list-1', role: 'list', prefix: 'list-' });
  const done = await runWorkflow(server, 'e2e/list-echo', { n: 1 }, { waitSeconds: 20 });
  await registerWorkflow(server, 'e2e', 'list-nobody', { affinity: '{"zone": "list-nowhere"}' });
  const waiting = await runWorkflow(server, 'e2e/list-nobody', { n: 2 });
  const link = (id: string) => page.locator(`a[href*="${id}"]`).first();
  await page.goto('/executions');
  await expect(link(done)).toBeVisible();
  await expect(link(waiting)).toBeVisible();
  await page.getByRole('button', { name: /^completed/i }).click();
  await expect(link(waiting)).toBeHidden();
  await expect(link(done)).toBeVisible();
  await expect(page).toHaveURL(/COMPLETED/);
  await page.reload();
  await expect(link(done)).toBeVisible();
  await expect(link(waiting)).toBeHidden();
});
