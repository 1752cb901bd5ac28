import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildSchema } from '../../graphql/schema.ts';
import { type Answer, startTestApp, type TestApp } from '../../testing/test-app.ts';

/**
 * Every mutation of the schema is here: what it leaves in the audit, or why nothing. One that is added without a line fails. They run in this order, on one
 * server, with canaries in everything that the audit must not hold.
 */
let app: TestApp;
const CANARY = 'CANARY-in-the-coal-mine';
/** What was answered under a name, for those that come after. */
const kept: Record<string, string> = {};
/** Whose token is sent; absent: the installation's. */
let bearer: string | undefined;

type Step = {
  text: () => string;
  action: string;
  as?: string;
  keep?: (data: Answer['data']) => void;
  before?: () => Promise<unknown>;
};
const AUDITED: Record<string, Step | Step[]> = {
  registerWorkflow: [
    {
      text: () => 'registerWorkflow(input: { name: "chat", description: "a" }) { created }',
      action: 'workflow.register',
    },
    {
      text: () => 'registerWorkflow(input: { name: "chat", description: "b" }) { created }',
      action: 'workflow.describe',
    },
  ],
  createDeployment: {
    text: () =>
      'createDeployment(input: { slug: "d", variants: [{ label: "a", flowId: "default/chat", weight: 1 }] }) { warnings }',
    action: 'deployment.create',
  },
  updateDeployment: {
    text: () =>
      'updateDeployment(input: { slug: "d", expectedRevision: 1, variants: [{ label: "a", flowId: "default/chat", weight: 2 }] }) { warnings }',
    action: 'deployment.update',
  },
  rollbackDeployment: {
    text: () => 'rollbackDeployment(input: { slug: "d", toRevision: 1, expectedRevision: 2 }) { warnings }',
    action: 'deployment.rollback',
  },
  deleteDeployment: {
    text: () => 'deleteDeployment(input: { slug: "d", expectedRevision: 3 }) { slug }',
    action: 'deployment.delete',
  },
  createSchedule: {
    text: () =>
      `createSchedule(input: { name: "s", cron: "0 0 1 1 *", workflow: "chat", input: { secret: "${CANARY}" }, routingInput: { key: "${CANARY}" } }) { warnings }`,
    action: 'schedule.create',
  },
  updateSchedule: {
    text: () =>
      `updateSchedule(input: { name: "s", expectedRevision: 1, priority: 3, input: "${CANARY}", routingInput: { other: "${CANARY}" } }) { warnings }`,
    action: 'schedule.update',
  },
  pauseSchedule: { text: () => 'pauseSchedule(input: { name: "s" }) { warnings }', action: 'schedule.pause' },
  resumeSchedule: { text: () => 'resumeSchedule(input: { name: "s" }) { warnings }', action: 'schedule.resume' },
  runSchedule: { text: () => 'runSchedule(input: { name: "s" }) { execution { id } }', action: 'schedule.run' },
  deleteSchedule: {
    text: () => 'deleteSchedule(input: { name: "s", expectedRevision: 4 }) { name }',
    action: 'schedule.delete',
  },
  setWorkerMetadata: {
    before: () =>
      app.ask(
        'mutation { workerRegister(input: { name: "w-7", instanceId: "i-1", role: "gpu", hostname: "h", version: "1", startedAt: "2026-01-01T00:00:00Z" }) { heartbeatSeconds } }',
      ),
    text: () => 'setWorkerMetadata(input: { worker: "w-7", metadata: { rack: "b" } }) { worker { name } }',
    action: 'worker.metadata',
  },
  unsetWorkerMetadata: {
    text: () => 'unsetWorkerMetadata(input: { worker: "w-7", keys: ["rack"] }) { worker { name } }',
    action: 'worker.metadata',
  },
  setWorkerAvailability: (['CORDONED', 'DRAINING', 'ACTIVE'] as const).map((availability) => ({
    text: () => `setWorkerAvailability(input: { worker: "w-7", availability: ${availability} }) { worker { name } }`,
    action: `worker.${{ CORDONED: 'cordon', DRAINING: 'drain', ACTIVE: 'activate' }[availability]}`,
  })),
  removeWorker: { text: () => 'removeWorker(input: { worker: "w-7" }) { name }', action: 'worker.remove' },
  resumeExecution: {
    before: () =>
      otherExecution(
        `state = 'PAUSED', queued = false, parked = false, parked_reason = NULL, parked_since = NULL, park_deadline = NULL, waiting = 'RESUME'`,
      ),
    text: () =>
      `resumeExecution(input: { id: "${kept['execution']}", input: { secret: "${CANARY}" } }) { execution { id } }`,
    action: 'execution.resume',
  },
  cancelExecution: {
    before: () => otherExecution('priority = 1'),
    text: () => `cancelExecution(input: { id: "${kept['execution']}" }) { execution { id } }`,
    action: 'execution.cancel',
  },
  createAccessRole: {
    text: () => 'createAccessRole(input: { name: "readers", permissions: ["deployment:*:read"] }) { role { name } }',
    action: 'role.create',
  },
  updateAccessRole: {
    text: () =>
      'updateAccessRole(input: { name: "readers", permissions: ["deployment:*:read", "workflow:*:*:read"], expectedRevision: 1 }) { role { name } }',
    action: 'role.update',
  },
  createPrincipal: {
    text: () =>
      `createPrincipal(input: { name: "anna", kind: USER, roles: ["readers"], password: "${CANARY}-1" }) { principal { name } }`,
    action: 'principal.create',
  },
  updatePrincipal: {
    text: () =>
      'updatePrincipal(input: { name: "anna", roles: ["readers", "viewer"], expectedRevision: 1 }) { principal { name } }',
    action: 'principal.update',
  },
  setPassword: {
    text: () => `setPassword(input: { name: "anna", password: "${CANARY}-2" }) { principal { name } }`,
    action: 'principal.password',
  },
  createApiToken: [
    {
      text: () => 'createApiToken(input: { principal: "anna", name: "first" }) { token { id } secret }',
      action: 'token.create',
      keep: ({ createApiToken }) => {
        kept['secret'] = createApiToken.secret;
        kept['token'] = createApiToken.token.id;
      },
    },
  ],
  changeOwnPassword: {
    as: 'anna',
    text: () => `changeOwnPassword(input: { current: "${CANARY}-2", password: "${CANARY}-3" }) { principal { name } }`,
    action: 'principal.password',
  },
  revokeApiToken: {
    text: () => `revokeApiToken(input: { id: "${kept['token']}" }) { token { id } }`,
    action: 'token.revoke',
  },
  revokeLoginSession: {
    before: logIn,
    text: () => `revokeLoginSession(input: { id: "${kept['session']}" }) { id }`,
    action: 'session.revoke',
  },
  revokeLoginSessions: {
    before: logIn,
    text: () => 'revokeLoginSessions(input: { principal: "admin" }) { count }',
    action: 'session.revoke_all',
  },
  deletePrincipal: {
    text: () => 'deletePrincipal(input: { name: "anna" }) { name }',
    action: 'principal.delete',
  },
  deleteAccessRole: { text: () => 'deleteAccessRole(input: { name: "readers" }) { name }', action: 'role.delete' },
  createJoinToken: ['one', 'two'].map((description) => ({
    text: () =>
      `createJoinToken(input: { description: "${description}", worker: "w-${description}", role: "gpu" }) { joinToken { id } secret }`,
    action: 'join_token.create',
    keep: ({ createJoinToken }) => {
      kept[description] = createJoinToken.joinToken.id;
      kept[`secret ${description}`] = createJoinToken.secret;
    },
  })),
  revokeJoinToken: {
    text: () => `revokeJoinToken(input: { id: "${kept['one']}" }) { joinToken { id } }`,
    action: 'join_token.revoke',
  },
  purgeJoinTokens: { text: () => 'purgeJoinTokens { count }', action: 'join_token.purge' },
  workerJoin: {
    text: () =>
      `workerJoin(input: { secret: "${kept['secret two']}", name: "w-two", role: "gpu" }) { credential worker }`,
    action: 'join_token.use',
    as: 'worker:w-two',
    keep: ({ workerJoin }) => (kept['credential'] = workerJoin.credential),
  },
  workerRenewCredential: {
    as: 'worker:w-two',
    text: () => 'workerRenewCredential { credential }',
    action: 'worker_credential.renew',
    keep: ({ workerRenewCredential }) => (kept['renewed'] = workerRenewCredential.credential),
  },
  revokeWorkerCredential: {
    before: async () => {
      const { workerCredentials } = await app.ask('{ workerCredentials(first: 1) { nodes { id } } }');
      kept['worker credential'] = workerCredentials.nodes[0].id;
    },
    text: () => `revokeWorkerCredential(input: { id: "${kept['worker credential']}" }) { workerCredential { id } }`,
    action: 'worker_credential.revoke',
  },
};

/** Nothing of the kind that the audit is about. */
const NOT_AUDITED: Record<string, string> = {
  runWorkflow: 'the execution is the audit of a run',
  runWorkflows: 'the execution is the audit of a run',
  runDeployment: 'the execution is the audit of a run',
  retryExecution: 'a run as well: the new execution names the old one, and who asked for it',
  workerRegister: 'a worker speaks for itself',
  workerHeartbeat: 'a worker speaks for itself',
  workerReport: 'a worker speaks for itself',
  workerLeave: 'a worker speaks for itself',
};

async function otherExecution(change: string): Promise<void> {
  const { runWorkflow } = await app.ask('mutation { runWorkflow(input: { workflow: "chat" }) { execution { id } } }');
  kept['execution'] = runWorkflow.execution.id;
  await app.plane.database.query(`UPDATE execution SET submitted_by = 'bob', ${change} WHERE id = $1`, [
    runWorkflow.execution.id.slice(3),
  ]);
}

async function logIn(): Promise<void> {
  const code = app.loginLink().split('#login=')[1];
  const headers = { 'content-type': 'application/json', origin: app.url };
  const response = await fetch(`${app.url}/session`, { method: 'POST', headers, body: JSON.stringify({ code }) });
  expect(response.status).toBeLessThan(300);
  const { loginSessions } = await app.ask('{ loginSessions(first: 1) { nodes { id } } }');
  kept['session'] = loginSessions.nodes[0].id;
}

const mutations = Object.keys(buildSchema().getMutationType()?.getFields() ?? {});

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

interface Entry {
  actor: string;
  action: string;
  target: string;
  address: string | null;
  request: string;
  data: { before: unknown; after: unknown };
}
const entriesOf = async (request: string): Promise<Entry[]> =>
  (
    await app.plane.database.query<Entry>(
      'SELECT actor, action, target, address, request_id AS request, data FROM audit WHERE request_id = $1 ORDER BY id',
      [request],
    )
  ).rows;

async function send(text: string, request: string, as: string | undefined): Promise<Answer['data']> {
  bearer = as === undefined ? undefined : as === 'anna' ? kept['secret'] : kept['credential'];
  const headers = { 'x-request-id': request, ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }) };
  const { data, errors, text: answered } = await app.post(`mutation { ${text} }`, undefined, headers);
  if (errors.length > 0) throw new Error(answered);
  return data;
}

describe('the audit', () => {
  it('has a line here for every mutation of the schema', () => {
    expect(mutations.filter((name) => !Object.hasOwn(AUDITED, name) && !Object.hasOwn(NOT_AUDITED, name))).toEqual([]);
    expect(Object.keys({ ...AUDITED, ...NOT_AUDITED }).filter((name) => !mutations.includes(name))).toEqual([]);
  });

  it.each(Object.entries(AUDITED))('has an entry of %s', async (name, steps) => {
    for (const [index, step] of [steps].flat().entries()) {
      await step.before?.();
      const request = `rq-${name}-${index}`;
      const data = await send(step.text(), request, step.as);
      step.keep?.(data);
      const entries = await entriesOf(request);
      expect(
        entries.map(({ action }) => action),
        name,
      ).toContain(step.action);
      for (const entry of entries) {
        expect(entry).toMatchObject({
          actor: step.as ?? 'admin',
          target: expect.stringMatching(/^[a-z_]+:.+/),
          request,
        });
        expect(entry.address).toMatch(/^(::ffff:)?127\.0\.0\.1$|^::1$/);
        expect(Object.keys(entry.data)).toEqual(['before', 'after']);
        expect(entry.data).not.toEqual({ before: null, after: null });
      }
    }
  });

  it('has nothing of runs and of what workers say', async () => {
    const before = await app.plane.database.query<{ n: number }>('SELECT count(*)::int AS n FROM audit');
    await app.ask('mutation { registerWorkflow(input: { name: "chat", description: "b" }) { created } }');
    await app.ask(
      `mutation { runWorkflow(input: { workflow: "chat", input: "${CANARY}", routingInput: { key: "${CANARY}" } }) { execution { id } } }`,
    );
    await app.ask(
      'mutation { workerRegister(input: { name: "w-8", instanceId: "i-1", role: "gpu", hostname: "h", version: "1", startedAt: "2026-01-01T00:00:00Z" }) { heartbeatSeconds } }',
    );
    const after = await app.plane.database.query<{ n: number }>('SELECT count(*)::int AS n FROM audit');
    expect(after.rows).toEqual(before.rows);
  });

  it('holds no secret, no input and no routing input', async () => {
    const { rows } = await app.plane.database.query('SELECT * FROM audit');
    const text = JSON.stringify(rows);
    expect(rows.length).toBeGreaterThan(30);
    for (const canary of [
      CANARY,
      app.adminToken,
      kept['secret'],
      kept['secret one'],
      kept['secret two'],
      kept['credential'],
      kept['renewed'],
    ]) {
      expect(canary?.length).toBeGreaterThan(10);
      expect(text).not.toContain(canary);
    }
    expect(text).not.toMatch(/argon2|routing_?input|"hash":"[^"]/i);
  });
});
