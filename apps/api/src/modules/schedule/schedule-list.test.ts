import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { name: "chat" }) { created } }');
  await app.ask('mutation { registerWorkflow(input: { name: "draw" }) { created } }');
});
afterAll(() => app.close());

const create = (name: string, workflow = 'chat') =>
  app.ask('mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { warnings } }', {
    input: { name, cron: '0 9 * * *', timeZone: 'America/New_York', workflow },
  });

describe('the list of schedules', () => {
  it('pages both ways by name, and filters', async () => {
    for (const name of ['Z', 'a', 'b.1', 'b_1']) await create(`list-${name}`, 'draw');
    const page = (args: string) =>
      app.ask(
        `{ schedules(${args}) { nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }`,
      );
    const filter = 'filter: { workflow: "default/draw", search: "LIST-" }';
    const names: string[] = [];
    for (let after = ''; ; ) {
      const { schedules } = await page(`${filter}, first: 3${after}`);
      expect(schedules.totalCount).toBe(4);
      names.push(...schedules.nodes.map(({ name }: { name: string }) => name));
      if (!schedules.pageInfo.hasNextPage) break;
      after = `, after: "${schedules.pageInfo.endCursor}"`;
    }
    // By code point, as everywhere (G5).
    expect(names).toEqual(['list-Z', 'list-a', 'list-b.1', 'list-b_1']);
    const back = (await page(`${filter}, last: 2`)).schedules;
    expect(back.nodes.map(({ name }: { name: string }) => name)).toEqual(names.slice(-2));
    expect(back.pageInfo).toMatchObject({ hasPreviousPage: true, hasNextPage: false });
    expect((await page('filter: { search: "b_1" }')).schedules.nodes).toEqual([{ name: 'list-b_1' }]);
    await app.ask('mutation { pauseSchedule(input: { name: "list-a" }) { warnings } }');
    expect((await page(`filter: { workflow: "default/draw", paused: true }`)).schedules.nodes).toEqual([
      { name: 'list-a' },
    ]);
    expect((await page('filter: { failing: true }')).schedules.nodes).toEqual([]);
  });
});

describe('next runs', () => {
  it('are told in UTC and as clocks of the zone show them, two equal ones apart (J1, J4)', async () => {
    const runs = async (input: string) =>
      (await app.ask(`{ previewSchedule(input: { ${input} }) { runs { at local timeZone } } }`)).previewSchedule.runs;
    const [first, second] = await runs('cron: "0 0 31 12 *", timeZone: "Asia/Kolkata", count: 2');
    expect(first).toMatchObject({ at: expect.stringMatching(/-12-30T18:30:00.000Z$/), timeZone: 'Asia/Kolkata' });
    expect(first.local).toMatch(/-12-31T00:00:00\+05:30$/);
    expect(Date.parse(second.at)).toBeGreaterThan(Date.parse(first.at));
    const [apia] = await runs('cron: "0 0 1 7 *", timeZone: "Pacific/Apia", count: 1');
    expect(apia.at).toMatch(/-06-30T11:00:00.000Z$/);
    expect(apia.local).toMatch(/-07-01T00:00:00\+13:00$/);
    const year = await runs('cron: "0 9 1 1,7 *", timeZone: "America/New_York", count: 2');
    expect(year.map(({ at }: { at: string }) => at.slice(5)).toSorted()).toEqual([
      '01-01T14:00:00.000Z',
      '07-01T13:00:00.000Z',
    ]);
    expect(await runs('intervalSeconds: 60, startAt: "2096-01-01T00:00:00Z", count: 2')).toEqual([
      { at: '2096-01-01T00:00:00.000Z', local: '2096-01-01T00:00:00+00:00', timeZone: 'UTC' },
      { at: '2096-01-01T00:01:00.000Z', local: '2096-01-01T00:01:00+00:00', timeZone: 'UTC' },
    ]);
  });

  it('are at most 100, of a whole answer too', async () => {
    await create('listed');
    const { schedule } = await app.ask('{ schedule(name: "listed") { nextAt nextRuns(count: 100) { at } } }');
    expect(schedule.nextRuns).toHaveLength(100);
    expect(schedule.nextRuns[0].at).toBe(schedule.nextAt);
    const more = await app.post('{ schedule(name: "listed") { nextRuns(count: 101) { at } } }');
    expect(more.errors[0]?.extensions).toMatchObject({ code: 'BAD_INPUT', field: 'count' });
    const bad = await app.post('{ previewSchedule(input: { cron: "x", timeZone: "y" }) { runs { at } } }');
    expect(bad.errors[0]?.extensions.issues.map(({ path, code }) => `${path} ${code}`)).toEqual([
      'timeZone TIME_ZONE_UNKNOWN',
      'cron CRON_SHAPE',
    ]);
    await app.plane.database.query(
      `INSERT INTO schedule (name, cron, workflow, created_by) SELECT 'bulk-' || n, '0 9 * * *', 'default/chat', 't' FROM generate_series(1, 60) n`,
    );
    const all = await app.post('{ schedules(first: 200) { nodes { nextRuns(count: 100) { at } } } }');
    expect(all.errors[0]?.extensions.code).toBe('BAD_INPUT');
  });
});
