import process from 'node:process';

/** What durable calls have been rejected with. */
const rejections = new WeakSet<object>();
const onLeftBehind = new Set<(error: unknown) => void>();

/** Says that a promise of a durable call rejects with that; the handler may have left the promise behind. */
export function mayBeLeftBehind(error: unknown): void {
  if (typeof error === 'object' && error !== null) rejections.add(error);
}

/**
 * Keeps the process alive where a handler has left behind something that waits for a durable call which fails, e.g. a
 * chain of calls that it awaits later, when the execution is cancelled: Node would end the process, and with it the
 * handlers of all other executions. Everything else that nobody handles ends the process as without this. Returns what
 * ends the watch.
 */
export function surviveLeftBehind(report: (error: unknown) => void): () => void {
  if (onLeftBehind.size === 0) process.on('unhandledRejection', onUnhandled);
  onLeftBehind.add(report);
  return () => {
    onLeftBehind.delete(report);
    if (onLeftBehind.size === 0) process.off('unhandledRejection', onUnhandled);
  };
}

function onUnhandled(reason: unknown): void {
  if (comesFromDurableCall(reason)) {
    for (const report of onLeftBehind) report(reason);
    return;
  }
  // Others who listen decide for themselves; without them Node ends the process, unless somebody listens: that is us.
  if (process.listenerCount('unhandledRejection') > 1) return;
  throw reason instanceof Error ? reason : new Error(`Nobody handles the rejection ${String(reason)}.`);
}

// Also what a handler has made of it, where it says so.
function comesFromDurableCall(reason: unknown): boolean {
  let error = reason;
  for (let depth = 0; depth < 8 && typeof error === 'object' && error !== null; depth += 1) {
    if (rejections.has(error)) return true;
    error = error instanceof Error ? error.cause : undefined;
  }
  return false;
}
