import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../log.ts';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { ExecutionReader } from '../execution/execution-reader.ts';
import { MetricsService } from './metrics-service.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

/** A service for which a minute ends every 5 ms. */
function hurried(leading: () => boolean): { metrics: MetricsService; minutes: () => number } {
  const { executor, fleet, dispatcher } = app.plane;
  let looked = 0;
  const metrics = new MetricsService({
    executor,
    fleet,
    deployments: { all: () => [] },
    executions: new ExecutionReader(executor),
    dispatcher: {
      stats: () => dispatcher.stats(),
      get leading() {
        looked += 1;
        return leading();
      },
    },
    now: () => 59_995,
    log: createLog('silent'),
  });
  return { metrics, minutes: () => looked };
}

const stored = async (): Promise<number> =>
  (await app.plane.database.query<{ n: number }>('SELECT count(*)::int AS n FROM fleet_minute', [])).rows[0]?.n ?? -1;

const history = (minutes: number) =>
  app.ask(
    'query ($minutes: Int) { fleetHistory(minutes: $minutes) { at workers parkedReasons { reason count oldest } } }',
    {
      minutes,
    },
  );

describe('the figures of every minute', () => {
  it('are written by the leader alone, kept for a day, and told oldest first', async () => {
    const figures = JSON.stringify({
      workers: 7,
      parkedReasons: [{ reason: 'no worker', count: 2, oldest: '2026-01-01T00:00:00.000Z' }],
    });
    await app.plane.database.query(
      `INSERT INTO fleet_minute (at, data) SELECT clock_timestamp() - minutes * interval '1 minute', $1::json FROM unnest('{1500,90,30}'::int[]) AS minutes`,
      [figures],
    );
    let leading = false;
    const { metrics, minutes } = hurried(() => leading);
    metrics.start();
    await until(() => minutes() > 3, 'some minutes of a follower');
    expect((await history(1)).fleetHistory).toEqual([]);
    leading = true;
    await until(async () => (await history(1)).fleetHistory.length === 1, 'the point of this minute');
    await until(() => minutes() > 20, 'more of the same minute');
    await metrics.close();
    // The one that was older than a day has gone, this minute has one point.
    expect(await stored()).toBe(3);
    const { fleetHistory } = await history(60);
    expect(fleetHistory.map(({ workers }: { workers: number }) => workers)).toEqual([7, 0]);
    expect(fleetHistory[0].parkedReasons).toEqual([
      { reason: 'no worker', count: 2, oldest: '2026-01-01T00:00:00.000Z' },
    ]);
    expect((await history(1440)).fleetHistory).toHaveLength(3);
    expect(fleetHistory.map(({ at }: { at: string }) => at)).toEqual(
      fleetHistory.map(({ at }: { at: string }) => at).toSorted(),
    );
  });

  it('are asked for at most a day back', async () => {
    for (const minutes of [0, -1, 1441]) {
      const { errors } = await app.post('query ($m: Int) { fleetHistory(minutes: $m) { at } }', { m: minutes });
      expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_INPUT', field: 'minutes' });
    }
  });
});
