import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Server } from '../support/server.ts';
import { Caller } from './support/calls.ts';
import { administrator, changePrincipal, logIn, newPrincipal } from './support/people.ts';
import { me, onDuty, registerJob, REPORT, runOn, type WorkerOnDuty } from './support/workers.ts';

/** Attacks with the token that a handler is given: after its time, for more than it is for, and put together anew. */
let server: Server;
let admin: Caller;
let thief: WorkerOnDuty;

beforeAll(async () => {
  // By hand nobody is as fast as a worker.
  server = await Server.start({
    env: { MUSTER_CLAIM_SECONDS: '600', MUSTER_STALE_SECONDS: '3600', MUSTER_OFFLINE_SECONDS: '7200' },
  });
  admin = administrator(server);
  await registerJob(server);
  thief = await onDuty(server, 'thief');
});
afterAll(async () => {
  thief.hangUp();
  await server.dispose();
});

describe('the token of an execution', () => {
  const SEE = 'query ($id: ID!) { execution(id: $id) { state preferredWorker requiredWorker } }';
  const end = (id: string, generation: number) =>
    thief.caller.ask(REPORT, { input: { ...me('thief'), ends: [{ id, generation, state: 'COMPLETED' }] } });

  async function claimed(by = admin) {
    const id = await runOn(by, 'thief');
    const { generation, token } = await thief.claim(id);
    return { id, generation, token, caller: new Caller(server, token) };
  }

  test('is nobody’s when the execution has ended', async () => {
    const { id, generation, caller } = await claimed();
    expect(await caller.code(SEE, { id })).toBeNull();
    await end(id, generation);
    expect((await caller.post(SEE, { id })).status).toBe(401);
  });

  test('is nobody’s when its generation has moved on', async () => {
    const { id, generation, caller } = await claimed();
    await thief.caller.ask(REPORT, { input: { ...me('thief'), releases: [{ id, generation }] } });
    expect((await caller.post(SEE, { id })).status).toBe(401);
  });

  test('is nobody’s when a bit of it was changed', async () => {
    const { id, token } = await claimed();
    const bytes = Buffer.from(token.slice(4), 'base64url');
    for (const at of [0, 15, 16, 19, bytes.length >> 1, bytes.length - 1]) {
      const forged = Buffer.from(bytes);
      forged.writeUInt8(forged.readUInt8(at) ^ 1, at);
      const caller = new Caller(server, `msx_${forged.toString('base64url')}`);
      expect([at, (await caller.post(SEE, { id })).status]).toEqual([at, 401]);
    }
  });

  test('is nobody’s when it was put together from those of two executions', async () => {
    const [a, b] = [await claimed(), await claimed()];
    const [x, y] = [a, b].map(({ token }) => Buffer.from(token.slice(4), 'base64url')) as [Buffer, Buffer];
    for (let cut = 4; cut < x.length; cut += 6) {
      const forged = Buffer.concat([x.subarray(0, cut), y.subarray(cut)]);
      if (forged.equals(x) || forged.equals(y)) continue;
      const caller = new Caller(server, `msx_${forged.toString('base64url')}`);
      expect([cut, (await caller.post(SEE, { id: a.id })).status]).toEqual([cut, 401]);
    }
  });

  test('is nobody’s when its submitter is disabled', async () => {
    const submitter = await newPrincipal(server, 'submitter', ['operator']);
    const { id, caller } = await claimed(submitter);
    expect((await caller.ask('{ viewer { name } }')).viewer.name).toBe('submitter');
    await changePrincipal(server, 'submitter', { disabled: true });
    expect((await caller.post(SEE, { id })).status).toBe(401);
  });

  test('may no more than its submitter may now', async () => {
    const weakened = await newPrincipal(server, 'weakened', ['operator']);
    const { caller } = await claimed(weakened);
    const run = 'mutation { runWorkflow(input: { workflow: "default/job" }) { execution { id } } }';
    expect(await caller.code(run)).toBeNull();
    await changePrincipal(server, 'weakened', { roles: ['viewer'] });
    expect(await caller.code(run)).toBe('FORBIDDEN');
  });

  test('does not tell where its execution was sent', async () => {
    const { id, caller } = await claimed();
    expect((await caller.ask(SEE, { id })).execution).toMatchObject({ preferredWorker: null, requiredWorker: null });
    const { text } = await caller.rest('GET', `/executions/${id}`);
    expect(text).not.toMatch(/"(required|preferred)Worker":"/);
  });

  test.each([
    [
      'binds work to a worker',
      'mutation { runWorkflow(input: { workflow: "default/job", requiredWorker: "victim" }) { execution { id } } }',
    ],
    [
      'manages workers',
      'mutation { setWorkerAvailability(input: { worker: "victim", availability: DRAINING }) { worker { name } } }',
    ],
    ['removes workers', 'mutation { removeWorker(input: { worker: "victim" }) { name } }'],
    ['makes a token that outlives it', 'mutation { createApiToken(input: { name: "mole" }) { secret } }'],
    ['makes people', 'mutation { createPrincipal(input: { name: "mole" }) { principal { id } } }'],
    ['lets workers in', 'mutation { createJoinToken(input: { worker: "mole" }) { secret } }'],
    ['renews a credential', 'mutation { workerRenewCredential { credential } }'],
    [
      'changes deployments',
      'mutation { createDeployment(input: { slug: "mole", variants: [{ label: "a", flowId: "default/job", weight: 1 }] }) { deployment { slug } } }',
    ],
    [
      'changes a password',
      'mutation { setPassword(input: { name: "admin", password: "mole mole mole" }) { principal { id } } }',
    ],
    ['reads the schema', '{ __schema { types { name } } }'],
    [
      'speaks as its worker',
      `mutation { workerLeave(input: { worker: "thief", instanceId: "thief-1" }) { released } }`,
    ],
  ])('of an administrator’s run is no administrator’s: it %s', async (_name, query) => {
    const { id, generation, caller } = await claimed();
    expect(await caller.code(query)).toBe('FORBIDDEN');
    await end(id, generation);
  });

  test('opens no browser session', async () => {
    const { token } = await claimed();
    const reply = await logIn(server, { token });
    expect([reply.status, reply.headers['set-cookie']]).toEqual([401, undefined]);
  });

  test('is in no log', async () => {
    const { token } = await claimed();
    expect(token).toMatch(/^msx_/);
    expect(server.output).not.toMatch(/ms[xwj]_[A-Za-z0-9_-]{30}/);
  });
});
