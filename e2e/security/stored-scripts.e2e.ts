import { expect, test } from '../support/browser.ts';
import { ask } from '../support/graphql.ts';

/** What a browser would run, if any page took a text for HTML or for an address. */
const IMAGE = '<img src=x onerror="window.attacked=1">';
const LINK = 'javascript:window.attacked=1';
const TEXT = `${IMAGE}<script>window.attacked=1</script><a href="${LINK}">x</a>`;

test('texts of others are shown as text on every page that shows them', async ({ page, server }) => {
  const { runWorkflow } = await ask<{ runWorkflow: { execution: { id: string } } }>(
    server,
    `mutation ($text: String!, $input: JSON, $at: DateTime!, $labels: [KeyValueInput!], $metadata: JSONObject!, $key: String!) {
      registerWorkflow(input: { namespace: "xss", name: "job", description: $text }) { created }
      runWorkflow(input: { workflow: "xss/job", input: $input }) { execution { id } }
      createDeployment(input: { slug: "xss", description: $text, comment: $text, variants: [{ label: "only", flowId: "xss/job", weight: 1, labels: $labels }] }) { deployment { id } }
      createAccessRole(input: { name: "xss", description: $text, permissions: [] }) { role { name } }
      createApiToken(input: { name: $key, scopes: ["worker:*:read"] }) { token { id } }
      createJoinToken(input: { description: $key }) { joinToken { id } }
      workerRegister(input: { name: "xss-1", instanceId: "xss-1", role: "xss", hostname: $key, version: $key, startedAt: $at, labels: $labels, packages: [{ name: "a", version: "1" }] }) { heartbeatSeconds }
      setWorkerMetadata(input: { worker: "xss-1", metadata: $metadata }) { worker { name } }
      workerHeartbeat(input: { worker: "xss-1", instanceId: "xss-1", healthy: false, checks: [{ name: $key, healthy: false, message: $text }] }) { lost }
    }`,
    {
      text: TEXT,
      key: IMAGE,
      input: { [IMAGE]: TEXT, url: LINK },
      at: new Date().toISOString(),
      labels: [{ key: 'team', value: IMAGE }],
      metadata: { html: TEXT, url: LINK },
    },
  );
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  const paths = [
    '/',
    '/workers',
    '/workers/xss-1',
    '/workers/xss-1?tab=executions',
    '/workflows',
    '/workflows/xss/job',
    '/deployments',
    '/deployments/xss',
    '/deployments/xss?tab=history',
    '/executions',
    `/executions/${runWorkflow.execution.id}`,
    `/workers/${encodeURIComponent(IMAGE)}`,
    `/executions?search=${encodeURIComponent(TEXT)}`,
  ];
  let shown = 0;
  for (const path of paths) {
    await page.goto(path);
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
    await expect(page.getByRole('status', { name: /^reading/i })).toHaveCount(0);
    const found = await page.evaluate(() => ({
      attacked: 'attacked' in window,
      images: document.querySelectorAll('img[src="x"]').length,
      links: document.querySelectorAll('[href^="javascript:" i], [src^="javascript:" i]').length,
      scripts: [...document.scripts].filter((script) => script.textContent?.includes('attacked')).length,
      shown: document.body.innerText.includes('onerror='),
    }));
    expect(found, path).toMatchObject({ attacked: false, images: 0, links: 0, scripts: 0 });
    if (found.shown) shown += 1;
  }
  expect(dialogs).toEqual([]);
  // Or none of the above would mean anything.
  expect(shown).toBeGreaterThan(3);
});
