import type { Pool } from 'pg';

const EVERY_MS = 60_000;
const SAMPLES = 3;

/** The database's clock, read without asking it: its distance to this process's monotonic clock is measured each minute. */
export interface Clock {
  /** Milliseconds since 1970 by the database. */
  now(): number;
  stop(): void;
}

export async function startClock(pool: Pool): Promise<Clock> {
  let distance = await measure(pool);
  const again = async (): Promise<void> => {
    // Out of reach: the last distance still holds.
    distance = await measure(pool).catch(() => distance);
  };
  const timer = setInterval(() => void again(), EVERY_MS).unref();
  return { now: () => performance.now() + distance, stop: () => clearInterval(timer) };
}

/** Of a few answers, the one that was on its way the shortest knows best. */
async function measure(pool: Pool): Promise<number> {
  let best = { took: Number.POSITIVE_INFINITY, distance: 0 };
  for (let i = 0; i < SAMPLES; i += 1) {
    const sent = performance.now();
    const { rows } = await pool.query<{ ms: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
    );
    const took = performance.now() - sent;
    if (took < best.took) best = { took, distance: (rows[0]?.ms ?? Date.now()) - sent - took / 2 };
  }
  return best.distance;
}
