import { expect, expectAccessible, expectNoSidewaysScroll, test } from '../support/browser.ts';
import { ending, execution, runWorkflow } from '../support/fleet.ts';
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
  const steps = page.getByRole('region', { name: 'Steps, table' });
  await expect(steps.getByRole('row', { name: 'Task draft' })).toContainText(/^0.*Done.*\{"pages":3\}/);
  const pause = steps.getByRole('row', { name: 'Pause approval' });
  await expect(pause).toContainText(/^1.*Waits for resume–/);
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
  await expect(pause).toContainText(/Done.*\{"ok":true\}/);
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
  const sleep = page.getByRole('region', { name: 'Steps, table' }).getByRole('row', { name: 'Sleep' });
  await expect(sleep).toContainText(/Waits until \d\d:\d\d:\d\d.*for another 59 m/);
  await page.getByRole('button', { name: 'Cancel…' }).click();
  const dialog = page.getByRole('dialog', { name: /^Cancel / });
  await expect(dialog).toContainText('It is paused, so it ends at once.');
  await dialog.getByRole('button', { name: 'Cancel execution' }).click();
  await expect(page.getByText('Cancelled').first()).toBeVisible();
  await expect(sleep).toContainText('Left open');
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
  const call = page
    .getByRole('region', { name: 'Steps, table' })
    .getByRole('row', { name: 'Call e2e/durable-approve' });
  await expect(call).toContainText('Waits for child');
  const toChild = await banner.getByRole('link').getAttribute('href');
  await expect(call.getByRole('link')).toHaveAttribute('href', toChild ?? '');
  await call.getByRole('link').click();
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
  await expect(call).toContainText('Done');
  await expect(page.getByText('Completed').first()).toBeVisible();
  expect(child).not.toContain(id);
});

test('the steps of an execution are read page by page, each in a line with the rest a click away', async ({
  page,
  server,
}) => {
  const id = await runWorkflow(server, 'e2e/durable-tally', {});
  await ending(server, id);
  await page.goto(`/executions/${id}`);
  const steps = page.getByRole('region', { name: /^Steps\s*62$/ });
  await expect(steps).toContainText('The first 50 of 62 are shown');
  await expect(steps.getByRole('row')).toHaveCount(51);

  const survey = steps.getByRole('row').filter({ hasText: 'Task survey' });
  await expect(survey).not.toContainText('line 39');
  await survey.getByRole('button', { name: 'Show all of step 0' }).click();
  const result = page.getByRole('dialog', { name: 'Result of step 0, task “survey”' });
  await expect(result.getByRole('region', { name: 'Result of step 0, JSON' })).toContainText('line 39');
  await expectAccessible(page);
  await page.keyboard.press('Escape');
  await expect(result).toBeHidden();
  await expect(survey.getByRole('button')).toBeFocused();

  const print = steps.getByRole('row').filter({ hasText: 'Task print' });
  await expect(print).toContainText(/Failed.*Error: no paper/);
  await print.getByRole('button', { name: 'Show all of step 1' }).click();
  await expect(page.getByRole('region', { name: 'Stack of the error' })).toContainText('worker-main');
  await page.keyboard.press('Escape');

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNoSidewaysScroll(page);
  await expectAccessible(page);
  await steps.getByRole('button', { name: 'Load more' }).click();
  await expect(steps.getByRole('row')).toHaveCount(63);
  await expect(steps.getByRole('row').last()).toContainText(/^61.*page 60.*Done60/);
  await expect(steps.getByRole('button', { name: 'Load more' })).toBeHidden();
});

test('where nothing durable was called there are no steps', async ({ page, server }) => {
  const id = await runWorkflow(server, 'e2e/durable-echo', {});
  await page.goto(`/executions/${id}`);
  await expect(page.getByText('Completed').first()).toBeVisible();
  await expect(page.getByRole('region', { name: 'Output', exact: true })).toBeVisible();
  await page.waitForLoadState('networkidle');
  await expect(page.getByRole('heading', { name: /^Steps/ })).toBeHidden();
});
