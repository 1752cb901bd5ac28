import type { Page } from '@playwright/test';

/** Whether a request to /graphql carries the operation of this name, e.g. `query Executions`. */
function carries(body: string | null, operation: string): boolean {
  return new RegExp(`${operation}\\b`).test(body ?? '');
}

/**
 * Holds back the answers to one operation until the returned function is called: a network that is slow for as long as the test
 * looks at the page.
 */
export async function holdAnswers(page: Page, operation: string): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/graphql', async (route) => {
    if (carries(route.request().postData(), operation)) await released;
    await route.continue();
  });
  return release;
}

/** What a viewer is told who may not read something. */
export const refusedSentence = 'This takes a permission that you do not have.';

const refusal = {
  message: refusedSentence,
  path: ['refused'],
  extensions: { code: 'FORBIDDEN', requestId: 'rq-refused' },
};

/**
 * Answers everything but the question who is signed in as the server answers a viewer without permissions: HTTP with data null
 * and one error, every subscription with an error message.
 */
export async function refuseEverything(page: Page): Promise<void> {
  await page.route('**/graphql', async (route) => {
    if (/\bviewer\s*\{/.test(route.request().postData() ?? '')) return route.continue();
    return route.fulfill({
      status: 200,
      contentType: 'application/graphql-response+json; charset=utf-8',
      body: JSON.stringify({ data: null, errors: [refusal] }),
    });
  });
  await page.routeWebSocket('**/graphql', (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => {
      const { id, type }: { id?: string; type: string } = JSON.parse(message.toString());
      if (type === 'subscribe') socket.send(JSON.stringify({ id, type: 'error', payload: [refusal] }));
      else server.send(message);
    });
  });
}

/** The viewer as it is, but without any permission: verbs stay visible, and say what they need. */
export async function takePermissions(page: Page): Promise<void> {
  await page.route('**/graphql', async (route) => {
    if (!carries(route.request().postData(), 'query Viewer')) return route.fallback();
    const response = await route.fetch();
    const { data }: { data: { viewer: object } } = await response.json();
    return route.fulfill({ response, json: { data: { viewer: { ...data.viewer, permissions: [] } } } });
  });
}
