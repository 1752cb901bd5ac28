import { useSyncExternalStore } from 'react';
import { serverNow } from '../api/server-clock.ts';

let now = serverNow();
let timer: ReturnType<typeof setInterval> | null = null;
const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    // A hidden tab repaints nothing.
    if (document.hidden) return;
    now = serverNow();
    for (const each of listeners) each();
  }, 1_000);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0 && timer) {
      clearInterval(timer);
      timer = null;
    }
  };
}

/** The server's time, once a second: one timer for all ages on the page. */
export function useServerNow(): number {
  return useSyncExternalStore(listen, () => now);
}
