import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
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

const joinToken = {
  id: 'jt_12',
  prefix: 'msj_abcdef',
  description: 'rack 3',
  worker: 'gpu-7',
  role: 'gpu',
  labels: [{ key: 'region', value: 'eu' }],
  services: ['vllm'],
  registers: ['ml:*'],
  status: 'ACTIVE',
  createdBy: 'admin',
  createdAt: '2026-12-01T00:00:00.000Z',
  expiresAt: '2026-12-02T00:00:00.000Z',
  usedAt: null,
  usedBy: null,
  revokedAt: null,
};

describe('muster join-token', () => {
  test('create: sends what the token is bound to, and prints its secret alone', async () => {
    const server = await serve({ JoinTokenCreate: { data: { createJoinToken: { secret: 'msj_secret', joinToken } } } });
    const bound = ['--worker', 'gpu-7', '--role', 'gpu', '--label', 'region=eu', '--service', 'vllm'];
    const more = ['--registers', 'ml:*', '--ttl', '15m', '--description', 'rack 3'];
    const { code, out, err } = await runCommand(['join-token', 'create', ...bound, ...more], server);
    expect({ code, out }).toEqual({ code: 0, out: 'msj_secret' });
    expect(err).toContain('gpu-7 gpu region=eu');
    expect(server.received[0]?.variables).toEqual({
      input: {
        worker: 'gpu-7',
        role: 'gpu',
        description: 'rack 3',
        ttlSeconds: 900,
        labels: [{ key: 'region', value: 'eu' }],
        services: ['vllm'],
        registers: ['ml:*'],
      },
    });
    const asJson = await runCommand(['join-token', 'create', '--json'], server);
    expect(JSON.parse(asJson.out)).toEqual({ secret: 'msj_secret', joinToken });
    expect(asJson.err).toBe('');
    expect((await runCommand(['join-token', 'create', '--ttl', '31d'], server)).code).toBe(2);
  });

  test('list: one row each, without secrets', async () => {
    const used = {
      ...joinToken,
      id: 'jt_11',
      worker: null,
      labels: [],
      status: 'USED',
      usedBy: 'w-1',
      services: [],
      registers: [],
    };
    const pageInfo = { hasNextPage: false, endCursor: null };
    const server = await serve({ JoinTokenList: { data: { joinTokens: { nodes: [joinToken, used], pageInfo } } } });
    const { out } = await runCommand(['join-token', 'list', '--status', 'active', '--worker', 'gpu-7'], {
      ...server,
      columns: 400,
    });
    expect(out).toMatch(
      /jt_12 +msj_abcdef… +ACTIVE +gpu-7 gpu region=eu +vllm registers ml:\* +2026-12-02T00:00:00.000Z/,
    );
    expect(out).toMatch(/jt_11 +msj_abcdef… +USED +any name gpu +w-1/);
    expect(server.received[0]?.variables['filter']).toEqual({ status: 'ACTIVE', worker: 'gpu-7' });
    expect((await runCommand(['join-token', 'list', '--status', 'lost'], server)).code).toBe(2);
  });

  test('revoke and purge say what became of them', async () => {
    const answers = [
      { ...joinToken, status: 'REVOKED' },
      { ...joinToken, status: 'USED', usedBy: 'w-1' },
    ];
    const server = await serve({
      JoinTokenRevoke: () => ({ data: { revokeJoinToken: { joinToken: answers.shift() } } }),
      JoinTokenPurge: { data: { purgeJoinTokens: { count: 3 } } },
    });
    expect((await runCommand(['join-token', 'revoke', 'jt_12'], server)).out).toBe('jt_12 is revoked.');
    expect((await runCommand(['join-token', 'revoke', 'jt_12'], server)).out).toContain('was used by w-1');
    expect((await runCommand(['join-token', 'purge'], server)).out).toBe('3 forgotten.');
  });
});

test('a worker is given a token, or a join token', async () => {
  const flags = ['worker', 'start', '--join', 'msj_x', '--token', 't', 'nowhere.ts'];
  const { code, err } = await runCommand(flags);
  expect(code).toBe(2);
  expect(err).toContain('give one of them');
});
