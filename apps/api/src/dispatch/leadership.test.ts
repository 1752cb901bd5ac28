import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Leadership } from './leadership.ts';
import { createExecutor, type Executor, type Statement } from './statements/executor.ts';

let database: TestDatabase;
let executor: Executor;
const started: Leadership[] = [];

beforeAll(async () => {
  database = await testDatabase();
  executor = createExecutor(database);
});
afterAll(async () => {
  await Promise.all(started.map((one) => one.close()));
  await database.drop();
});
beforeEach(async () => {
  await database.query(`UPDATE leadership SET epoch = 0, holder = '', expires_at = 'epoch', min_version = 1`);
});

function replica(holder: string, more: { exclusive?: boolean; db?: Executor } = {}) {
  const clock = { time: 0, now: () => 0, monotonic: () => clock.time };
  const told: string[] = [];
  const leadership = new Leadership({
    executor: more.db ?? executor,
    holder,
    clock,
    exclusive: more.exclusive ?? false,
    onGain: (session) => told.push(`+${session.epoch}`),
    onLoss: (session) => told.push(`-${session.epoch}`),
    onError: (error) => told.push(String(error)),
  });
  started.push(leadership);
  return { leadership, clock, told };
}

async function row(): Promise<{ epoch: number; holder: string; left: number }> {
  const { rows } = await database.query<{ epoch: number; holder: string; left: number }>(
    `SELECT epoch, holder, extract(epoch FROM expires_at - clock_timestamp())::float8 AS left FROM leadership`,
  );
  return rows[0] ?? { epoch: -1, holder: '', left: 0 };
}

describe('leadership', () => {
  it('goes to one of several that try at once, for three seconds by the database’s clock', async () => {
    const replicas = ['a', 'b', 'c'].map((name) => replica(name));
    await Promise.all(replicas.map(({ leadership }) => leadership.attempt()));
    const leaders = replicas.filter(({ leadership }) => leadership.current() !== null);
    expect(leaders).toHaveLength(1);
    const { epoch, left } = await row();
    expect(epoch).toBe(1);
    expect(left).toBeGreaterThan(1);
    expect(left).toBeLessThanOrEqual(3);
  });

  it('is over two seconds after the last successful renewal was sent, whatever the row says', async () => {
    const { leadership, clock, told } = replica('a');
    await leadership.attempt();
    clock.time = 1_500;
    await leadership.attempt();
    clock.time = 3_400;
    expect(leadership.current()).toEqual({ epoch: '1', holder: 'a' });
    clock.time = 3_500;
    expect(leadership.current()).toBeNull();
    expect(told).toEqual(['+1', '-1']);
    expect((await row()).left).toBeGreaterThan(0);
  });

  it('counts from the sending, so that a slow answer does not prolong it', async () => {
    const slow: Executor = {
      run: <R extends object>(statement: Statement, values: readonly unknown[]) =>
        executor.run<R>(statement, values).finally(() => {
          slowed.clock.time += 2_500;
        }),
    };
    const slowed = replica('a', { db: slow });
    await slowed.leadership.attempt();
    expect(slowed.leadership.current()).toBeNull();
    expect(slowed.told).not.toContain('+1');
  });

  it('goes to another when the lease has run out, with the next epoch; the old holder cannot renew', async () => {
    const a = replica('a');
    const b = replica('b');
    await a.leadership.attempt();
    await b.leadership.attempt();
    expect(b.leadership.current()).toBeNull();
    await database.query(`UPDATE leadership SET expires_at = clock_timestamp() - interval '1 ms'`);
    await b.leadership.attempt();
    expect(b.leadership.current()).toEqual({ epoch: '2', holder: 'b' });
    await a.leadership.attempt();
    expect(a.leadership.current()).toBeNull();
    expect(a.told).toEqual(['+1', '-1']);
    expect(await row()).toMatchObject({ epoch: 2, holder: 'b' });
  });

  it('is given back at the end, so that nobody waits for the lease', async () => {
    const a = replica('a');
    const b = replica('b');
    await a.leadership.attempt();
    await a.leadership.close();
    await b.leadership.attempt();
    expect(b.leadership.current()).toEqual({ epoch: '2', holder: 'b' });
  });

  it('need not be waited for where the database belongs to one process', async () => {
    const a = replica('a');
    const b = replica('b', { exclusive: true });
    await a.leadership.attempt();
    await b.leadership.attempt();
    expect(b.leadership.current()).toEqual({ epoch: '2', holder: 'b' });
  });

  it('is not for replicas that are too old for the tables', async () => {
    await database.query('UPDATE leadership SET min_version = 2');
    const { leadership } = replica('a');
    await leadership.attempt();
    expect(leadership.current()).toBeNull();
  });

  it('survives a database that does not answer', async () => {
    let broken = true;
    const { leadership, told } = replica('a', {
      db: {
        run: (statement, values) => (broken ? Promise.reject(new Error('gone')) : executor.run(statement, values)),
      },
    });
    await leadership.attempt();
    broken = false;
    await leadership.attempt();
    expect(told).toEqual(['Error: gone', '+1']);
  });
});
