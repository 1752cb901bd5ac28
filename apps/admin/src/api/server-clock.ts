/**
 * The server's clock as this browser sees it. Ages of heartbeats are counted against it, so that a laptop whose clock is
 * wrong does not paint workers dead. Every event's `at` feeds it.
 */
let offsetMs: number | null = null;

/** The largest offset wins: an event is never younger than the server's clock, only older by its way here. */
export function noticeServerTime(at: string, receivedAt: number = Date.now()): void {
  const offset = Date.parse(at) - receivedAt;
  if (Number.isNaN(offset)) return;
  if (offsetMs === null || offset > offsetMs || offsetMs - offset > 60_000) offsetMs = offset;
}

export function serverNow(): number {
  return Date.now() + (offsetMs ?? 0);
}

/** A moment of this browser's clock as the server would have stamped it; epoch milliseconds both. */
export function toServerTime(local: number): number {
  return local + (offsetMs ?? 0);
}
