import { workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { readEvents } from './testing/event-reader.ts';
import { restClient, type Send } from './testing/rest-client.ts';

let app: TestApp;
let send: Send;
const holding = new Map<string, (value: unknown) => void>();
const echo = workflow({ name: 'echo' }, (ctx) => ctx.input);
const hold = workflow(
  { name: 'hold' },
  (ctx) =>
    new Promise((resolve, reject) => {
      holding.set(ctx.executionId, resolve);
      ctx.signal.addEventListener('abort', () => reject(new Error('cancelled')));
    }),
);
const approve = workflow({ name: 'approve' }, async (ctx) => ({ answer: await ctx.pause('approval') }));
/** Who listens for changes of executions. */
let listeners = 0;

beforeAll(async () => {
  app = await startTestApp({ embeddedWorker: true }, { workflows: [echo, hold, approve] });
  send = restClient(app);
  await until(() => app.plane.fleet.get('api-test')?.eligible, 'the worker');
  await app.ask(
    'mutation { registerWorkflow(input: { name: "parked", affinity: "require(label(\\"zone\\") == \\"nowhere\\")" }) { created } }',
  );
  const { bus } = app.plane;
  const subscribe = bus.subscribe.bind(bus);
  vi.spyOn(bus, 'subscribe').mockImplementation((topic, handler) => {
    const stop = subscribe(topic, handler);
    listeners += 1;
    return () => {
      listeners -= 1;
      stop();
    };
  });
});
afterAll(async () => {
  for (const release of holding.values()) release(null);
  await app.close();
});

const start = async (name: string, input: unknown = null): Promise<string> =>
  (await send('POST', `/workflows/default/${name}/run/async`, { body: JSON.stringify(input) })).body.id;
const state = async (id: string): Promise<string> => (await send('GET', `/executions/${id}`)).body.state;
const running = (id: string) => until(async () => holding.has(id) && (await state(id)) === 'RUNNING', 'the handler');
const NOBODY = `ex_${'0'.repeat(32)}`;

describe('reading', () => {
  it('answers 404 for what is not there, whatever it looks like', async () => {
    for (const id of [NOBODY, 'ex_1', 'new', 'wk_1', '%20']) {
      for (const [method, path] of [
        ['GET', `/executions/${id}`],
        ['GET', `/executions/${id}/events`],
        ['POST', `/executions/${id}/cancel`],
        ['POST', `/executions/${id}/resume`],
      ] as const) {
        const { status, body } = await send(method, path);
        expect([status, body.error.code, body.error.field]).toEqual([404, 'NOT_FOUND', 'id']);
      }
    }
  });
});

describe('events', () => {
  it('of an execution that runs come as they happen, and end with the terminal one', async () => {
    const id = await start('hold');
    const stream = await readEvents(app, 'GET', `/executions/${id}/events`);
    await running(id);
    await until(() => stream.events.some(({ type }) => type === 'STARTED'), 'the start');
    expect(stream.events.map(({ data }) => data.execution)).toEqual(stream.events.map(() => undefined));
    holding.get(id)?.({ fine: true });
    expect(await stream.ended).toBe(true);
    expect(stream.events.at(-1)).toMatchObject({
      type: 'COMPLETED',
      data: { execution: { id, output: { fine: true } } },
    });
    expect(stream.events.map(({ data }) => [data.executionId, data.sequence])).toEqual(
      stream.events.map((event) => [id, Number(event.id)]),
    );
  });

  it('go on after Last-Event-ID without a gap or a repetition, and say when there is nothing left', async () => {
    const id = await start('echo', 1);
    const whole = await readEvents(app, 'GET', `/executions/${id}/events`);
    await whole.ended;
    expect(whole.events.length).toBeGreaterThan(3);
    for (const [index, event] of whole.events.slice(0, -1).entries()) {
      const rest = await readEvents(app, 'GET', `/executions/${id}/events`, { headers: { 'Last-Event-ID': event.id } });
      await rest.ended;
      expect(rest.events).toEqual(whole.events.slice(index + 1));
    }
    const last = whole.events.at(-1)?.id ?? '';
    const done = await send('GET', `/executions/${id}/events`, { headers: { 'Last-Event-ID': last } });
    expect([done.status, done.text]).toEqual([204, '']);
    for (const wrong of ['x', '-1', '1.5', '99999999999']) {
      const { status, body } = await send('GET', `/executions/${id}/events`, { headers: { 'Last-Event-ID': wrong } });
      expect([status, body.error.field]).toEqual([400, 'Last-Event-ID']);
    }
  });

  it('leave nothing behind when readers go', async () => {
    const id = await start('hold');
    await running(id);
    const before = listeners;
    const streams = await Promise.all(
      Array.from({ length: 20 }, () => readEvents(app, 'GET', `/executions/${id}/events`)),
    );
    await until(() => listeners === before + 20, 'the readers');
    for (const stream of streams) stream.leave();
    await until(() => listeners === before, 'nobody');
    expect(app.lines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
    holding.get(id)?.(null);
  });
});

describe('cancel', () => {
  it('ends at once what nobody works on, and twice is fine', async () => {
    const id = await start('parked');
    for (let round = 0; round < 2; round++) {
      const { status, body } = await send('POST', `/executions/${id}/cancel`);
      expect([status, body.id, body.state]).toEqual([200, id, 'CANCELLED']);
    }
  });

  it('tells the worker of what runs', async () => {
    const id = await start('hold');
    await running(id);
    const { status, body } = await send('POST', `/executions/${id}/cancel`, { body: 'whatever' });
    expect([status, ['CANCELLING', 'CANCELLED'].includes(body.state)]).toEqual([200, true]);
    await until(async () => (await state(id)) === 'CANCELLED', 'its end');
  });

  it('is a conflict where it has ended by itself', async () => {
    const id = await start('echo');
    await until(async () => (await state(id)) === 'COMPLETED', 'its end');
    const { status, body } = await send('POST', `/executions/${id}/cancel`);
    expect([status, body.error.code]).toEqual([409, 'CONFLICT']);
  });
});

describe('resume', () => {
  it('is a conflict where it is not paused, and refuses routing input, which it would drop', async () => {
    const id = await start('parked');
    const early = await send('POST', `/executions/${id}/resume`, { body: '{"approved":true}' });
    expect([early.status, early.body.error.code]).toEqual([409, 'CONFLICT']);
    const routed = await send('POST', `/executions/${id}/resume`, { headers: { 'X-Flux-Routing-Input': '{"a":"b"}' } });
    expect([routed.status, routed.body.error.code]).toEqual([400, 'ROUTING_INPUT_INVALID']);
    const broken = await send('POST', `/executions/${id}/resume`, { body: '{' });
    expect([broken.status, broken.body.error.code]).toEqual([400, 'BAD_INPUT']);
    await send('POST', `/executions/${id}/cancel`);
  });

  it('wakes what waits for it, with the input', async () => {
    const id = await start('approve');
    await until(async () => (await state(id)) === 'PAUSED', 'the pause');
    const paused = await send('GET', `/executions/${id}`);
    expect(paused.body.waitingFor).toEqual({ kind: 'RESUME', name: 'approval', until: null, child: null });
    const { status, body } = await send('POST', `/executions/${id}/resume`, { body: '{"approved":true}' });
    expect([status, body.id, body.waitingFor]).toEqual([200, id, null]);
    const ended = await until(
      async () => (await state(id)) === 'COMPLETED' && send('GET', `/executions/${id}`),
      'its end',
    );
    expect(ended.body.output).toEqual({ answer: { approved: true } });
    expect((await send('POST', `/executions/${id}/resume`)).status).toBe(409);
  });
});
