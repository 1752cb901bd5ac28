/**
 * Milliseconds to wait before a connection is tried again. `attempt` counts the failures in a row, from 0.
 * The first wait is anywhere within 2 s, so that a fleet whose server restarts does not come back in one moment; later
 * ones double up to `longestMs` and are drawn from their upper half. `random` yields numbers in [0, 1).
 */
export function reconnectDelay(attempt: number, random: () => number, longestMs = 30_000): number {
  if (attempt <= 0) return random() * 2_000;
  const longest = Math.min(longestMs, 1_000 * 2 ** attempt);
  return longest / 2 + (random() * longest) / 2;
}
