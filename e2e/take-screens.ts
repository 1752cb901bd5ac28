// Takes the pictures of docs/screens from the demo: `npx tsx e2e/take-screens.ts`, after `npm run setup`.
import path from 'node:path';
import { chromium } from '@playwright/test';
import config from './playwright.config.ts';
import { runDeploymentDocument } from './support/fleet.ts';
import { ask } from './support/graphql.ts';
import { root, Server } from './support/server.ts';
import { until } from './support/until.ts';

const server = await Server.start({ demo: true });
const browser = await chromium.launch(config.use?.launchOptions);
try {
  await until('the demo is up', async () => {
    const { deployment, workers } = await ask<{
      deployment: object | null;
      workers: { nodes: { eligible: boolean }[] };
    }>(server, '{ deployment(slug: "assistant") { slug } workers { nodes { eligible } } }');
    return deployment && workers.nodes.filter((worker) => worker.eligible).length >= 4;
  });
  for (const sessionKey of ['ana', 'ben', 'chloe', 'dai', 'eve', 'finn']) {
    await ask(server, runDeploymentDocument, {
      input: {
        deployment: 'assistant',
        sessionKey,
        input: { text: `Hello from ${sessionKey}`, region: 'eu' },
        waitSeconds: 20,
      },
    });
  }
  const { decisions } = await ask<{ decisions: { nodes: { id: string; execution: { id: string } }[] } }>(
    server,
    '{ decisions(first: 1, filter: { outcomes: [ASSIGNED] }) { nodes { id execution { id } } } }',
  );
  const [decision] = decisions.nodes;
  if (!decision) throw new Error('no decision to show');
  const screens = {
    overview: '/',
    workers: '/workers',
    deployment: '/deployments/assistant',
    executions: '/executions',
    execution: `/executions/${decision.execution.id}`,
    decision: `/decisions/${decision.id}`,
  };
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({
      baseURL: server.url,
      viewport: { width: 1440, height: 900 },
      colorScheme,
      reducedMotion: 'reduce',
    });
    await context.request.post('/session', { data: { token: server.token }, headers: { origin: server.url } });
    const page = await context.newPage();
    for (const [name, address] of Object.entries(screens)) {
      await page.goto(address);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      await page.screenshot({ path: path.join(root, `docs/screens/${name}-${colorScheme}.png`) });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await server.dispose();
}
