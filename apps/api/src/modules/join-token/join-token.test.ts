import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, joinedWorker, joinToken, workerWith } from '../../testing/joined-worker.ts';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';
import { operator } from '../../testing/test-control-plane.ts';
import { JoinTokenService } from './join-token-service.ts';
import { JoinTokenStore } from './join-token-store.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const LIST = `query ($filter: JoinTokenFilter, $first: Int, $after: String) {
  joinTokens(filter: $filter, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes {
      id prefix description worker role labels { key value } services registers status createdBy createdAt expiresAt usedAt usedBy revokedAt
    }
  }
}`;
const CREDENTIALS = `query ($worker: String, $status: CredentialStatus) {
  workerCredentials(filter: { worker: $worker, status: $status }) {
    nodes { id prefix worker role services registers status expiresAt replacedAt revokedAt }
  }
}`;
const REVOKE = 'mutation ($id: ID!) { revokeJoinToken(input: { id: $id }) { joinToken { status } } }';
const BAN = 'mutation ($id: ID!) { revokeWorkerCredential(input: { id: $id }) { workerCredential { status } } }';
const RENEW = 'mutation { workerRenewCredential { credential expiresAt renewAfterSeconds } }';
const ME = '{ viewer { name } }';

const code = (answer: { errors: { extensions: { code: string } }[] }) => answer.errors[0]?.extensions.code ?? null;

async function audited(action: string, target: string) {
  const { rows } = await app.plane.database.query<{ actor: string; data: unknown }>(
    'SELECT actor, data FROM audit WHERE action = $1 AND target = $2 ORDER BY id',
    [action, target],
  );
  return rows;
}

async function credentials(worker: string) {
  return (await app.ask(CREDENTIALS, { worker })).workerCredentials.nodes;
}

describe('a join token', () => {
  it('is shown once, and listed without its secret', async () => {
    const { secret, id } = await joinToken(app, {
      description: 'for the rack',
      worker: 'w-once',
      role: 'gpu',
      ttlSeconds: 60,
      labels: [{ key: 'region', value: 'eu' }],
      services: ['vllm'],
      registers: ['ml:*'],
    });
    expect(secret).toMatch(/^msj_[A-Za-z0-9_-]{43}$/);
    const { nodes } = (await app.ask(LIST, { filter: { worker: 'w-once' } })).joinTokens;
    expect(nodes).toEqual([
      {
        id,
        prefix: secret.slice(0, 10),
        description: 'for the rack',
        worker: 'w-once',
        role: 'gpu',
        labels: [{ key: 'region', value: 'eu' }],
        services: ['vllm'],
        registers: ['ml:*'],
        status: 'ACTIVE',
        createdBy: 'admin',
        createdAt: expect.any(String),
        expiresAt: expect.any(String),
        usedAt: null,
        usedBy: null,
        revokedAt: null,
      },
    ]);
    const { rows } = await app.plane.database.query<{ text: string }>(
      'SELECT row_to_json(t)::text AS text FROM join_token t',
    );
    expect(rows.some(({ text }) => text.includes(secret))).toBe(false);
    expect(await audited('join_token.create', `join_token:${id}`)).toMatchObject([
      { actor: 'admin', data: { after: { worker: 'w-once', services: ['vllm'] } } },
    ]);
  });

  it('lets one worker in, once, under the name and role that it is bound to', async () => {
    const { secret } = await joinToken(app, { worker: 'w-join', role: 'gpu', services: ['vllm'] });
    const { data } = await join(app, secret);
    expect(data.workerJoin).toMatchObject({
      worker: 'w-join',
      role: 'gpu',
      services: ['vllm'],
      renewAfterSeconds: 302_400,
    });
    expect(data.workerJoin.credential).toMatch(/^msw_[A-Za-z0-9_-]{43}$/);
    const worker = workerWith(app, 'w-join', data.workerJoin.credential);
    expect((await worker.post(ME)).data).toEqual({ viewer: { name: 'worker:w-join' } });
    expect(code(await join(app, secret))).toBe('UNAUTHENTICATED');
    const { nodes } = (await app.ask(LIST, { filter: { worker: 'w-join' } })).joinTokens;
    expect(nodes).toMatchObject([{ status: 'USED', usedBy: 'w-join' }]);
    expect(await audited('join_token.use', 'worker:w-join')).toMatchObject([{ actor: 'worker:w-join' }]);
  });

  it('lets in one of many that come at the same moment', async () => {
    const { secret } = await joinToken(app, { role: 'worker' });
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => join(app, secret, `w-race-${n}`)));
    const codes = answers.map(code);
    expect(codes.filter((one) => one === null)).toHaveLength(1);
    expect(codes.filter((one) => one === 'UNAUTHENTICATED')).toHaveLength(11);
    const { rows } = await app.plane.database.query("SELECT id FROM worker_credential WHERE worker LIKE 'w-race-%'");
    expect(rows).toHaveLength(1);
  });

  it('gives one free name to one of two tokens', async () => {
    const [a, b] = [await joinToken(app), await joinToken(app)];
    const answers = await Promise.all([a, b].map(({ secret }) => join(app, secret, 'w-two', 'worker')));
    expect(answers.map(code).toSorted()).toEqual(['CONFLICT', null]);
    expect(await credentials('w-two')).toHaveLength(1);
  });

  it('says the same of an unknown, a used, a revoked and an expired one', async () => {
    const used = await joinToken(app, { worker: 'w-same', role: 'worker' });
    await join(app, used.secret);
    const revoked = await joinToken(app);
    await app.ask(REVOKE, { id: revoked.id });
    const expired = await joinToken(app);
    await app.plane.database.query(
      "UPDATE join_token SET expires_at = clock_timestamp() - interval '1 second' WHERE id = $1",
      [Number(expired.id.slice(3))],
    );
    const secrets = [`msj_${'A'.repeat(43)}`, 'x', '', used.secret, revoked.secret, expired.secret];
    const answers = await Promise.all(secrets.map((secret) => join(app, secret, 'w-none', 'worker')));
    const said = answers.map(({ status, errors }) => [status, errors[0]?.message, errors[0]?.extensions.code]);
    expect(new Set(said.map((one) => JSON.stringify(one))).size).toBe(1);
    expect(said[0]?.[2]).toBe('UNAUTHENTICATED');
    expect(await credentials('w-none')).toEqual([]);
  });

  it('is not spent by a name or role that it is not for', async () => {
    const { secret } = await joinToken(app, { worker: 'w-bound', role: 'gpu' });
    expect(code(await join(app, secret, 'w-other', 'gpu'))).toBe('FORBIDDEN');
    expect(code(await join(app, secret, 'w-bound', 'cpu'))).toBe('FORBIDDEN');
    expect(code(await join(app, secret, 'w bound', 'gpu'))).toBe('BAD_INPUT');
    expect(code(await join(app, secret, 'w-bound', 'gpu'))).toBeNull();
    const open = await joinToken(app);
    expect(code(await join(app, open.secret, 'w-open'))).toBe('BAD_INPUT');
    expect(code(await join(app, open.secret, 'w-open', 'worker'))).toBeNull();
  });

  it('gives no name that a worker has, unless it is bound to that', async () => {
    const first = await joinedWorker(app, 'w-taken');
    const open = await joinToken(app);
    expect(code(await join(app, open.secret, 'w-taken', 'worker'))).toBe('CONFLICT');
    const served = workerWith(app, 'w-served', app.adminToken);
    expect(code(await served.register())).toBeNull();
    expect(code(await join(app, open.secret, 'w-served', 'worker'))).toBe('CONFLICT');
    expect(code(await join(app, open.secret, 'w-free', 'worker'))).toBeNull();
    const second = await joinedWorker(app, 'w-taken');
    expect(code(await first.post(ME))).toBe('UNAUTHENTICATED');
    expect(code(await second.post(ME))).toBeNull();
  });

  it('is forgotten when it opens nothing any more', async () => {
    const kept = await joinToken(app, { worker: 'w-kept' });
    const revoked = await joinToken(app, { worker: 'w-purged' });
    await app.ask(REVOKE, { id: revoked.id });
    expect((await app.ask(REVOKE, { id: revoked.id })).revokeJoinToken.joinToken.status).toBe('REVOKED');
    const { count } = (await app.ask('mutation { purgeJoinTokens { count } }')).purgeJoinTokens;
    expect(count).toBeGreaterThan(0);
    const left = (await app.ask(LIST, { first: 200 })).joinTokens.nodes as { id: string; status: string }[];
    expect(left.map((one) => one.id)).toContain(kept.id);
    expect(new Set(left.map((one) => one.status))).toEqual(new Set(['ACTIVE']));
    expect((await app.ask('mutation { purgeJoinTokens { count } }')).purgeJoinTokens.count).toBe(0);
    expect(await audited('join_token.purge', 'join_token:*')).toHaveLength(1);
  });

  it('is refused with all that is wrong with it', async () => {
    const { errors } = await app.post(
      'mutation ($input: CreateJoinTokenInput!) { createJoinToken(input: $input) { secret } }',
      {
        input: {
          ttlSeconds: 2_592_001,
          worker: 'no name',
          role: '',
          labels: [{ key: 'flux.x', value: '1' }],
          services: ['Upper', 'flux.service.x'],
          registers: ['ml', 'ml:*:x', 'ml:tr*'],
        },
      },
    );
    expect(errors[0]?.extensions.code).toBe('BAD_INPUT');
    expect(errors[0]?.extensions.issues.map((issue) => issue.path)).toEqual([
      'ttlSeconds',
      'worker',
      'role',
      'labels.0.key',
      'services.0',
      'services.1',
      'registers.0',
      'registers.1',
      'registers.2',
    ]);
  });

  it('grants no more than its maker has', async () => {
    const { database, ids } = app.plane;
    const service = new JoinTokenService(
      new JoinTokenStore(
        database.prisma,
        () => ids.next(),
        () => database.now(),
      ),
    );
    const input = { ttlSeconds: 60, labels: [], services: [], registers: [] as string[] };
    const make = (permissions: string[], more = {}) =>
      service.create({ ...input, ...more }, { ...operator, permissions }, 'rq').then(
        () => null,
        (error: { details: { permission: string } }) => error.details.permission,
      );
    expect(await make([])).toBe('admin:tokens:write');
    expect(await make(['admin:tokens:write'])).toBe('worker:*:serve');
    expect(await make(['admin:tokens:write', 'worker:w-1:serve'], { worker: 'w-2' })).toBe('worker:w-2:serve');
    expect(await make(['admin:tokens:write', 'worker:w-1:serve'], { worker: 'w-1' })).toBeNull();
    const registers = { worker: 'w-1', registers: ['ml:*'] };
    const maker = ['admin:tokens:write', 'worker:*:serve'];
    expect(await make([...maker, 'workflow:ml:a:register'], registers)).toBe('workflow:ml:*:register');
    expect(await make([...maker, 'workflow:ml:*:register'], registers)).toBeNull();
  });
});

describe('a credential of a worker', () => {
  it('is renewed by its worker alone, and the old one is good for a short time still', async () => {
    const worker = await joinedWorker(app, 'w-renew', { services: ['vllm'], labels: [{ key: 'region', value: 'eu' }] });
    const { data } = await worker.post(RENEW);
    expect(data.workerRenewCredential.credential).not.toBe(worker.credential);
    const renewed = workerWith(app, 'w-renew', data.workerRenewCredential.credential);
    expect(code(await worker.post(ME))).toBeNull();
    expect(code(await renewed.post(ME))).toBeNull();
    const [now, old] = await credentials('w-renew');
    expect(now).toMatchObject({ status: 'ACTIVE', replacedAt: null, services: ['vllm'], role: 'worker' });
    expect(old).toMatchObject({ status: 'ACTIVE', replacedAt: expect.any(String) });
    expect(Date.parse(old.expiresAt) - Date.parse(old.replacedAt)).toBeLessThanOrEqual(3_600_000);
    expect(code(await app.post(RENEW))).toBe('FORBIDDEN');
    expect(await audited('worker_credential.renew', 'worker:w-renew')).toHaveLength(1);
  });

  it('can be renewed again where the answer was lost, but not for ever', async () => {
    const worker = await joinedWorker(app, 'w-again');
    const codes: (string | null)[] = [];
    for (let n = 0; n < 8; n += 1) codes.push(code(await worker.post(RENEW)));
    expect(codes).toEqual([null, null, null, null, null, null, null, 'RATE_LIMITED']);
  });

  it('that has expired opens nothing', async () => {
    const worker = await joinedWorker(app, 'w-expired');
    await app.plane.database.query(
      "UPDATE worker_credential SET expires_at = clock_timestamp() WHERE worker = 'w-expired'",
    );
    expect(code(await worker.post(ME))).toBe('UNAUTHENTICATED');
  });

  it('that is revoked takes those beside it along, and the name until a newer join token', async () => {
    const bound = await joinToken(app, { worker: 'w-ban', role: 'worker' });
    const open = await joinToken(app);
    const worker = await joinedWorker(app, 'w-ban');
    const renewed = workerWith(app, 'w-ban', (await worker.post(RENEW)).data.workerRenewCredential.credential);
    await renewed.register();
    const [{ id }] = await credentials('w-ban');
    expect((await app.ask(BAN, { id })).revokeWorkerCredential.workerCredential.status).toBe('REVOKED');
    for (const one of [worker, renewed]) {
      expect(code(await one.post(ME))).toBe('UNAUTHENTICATED');
      expect(code(await one.register())).toBe('UNAUTHENTICATED');
      expect(code(await one.post(RENEW))).toBe('UNAUTHENTICATED');
    }
    expect(code(await join(app, bound.secret))).toBe('UNAUTHENTICATED');
    expect(code(await join(app, open.secret, 'w-ban', 'worker'))).toBe('UNAUTHENTICATED');
    expect(code(await join(app, open.secret, 'w-unbanned', 'worker'))).toBeNull();
    const back = await joinedWorker(app, 'w-ban');
    expect(code(await back.register())).toBeNull();
    expect(await audited('worker_credential.revoke', 'worker:w-ban')).toHaveLength(1);
  });

  it('ends with its worker', async () => {
    const worker = await joinedWorker(app, 'w-removed');
    expect(code(await worker.register())).toBeNull();
    await app.ask('mutation { removeWorker(input: { worker: "w-removed" }) { name } }');
    expect(code(await worker.post(ME))).toBe('UNAUTHENTICATED');
    expect(code(await worker.register())).toBe('UNAUTHENTICATED');
    expect(await credentials('w-removed')).toMatchObject([{ status: 'REVOKED' }]);
  });
});
