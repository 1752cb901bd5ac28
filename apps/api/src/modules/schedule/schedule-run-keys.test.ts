import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';

/** Runs by hand, and what every change of a schedule leaves in the audit. No worker is there: what is started waits. */
let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
});
afterAll(() => app.close());

const create = (name: string, more: Record<string, unknown> = {}) =>
  app.ask('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { warnings } }', {
    input: { name, cron: '0 0 1 1 *', workflow: 'chat', ...more },
  });
const run = (name: string, idempotencyKey?: string) =>
  app.post(
    'mutation ($input: RunScheduleInput!) { runSchedule(input: $input) { schedule { name startedCount } execution { id } } }',
    { input: { name, idempotencyKey } },
  );
const audited = async (name: string) =>
  (
    await app.plane.database.query<{ actor: string; action: string; request: string | null; data: unknown }>(
      'SELECT actor, action, request_id AS request, data FROM audit WHERE target = $1 ORDER BY id',
      [`schedule:${name}`],
    )
  ).rows;
const startedBy = async (name: string) =>
  (
    await app.plane.database.query<{ id: string }>(
      'SELECT x.id::text AS id FROM execution x JOIN schedule s ON s.id = x.schedule_id WHERE s.name = $1 ORDER BY x.id',
      [name],
    )
  ).rows.map(({ id }) => `ex_${id.replaceAll('-', '')}`);

describe('a run by hand with an idempotency key', () => {
  it('is one run, however often it is asked for, also at once', async () => {
    await create('keyed');
    const answers = await Promise.all(Array.from({ length: 5 }, () => run('keyed', 'k-1')));
    answers.push(await run('keyed', 'k-1'));
    const ids = answers.map(({ data }) => data.runSchedule.execution.id);
    expect(new Set(ids).size).toBe(1);
    expect(await startedBy('keyed')).toEqual([ids[0]]);
    const other = (await run('keyed', 'k-2')).data.runSchedule;
    expect(other.schedule).toEqual({ name: 'keyed', startedCount: 2 });
    expect(await startedBy('keyed')).toEqual([ids[0], other.execution.id]);
    expect((await audited('keyed')).map(({ action }) => action)).toEqual([
      'schedule.create',
      'schedule.run',
      'schedule.run',
    ]);
  });

  it('is refused for another schedule, and keys that are none are too', async () => {
    await create('first');
    await create('second');
    await run('first', 'shared');
    const { errors } = await run('second', 'shared');
    expect(errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', field: 'idempotencyKey' });
    expect(await startedBy('second')).toEqual([]);
    for (const key of ['', 'with space', 'x'.repeat(201)]) {
      const bad = await run('second', key);
      expect(bad.errors[0]?.extensions).toMatchObject({ code: 'BAD_INPUT', field: 'idempotencyKey' });
    }
  });

  it('does not spend its key where nothing is started', async () => {
    const { errors } = await run('later', 'early');
    expect(errors[0]?.extensions).toMatchObject({ code: 'NOT_FOUND', field: 'name' });
    await create('later');
    const { data } = await run('later', 'early');
    expect(await startedBy('later')).toEqual([data.runSchedule.execution.id]);
  });

  it('belongs to the mutation, and lives seven days', async () => {
    await create('aged', { idempotencyKey: 'week' });
    const first = (await run('aged', 'week')).data.runSchedule.execution.id;
    const age = (interval: string) =>
      app.plane.database.query(
        `UPDATE idempotency SET at = clock_timestamp() - $1::interval WHERE mutation = 'runSchedule' AND key = 'week'`,
        [interval],
      );
    await age('6 days 23 hours');
    expect((await run('aged', 'week')).data.runSchedule.execution.id).toBe(first);
    await age('7 days 1 minute');
    const second = (await run('aged', 'week')).data.runSchedule.execution.id;
    expect(await startedBy('aged')).toEqual([first, second]);
    expect((await run('aged', 'week')).data.runSchedule.execution.id).toBe(second);
  });

  it('says what it started where that or the schedule is gone', async () => {
    await create('gone');
    const id: string = (await run('gone', 'g')).data.runSchedule.execution.id;
    await app.ask('mutation { deleteSchedule(input: { name: "gone", expectedRevision: 1 }) { name } }');
    expect((await run('gone', 'g')).errors[0]).toMatchObject({
      message: expect.stringMatching(`^accepted as ${id}, whose schedule sd_\\d+ was deleted since$`),
      extensions: { code: 'CONFLICT', field: 'idempotencyKey' },
    });
    await app.plane.database.query('DELETE FROM execution WHERE id = $1', [id.slice(3)]);
    expect((await run('gone', 'g')).errors[0]?.message).toBe(`accepted as ${id}, since deleted`);
  });
});

describe('the audit of schedules', () => {
  const every = (name: string): [string, string][] => [
    [
      'update',
      `updateSchedule(input: { name: "${name}", expectedRevision: 1, priority: 2, routingInput: { c: "CANARY-u" } }) { warnings }`,
    ],
    ['pause', `pauseSchedule(input: { name: "${name}" }) { warnings }`],
    ['resume', `resumeSchedule(input: { name: "${name}" }) { warnings }`],
    ['run', `runSchedule(input: { name: "${name}" }) { execution { id } }`],
    ['delete', `deleteSchedule(input: { name: "${name}", expectedRevision: 4 }) { name }`],
  ];

  it('has every change, who made it and in which request, and of routing input nothing', async () => {
    await create('told', { routingInput: { c: 'CANARY-c' }, input: 'CANARY-i' });
    for (const [, text] of every('told')) await app.ask(`mutation { ${text} }`);
    const rows = await audited('told');
    expect(rows.map(({ actor, action }) => `${actor} ${action}`)).toEqual(
      ['create', ...every('').map(([verb]) => verb)].map((verb) => `admin schedule.${verb}`),
    );
    for (const { action, request } of rows) expect(request, action).toMatch(/./);
    expect(rows.find(({ action }) => action === 'schedule.run')?.data).toEqual({
      before: null,
      after: { execution: expect.stringMatching(/^ex_/) },
    });
    expect(JSON.stringify(rows)).not.toMatch(/CANARY|routing/i);
  });

  it('is written in the transaction of the change: without the entry there is no change', async () => {
    await create('frail');
    await app.plane.database.query(
      `CREATE FUNCTION refuse_entry() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no room'; END $$`,
    );
    await app.plane.database.query(
      `CREATE TRIGGER refuse_entry BEFORE INSERT ON audit FOR EACH ROW WHEN (NEW.target LIKE 'schedule:frail%') EXECUTE FUNCTION refuse_entry()`,
    );
    const state = async () =>
      (
        await app.plane.database.query(
          `SELECT to_json(s) AS schedule, (SELECT count(*)::int FROM execution x WHERE x.schedule_id = s.id) AS started,
             (SELECT count(*)::int FROM schedule_routing r WHERE r.schedule_id = s.id) AS routed,
             (SELECT count(*)::int FROM idempotency WHERE key = 'frail') AS keys
           FROM schedule s WHERE s.name LIKE 'frail%'`,
        )
      ).rows;
    const attempt = async (text: string): Promise<void> => {
      const before = await state();
      const { errors } = await app.post(`mutation { ${text} }`);
      expect(errors[0]?.extensions.code, text).toBe('INTERNAL');
      expect(await state(), text).toEqual(before);
    };
    await attempt(
      'createSchedule(input: { name: "frail-2", cron: "0 0 1 1 *", workflow: "chat", idempotencyKey: "frail" }) { warnings }',
    );
    for (const [verb, text] of every('frail')) {
      if (verb === 'resume') await app.plane.database.query(`UPDATE schedule SET paused = true WHERE name = 'frail'`);
      await attempt(text.replace('expectedRevision: 4', 'expectedRevision: 1'));
    }
    await attempt('runSchedule(input: { name: "frail", idempotencyKey: "frail" }) { execution { id } }');
  });
});
