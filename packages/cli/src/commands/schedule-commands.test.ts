import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { executionOf } from '../testing/execution.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(answers: Parameters<typeof answeringServer>[0]) {
  const server = await answeringServer(answers);
  cleanups.push(() => server.close());
  return server;
}

const nightly = {
  id: 'sd_1',
  name: 'nightly',
  description: 'the report',
  kind: 'CRON',
  cron: '0 3 * * *',
  intervalSeconds: null,
  startAt: null,
  at: null,
  timeZone: 'Europe/Berlin',
  workflowRef: 'demo/report',
  version: { id: 'wv_3', number: 3 },
  deploymentSlug: null,
  sessionKey: null,
  priority: 0,
  parkTtlSeconds: null,
  overlap: 'SKIP',
  catchUpLimit: 1,
  paused: false,
  pausedBy: null,
  pausedAt: null,
  nextAt: '2027-01-02T02:00:00.000Z',
  queuedAt: null,
  lastAt: '2027-01-01T02:00:00.000Z',
  lastResult: 'STARTED',
  lastResultAt: '2027-01-01T02:00:00.100Z',
  lastError: null,
  lastExecution: { id: 'ex_1', state: 'COMPLETED' },
  startedCount: 7,
  skippedCount: 1,
  missedCount: 2,
  failedCount: 3,
  revision: 4,
  createdBy: 'admin',
  createdAt: '2026-12-01T00:00:00.000Z',
  updatedBy: 'admin',
  updatedAt: '2026-12-02T00:00:00.000Z',
};
const probe = {
  ...nightly,
  name: 'probe',
  kind: 'INTERVAL',
  cron: null,
  intervalSeconds: 900,
  timeZone: 'UTC',
  workflowRef: null,
  version: null,
  deploymentSlug: 'assistant',
  paused: true,
  nextAt: null,
  lastResult: 'FAILED',
  lastError: { code: 'NO_HEALTHY_VARIANT', message: 'no variants are healthy', at: '2027-01-01T02:00:00.100Z' },
};
const runs = [
  { at: '2027-01-02T02:00:00.000Z', local: '2027-01-02T03:00:00+01:00', timeZone: 'Europe/Berlin' },
  { at: '2027-01-03T02:00:00.000Z', local: '2027-01-03T03:00:00+01:00', timeZone: 'Europe/Berlin' },
];
const written = { warnings: ['Nothing can be started now: no variants are healthy'], schedule: nightly };

describe('reading', () => {
  test('list: plan, target, next and last run of each', async () => {
    const page = { totalCount: 2, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [nightly, probe] };
    const { url, received } = await serve({ ScheduleList: { data: { schedules: page } } });
    const { code, out } = await runCommand(['schedule', 'list', '--failing', '--search', 'x'], { url, columns: 200 });
    expect(code).toBe(0);
    expect(out).toMatch(
      /nightly +0 3 \* \* \* Europe\/Berlin +demo\/report version 3 +2027-01-02T02:00:00.000Z +COMPLETED/,
    );
    expect(out).toMatch(/probe +every 15 min +deployment assistant +paused +FAILED NO_HEALTHY_VARIANT/);
    expect(received[0]?.variables['filter']).toEqual({ search: 'x', paused: null, failing: true });
  });

  test('show: everything, with the reason of a failure and the next runs by the clock of the zone', async () => {
    const { url } = await serve({
      ScheduleShow: {
        data: {
          schedule: {
            ...nightly,
            ...{ lastError: probe.lastError, lastResult: 'FAILED' },
            input: { a: 1 },
            nextRuns: runs,
          },
        },
      },
    });
    const { code, out } = await runCommand(['schedule', 'show', 'nightly'], { url, columns: 200 });
    expect(code).toBe(0);
    expect(out).toContain('NO_HEALTHY_VARIANT: no variants are healthy');
    expect(out).toContain('7 started, 1 skipped, 2 missed, 3 failed');
    expect(out).toContain('{"a":1}');
    expect(out).toMatch(/2027-01-03T02:00:00.000Z +2027-01-03T03:00:00\+01:00 +Europe\/Berlin/);
  });

  test('next: says that it is paused, on stderr', async () => {
    const { url, received } = await serve({ ScheduleNext: { data: { schedule: { paused: true, nextRuns: runs } } } });
    const { code, out, err } = await runCommand(['schedule', 'next', 'nightly', '--count', '2'], { url });
    expect({ code, err }).toEqual({ code: 0, err: '! It is paused: none of these comes until it is resumed.' });
    expect(out.split('\n')).toHaveLength(3);
    expect(received[0]?.variables).toEqual({ name: 'nightly', count: 2 });
    const json = await runCommand(['schedule', 'next', 'nightly', '--json'], { url });
    expect(JSON.parse(json.out)).toEqual(runs);
    expect((await runCommand(['schedule', 'next', 'nightly', '--count', '101'], { url })).code).toBe(2);
  });

  test('what is not there is exit code 3', async () => {
    const { url } = await serve({
      ScheduleShow: { data: { schedule: null } },
      ScheduleNext: { data: { schedule: null } },
      ScheduleForUpdate: { data: { schedule: null } },
    });
    for (const command of ['show', 'next', 'delete', 'update']) {
      const { code, err } = await runCommand(['schedule', command, 'nobody'], { url });
      expect({ command, code, err }).toEqual({ command, code: 3, err: 'There is no schedule nobody.' });
    }
  });
});

describe('create', () => {
  test('sends all that was said, and nothing that was not', async () => {
    const { url, received } = await serve({ ScheduleCreate: { data: { createSchedule: written } } });
    const { code, out, err } = await runCommand(
      [
        ...['schedule', 'create', 'probe', '{"n": 1}', '--every', '15m', '--deployment', 'assistant', '--session', 's'],
        ...['-r', 'cohort=beta', '--overlap', 'queue-one', '--catch-up', '0', '--park-ttl', '60', '--priority', '-5'],
        ...['--paused', '--idempotency-key', 'k', '--start-at', '2027-01-01T00:00:00Z'],
      ],
      { url },
    );
    expect({ code, err }).toEqual({ code: 0, err: `! ${written.warnings[0]}` });
    expect(out).toBe('nightly is at revision 4. Its next run is at 2027-01-02T02:00:00.000Z.');
    expect(received[0]?.variables['input']).toEqual({
      name: 'probe',
      intervalSeconds: 900,
      startAt: '2027-01-01T00:00:00Z',
      deployment: 'assistant',
      sessionKey: 's',
      input: { n: 1 },
      routingInput: { cohort: 'beta' },
      priority: -5,
      parkTtlSeconds: 60,
      overlap: 'QUEUE_ONE',
      catchUpLimit: 0,
      paused: true,
      idempotencyKey: 'k',
    });
    await runCommand(
      ['schedule', 'create', 'n', '--cron', '0 3 * * *', '--time-zone', 'Asia/Kolkata', '--workflow', 'a/b'],
      {
        url,
      },
    );
    expect(received[1]?.variables['input']).toEqual({
      name: 'n',
      cron: '0 3 * * *',
      timeZone: 'Asia/Kolkata',
      workflow: 'a/b',
      paused: false,
    });
  });

  test.each([
    ['--every', '0'],
    ['--every', '5y'],
    ['--every', '366d'],
    ['--overlap', 'SKIP'],
    ['--catch-up', '101'],
    ['-r', 'novalue'],
  ])('%s %s is a usage error, before anything is sent', async (...flag) => {
    const { url, received } = await serve({});
    const { code, err } = await runCommand(['schedule', 'create', 'x', ...flag], { url });
    expect(code).toBe(2);
    expect(err).toContain(flag[0] === '-r' ? '--routing-input' : flag[0]);
    expect(received).toEqual([]);
  });

  test('prints every problem that the server found', async () => {
    const issues = [
      { path: 'cron', code: 'CRON_INVALID', message: 'the cron expression cannot be read' },
      { path: 'timeZone', code: 'TIME_ZONE_UNKNOWN', message: 'a time zone is a name' },
    ];
    const { url } = await serve({
      ScheduleCreate: { error: { code: 'BAD_INPUT', message: 'cron: … (and 1 more)', issues } },
    });
    const { code, err } = await runCommand(['schedule', 'create', 'x', '--cron', 'y'], { url });
    expect(code).toBe(2);
    expect(err).toContain('timeZone: a time zone is a name');
  });
});

describe('changing', () => {
  test('update takes the revision that is there, keeps what is not named and clears what is', async () => {
    const { url, received } = await serve({
      ScheduleForUpdate: { data: { schedule: { revision: 9 } } },
      ScheduleUpdate: { data: { updateSchedule: { ...written, warnings: [] } } },
    });
    const args = [
      'schedule',
      'update',
      'nightly',
      '--clear',
      'routing-input',
      '--clear',
      'park-ttl',
      '--name',
      'nightly-2',
    ];
    expect((await runCommand(args, { url })).code).toBe(0);
    expect(received[1]?.variables['input']).toEqual({
      name: 'nightly',
      expectedRevision: 9,
      newName: 'nightly-2',
      routingInput: {},
      parkTtlSeconds: null,
    });
    await runCommand(['schedule', 'update', 'nightly', 'null', '--expected-revision', '2'], { url });
    expect(received.at(-1)).toMatchObject({
      operation: 'ScheduleUpdate',
      variables: { input: { name: 'nightly', expectedRevision: 2, input: null } },
    });
    const both = await runCommand(['schedule', 'update', 'nightly', '--clear', 'session', '--session', 'x'], { url });
    expect([both.code, both.err]).toEqual([2, 'session cannot be given and cleared at once.']);
    expect((await runCommand(['schedule', 'update', 'nightly', '--clear', 'cron'], { url })).code).toBe(2);
  });

  test('pause, resume and delete say what is now', async () => {
    const paused = { warnings: [], schedule: { ...nightly, paused: true, nextAt: null, revision: 5 } };
    const { url, received } = await serve({
      SchedulePause: { data: { pauseSchedule: paused } },
      ScheduleResume: { data: { resumeSchedule: { warnings: [], schedule: { ...nightly, nextAt: null } } } },
      ScheduleDelete: { data: { deleteSchedule: { name: 'nightly' } } },
    });
    expect((await runCommand(['schedule', 'pause', 'nightly'], { url })).out).toBe(
      'nightly is at revision 5. It is paused.',
    );
    expect((await runCommand(['schedule', 'resume', 'nightly'], { url })).out).toContain('It has no further run.');
    const deleted = await runCommand(['schedule', 'delete', 'nightly', '--expected-revision', '4'], { url });
    expect(deleted.out).toContain('nightly is deleted.');
    expect(received.at(-1)?.variables['input']).toEqual({ name: 'nightly', expectedRevision: 4 });
  });

  test('run sends its key, so that saying it twice starts one', async () => {
    const { url, received } = await serve({ ScheduleRun: { data: { runSchedule: { execution: executionOf() } } } });
    expect((await runCommand(['schedule', 'run', 'nightly', '--idempotency-key', 'k-1'], { url })).code).toBe(0);
    expect(received[0]?.variables['input']).toEqual({ name: 'nightly', idempotencyKey: 'k-1' });
    await runCommand(['schedule', 'run', 'nightly'], { url });
    expect(received[1]?.variables['input']).toEqual({ name: 'nightly', idempotencyKey: null });
  });

  test('run is refused where nothing is healthy, with the exit code of that', async () => {
    const { url } = await serve({ ScheduleRun: { error: { code: 'NO_HEALTHY_VARIANT', message: 'no variants' } } });
    expect(await runCommand(['schedule', 'run', 'nightly'], { url })).toEqual({ code: 5, out: '', err: 'no variants' });
  });
});
