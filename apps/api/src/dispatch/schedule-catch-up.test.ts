import { MusterError } from '@muster/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE, ScheduleBench } from './testing/schedule-bench.ts';

let bench: ScheduleBench;

beforeAll(async () => {
  bench = await ScheduleBench.open();
});
afterAll(() => bench.database.drop());
beforeEach(() => bench.reset());

describe('after a downtime', () => {
  it('a run of the last minute is on time, whatever the limit', async () => {
    const row = await bench.schedule({ catchUpLimit: 0 }, -50_000);
    await bench.sweepAll(bench.sweeper().sweep);
    expect(await bench.runsOf(row)).toEqual([bench.now - 50_000]);
  });

  it('makes up for the newest runs up to the limit, and counts the rest', async () => {
    const base = bench.now;
    const timing = {
      kind: 'CRON',
      cron: '0 * * * *',
      intervalSeconds: null,
      anchorAt: null,
      overlap: 'ALLOW',
    } as const;
    const rows = [
      await bench.schedule({ ...timing, catchUpLimit: 2 }),
      await bench.schedule({ ...timing, catchUpLimit: 0 }),
      await bench.schedule({ ...timing, catchUpLimit: 100 }),
    ];
    bench.now += 5 * HOUR + 10 * MINUTE;
    await bench.sweepAll(bench.sweeper().sweep);
    expect(await Promise.all(rows.map((row) => bench.runsOf(row)))).toEqual([
      [base + 4 * HOUR, base + 5 * HOUR],
      [],
      [0, 1, 2, 3, 4, 5].map((n) => base + n * HOUR),
    ]);
    const after = await Promise.all(rows.map((row) => bench.reread(row)));
    expect(after.map(({ missedCount, startedCount }) => [missedCount, startedCount])).toEqual([
      [4, 2],
      [6, 0],
      [0, 6],
    ]);
    expect(after.map(({ lastResult }) => lastResult)).toEqual(['STARTED', 'MISSED', 'STARTED']);
    expect(new Set(after.map(({ nextAt }) => nextAt?.getTime()))).toEqual(new Set([base + 6 * HOUR]));
  });

  it('does not start all intervals in one second, and each in its own phase from then on (F17)', async () => {
    for (let i = 0; i < 40; i += 1)
      await bench.schedule({ anchorAt: new Date(bench.now), nextAt: new Date(bench.now) });
    bench.now += 3 * HOUR + 10 * MINUTE;
    const { sweep } = bench.sweeper();
    const bySecond: number[] = [];
    for (let second = 0; second <= 60; second += 1) {
      const { rows } = await bench.database.query<{ n: number }>('SELECT count(*)::int AS n FROM execution');
      await sweep.sweep();
      const after = await bench.database.query<{ n: number }>('SELECT count(*)::int AS n FROM execution');
      bySecond.push((after.rows[0]?.n ?? 0) - (rows[0]?.n ?? 0));
      bench.now += 1_000;
    }
    expect(bySecond.reduce((sum, n) => sum + n, 0)).toBe(40);
    expect(Math.max(...bySecond)).toBeLessThanOrEqual(4);
    const { rows } = await bench.database.query<{ next_at: Date }>('SELECT DISTINCT next_at FROM schedule');
    expect(rows).toHaveLength(1);
  });

  it('takes at most 200 in one look, and the others in the next', async () => {
    await bench.database.query(
      `INSERT INTO schedule (name, kind, interval_s, anchor_at, workflow, created_by, next_at)
       SELECT 'many-' || n, 'INTERVAL', 3600, $1, 't/t', 't', $1 FROM generate_series(1, 260) n`,
      [new Date(bench.now)],
    );
    const { sweep, offered } = bench.sweeper();
    expect(await sweep.sweep()).toBe(5);
    expect(offered).toHaveLength(200);
    expect(await sweep.sweep()).toBe(1_000);
    expect(offered).toHaveLength(260);
  });
});

describe('while the one before has not ended', () => {
  const every = { intervalSeconds: 60 };

  it('SKIP leaves runs out', async () => {
    const row = await bench.schedule({ ...every, overlap: 'SKIP' });
    const { sweep } = bench.sweeper();
    for (let i = 0; i < 3; i += 1, bench.now += MINUTE) await bench.sweepAll(sweep);
    expect(await bench.runsOf(row)).toHaveLength(1);
    expect(await bench.reread(row)).toMatchObject({ startedCount: 1, skippedCount: 2, lastResult: 'SKIPPED' });
    await bench.endAll();
    await bench.sweepAll(sweep);
    expect(await bench.runsOf(row)).toHaveLength(2);
  });

  it('QUEUE_ONE keeps one, and starts it when the one before has ended', async () => {
    const base = bench.now;
    const row = await bench.schedule({ ...every, overlap: 'QUEUE_ONE' });
    const { sweep } = bench.sweeper();
    for (let i = 0; i < 4; i += 1, bench.now += MINUTE) await bench.sweepAll(sweep);
    expect(await bench.runsOf(row)).toEqual([base]);
    expect(await bench.reread(row)).toMatchObject({
      queuedAt: new Date(base + MINUTE),
      startedCount: 1,
      skippedCount: 2,
    });
    bench.now -= 30_000;
    await bench.endAll();
    await sweep.sweep();
    expect(await bench.runsOf(row)).toEqual([base, base + MINUTE]);
    expect(await bench.reread(row)).toMatchObject({ queuedAt: null, lastResult: 'STARTED', startedCount: 2 });
    await sweep.sweep();
    expect(await bench.runsOf(row)).toHaveLength(2);
  });

  it('ALLOW starts beside it', async () => {
    const row = await bench.schedule({ ...every, overlap: 'ALLOW' });
    const { sweep } = bench.sweeper();
    for (let i = 0; i < 3; i += 1, bench.now += MINUTE) await bench.sweepAll(sweep);
    expect(await bench.runsOf(row)).toHaveLength(3);
  });

  it('REPLACE asks it to stop, and only what was there before this run', async () => {
    const row = await bench.schedule({ ...every, overlap: 'REPLACE' });
    const cancelled: string[] = [];
    const cancel = async (id: string): Promise<void> => {
      cancelled.push(id);
      throw new MusterError('CONFLICT', 'It has ended already.');
    };
    const { sweep, offered } = bench.sweeper({ cancel });
    await bench.sweepAll(sweep);
    bench.now += MINUTE;
    await bench.sweepAll(sweep);
    expect(cancelled).toEqual([offered[0]]);
    expect(await bench.runsOf(row)).toHaveLength(2);
    // A leader that was deposed comes back to the same run: what its successor started for it is not its to stop.
    await bench.database.query('UPDATE schedule SET next_at = last_at WHERE id = $1', [row.id]);
    await bench.database.query(`UPDATE leadership SET epoch = 8`);
    cancelled.splice(0);
    await sweep.sweep();
    expect(cancelled).toEqual([offered[0]]);
    expect(await bench.runsOf(row)).toHaveLength(2);
  });
});
