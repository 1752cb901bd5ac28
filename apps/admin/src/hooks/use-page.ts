import { useRouterState } from '@tanstack/react-router';
import { useEffect, useSyncExternalStore } from 'react';

/** A step of the breadcrumb; the last one has no address. */
export interface Crumb {
  name: string;
  href?: string;
}

let crumbs: readonly Crumb[] = [];
let entered = false;
const listeners = new Set<() => void>();

function place(next: readonly Crumb[]): void {
  crumbs = next;
  for (const listener of listeners) listener();
}

/** Names the page: breadcrumb, document title ("Thing · Section · Muster"), and the focus on its h1 after a navigation. */
export function usePage(next: readonly Crumb[]): void {
  const key = JSON.stringify(next);
  const path = useRouterState({ select: (state) => state.location.pathname });
  useEffect(() => {
    const parsed = JSON.parse(key) as Crumb[];
    place(parsed);
    document.title = [...parsed.map((crumb) => crumb.name).toReversed(), 'Muster'].join(' · ');
  }, [key]);
  useEffect(() => {
    // The first page of a visit leaves the focus at the top, so that the first Tab reaches "Skip to content".
    if (entered) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    entered = true;
  }, [path]);
}

export function useCrumbs(): readonly Crumb[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => crumbs,
  );
}
