import { expect, expectAccessible, expectNoSidewaysScroll, test } from '../support/browser.ts';
import { execution, runWorkflow } from '../support/fleet.ts';
import { WorkerProcess } from '../support/worker-process.ts';

let worker: WorkerProcess;

test.beforeAll(async ({ server }) => {
  worker = await WorkerProcess.start(server, { name: 'durable-1', role: 'durable', prefix: 'durable-' });
});

test.afterAll(() => worker.kill());

test('a paused execution says what it waits for, and goes on with what is typed', async ({ page, server }) => {
  const id = await runWorkflow(server, 'e2e/durable-approve', {});
  await page.goto(`/executions/${id}`);
  await expect(
    page.getByRole('note').filter({ hasText: 'Paused at “approval” until somebody resumes it' }),
  ).toBeVisible();
  const timeline = page.getByRole('list', { name: 'Timeline of the execution' });
  await expect(timeline.getByRole('listitem').filter({ hasText: 'Log' })).toContainText(
    'the draft is done {"pages":3}',
  );
  await expect(timeline.getByRole('listitem').filter({ hasText: 'Progress' })).toContainText('50 % · half-way');
  await expect(timeline.getByRole('listitem').filter({ hasText: 'Paused' })).toContainText('at “approval”');
  await expectAccessible(page);
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await page.setViewportSize({ width: 1440, height: 900 });

  await page.getByRole('button', { name: 'Resume…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Resume “approval”' });
  const input = dialog.getByRole('textbox', { name: 'Input' });
  await input.fill('{"ok": tru}');
  await expect(dialog.getByText(/^Not JSON: line 1/)).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Resume' })).toBeDisabled();
  await input.fill('{"ok": true}');
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Resume' }).click();
  await expect(dialog).toBeHidden();
  await expect(page.getByText('Completed').first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Resume…' })).toBeHidden();
  await expect(timeline).toContainText(/Resumed\s*by admin/);
  expect((await execution(server, id)).output).toEqual({ said: { ok: true } });
  // What has ended well is not tried again.
  await expect(page.getByRole('button', { name: 'Retry' })).toBeHidden();
});

test('one that sleeps says until when; cancelled it ends at once and can be retried', async ({ page, server }) => {
  const id = await runWorkflow(server, 'e2e/durable-nap', {});
  await page.goto(`/executions/${id}`);
  await expect(
    page.getByRole('note').filter({ hasText: /Paused until \d\d:\d\d:\d\d, for another 59 m/ }),
  ).toBeVisible();
  await expect(page.getByRole('button', { name: 'Resume…' })).toBeHidden();
  await page.getByRole('button', { name: 'Cancel…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Cancel / });
  await expect(dialog).toContainText('It is paused, so it ends at once.');
  await dialog.getByRole('button', { name: 'Cancel execution' }).click();
  await expect(page.getByText('Cancelled').first()).toBeVisible();
  await page.getByRole('button', { name: 'Retry' }).click();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(page.getByRole('main')).toContainText('retry of');
  await expect(page.getByRole('main').getByRole('link', { name: new RegExp(id.slice(0, 11)) })).toHaveAttribute(
    'href',
    `/executions/${id}`,
  );
});

test('a parent and its child lead to each other, and the parent goes on when the child has ended', async ({
  page,
  server,
}) => {
  const id = await runWorkflow(server, 'e2e/durable-delegate', {});
  await page.goto(`/executions/${id}`);
  const banner = page.getByRole('note').filter({ hasText: 'Waits for its child' });
  await expect(banner).toBeVisible();
  const children = page.getByRole('region', { name: 'Children, table' });
  await expect(children.getByRole('row').filter({ hasText: 'e2e/durable-approve' })).toContainText('Paused');
  await banner.getByRole('link').click();
  await expect(page.getByRole('main')).toContainText('called by');
  const child = page.url();
  await page.getByRole('button', { name: 'Resume…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
  await expect(page.getByText('Completed').first()).toBeVisible();
  await page
    .getByRole('main')
    .getByRole('link', { name: new RegExp(`^${id.slice(0, 11)}`) })
    .click();
  await expect(page).toHaveURL(new RegExp(id));
  await expect(children.getByRole('row').filter({ hasText: 'e2e/durable-approve' })).toContainText('Completed');
  await expect(banner).toBeHidden();
  await expect(page.getByText('Completed').first()).toBeVisible();
  expect(child).not.toContain(id);
});
