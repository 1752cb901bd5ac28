import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Caller, send } from './support/calls.ts';
import { administrator, logIn, newPrincipal } from './support/people.ts';
import {
  HEARTBEAT,
  INBOX,
  LEAVE,
  REGISTER,
  REPORT,
  STEPS,
  join,
  joined,
  joinToken,
  me,
  onDuty,
  registerJob,
  registration,
  runOn,
  socketOf,
  type WorkerOnDuty,
} from './support/workers.ts';

/** Attacks of a worker, and with a join token or a worker's credential. */
let server: Server;
let admin: Caller;
/** The one that is attacked, and the one that attacks. */
let victim: WorkerOnDuty;
let thief: WorkerOnDuty;
/** What the victim has claimed and runs. */
let running: { id: string; generation: number };

beforeAll(async () => {
  // By hand nobody is as fast as a worker.
  server = await Server.start({
    env: { MUSTER_CLAIM_SECONDS: '600', MUSTER_STALE_SECONDS: '3600', MUSTER_OFFLINE_SECONDS: '7200' },
  });
  admin = administrator(server);
  await registerJob(server);
  victim = await onDuty(server, 'victim');
  thief = await onDuty(server, 'thief');
  const id = await runOn(admin, 'victim');
  running = { id, generation: (await victim.claim(id)).generation };
});
afterAll(async () => {
  victim.hangUp();
  thief.hangUp();
  await server.dispose();
});

const stateOf = async (id: string): Promise<string> =>
  (await admin.ask('query ($id: ID!) { execution(id: $id) { state } }', { id })).execution.state;
const UNKNOWN = `msj_${'A'.repeat(43)}`;

describe('a join token', () => {
  test('lets nobody in twice', async () => {
    const { secret } = await joinToken(server, { worker: 'join-twice', role: 'worker' });
    expect((await join(server, secret)).code).toBeNull();
    const second = await join(server, secret);
    expect(second.code).toBe('UNAUTHENTICATED');
    expect(second.text).not.toContain('msw_');
  });

  test('lets in one of twenty that race for it', async () => {
    const { secret } = await joinToken(server, { role: 'worker' });
    const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => join(server, secret, `racer-${n}`)));
    expect(answers.filter(({ code }) => code === null)).toHaveLength(1);
    const { workerCredentials } = await admin.ask('{ workerCredentials(first: 200) { nodes { worker } } }');
    expect(workerCredentials.nodes.filter((one: { worker: string }) => one.worker.startsWith('racer'))).toHaveLength(1);
  });

  test('that was revoked lets nobody in', async () => {
    const { secret, id } = await joinToken(server, { worker: 'join-revoked', role: 'worker' });
    await admin.ask('mutation ($id: ID!) { revokeJoinToken(input: { id: $id }) { joinToken { status } } }', { id });
    expect((await join(server, secret)).code).toBe('UNAUTHENTICATED');
  });

  test('that has expired lets nobody in', async () => {
    const { secret, id } = await joinToken(server, { worker: 'join-expired', role: 'worker', ttlSeconds: 10 });
    await until('it has expired', async () => {
      const { joinTokens } = await admin.ask('{ joinTokens(filter: { status: EXPIRED }) { nodes { id } } }');
      return joinTokens.nodes.some((one: { id: string }) => one.id === id);
    });
    expect((await join(server, secret)).code).toBe('UNAUTHENTICATED');
  });

  test('that is unknown, used or misshapen is answered in the same words', async () => {
    const { secret } = await joinToken(server, { worker: 'join-same', role: 'worker' });
    await join(server, secret);
    const answers = [secret, UNKNOWN, `${secret}A`, 'msj_', '', "msj_' OR 1=1 --"].map((one) =>
      join(server, one, 'w', 'worker'),
    );
    const said = new Set((await Promise.all(answers)).map(({ status, message }) => `${status} ${message}`));
    expect(said.size).toBe(1);
  });

  test('for one name gives no other name', async () => {
    const { secret } = await joinToken(server, { worker: 'join-name', role: 'worker' });
    expect((await join(server, secret, 'victim', 'worker')).code).toBe('FORBIDDEN');
  });

  test('for one role gives no other role', async () => {
    const { secret } = await joinToken(server, { worker: 'join-role', role: 'worker' });
    expect((await join(server, secret, 'join-role', 'gpu')).code).toBe('FORBIDDEN');
  });

  test('for any name does not take over the name of a worker that is there', async () => {
    const { secret } = await joinToken(server, { role: 'worker' });
    expect((await join(server, secret, 'victim')).code).toBe('CONFLICT');
    expect(await victim.caller.code('{ viewer { name } }')).toBeNull();
  });

  test('is no token of the API', async () => {
    const { secret } = await joinToken(server);
    expect((await new Caller(server, secret).post('{ viewer { name } }')).status).toBe(401);
  });

  test('opens nothing besides the join, in one request with it', async () => {
    const { secret } = await joinToken(server, { worker: 'join-more', role: 'worker' });
    const anonymous = new Caller(server, null);
    const variables = { input: { secret } };
    for (const query of [
      'mutation ($input: WorkerJoinInput!) { workerJoin(input: $input) { credential } purgeJoinTokens { count } }',
      'mutation ($input: WorkerJoinInput!) { ...F } fragment F on Mutation { workerJoin(input: $input) { credential } purgeJoinTokens { count } }',
      'mutation ($input: WorkerJoinInput!) { ... on Mutation { workerJoin(input: $input) { credential } removeWorker(input: { worker: "victim" }) { name } } }',
    ]) {
      const answer = await anonymous.post(query, variables);
      expect([answer.status, answer.data]).toEqual([401, null]);
    }
    expect((await join(server, secret)).code).toBeNull();
  });

  test('is made by nobody who may not', async () => {
    const operator = await newPrincipal(server, 'join-operator', ['operator']);
    const make = 'mutation { createJoinToken(input: { worker: "mine" }) { secret } }';
    expect(await operator.code(make)).toBe('FORBIDDEN');
    expect(await thief.caller.code(make)).toBe('FORBIDDEN');
  });

  test('grants no label of the server by another name', async () => {
    const make = 'mutation ($input: CreateJoinTokenInput!) { createJoinToken(input: $input) { secret } }';
    for (const input of [
      { labels: [{ key: 'flux.service.vllm', value: 'true' }] },
      { labels: [{ key: 'FLUX.service.vllm', value: 'true' }], services: ['flux.service.vllm'] },
      { services: ['vllm"} or true'] },
    ])
      expect(await admin.code(make, { input })).toBe('BAD_INPUT');
  });
});

describe('a worker in the name of another', () => {
  test.each<[string, string, (item: object) => object]>([
    ['it registers', REGISTER, () => registration('victim', { instanceId: 'mine' })],
    ['it registers with the other’s instance', REGISTER, () => registration('victim')],
    ['it beats, to make the other unhealthy', HEARTBEAT, () => ({ input: { ...me('victim'), healthy: false } })],
    [
      'it beats without the other’s claims, to have them released',
      HEARTBEAT,
      () => ({ input: { ...me('victim'), healthy: true, claims: [] } }),
    ],
    ['it claims', REPORT, (item) => ({ input: { ...me('victim'), claims: [{ ...item, again: true }] } })],
    [
      'it ends what the other runs',
      REPORT,
      (item) => ({ input: { ...me('victim'), ends: [{ ...item, state: 'COMPLETED', output: 'stolen' }] } }),
    ],
    ['it gives back what the other runs', REPORT, (item) => ({ input: { ...me('victim'), releases: [item] } })],
    ['it says goodbye', LEAVE, () => ({ input: me('victim') })],
    ['it reads the other’s steps', STEPS, (item) => ({ ...me('victim'), ...item })],
  ])('%s', async (_name, query, variables) => {
    expect(await thief.caller.code(query, variables(running))).toBe('FORBIDDEN');
    expect(await stateOf(running.id)).toBe('RUNNING');
  });

  test('it listens to the other’s inbox', async () => {
    const { client } = socketOf(server, thief.caller.token);
    const told = await new Promise<string>((resolve) => {
      client.subscribe(
        { query: INBOX, variables: me('victim') },
        {
          next: (item) => resolve(JSON.stringify(item)),
          error: (error) => resolve(JSON.stringify(error)),
          complete: () => resolve(''),
        },
      );
    });
    expect(told).toContain('FORBIDDEN');
    expect(told).not.toContain('assignments');
    await client.dispose();
  });

  test('it finds out by errors which workers there are', async () => {
    const said = new Set<string>();
    for (const name of ['victim', 'nobody-of-this-name'])
      for (const query of [HEARTBEAT, LEAVE]) {
        const input = query === LEAVE ? me(name) : { ...me(name), healthy: true };
        said.add((await thief.caller.post(query, { input })).message ?? '');
      }
    expect(said.size).toBe(1);
  });
});

describe('a worker in its own name', () => {
  test('with the instance of another gets nothing of it', async () => {
    const input = { ...me('thief', 'victim-1'), healthy: true, claims: [running] };
    expect(await thief.caller.code(HEARTBEAT, { input })).toBe('CONFLICT');
  });

  test.each([-1, 0, 1])('ends, claims or gives back nothing of another by guessing its generation (%i)', async (by) => {
    const item = { id: running.id, generation: running.generation + by };
    const { workerReport } = await thief.caller.ask(REPORT, {
      input: {
        ...me('thief'),
        claims: [{ ...item, again: true }],
        events: [{ ...item, type: 'note' }],
        ends: [{ ...item, state: 'COMPLETED', output: 'stolen' }],
        releases: [item],
      },
    });
    const { claims, events, ends, releases } = workerReport;
    for (const { code } of [...claims, ...events, ...ends, ...releases]) expect(code).toBe('FORBIDDEN');
    expect(JSON.stringify(workerReport)).not.toContain('msx_');
    expect(await stateOf(running.id)).toBe('RUNNING');
  });

  test('writes nothing under a generation that is over', async () => {
    const id = await runOn(admin, 'thief');
    const first = await thief.claim(id);
    await thief.caller.ask(REPORT, { input: { ...me('thief'), releases: [{ id, generation: first.generation }] } });
    const { workerReport } = await thief.caller.ask(REPORT, {
      input: { ...me('thief'), ends: [{ id, generation: first.generation, state: 'COMPLETED', output: 'late' }] },
    });
    expect(workerReport.ends[0].code).toBe('CONFLICT');
    const { execution } = await admin.ask('query ($id: ID!) { execution(id: $id) { state output } }', { id });
    expect([execution.state === 'COMPLETED', execution.output]).toEqual([false, null]);
  });

  test('takes no other role than that of its credential', async () => {
    const worker = await joined(server, 'own-role');
    expect(await worker.code(REGISTER, registration('own-role', { role: 'api' }))).toBe('FORBIDDEN');
  });

  test.each(['flux.service.vllm', 'flux.role', 'flux.', 'flux.metadata.owner'])(
    'gives itself no label of the server (%s)',
    async (key) => {
      const worker = await joined(server, `own-label-${key.length}`);
      const labels = [{ key, value: 'true' }];
      expect(await worker.code(REGISTER, registration(`own-label-${key.length}`, { labels }))).toBe('BAD_INPUT');
    },
  );

  test('gives itself no labels beside those that it is bound to', async () => {
    const worker = await joined(server, 'bound', { labels: [{ key: 'region', value: 'eu' }] });
    for (const labels of [
      [{ key: 'region', value: 'us' }],
      [
        { key: 'region', value: 'eu' },
        { key: 'gpu', value: 'a' },
      ],
    ])
      expect(await worker.code(REGISTER, registration('bound', { labels }))).toBe('FORBIDDEN');
  });

  test('gives itself no service by its metrics, resources or packages', async () => {
    const worker = await joined(server, 'no-service');
    const { workerRegister } = await worker.ask(
      REGISTER,
      registration('no-service', { packages: [{ name: 'flux.service.vllm', version: '1' }], runners: ['inprocess'] }),
    );
    expect(workerRegister.worker.labels).toEqual([]);
  });

  test.each([
    ['starts executions', 'mutation { runWorkflow(input: { workflow: "default/job" }) { execution { id } } }'],
    ['registers workflows', 'mutation { registerWorkflow(input: { name: "mine" }) { created } }'],
    ['removes workers', 'mutation { removeWorker(input: { worker: "victim" }) { name } }'],
    [
      'writes metadata',
      'mutation { setWorkerMetadata(input: { worker: "thief", metadata: { vip: true } }) { worker { name } } }',
    ],
    [
      'makes itself available',
      'mutation { setWorkerAvailability(input: { worker: "thief", availability: ACTIVE }) { worker { name } } }',
    ],
    ['makes people', 'mutation { createPrincipal(input: { name: "mole" }) { principal { id } } }'],
    ['makes tokens', 'mutation { createApiToken(input: { name: "mole" }) { secret } }'],
    ['reads the audit', '{ auditEntries { nodes { action } } }'],
    ['reads credentials', '{ workerCredentials { nodes { id } } }'],
    ['reads the schema', '{ __schema { types { name } } }'],
    ['reads one type of the schema', '{ __type(name: "Mutation") { fields { name } } }'],
  ])('does not do what is for people: it %s', async (_name, query) => {
    const answer = await thief.caller.post(query);
    expect([answer.code, answer.text]).toEqual(['FORBIDDEN', expect.any(String)]);
  });

  test('sees nothing of the fleet and of the work of others', async () => {
    const { workers, executions, workflows } = await thief.caller.ask(
      '{ workers { totalCount nodes { name } } executions { totalCount nodes { id } } workflows { nodes { name } } }',
    );
    expect([workers, executions, workflows]).toEqual([
      { totalCount: 0, nodes: [] },
      { totalCount: 0, nodes: [] },
      { nodes: [] },
    ]);
  });

  test('opens no browser session with its credential', async () => {
    const reply = await logIn(server, { token: thief.caller.token });
    expect([reply.status, reply.headers['set-cookie']]).toEqual([401, undefined]);
  });

  test('reads no figures of the fleet at /metrics', async () => {
    expect((await send(server, '/metrics', { headers: thief.caller.headers })).status).toBe(403);
  });
});

describe('a credential that has ended', () => {
  test('by a ban closes its socket and is nobody’s', async () => {
    const worker = await onDuty(server, 'banned');
    const { workerCredentials } = await admin.ask(
      '{ workerCredentials(filter: { worker: "banned" }) { nodes { id } } }',
    );
    await admin.ask(
      'mutation ($id: ID!) { revokeWorkerCredential(input: { id: $id }) { workerCredential { status } } }',
      workerCredentials.nodes[0],
    );
    expect(await worker.closed).toBe(4403);
    expect((await worker.caller.post(REGISTER, registration('banned'))).status).toBe(401);
    // A token that was made before the ban is no way back.
    expect((await worker.caller.post('mutation { workerRenewCredential { credential } }')).status).toBe(401);
  });

  test('with its worker’s removal closes its socket and is nobody’s', async () => {
    const worker = await onDuty(server, 'removed');
    await admin.ask('mutation { removeWorker(input: { worker: "removed" }) { name } }');
    expect(await worker.closed).toBe(4403);
    expect((await worker.caller.post(REGISTER, registration('removed'))).status).toBe(401);
  });

  test('because the worker joined anew is nobody’s', async () => {
    const before = await joined(server, 'anew');
    const after = await joined(server, 'anew');
    expect([(await before.post('{ viewer { name } }')).status, await after.code('{ viewer { name } }')]).toEqual([
      401,
      null,
    ]);
  });
});
