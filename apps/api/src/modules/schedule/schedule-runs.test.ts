import { Worker, workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** A server that runs schedules by its own clock, with workers. */
let app: TestApp;
let worker: Worker;
const releases: (() => void)[] = [];
const seen: unknown[] = [];
const quick = workflow({ name: 'quick' }, (_ctx, input) => {
  seen.push(input);
  return 'done';
});
const hold = workflow({ name: 'hold' }, (ctx) => {
  return new Promise<void>((resolve, reject) => {
    releases.push(resolve);
    ctx.signal.addEventListener('abort', () => reject(new Error('stopped')));
  });
});

const workerOf = (name: string, role: string): Worker =>
  new Worker({
    server: app.url,
    token: app.adminToken,
    name,
    role,
    signals: false,
    workflows: [quick, hold],
    log: () => undefined,
  });

beforeAll(async () => {
  app = await startTestApp();
  worker = workerOf('w', 'worker');
  void worker.run();
  await until(() => app.plane.fleet.get('w')?.eligible, 'the worker');
});
afterAll(async () => {
  for (const release of releases) release();
  await worker.stop();
  await app.close();
});

const create = (input: Record<string, unknown>) =>
  app.ask('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { warnings } }', { input });

/** Its next run comes now. */
const due = (name: string) =>
  app.plane.database.query('UPDATE schedule SET next_at = clock_timestamp() WHERE name = $1', [name]);

const read = async (name: string) =>
  (
    await app.ask(
      `query ($name: String!) { schedule(name: $name) { revision lastResult lastError { code message at } lastExecution {
        id state input variantLabel targetRoles priority sessionKey submittedBy scheduleRun schedule { name } workerName } startedCount skippedCount
        failedCount queuedAt nextAt lastAt } }`,
      { name },
    )
  ).schedule;

const lastEnded = (name: string, count: number) =>
  until(async () => {
    const schedule = await read(name);
    return schedule.startedCount === count && schedule.lastExecution?.state === 'COMPLETED' && schedule;
  }, `${count} runs of ${name}`);

describe('a run of a workflow', () => {
  it('comes by itself, wakes the dispatcher, and reaches a worker', async () => {
    await create({ name: 'soon', at: new Date(Date.now() + 3_000), workflow: 'quick', input: { n: 1 }, priority: 5 });
    const schedule = await lastEnded('soon', 1);
    expect(schedule).toMatchObject({ lastResult: 'STARTED', nextAt: null, lastError: null });
    expect(schedule.lastExecution).toMatchObject({
      input: { n: 1 },
      priority: 5,
      submittedBy: 'admin',
      schedule: { name: 'soon' },
      scheduleRun: schedule.lastAt,
      workerName: 'w',
    });
    expect(seen).toContainEqual({ n: 1 });
  });

  it('is one each second where that is the plan', async () => {
    await create({ name: 'seconds', cron: '* * * * * *', workflow: 'quick', overlap: 'ALLOW' });
    await lastEnded('seconds', 3);
    await app.ask('mutation { pauseSchedule(input: { name: "seconds" }) { warnings } }');
    const { rows } = await app.plane.database.query<{ run: Date }>(
      `SELECT schedule_run AS run FROM execution x JOIN schedule s ON s.id = x.schedule_id WHERE s.name = 'seconds' ORDER BY 1`,
    );
    const runs = rows.map(({ run }) => run.getTime());
    expect(runs).toEqual(runs.map((_, i) => (runs[0] ?? 0) + i * 1_000));
    // Newest first, in pages.
    const listed: number[] = [];
    for (let after = ''; ; ) {
      const { executions } = (
        await app.ask(
          `{ schedule(name: "seconds") { executions(first: 2${after}) { totalCount nodes { scheduleRun } pageInfo { hasNextPage endCursor } } } }`,
        )
      ).schedule;
      expect(executions.totalCount).toBe(runs.length);
      listed.push(...executions.nodes.map((node: { scheduleRun: string }) => Date.parse(node.scheduleRun)));
      if (!executions.pageInfo.hasNextPage) break;
      after = `, after: "${executions.pageInfo.endCursor}"`;
    }
    expect(listed).toEqual(runs.toReversed());
  });

  it('of a workflow that is gone fails visibly, and works again when it is back', async () => {
    await app.ask('mutation { registerWorkflow(input: { name: "passing" }) { created } }');
    await create({ name: 'orphan', cron: '0 0 1 1 *', workflow: 'passing' });
    await app.plane.database.query(`DELETE FROM workflow WHERE name = 'passing'`);
    app.plane.bus.publish('workflow', { id: 0 });
    await due('orphan');
    const failed = await until(async () => {
      const schedule = await read('orphan');
      return schedule.lastError && schedule;
    }, 'the error');
    expect(failed).toMatchObject({ lastResult: 'FAILED', failedCount: 1, lastError: { code: 'NOT_FOUND' } });
    expect(failed.nextAt).toMatch(/-01-01T00:00:00.000Z$/);
    expect(
      (await app.ask('{ schedules(filter: { failing: true }) { nodes { name workflowRef workflow { ref } } } }'))
        .schedules.nodes,
    ).toEqual([{ name: 'orphan', workflowRef: 'default/passing', workflow: null }]);
    await app.ask('mutation { registerWorkflow(input: { name: "passing" }) { created } }');
    await due('orphan');
    await until(async () => (await read('orphan')).lastResult === 'STARTED', 'the next run');
    expect((await read('orphan')).lastError).toBeNull();
  });
});

describe('a run of a deployment', () => {
  it('picks the variant of its session, and says when none is healthy', async () => {
    const variants = [{ label: 'a', flowId: 'default/quick', weight: 1, targetRoles: ['extra'] }];
    await app.ask('mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { warnings } }', {
      input: { slug: 'pinned', variants },
    });
    const { createSchedule } = await create({
      name: 'deployed',
      cron: '0 0 1 1 *',
      deployment: 'pinned',
      sessionKey: 's-1',
    });
    expect(createSchedule.warnings[0]).toContain('no variants with healthy target roles');
    await due('deployed');
    const failed = await until(async () => {
      const schedule = await read('deployed');
      return schedule.lastError && schedule;
    }, 'the error');
    expect(failed).toMatchObject({ lastResult: 'FAILED', lastError: { code: 'NO_HEALTHY_VARIANT' }, startedCount: 0 });
    const extra = workerOf('x', 'extra');
    void extra.run();
    await until(() => app.plane.fleet.get('x')?.eligible, 'its worker');
    await due('deployed');
    const { lastExecution } = await lastEnded('deployed', 1);
    expect(lastExecution).toMatchObject({
      variantLabel: 'a',
      targetRoles: ['extra'],
      sessionKey: 's-1',
      workerName: 'x',
    });
    await extra.stop();
    const { errors } = await app.post('mutation { runSchedule(input: { name: "deployed" }) { execution { id } } }');
    expect(errors[0]?.extensions.code).toBe('NO_HEALTHY_VARIANT');
  });
});

describe('while the one before runs', () => {
  const isRunning = (name: string) =>
    until(async () => {
      const { lastExecution } = await read(name);
      return lastExecution?.state === 'RUNNING' && lastExecution.id;
    }, 'it to run');

  it('QUEUE_ONE starts the one that waits at its end', async () => {
    await create({ name: 'queueing', cron: '0 0 1 1 *', workflow: 'hold', overlap: 'QUEUE_ONE' });
    await due('queueing');
    const first = await isRunning('queueing');
    await due('queueing');
    await until(async () => (await read('queueing')).queuedAt, 'a run that waits');
    expect((await read('queueing')).startedCount).toBe(1);
    releases.splice(0).forEach((release) => release());
    const second = await until(async () => {
      const id = await isRunning('queueing');
      return id !== first && id;
    }, 'the second');
    expect(await read('queueing')).toMatchObject({ queuedAt: null, startedCount: 2, lastExecution: { id: second } });
    releases.splice(0).forEach((release) => release());
    await lastEnded('queueing', 2);
  });

  it('REPLACE cancels it, and starts anew', async () => {
    await create({ name: 'replacing', cron: '0 0 1 1 *', workflow: 'hold', overlap: 'REPLACE' });
    await due('replacing');
    const first = await isRunning('replacing');
    await due('replacing');
    const ended = await until(async () => {
      const { execution } = await app.ask(`{ execution(id: "${first}") { state } }`);
      return execution.state === 'CANCELLED' && execution;
    }, 'its end');
    expect(ended).toEqual({ state: 'CANCELLED' });
    await until(async () => (await isRunning('replacing')) !== first, 'the second');
    releases.splice(0).forEach((release) => release());
    await lastEnded('replacing', 2);
  });

  it('one by hand starts at once, also paused, and counts as the one before', async () => {
    await create({ name: 'by-hand', cron: '0 0 1 1 *', workflow: 'hold', input: 'mine', routingInput: { k: 'v' } });
    await app.ask('mutation { pauseSchedule(input: { name: "by-hand" }) { warnings } }');
    const { runSchedule } = await app.ask(
      'mutation { runSchedule(input: { name: "by-hand" }) { schedule { startedCount paused lastResult } execution { id input scheduleRun schedule { name } submittedBy } } }',
    );
    expect(runSchedule).toMatchObject({
      schedule: { startedCount: 1, paused: true, lastResult: 'STARTED' },
      execution: { input: 'mine', scheduleRun: null, schedule: { name: 'by-hand' }, submittedBy: 'admin' },
    });
    const routed = await app.plane.database.query('SELECT value FROM execution_routing WHERE execution_id = $1', [
      runSchedule.execution.id.slice(3),
    ]);
    expect(routed.rows).toEqual([{ value: { k: 'v' } }]);
    await isRunning('by-hand');
    await app.ask('mutation { resumeSchedule(input: { name: "by-hand" }) { warnings } }');
    await due('by-hand');
    await until(async () => (await read('by-hand')).skippedCount === 1, 'the skipped run');
    releases.splice(0).forEach((release) => release());
    await lastEnded('by-hand', 1);
    const { errors } = await app.post('mutation { runSchedule(input: { name: "nobody" }) { execution { id } } }');
    expect(errors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND', field: 'name' });
  });
});
