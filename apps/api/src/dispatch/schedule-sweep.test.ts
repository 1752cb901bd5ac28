import { MusterError } from '@muster/core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidSource } from './ids.ts';
import type { Executor } from './statements/executor.ts';
import { LeadershipLostError } from './statements/fence.ts';
import { fireSchedule, passSchedule, readDueSchedules } from './statements/schedule-fire.ts';
import { HOUR, ScheduleBench, session } from './testing/schedule-bench.ts';

let bench: ScheduleBench;

beforeAll(async () => {
  bench = await ScheduleBench.open();
});
afterAll(() => bench.database.drop());
beforeEach(() => bench.reset());

describe('a run that has come', () => {
  it('makes an execution as a call would, and goes on to the next run', async () => {
    const row = await bench.schedule({
      input: { a: [1] },
      routingInput: { cohort: 'x' },
      priority: 7,
      parkTtlSeconds: 60,
      sessionKey: 'k',
    });
    const { sweep, offered, bus } = bench.sweeper();
    const heard: string[] = [];
    bus.subscribe('execution', ({ id }) => heard.push(id));
    await sweep.sweep();
    const { rows } = await bench.database.query(
      `SELECT x.*, x.park_deadline - x.created_at = interval '60 s' AS parks, r.value AS routing
       FROM execution x JOIN execution_routing r ON r.execution_id = x.id WHERE schedule_id = $1`,
      [row.id],
    );
    expect(rows).toMatchObject([
      {
        state: 'PENDING',
        queued: true,
        version_id: bench.versionId,
        submitted_by: 'owner',
        input: { a: [1] },
        routing: { cohort: 'x' },
        priority: 7,
        session_key: 'k',
        parks: true,
        schedule_run: new Date(bench.now),
      },
    ]);
    const id = String(rows[0]?.['id']).replaceAll('-', '');
    expect(offered).toEqual([id]);
    expect(heard).toEqual([id]);
    expect(await bench.reread(row)).toMatchObject({
      nextAt: new Date(bench.now + HOUR),
      lastAt: new Date(bench.now),
      lastResult: 'STARTED',
      lastExecutionId: id,
      startedCount: 1,
      revision: 1,
    });
  });

  it('is looked for when it comes: not before, and not only at the next second', async () => {
    const row = await bench.schedule({}, 250);
    const { sweep } = bench.sweeper();
    expect(await sweep.sweep()).toBe(250);
    expect(await bench.runsOf(row)).toEqual([]);
    bench.now += 250;
    expect(await sweep.sweep()).toBe(1_000);
    expect(await bench.runsOf(row)).toHaveLength(1);
  });

  it('is left alone for a moment where the variant that is known here is gone, and made once that is known', async () => {
    const row = await bench.schedule();
    const target = { versionId: bench.versionId, targetRoles: [] };
    let known = false;
    const { sweep } = bench.sweeper({
      targetOf: () =>
        Promise.resolve({
          ...target,
          ...(known ? { deploymentId: null, variant: null } : { deploymentId: -1, variant: 'gone' }),
        }),
    });
    expect(await sweep.sweep()).toBe(1_000);
    known = true;
    await sweep.sweep();
    expect(await bench.runsOf(row)).toEqual([]);
    bench.now += 100;
    await sweep.sweep();
    expect(await bench.runsOf(row)).toHaveLength(1);
  });

  it('is the last of a single time', async () => {
    const row = await bench.schedule({
      kind: 'ONCE',
      intervalSeconds: null,
      anchorAt: null,
      onceAt: new Date(bench.now),
    });
    const { sweep } = bench.sweeper();
    await bench.sweepAll(sweep);
    bench.now += 24 * HOUR;
    await bench.sweepAll(sweep);
    expect(await bench.runsOf(row)).toHaveLength(1);
    expect((await bench.reread(row)).nextAt).toBeNull();
  });

  it('is not taken while it is paused', async () => {
    const row = await bench.schedule({ paused: true });
    await bench.sweeper().sweep.sweep();
    expect(await bench.runsOf(row)).toEqual([]);
  });

  it('is 09:00 by the clock of its zone, across the change of the clock (J1)', async () => {
    bench.now = Date.parse('2027-03-13T14:00Z');
    const timing = { kind: 'CRON', cron: '0 9 * * *', timeZone: 'America/New_York', intervalSeconds: null } as const;
    const row = await bench.schedule({ ...timing, anchorAt: null, overlap: 'ALLOW' });
    const { sweep } = bench.sweeper();
    for (const at of ['2027-03-13T14:00Z', '2027-03-14T13:00Z', '2027-03-15T13:00Z']) {
      bench.now = Date.parse(at) - 1;
      await bench.sweepAll(sweep);
      bench.now += 1;
      await bench.sweepAll(sweep);
    }
    expect((await bench.runsOf(row)).map((run) => new Date(run).toISOString())).toEqual([
      '2027-03-13T14:00:00.000Z',
      '2027-03-14T13:00:00.000Z',
      '2027-03-15T13:00:00.000Z',
    ]);
  });
});

describe('one run in a cluster', () => {
  const start = () => ({
    executionId: uuidSource(bench.database).next(),
    target: { versionId: bench.versionId, deploymentId: null, variant: null, targetRoles: [] },
    defaultParkTtlSeconds: 0,
  });

  it('is one execution, however many race for it with the leader’s own fence', async () => {
    const row = await bench.schedule({ overlap: 'ALLOW' });
    const [due] = await readDueSchedules(bench.db, new Date(bench.now), []);
    if (due === undefined) throw new Error('nothing is due');
    const results = await Promise.all(
      Array.from({ length: 8 }, () =>
        fireSchedule(bench.db, session, {
          ...start(),
          schedule: due,
          run: due.run,
          next: new Date(bench.now + HOUR),
          missed: 0,
          queued: false,
        }),
      ),
    );
    expect(results.filter((result) => result === 'STARTED')).toHaveLength(1);
    expect(results.filter((result) => result === null)).toHaveLength(7);
    expect(await bench.runsOf(row)).toEqual([bench.now]);
  });

  it('is not written for a wrong epoch or a wrong holder', async () => {
    const row = await bench.schedule();
    const [due] = await readDueSchedules(bench.db, new Date(bench.now), []);
    if (due === undefined) throw new Error('nothing is due');
    const plan = { schedule: due, run: due.run, next: new Date(bench.now + HOUR), missed: 0, queued: false };
    const before = await bench.reread(row);
    for (const wrong of [
      { epoch: '6', holder: 'me' },
      { epoch: '8', holder: 'me' },
      { epoch: '7', holder: 'you' },
    ]) {
      await expect(fireSchedule(bench.db, wrong, { ...plan, ...start() })).rejects.toThrow(LeadershipLostError);
      await expect(passSchedule(bench.db, wrong, { ...plan, error: null })).rejects.toThrow(LeadershipLostError);
    }
    expect(await bench.reread(row)).toEqual(before);
    expect(await bench.runsOf(row)).toEqual([]);
  });

  it('goes to the new leader where two sweep at once, also for many schedules', async () => {
    const rows = [];
    for (let i = 0; i < 25; i += 1) rows.push(await bench.schedule());
    const old = bench.sweeper({ session: () => ({ epoch: '7', holder: 'me' }) });
    const fresh = bench.sweeper({ session: () => ({ epoch: '8', holder: 'other' }) });
    const racing = old.sweep.sweep();
    await bench.database.query(`UPDATE leadership SET epoch = 8, holder = 'other'`);
    await Promise.all([racing, fresh.sweep.sweep()]);
    await bench.sweepAll(fresh.sweep);
    await old.sweep.sweep();
    for (const row of rows) expect(await bench.runsOf(row)).toEqual([bench.now]);
    expect(old.offered.length + fresh.offered.length).toBe(25);
  });

  it('is not lost where a leader dies between reading and writing, and not doubled where it dies after', async () => {
    const row = await bench.schedule();
    const dying: Executor = {
      run: async (statement, values) => {
        if (statement.name === 'fire_schedule') throw new Error('the connection broke');
        return bench.db.run(statement, values);
      },
    };
    await bench.sweeper({ executor: dying }).sweep.sweep();
    expect(await bench.runsOf(row)).toEqual([]);
    // Its answer is lost: the run was written, and nobody was told.
    const deaf: Executor = {
      run: async (statement, values) => {
        const result = await bench.db.run(statement, values);
        if (statement.name === 'fire_schedule') throw new Error('the answer was lost');
        return result as never;
      },
    };
    await bench.sweeper({ executor: deaf }).sweep.sweep();
    expect(await bench.runsOf(row)).toEqual([bench.now]);
    await bench.sweepAll(bench.sweeper().sweep);
    expect(await bench.runsOf(row)).toEqual([bench.now]);
  });

  it('is not started from what it was before a change', async () => {
    const row = await bench.schedule();
    const [due] = await readDueSchedules(bench.db, new Date(bench.now), []);
    if (due === undefined) throw new Error('nothing is due');
    const write = { author: { name: 'x', address: null, requestId: 'rq' }, action: 'schedule.update' } as const;
    await bench.store.update(row, 1, { ...write, content: { priority: 3 } });
    const plan = { schedule: due, run: due.run, next: null, missed: 0, queued: false };
    expect(await fireSchedule(bench.db, session, { ...plan, ...start() })).toBeNull();
    expect(await bench.runsOf(row)).toEqual([]);
  });
});

describe('a bad schedule', () => {
  const target = { versionId: 0, deploymentId: null, variant: null, targetRoles: [] };

  it('shows why nothing could be started, and tries again at its next run', async () => {
    const row = await bench.schedule({}, 0);
    bench.now += 11_000;
    let refusal: MusterError | null = new MusterError('NO_HEALTHY_VARIANT', 'nobody is well');
    const targetOf = async () => {
      if (refusal) throw refusal;
      return { ...target, versionId: bench.versionId };
    };
    const { sweep } = bench.sweeper({ targetOf });
    await bench.database.query('UPDATE schedule SET next_at = $1', [new Date(bench.now - 60_000)]);
    // Right after a start workers may not be back yet: the run is kept for some seconds.
    await sweep.sweep();
    expect(await bench.reread(row)).toMatchObject({ lastError: null, failedCount: 0 });
    bench.now += 10_000;
    await sweep.sweep();
    const failed = await bench.reread(row);
    expect(failed).toMatchObject({
      lastError: { code: 'NO_HEALTHY_VARIANT', message: 'nobody is well' },
      lastResult: 'FAILED',
      failedCount: 1,
    });
    expect(failed.nextAt?.getTime()).toBeGreaterThan(bench.now);
    refusal = null;
    bench.now = failed.nextAt?.getTime() ?? 0;
    await sweep.sweep();
    expect(await bench.reread(row)).toMatchObject({ lastError: null, lastResult: 'STARTED', startedCount: 1 });
  });

  it('whose time zone is gone stands still, with the reason, and stops nobody else', async () => {
    const cron = { kind: 'CRON', cron: '0 * * * *', intervalSeconds: null, anchorAt: null } as const;
    const bad = await bench.schedule({ ...cron, timeZone: 'Mars/Olympus' });
    const good = await bench.schedule({ ...cron });
    await bench.sweeper().sweep.sweep();
    expect(await bench.runsOf(good)).toEqual([bench.now]);
    const row = await bench.reread(bad);
    expect(row).toMatchObject({ nextAt: null, lastResult: 'FAILED', lastError: { code: 'BAD_INPUT' } });
    expect(row.lastError?.message).toContain('Mars/Olympus');
  });

  it('that fails for a reason of ours is put off, and stops nobody else', async () => {
    const bad = await bench.schedule();
    const good = await bench.schedule();
    const targetOf = async ({ name }: { name?: string }) => {
      if (name === bad.name) throw new TypeError('a bug');
      return { ...target, versionId: bench.versionId };
    };
    const { sweep, lines } = bench.sweeper({ targetOf });
    await sweep.sweep();
    expect(await bench.runsOf(good)).toHaveLength(1);
    expect(lines.join('')).toContain('a bug');
    expect(await sweep.sweep()).toBe(1_000);
    expect((await bench.reread(bad)).nextAt).toEqual(new Date(bench.now));
  });
});

describe('a replica that does not lead', () => {
  it('starts nothing', async () => {
    const row = await bench.schedule();
    expect(await bench.sweeper({ session: () => null }).sweep.sweep()).toBe(1_000);
    expect(await bench.runsOf(row)).toEqual([]);
  });
});
