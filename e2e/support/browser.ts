import AxeBuilder from '@axe-core/playwright';
import { type APIRequestContext, expect, type Page, test as base } from '@playwright/test';
import { hastyLiveness, Server } from './server.ts';
import type { WorkerSettings } from './worker-settings.ts';
import { WorkerProcess } from './worker-process.ts';

interface TestFixtures {
  /** Starts a worker that ends with the test. */
  readonly startWorker: (settings: Partial<WorkerSettings> & { name: string; role: string }) => Promise<WorkerProcess>;
  /** A browser that is signed in. */
  readonly page: Page;
}

interface SuiteFixtures {
  /** One built server for all tests of a Playwright process; names of roles, workers and deployments keep tests apart. */
  readonly server: Server;
}

/** Signs a browser in as the person does who pastes the token. */
async function signIn(request: APIRequestContext, server: Server): Promise<void> {
  const answer = await request.post(`${server.url}/session`, {
    data: { token: server.token },
    headers: { origin: server.url },
  });
  expect(answer.ok()).toBe(true);
}

export const test = base.extend<TestFixtures, SuiteFixtures>({
  server: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of fixtures from this pattern
    async ({}, use) => {
      const server = await Server.start({ env: hastyLiveness });
      await use(server);
      await server.dispose();
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  baseURL: async ({ server }, use) => use(server.url),
  page: async ({ page, server }, use) => {
    const violations: string[] = [];
    page.on('console', (message) => {
      if (/content security policy/i.test(message.text())) violations.push(`${page.url()}: ${message.text()}`);
    });
    await signIn(page.request, server);
    await use(page);
    // Whatever page a test has opened, all of it was allowed by the policy that the server sends.
    expect(violations).toEqual([]);
  },
  startWorker: async ({ server }, use) => {
    const workers: WorkerProcess[] = [];
    await use(async (settings) => {
      const worker = await WorkerProcess.start(server, settings);
      workers.push(worker);
      return worker;
    });
    await Promise.all(workers.map((worker) => worker.kill()));
  },
});

/** Rules of WCAG 2.2 AA that a machine can check. */
const accessibilityTags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/** Fails with rule, element and reason of each violation on the page as it stands. */
export async function expectAccessible(page: Page): Promise<void> {
  // Legacy mode leaves out foreign frames, which there are none of, and with them a page that is opened for each look.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().withTags(accessibilityTags).analyze();
  const told = violations.flatMap((violation) =>
    violation.nodes.map((node) => `${violation.id}: ${node.target.join(' ')}: ${node.failureSummary ?? ''}`),
  );
  expect(told, page.url()).toEqual([]);
}

/** Fails where the page scrolls sideways. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const { scroll, client } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    client: document.documentElement.clientWidth,
  }));
  expect(scroll, page.url()).toBeLessThanOrEqual(client);
}

export { expect } from '@playwright/test';
