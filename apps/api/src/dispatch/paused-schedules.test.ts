import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { MINUTE, ScheduleBench } from './testing/schedule-bench.ts';

let bench: ScheduleBench;

beforeAll(async () => {
  bench = await ScheduleBench.open();
});
afterAll(() => bench.database.drop());
beforeEach(() => bench.reset());

it('schedules that are paused, or whose target cannot be found, stand in nobody’s way', async () => {
  // More than one look takes, all of them due before the one that counts.
  await bench.database.query(
    `INSERT INTO schedule (name, kind, interval_s, anchor_at, workflow, created_by, next_at, paused)
     SELECT 'stopped-' || n, 'INTERVAL', 3600, $1, 't/t', 't', $1, n <= 250 FROM generate_series(1, 255) n`,
    [new Date(bench.now - MINUTE)],
  );
  const row = await bench.schedule();
  const { sweep } = bench.sweeper({
    targetOf: async ({ name }) => {
      if (name.startsWith('stopped-')) throw new Error('there is no healthy variant');
      return { versionId: bench.versionId, deploymentId: null, variant: null, targetRoles: [] };
    },
  });
  await sweep.sweep();
  expect(await bench.runsOf(row)).toEqual([bench.now]);
  expect(await bench.count()).toBe(1);
});
