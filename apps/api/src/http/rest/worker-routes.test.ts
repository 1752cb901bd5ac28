import { workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { healthy, operator, registration } from '../../testing/test-control-plane.ts';
import { restClient, type Send } from './testing/rest-client.ts';

/** A server with its own worker, three that only registered, and a service of another kind. */
let app: TestApp;
let send: Send;
const echo = workflow({ name: 'echo' }, (ctx) => ctx.input);
const picky = workflow({ name: 'picky', affinity: 'require(meta("approved") == "true")' }, (ctx) => ctx.input);

beforeAll(async () => {
  app = await startTestApp({ embeddedWorker: true }, { workflows: [echo, picky] });
  send = restClient(app);
  await until(() => app.plane.fleet.get('api-test')?.eligible, 'the worker');
  const { protocol } = app.plane.workforce;
  for (const name of ['w-1', 'w-2', 'W-3']) {
    await protocol.register(operator, registration(name, { role: 'gpu', labels: [{ key: 'zone', value: 'eu' }] }));
  }
  await protocol.heartbeat(operator, 'w-1', 'w-1-1', {
    ...healthy,
    checks: [{ name: 'disk', healthy: false, message: 'full' }],
    metrics: { queue_depth: 3, 'flux.running_executions': 0 },
  });
  app.plane.bus.publish('heartbeat', {
    instance_id: 'billing-1',
    hostname: 'b',
    role: 'billing',
    version: '9',
    started_at: '2026-01-01T00:00:00.000Z',
    healthy: true,
    checks: [{ name: 'db', healthy: true }],
  });
  await until(() => app.plane.fleet.get('billing-1'), 'the foreign process');
});
afterAll(() => app.close());

const names = (body: { workers: { name: string }[] }): string[] => body.workers.map(({ name }) => name);

describe('GET /workers', () => {
  it('lists the registry by name in code-point order, with labels, metadata and the latest metrics', async () => {
    const { status, body } = await send('GET', '/workers');
    expect(status).toBe(200);
    expect([names(body), body.next]).toEqual([['W-3', 'api-test', 'billing-1', 'w-1', 'w-2'], null]);
    const one = await send('GET', '/workers/w-1');
    expect(one.body).toMatchObject({
      name: 'w-1',
      role: 'gpu',
      status: 'UNHEALTHY',
      labels: { zone: 'eu' },
      metadata: {},
      metrics: { queue_depth: 3, 'flux.running_executions': 0 },
      metricsStale: false,
      capacity: 4,
      load: 0,
      utilization: 0,
      registered: true,
    });
    expect(body.workers.find(({ name }: { name: string }) => name === 'w-1')).toMatchObject({ id: one.body.id });
    const same = await app.ask('{ worker(name: "w-1") { id instanceId statusReasons eligible connected lastSeenAt } }');
    expect(one.body).toMatchObject(same.worker);
  });

  it('comes in pages, by role and by status', async () => {
    const first = await send('GET', '/workers?limit=2');
    expect([names(first.body), first.body.next]).toEqual([['W-3', 'api-test'], 'api-test']);
    const second = await send('GET', `/workers?limit=2&after=${first.body.next}`);
    expect([names(second.body), second.body.next]).toEqual([['billing-1', 'w-1'], 'w-1']);
    const third = await send('GET', '/workers?limit=2&after=w-1');
    expect([names(third.body), third.body.next]).toEqual([['w-2'], null]);
    expect(names((await send('GET', '/workers?role=gpu')).body)).toEqual(['W-3', 'w-1', 'w-2']);
    expect(names((await send('GET', '/workers?role=gpu&status=UNHEALTHY')).body)).toEqual(['w-1']);
    for (const wrong of ['limit=0', 'limit=1001', 'limit=x', 'status=fine']) {
      const { status, body } = await send('GET', `/workers?${wrong}`);
      expect([status, body.error.field]).toEqual([400, wrong.split('=')[0]]);
    }
  });

  it('answers 404 for a name that nobody has', async () => {
    const { status, body } = await send('GET', '/workers/nobody');
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('GET /admin/workers', () => {
  it('shows every process in the field names of its heartbeat, foreign ones as not registered', async () => {
    const { status, body } = await send('GET', '/admin/workers');
    expect(status).toBe(200);
    expect(names(body)).toEqual(['W-3', 'api-test', 'billing-1', 'w-1', 'w-2']);
    const [, own, foreign, ill] = body.workers;
    expect(foreign).toMatchObject({
      instance_id: 'billing-1',
      hostname: 'b',
      role: 'billing',
      version: '9',
      started_at: '2026-01-01T00:00:00.000Z',
      healthy: true,
      checks: [{ name: 'db', healthy: true }],
      status: 'HEALTHY',
      registered: false,
    });
    expect(own).toMatchObject({ name: 'api-test', role: 'api', healthy: true, status: 'HEALTHY', registered: true });
    expect(ill).toMatchObject({
      instance_id: 'w-1-1',
      healthy: false,
      checks: [{ name: 'disk', healthy: false, message: 'full' }],
      status: 'UNHEALTHY',
      metrics: { queue_depth: 3 },
    });
    for (const worker of body.workers) expect(Date.parse(worker.last_seen)).toBeGreaterThan(0);
    expect(names((await send('GET', '/admin/workers?role=billing')).body)).toEqual(['billing-1']);
  });
});

describe('metadata', () => {
  const at = '/admin/workers/w-2/metadata';

  it('is merged, replaced, read by key, and removed', async () => {
    const put = (body: unknown, path = at) => send('PUT', path, { body: JSON.stringify(body) });
    expect((await send('GET', at)).body).toEqual({ metadata: {} });
    expect((await put({ metadata: { rack: 'b3', level: 3, ok: true } })).body).toEqual({
      metadata: { level: 3, ok: 'true', rack: 'b3' },
    });
    expect((await put({ metadata: { level: 4 }, replace: false })).body.metadata).toEqual({
      level: 4,
      ok: 'true',
      rack: 'b3',
    });
    expect((await put('c1', `${at}/rack`)).body.metadata.rack).toBe('c1');
    expect((await put({ value: 5 }, `${at}/rack`)).body.metadata.rack).toBe(5);
    const entry = await send('GET', `${at}/rack`);
    expect(entry.body).toMatchObject({ key: 'rack', value: 5, updatedBy: 'admin' });
    expect((await put({ metadata: { only: 'this' }, replace: true })).body).toEqual({ metadata: { only: 'this' } });
    for (let round = 0; round < 2; round++) {
      expect([(await send('DELETE', `${at}/only`)).status, (await send('GET', at)).body]).toEqual([
        200,
        { metadata: {} },
      ]);
    }
    await put({ metadata: { a: '1', b: '2' } });
    expect((await send('DELETE', at)).body).toEqual({ metadata: {} });
    expect((await put({ metadata: {} })).status).toBe(200);
    expect((await send('GET', `${at}/rack`)).status).toBe(404);
    expect((await send('DELETE', `${at}/odd%20key!`)).status).toBe(200);
  });

  it.each<[string, unknown, string | undefined]>([
    ['no metadata', {}, 'metadata'],
    ['a list', { metadata: [] }, 'metadata'],
    ['replace as text', { metadata: {}, replace: 'yes' }, 'replace'],
    ['a member that is misspelled', { metadata: {}, replce: true }, undefined],
    ['a value that is an object', { metadata: { a: {} } }, 'metadata.a'],
    ['an impossible key', { metadata: { 'a b': '1' } }, 'metadata.a b'],
    ['nothing at all', null, undefined],
  ])('is refused: %s', async (_what, body, field) => {
    const answer = await send('PUT', at, { body: JSON.stringify(body) });
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([400, 'BAD_INPUT', field]);
    expect((await send('GET', at)).body).toEqual({ metadata: {} });
  });

  it('is of registered workers only', async () => {
    for (const name of ['nobody', 'billing-1']) {
      const path = `/admin/workers/${name}/metadata`;
      const body = '{"metadata":{"a":"b"}}';
      expect((await send('GET', path)).status).toBe(404);
      expect((await send('PUT', path, { body })).status).toBe(404);
      expect((await send('DELETE', path)).status).toBe(404);
      expect((await send('PUT', `${path}/a`, { body: '"b"' })).status).toBe(404);
    }
  });

  it('lets what waited for it run at once', async () => {
    const { body } = await send('POST', '/workflows/default/picky/run/async', { body: '1' });
    const state = async () => (await send('GET', `/executions/${body.id}`)).body;
    await until(async () => (await state()).parked, 'parking');
    await send('PUT', '/admin/workers/api-test/metadata/approved', { body: 'true' });
    await until(async () => (await state()).state === 'COMPLETED', 'its end');
    const { rows } = await app.plane.database.query<{ n: number }>('SELECT count(*)::int AS n FROM audit');
    expect(rows[0]?.n).toBeGreaterThan(0);
  });
});
