import { expect, test as base } from '@playwright/test';
import { hastyLiveness, Server } from '../support/server.ts';
import { WorkerProcess } from '../support/worker-process.ts';

/** A server that this test may kill. */
const test = base.extend<{ server: Server }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of fixtures from this pattern
  server: async ({}, use) => {
    const server = await Server.start({ env: hastyLiveness });
    await use(server);
    await server.dispose();
  },
});

test('a server that goes away and comes back: the page says so, and then shows what changed meanwhile', async ({
  page,
  server,
}) => {
  await page.request.post(`${server.url}/session`, { data: { token: server.token }, headers: { origin: server.url } });
  await page.goto(`${server.url}/workers`);
  const connection = page.getByRole('status').filter({ hasText: /live|reconnecting|not updating/i });
  await expect(connection).toHaveText(/^live$/i);
  await server.kill();
  await expect(connection).toContainText(/reconnecting/i);
  await server.start();
  const worker = await WorkerProcess.start(server, { name: 'meanwhile-1', role: 'meanwhile' });
  await expect(connection).toHaveText(/^live$/i, { timeout: 40_000 });
  await expect(page.getByRole('rowheader', { name: 'meanwhile-1' })).toBeVisible();
  await worker.kill();
});
