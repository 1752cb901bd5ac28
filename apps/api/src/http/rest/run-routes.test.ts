import { connect } from 'node:net';
import { workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';
import { readEvents } from './testing/event-reader.ts';
import { restClient, type Send } from './testing/rest-client.ts';

/** A server with its own worker. `hold` runs until it is let go. */
let app: TestApp;
let send: Send;
const holding = new Map<string, (value: unknown) => void>();
const echo = workflow({ name: 'echo' }, (ctx) => ({ echoed: ctx.input }));
const hold = workflow({ name: 'hold' }, (ctx) => new Promise((resolve) => holding.set(ctx.executionId, resolve)));
const fail = workflow({ name: 'fail' }, () => {
  throw new RangeError('it cannot be done');
});

beforeAll(async () => {
  app = await startTestApp({ embeddedWorker: true }, { workflows: [echo, hold, fail], pingMs: 100 });
  send = restClient(app);
  await until(() => app.plane.fleet.get('api-test')?.eligible, 'the worker');
  await register('default', 'parked', { affinity: 'require(label("zone") == "nowhere")' });
});
afterAll(async () => {
  for (const release of holding.values()) release(null);
  await app.close();
});

const register = (namespace: string, name: string, more: Record<string, unknown> = {}) =>
  app.ask('mutation ($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { version { number } } }', {
    input: { namespace, name, ...more },
  });

const deploy = (slug: string, variants: object[]) =>
  app.ask('mutation ($input: CreateDeploymentInput!) { createDeployment(input: $input) { warnings } }', {
    input: { slug, variants },
  });

const read = (id: string) => send('GET', `/executions/${id}`).then(({ body }) => body);

describe('async', () => {
  it('stores the execution and says where it is', async () => {
    const { status, body, headers } = await send('POST', '/workflows/default/echo/run/async', {
      body: '{"a":[1,"ü"]}',
    });
    expect(status).toBe(202);
    expect(body).toMatchObject({ workflowRef: 'default/echo', version: 1, input: { a: [1, 'ü'] }, priority: 0 });
    expect(headers['location']).toBe(`/executions/${body.id}`);
    const ended = await until(
      async () => ((await read(body.id)).state === 'COMPLETED' ? read(body.id) : null),
      'its end',
    );
    expect(ended).toMatchObject({
      id: body.id,
      output: { echoed: { a: [1, 'ü'] } },
      workerName: 'api-test',
      attempt: 1,
    });
    const same = await app.ask(
      'query ($id: ID!) { execution(id: $id) { output why submittedBy finishedAt generation } }',
      {
        id: body.id,
      },
    );
    expect(ended).toMatchObject(same.execution);
  });

  it('reads the body as JSON whatever its Content-Type, and an empty one as null', async () => {
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', 'application/json', 'nonsense']) {
      const { status, body } = await send('POST', '/workflows/default/echo/run/async', {
        headers: { 'content-type': type },
        body: '"text"',
      });
      expect([status, body.input]).toEqual([202, 'text']);
    }
    for (const empty of ['', ' \r\n\t', 'null']) {
      const { status, body } = await send('POST', '/workflows/default/echo/run/async', { body: empty });
      expect([status, body.input]).toEqual([202, null]);
    }
  });

  it('takes priority and park_ttl, and binding and hint by header', async () => {
    const { body } = await send('POST', '/workflows/default/parked/run/async?park_ttl=600&priority=-7', {
      headers: { 'X-Flux-Preferred-Worker': ' api-test ' },
    });
    const parked = await until(async () => ((await read(body.id)).parked ? read(body.id) : null), 'parking');
    expect(parked).toMatchObject({ priority: -7, preferredWorker: 'api-test', requiredWorker: null, state: 'PENDING' });
    expect(Date.parse(parked.parkDeadline) - Date.parse(parked.parkedSince)).toBeGreaterThan(500_000);
    const bound = await send('POST', '/workflows/default/echo/run/async', {
      headers: { 'x-flux-require-worker': 'api-test', 'x-flux-preferred-worker': 'other' },
    });
    expect(bound.body).toMatchObject({ requiredWorker: 'api-test', preferredWorker: null });
  });

  it('runs the version whose number is given', async () => {
    await register('team.a', 'flow');
    await register('team.a', 'flow', { maxAttempts: 7 });
    const first = await send('POST', '/workflows/team.a/flow/run/async?version=1');
    const latest = await send('POST', '/workflows/team.a/flow/run/async');
    expect([first.body.version, latest.body.version, latest.body.maxAttempts]).toEqual([1, 2, 7]);
    const none = await send('POST', '/workflows/team.a/flow/run/async?version=3');
    expect([none.status, none.body.error.field]).toEqual([404, 'version']);
    for (const version of ['0', 'x', '1.0', '99999999999']) {
      const { status, body } = await send('POST', `/workflows/team.a/flow/run/async?version=${version}`);
      expect([status, body.error.code, body.error.field]).toEqual([400, 'BAD_INPUT', 'version']);
    }
  });

  it('gives the first execution again for the same key, over GraphQL too', async () => {
    const headers = { 'Idempotency-Key': 'key-1' };
    const first = await send('POST', '/workflows/default/echo/run/async', { headers, body: '{"n":1}' });
    const again = await send('POST', '/workflows/default/echo/run/async', { headers, body: ' { "n" : 1 }' });
    expect(again.body.id).toBe(first.body.id);
    const other = await send('POST', '/workflows/default/echo/run/async', { headers, body: '{"n":2}' });
    expect([other.status, other.body.error.code, other.body.error.field]).toEqual([409, 'CONFLICT', 'Idempotency-Key']);
    const routed = await send('POST', '/workflows/default/echo/run/async', {
      headers: { ...headers, 'X-Flux-Routing-Input': '{"a":1}' },
      body: '{"n":1}',
    });
    expect(routed.status).toBe(409);
    const byGraphQL = await app.ask(
      'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
      {
        input: { workflow: 'default/echo', input: { n: 1 }, idempotencyKey: 'key-1' },
      },
    );
    expect(byGraphQL.runWorkflow.execution.id).toBe(first.body.id);
  });
});

describe('what is wrong with a run is said in the words of the request', () => {
  const run = '/workflows/default/echo/run/async';
  it.each<[string, string, Parameters<Send>[2], number, string, string | undefined]>([
    ['an unknown workflow', '/workflows/default/none/run/async', {}, 404, 'NOT_FOUND', 'name'],
    ['a name of an impossible shape', '/workflows/default/%20/run/sync', {}, 404, 'NOT_FOUND', 'name'],
    ['an unknown deployment', '/deployments/none/run/async', {}, 404, 'NOT_FOUND', 'slug'],
    ['broken JSON', run, { body: '{"a":' }, 400, 'BAD_INPUT', undefined],
    ['no UTF-8', run, { body: Buffer.from([0x22, 0xff, 0x22]) }, 400, 'BAD_INPUT', undefined],
    ['a number beyond a double', run, { body: '1e999' }, 400, 'BAD_INPUT', undefined],
    ['half of a surrogate pair', run, { body: '"\\ud800"' }, 400, 'BAD_INPUT', undefined],
    ['too many levels', run, { body: `${'['.repeat(65)}${']'.repeat(65)}` }, 400, 'BAD_INPUT', undefined],
    ['a park_ttl below 0', `${run}?park_ttl=-1`, {}, 400, 'BAD_INPUT', 'park_ttl'],
    ['a park_ttl that is no number', `${run}?park_ttl=1h`, {}, 400, 'BAD_INPUT', 'park_ttl'],
    ['a priority beyond its bounds', `${run}?priority=1001`, {}, 400, 'BAD_INPUT', 'priority'],
    ['a parameter twice', `${run}?priority=1&priority=2`, {}, 400, 'BAD_INPUT', 'priority'],
    ['an unknown parameter', `${run}?park-ttl=5`, {}, 400, 'BAD_INPUT', undefined],
    ['a version for a deployment', '/deployments/none/run/async?version=1', {}, 400, 'BAD_INPUT', undefined],
    [
      'a binding to nobody',
      run,
      { headers: { 'X-Flux-Require-Worker': 'w-none' } },
      400,
      'UNKNOWN_WORKER',
      'X-Flux-Require-Worker',
    ],
    [
      'a binding of an impossible shape',
      run,
      { headers: { 'X-Flux-Require-Worker': 'a b' } },
      400,
      'BAD_INPUT',
      'X-Flux-Require-Worker',
    ],
    ['an empty binding', run, { headers: { 'X-Flux-Require-Worker': '' } }, 400, 'BAD_INPUT', 'X-Flux-Require-Worker'],
    [
      'a binding twice',
      run,
      { headers: { 'X-Flux-Require-Worker': ['api-test', 'api-test'] } },
      400,
      'BAD_INPUT',
      'X-Flux-Require-Worker',
    ],
    ['a key with spaces', run, { headers: { 'Idempotency-Key': 'a b' } }, 400, 'BAD_INPUT', 'Idempotency-Key'],
    ['a key twice', run, { headers: { 'Idempotency-Key': ['a', 'a'] } }, 400, 'BAD_INPUT', 'Idempotency-Key'],
    ['a broken escape in the address', '/workflows/default/%E0%A4/run/async', {}, 400, 'BAD_INPUT', undefined],
  ])('%s', async (_what, path, options, status, code, field) => {
    const answer = await send('POST', path, options);
    expect([answer.status, answer.body.error.code, answer.body.error.field]).toEqual([status, code, field]);
    expect(answer.body.error.requestId).toBe(answer.headers['x-request-id']);
  });

  it('names every problem at once', async () => {
    const { body } = await send('POST', `${run}?park_ttl=-1&priority=9999&version=0`);
    expect(body.error.issues.map((issue: { path: string }) => issue.path)).toEqual(['version', 'park_ttl', 'priority']);
  });

  it('drops a hint with which anything is wrong', async () => {
    for (const hint of ['x'.repeat(257), '', 'a b', ['api-test', 'api-test']]) {
      const { status, body } = await send('POST', run, { headers: { 'X-Flux-Preferred-Worker': hint } });
      expect([status, body.preferredWorker]).toEqual([202, null]);
    }
  });

  it('takes a body of 1 MiB and refuses one above, said or found', async () => {
    const body = `"${'x'.repeat(1_048_574)}"`;
    expect((await send('POST', run, { body })).status).toBe(202);
    const said = await send('POST', run, { body: `${body} ` });
    expect([said.status, said.body.error.code, said.headers['connection']]).toEqual([413, 'TOO_LARGE', 'close']);
    const found = await send('POST', run, { body: `${body} `, headers: { 'transfer-encoding': 'chunked' } });
    expect(found.status).toBe(413);
  });
});

describe('sync', () => {
  it('answers with the result, failures too', async () => {
    const good = await send('POST', '/workflows/default/echo/run/sync', { body: '5' });
    expect([good.status, good.body.state, good.body.output]).toEqual([200, 'COMPLETED', { echoed: 5 }]);
    const bad = await send('POST', '/workflows/default/fail/run/sync');
    expect([bad.status, bad.body.state]).toEqual([200, 'FAILED']);
    expect(bad.body.error).toMatchObject({ type: 'RangeError', message: 'it cannot be done' });
  });

  it('waits on while it is parked, and answers 202 after the time that the caller prefers', async () => {
    const { status, headers, body } = await send('POST', '/workflows/default/parked/run/sync', {
      headers: { Prefer: 'respond-async, wait=1' },
    });
    expect([status, headers['preference-applied'], headers['location']]).toEqual([
      202,
      'wait=1',
      `/executions/${body.id}`,
    ]);
    expect(body).toMatchObject({ state: 'PENDING', output: null });
    const parked = await until(async () => {
      const { body: now } = await send('GET', `/executions/${body.id}`);
      return now.parked && now;
    }, 'it parks');
    expect(parked.parkedReason).toBeTruthy();
  });

  it('does not wait for a caller that has gone', async () => {
    const { hostname, port } = new URL(app.url);
    const socket = connect(Number(port), hostname);
    const before = holding.size;
    socket.write(
      `POST /workflows/default/hold/run/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.adminToken}\r\nContent-Length: 0\r\n\r\n`,
    );
    await until(() => holding.size > before && app.plane.executions.awaited === 1, 'the caller that waits');
    socket.destroy();
    await until(() => app.plane.executions.awaited === 0, 'nobody that waits');
    expect(app.lines.filter((line) => line.includes('unexpectedly'))).toEqual([]);
  });
});

describe('stream', () => {
  it('sends every event from the first to the terminal one, which brings the execution', async () => {
    const stream = await readEvents(app, 'POST', '/workflows/default/echo/run/stream', { body: '"x"' });
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await stream.ended).toBe(true);
    const types = stream.events.map(({ type }) => type);
    expect([types[0], types.at(-1)]).toEqual(['CREATED', 'COMPLETED']);
    const ids = stream.events.map(({ id }) => Number(id));
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(new Set(ids).size).toBe(ids.length);
    const last = stream.events.at(-1)?.data;
    expect(last?.execution).toMatchObject({ state: 'COMPLETED', output: { echoed: 'x' } });
    expect(stream.headers['location']).toBe(`/executions/${last?.executionId}`);
  });

  it('keeps a quiet stream alive with comments', async () => {
    const stream = await readEvents(app, 'POST', '/workflows/default/parked/run/stream');
    await until(() => stream.text().split('\n:\n').length > 3, 'comments');
    expect(stream.events.map(({ type }) => type)).toEqual(['CREATED']);
    stream.leave();
  });
});

describe('deployments', () => {
  it('run the variant of the session, the same one as GraphQL picks, whatever letters the key has', async () => {
    await deploy('split', [
      { label: 'a', flowId: 'default/echo', weight: 1 },
      { label: 'b', flowId: 'default/fail', weight: 1 },
    ]);
    const labels = new Set<string>();
    for (const sessionKey of ['s-1', 's-2', 's-3', 's-4', 'Käufer-5', '客-6', 's-7', 's-8']) {
      const picked = await app.ask(
        'query ($key: String) { resolveDeployment(slug: "split", sessionKey: $key) { variant { label } } }',
        {
          key: sessionKey,
        },
      );
      const { status, body } = await send('POST', '/deployments/split/run/sync', {
        headers: { 'X-Session-Key': sessionKey },
      });
      expect([status, body.variantLabel, body.sessionKey]).toEqual([
        200,
        picked.resolveDeployment.variant.label,
        sessionKey,
      ]);
      expect(body.deployment).toBe('split');
      labels.add(body.variantLabel);
    }
    expect([...labels].toSorted()).toEqual(['a', 'b']);
    const twice = await send('POST', '/deployments/split/run/async', { headers: { 'X-Session-Key': ['a', 'b'] } });
    expect([twice.status, twice.body.error.field]).toEqual([400, 'X-Session-Key']);
  });

  it('answer 503 where no variant has a healthy role', async () => {
    await deploy('dead', [{ label: 'a', flowId: 'default/echo', weight: 1, targetRoles: ['gpu-nobody'] }]);
    for (const mode of ['async', 'sync', 'stream']) {
      const { status, body } = await send('POST', `/deployments/dead/run/${mode}`);
      expect([status, body.error.code]).toEqual([503, 'NO_HEALTHY_VARIANT']);
      expect(body.error.message).toContain('no variants with healthy target roles');
    }
  });
});

describe('a stop', () => {
  it('answers who waits with what is known, and leaves streams without their end', async () => {
    const own = await startTestApp();
    const sendOwn = restClient(own);
    await own.ask('mutation { registerWorkflow(input: { name: "quiet" }) { created } }');
    const waiting = sendOwn('POST', '/workflows/default/quiet/run/sync');
    const stream = await readEvents(own, 'POST', '/workflows/default/quiet/run/stream');
    await until(() => stream.events.length > 0 && own.plane.executions.awaited === 1, 'both');
    await own.stop();
    const { status, body } = await waiting;
    expect([status, body.state]).toEqual([202, 'PENDING']);
    await stream.ended;
    expect(stream.events.map(({ type }) => type)).toEqual(['CREATED']);
    await own.close();
  });
});
