import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';

let app: TestApp;
const FIELDS =
  'id name description kind cron intervalSeconds startAt at timeZone workflowRef workflow { ref } version { id number } deploymentSlug deployment { slug } sessionKey input priority parkTtlSeconds overlap catchUpLimit paused pausedBy pausedAt nextAt queuedAt lastAt lastResult lastError { code } revision createdBy updatedBy';

beforeAll(async () => {
  app = await startTestApp();
  for (const name of ['chat', 'draw']) {
    await app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }', {
      input: { name },
    });
  }
  await app.ask(
    'mutation { createDeployment(input: { slug: "assistant", variants: [{ label: "a", flowId: "default/chat", weight: 1 }] }) { warnings } }',
  );
});
afterAll(() => app.close());

const create = (input: Record<string, unknown>) =>
  app.post(
    `mutation ($input: CreateScheduleInput!) { createSchedule(input: $input) { schedule { ${FIELDS} } warnings } }`,
    {
      input,
    },
  );
const update = (input: Record<string, unknown>) =>
  app.post(
    `mutation ($input: UpdateScheduleInput!) { updateSchedule(input: $input) { schedule { ${FIELDS} } warnings } }`,
    {
      input,
    },
  );
const read = async (name: string) =>
  (await app.ask(`query ($name: String!) { schedule(name: $name) { ${FIELDS} } }`, { name })).schedule;
const issuesOf = (answer: Awaited<ReturnType<typeof create>>) =>
  answer.errors[0]?.extensions.issues.map(({ path, code }) => `${path} ${code}`);

const daily = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  cron: '0 9 * * *',
  timeZone: 'America/New_York',
  workflow: 'chat',
  ...more,
});

describe('createSchedule', () => {
  it('plans a workflow by cron in a time zone', async () => {
    const { data } = await create(
      daily('nightly', { description: 'd', input: { a: null }, priority: 3, parkTtlSeconds: 0, overlap: 'QUEUE_ONE' }),
    );
    const { schedule, warnings } = data.createSchedule;
    expect(warnings).toEqual([]);
    expect(schedule).toMatchObject({
      id: expect.stringMatching(/^sd_\d+$/),
      name: 'nightly',
      description: 'd',
      kind: 'CRON',
      cron: '0 9 * * *',
      timeZone: 'America/New_York',
      workflowRef: 'default/chat',
      workflow: { ref: 'default/chat' },
      version: null,
      deploymentSlug: null,
      input: { a: null },
      priority: 3,
      parkTtlSeconds: 0,
      overlap: 'QUEUE_ONE',
      catchUpLimit: 1,
      paused: false,
      lastResult: null,
      lastError: null,
      revision: 1,
      createdBy: 'admin',
      updatedBy: 'admin',
    });
    expect(new Date(schedule.nextAt).getUTCHours()).toBeGreaterThanOrEqual(13);
    expect(
      (await app.ask('query ($id: ID!) { node(id: $id) { id ... on Schedule { name } } }', { id: schedule.id })).node,
    ).toEqual({
      id: schedule.id,
      name: 'nightly',
    });
  });

  it('plans a deployment by interval, and spreads first runs over it', async () => {
    const starts = new Set<number>();
    for (let i = 0; i < 12; i += 1) {
      const before = Date.now();
      const { data } = await create({
        name: `every-${i}`,
        intervalSeconds: 3_600,
        deployment: 'assistant',
        sessionKey: 'k',
      });
      const { nextAt, startAt, kind, deployment } = data.createSchedule.schedule;
      expect([kind, deployment, nextAt]).toEqual(['INTERVAL', { slug: 'assistant' }, startAt]);
      const wait = Date.parse(nextAt) - before;
      expect(wait).toBeGreaterThan(-1_000);
      expect(wait).toBeLessThan(3_660_000);
      starts.add(Date.parse(nextAt));
    }
    expect(starts.size).toBe(12);
    const { data } = await create({
      name: 'exact',
      intervalSeconds: 60,
      startAt: '2096-01-01T00:00:00Z',
      deployment: 'assistant',
    });
    expect(data.createSchedule.schedule.nextAt).toBe('2096-01-01T00:00:00.000Z');
  });

  it('plans a fixed version once', async () => {
    const { workflow } = await app.ask('{ workflow(ref: "default/draw") { latest { id } } }');
    const { data } = await create({
      name: 'once',
      at: '2096-05-01T10:00:00+02:00',
      workflow: 'default/draw',
      versionId: workflow.latest.id,
    });
    expect(data.createSchedule.schedule).toMatchObject({
      kind: 'ONCE',
      at: '2096-05-01T08:00:00.000Z',
      nextAt: '2096-05-01T08:00:00.000Z',
      version: { id: workflow.latest.id, number: 1 },
    });
  });

  it('refuses every problem at once, each with its path, and leaves nothing', async () => {
    const answer = await create({
      name: '-bad-',
      cron: '* * *',
      intervalSeconds: 0,
      timeZone: 'Mars/Olympus',
      workflow: 'chat',
      deployment: 'assistant',
      priority: 5_000,
      parkTtlSeconds: -1,
      catchUpLimit: 101,
      routingInput: { 'a.b': 1 },
    });
    expect(answer.errors[0]?.extensions.code).toBe('BAD_INPUT');
    expect(issuesOf(answer)?.toSorted()).toEqual(
      [
        'name NAME_SHAPE',
        'deployment TARGET',
        'cron TIMING_KIND',
        'timeZone TIME_ZONE_UNKNOWN',
        'cron CRON_SHAPE',
        'intervalSeconds NUMBER_RANGE',
        'priority NUMBER_RANGE',
        'parkTtlSeconds NUMBER_RANGE',
        'catchUpLimit NUMBER_RANGE',
        'routingInput KEY_DOTTED',
      ].toSorted(),
    );
    expect(await read('-bad-')).toBeNull();
  });

  it.each([
    [{ workflow: 'nobody' }, ['workflow UNKNOWN_WORKFLOW']],
    [{ workflow: 'a/b/c' }, ['workflow UNKNOWN_WORKFLOW']],
    [{ workflow: null, deployment: 'nobody' }, ['deployment UNKNOWN_DEPLOYMENT']],
    [{ workflow: null }, ['workflow TARGET']],
    [{ versionId: 'wv_999' }, ['versionId UNKNOWN_VERSION']],
    [{ versionId: 'what' }, ['versionId UNKNOWN_VERSION']],
    [{ sessionKey: 'k' }, ['sessionKey TARGET']],
    [{ cron: null }, ['cron TIMING_KIND']],
    [{ cron: '0 0 30 2 *' }, ['cron CRON_NEVER']],
    [{ cron: null, at: '2001-01-01T00:00:00Z' }, ['at TIME_PASSED']],
    [{ startAt: '2001-01-01T00:00:00Z' }, ['startAt TIMING_KIND']],
  ])('refuses %j', async (more, issues) => {
    expect(issuesOf(await create(daily('refused', more)))).toEqual(issues);
  });

  it('is a CONFLICT for a name in use', async () => {
    await create(daily('taken'));
    expect((await create(daily('taken'))).errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', field: 'name' });
  });

  it('gives the first result again for the same key and input, and CONFLICT for another input, routing input too', async () => {
    const input = daily('keyed', { idempotencyKey: 'sk-1', routingInput: { a: 1 } });
    const first = await create(input);
    expect((await create(input)).data.createSchedule.schedule.id).toBe(first.data.createSchedule.schedule.id);
    for (const other of [
      { ...input, cron: '1 9 * * *' },
      { ...input, routingInput: { a: 2 } },
    ]) {
      expect((await create(other)).errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', field: 'idempotencyKey' });
    }
    await app.ask('mutation { deleteSchedule(input: { name: "keyed", expectedRevision: 1 }) { name } }');
    expect((await create(input)).errors[0]?.message).toMatch(/accepted as sd_\d+, since deleted/);
  });
});

describe('updateSchedule', () => {
  it('keeps what is absent, replaces timing and target, empties with null', async () => {
    await create(daily('edited', { input: 1, description: 'x', parkTtlSeconds: 5 }));
    const before = await read('edited');
    const kept = (await update({ name: 'edited', expectedRevision: 1, priority: 1 })).data.updateSchedule.schedule;
    expect(kept).toEqual({ ...before, priority: 1, revision: 2 });
    const moved = await update({
      name: 'edited',
      expectedRevision: 2,
      intervalSeconds: 60,
      deployment: 'assistant',
      sessionKey: 's',
      description: null,
      parkTtlSeconds: null,
      input: null,
      newName: 'renamed',
    });
    expect(moved.data.updateSchedule.schedule).toMatchObject({
      name: 'renamed',
      kind: 'INTERVAL',
      cron: null,
      intervalSeconds: 60,
      timeZone: 'America/New_York',
      workflowRef: null,
      deploymentSlug: 'assistant',
      sessionKey: 's',
      description: null,
      parkTtlSeconds: null,
      input: null,
      revision: 3,
    });
    // The old name is gone at once (G17).
    expect(await read('edited')).toBeNull();
    expect((await update({ name: 'edited', expectedRevision: 3 })).errors[0]?.extensions).toMatchObject({
      code: 'NOT_FOUND',
      field: 'name',
    });
    expect(issuesOf(await update({ name: 'renamed', expectedRevision: 3, workflow: 'chat' }))).toEqual([
      'sessionKey TARGET',
    ]);
    expect(issuesOf(await update({ name: 'renamed', expectedRevision: 3, newName: '?', cron: null }))).toEqual([
      'cron NULL',
    ]);
    expect(issuesOf(await update({ name: 'renamed', expectedRevision: 3, newName: '?' }))).toEqual([
      'newName NAME_SHAPE',
    ]);
  });

  it('is a CONFLICT with what is there, for another revision and for a name in use', async () => {
    await create(daily('contested'));
    await update({ name: 'contested', expectedRevision: 1, priority: 1 });
    expect((await update({ name: 'contested', expectedRevision: 1 })).errors[0]?.extensions).toMatchObject({
      code: 'CONFLICT',
      field: 'expectedRevision',
      current: { revision: 2, updatedBy: 'admin', updatedAt: expect.stringMatching(/Z$/) },
    });
    const taken = await update({ name: 'contested', expectedRevision: 2, newName: 'nightly' });
    expect(taken.errors[0]?.extensions).toMatchObject({ code: 'CONFLICT', field: 'newName' });
    const late = await app.post(
      'mutation { deleteSchedule(input: { name: "contested", expectedRevision: 1 }) { name } }',
    );
    expect(late.errors[0]?.extensions.code).toBe('CONFLICT');
  });

  it('moves the next run with the timing, and only then', async () => {
    await create({ name: 'phase', intervalSeconds: 3_600, workflow: 'chat' });
    const { nextAt } = await read('phase');
    const change = async (revision: number, more: Record<string, unknown>) =>
      (await update({ name: 'phase', expectedRevision: revision, ...more })).data.updateSchedule.schedule.nextAt;
    expect(await change(1, { intervalSeconds: 3_600, priority: 1 })).toBe(nextAt);
    expect(await change(2, { startAt: '2096-01-01T00:00:00Z' })).toBe('2096-01-01T00:00:00.000Z');
    expect(await change(3, { cron: '0 0 1 1 *', timeZone: 'Asia/Kolkata' })).toMatch(/-12-31T18:30:00.000Z$/);
  });

  it('leaves a paused schedule paused, whatever is changed (F9)', async () => {
    await create(daily('asleep'));
    const pause = await app.ask(
      'mutation { pauseSchedule(input: { name: "asleep" }) { schedule { paused pausedBy pausedAt nextAt revision } } }',
    );
    expect(pause.pauseSchedule.schedule).toMatchObject({ paused: true, pausedBy: 'admin', nextAt: null, revision: 2 });
    await update({
      name: 'asleep',
      expectedRevision: 2,
      cron: '*/5 * * * *',
      priority: 9,
      overlap: 'ALLOW',
      catchUpLimit: 5,
    });
    await update({ name: 'asleep', expectedRevision: 3, intervalSeconds: 5, deployment: 'assistant' });
    expect(await read('asleep')).toMatchObject({ paused: true, nextAt: null, kind: 'INTERVAL', revision: 4 });
    const again = await app.ask('mutation { pauseSchedule(input: { name: "asleep" }) { schedule { revision } } }');
    expect(again.pauseSchedule.schedule.revision).toBe(4);
    const late = await app.post(
      'mutation { resumeSchedule(input: { name: "asleep", expectedRevision: 1 }) { warnings } }',
    );
    expect(late.errors[0]?.extensions.code).toBe('CONFLICT');
    const { resumeSchedule } = await app.ask(
      'mutation { resumeSchedule(input: { name: "asleep", expectedRevision: 4 }) { schedule { paused pausedBy nextAt } } }',
    );
    expect(resumeSchedule.schedule).toMatchObject({ paused: false, pausedBy: null });
    expect(Date.parse(resumeSchedule.schedule.nextAt)).toBeLessThan(Date.now() + 6_000);
  });

  it('notes every change in the audit, without inputs', async () => {
    await create(daily('noted', { input: 'CANARY-in', routingInput: { k: 'CANARY-r' } }));
    await update({ name: 'noted', expectedRevision: 1, routingInput: { other: 'CANARY-r' }, priority: 2 });
    for (const verb of ['pause', 'resume']) {
      await app.ask(`mutation { ${verb}Schedule(input: { name: "noted" }) { warnings } }`);
    }
    await app.ask('mutation { deleteSchedule(input: { name: "noted", expectedRevision: 4 }) { name } }');
    const { rows } = await app.plane.database.query<{ action: string; actor: string; data: unknown }>(
      'SELECT action, actor, data FROM audit WHERE target = $1 ORDER BY id',
      ['schedule:noted'],
    );
    expect(rows.map(({ action, actor }) => `${actor} ${action}`)).toEqual(
      ['create', 'update', 'pause', 'resume', 'delete'].map((verb) => `admin schedule.${verb}`),
    );
    expect(rows[1]?.data).toEqual({ before: { priority: 0, revision: 1 }, after: { priority: 2, revision: 2 } });
    expect(JSON.stringify(rows)).not.toContain('CANARY');
  });
});

describe('routing input of a schedule', () => {
  const stored = async (name: string) =>
    (
      await app.plane.database.query<{ value: unknown }>(
        'SELECT r.value FROM schedule_routing r JOIN schedule s ON s.id = r.schedule_id WHERE s.name = $1',
        [name],
      )
    ).rows[0]?.value;

  it('is kept where absent or null, replaced by an object, cleared by {}', async () => {
    await create(daily('routed', { routingInput: { cohort: 'beta' } }));
    await update({ name: 'routed', expectedRevision: 1, priority: 1 });
    await update({ name: 'routed', expectedRevision: 2, routingInput: null });
    expect(await stored('routed')).toEqual({ cohort: 'beta' });
    await update({ name: 'routed', expectedRevision: 3, routingInput: { n: 1 } });
    expect(await stored('routed')).toEqual({ n: 1 });
    await update({ name: 'routed', expectedRevision: 4, routingInput: {} });
    expect(await stored('routed')).toBeUndefined();
  });

  it('is refused by rule alone, and nothing of it is shown', async () => {
    for (const routingInput of [
      { 'CANARY.key': 1 },
      { a: ['CANARY'] },
      ['CANARY'],
      'CANARY',
      { a: 'CANARY'.repeat(900) },
    ]) {
      const { text, errors } = await create(daily('canary', { routingInput }));
      expect(errors[0]?.extensions.code).toBe('ROUTING_INPUT_INVALID');
      expect(errors[0]?.extensions.issues[0]?.path).toBe('routingInput');
      expect(text).not.toContain('CANARY');
    }
    // Calls that do not fit the schema are told without their values too.
    for (const more of [{ extra: 'CANARY' }, { priority: 'CANARY' }, { overlap: 'CANARY' }, { workflow: ['CANARY'] }]) {
      const { text, status } = await create(daily('canary', { routingInput: { key: 'CANARY' }, ...more }));
      expect(status).toBe(400);
      expect(text).not.toContain('CANARY');
    }
    const { text } = await create(daily('canary', { routingInput: { key: 'CANARY-value' } }));
    expect(text).toContain('"canary"');
    const list = await app.post(`{ schedules(first: 200) { nodes { ${FIELDS} } } }`);
    const changed = await update({
      name: 'canary',
      expectedRevision: 1,
      routingInput: { key: 'CANARY-other' },
      priority: 7777,
    });
    expect(changed.errors[0]?.extensions.issues.map(({ path }) => path)).toEqual(['priority']);
    expect(text + list.text + changed.text + app.lines.join('')).not.toContain('CANARY');
    expect(app.lines.join('')).toContain('"routingKeys":["key"]');
    // Its table has it, and no other.
    const tables = await app.plane.database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
    );
    const holding: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await app.plane.database.query(
        `SELECT FROM "${name}" t WHERE to_json(t)::text LIKE '%CANARY-value%'`,
      );
      if (rows.length > 0) holding.push(name);
    }
    expect(holding).toEqual(['schedule_routing']);
  });
});
