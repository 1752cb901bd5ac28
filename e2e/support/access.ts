import type { Page } from '@playwright/test';

/** Everything that the page itself keeps: its address and history, its storage, its text, and what its query cache holds. */
export async function keptBy(page: Page): Promise<string> {
  return page.evaluate(() => {
    interface Fiber {
      memoizedProps?: { client?: { getQueryCache?: () => Cache; getMutationCache?: () => Cache } } | null;
      child: Fiber | null;
      sibling: Fiber | null;
    }
    interface Cache {
      getAll(): { state: unknown }[];
    }
    const root = document.getElementById('root');
    const key = Object.keys(root ?? {}).find((each) => each.startsWith('__reactContainer$'));
    const stack: (Fiber | null)[] = [key ? ((root as unknown as Record<string, Fiber>)[key] ?? null) : null];
    while (stack.length > 0) {
      const fiber = stack.pop();
      if (!fiber) continue;
      const client = fiber.memoizedProps?.client;
      if (client?.getQueryCache && client.getMutationCache) {
        const caches = [...client.getQueryCache().getAll(), ...client.getMutationCache().getAll()];
        return JSON.stringify([
          location.href,
          history.state,
          { ...localStorage },
          { ...sessionStorage },
          document.documentElement.outerHTML,
          caches.map(({ state }) => state),
        ]);
      }
      stack.push(fiber.sibling, fiber.child);
    }
    throw new Error('the cache of the page was not found');
  });
}

/** Collects what the browser complains of. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  return complaints;
}
