import { chmodSync, statSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { createTestDatabase, type TestDatabase, testDatabase } from './testing/test-database.ts';

describe.each(['embedded', 'postgres'] as const)('the %s database', (kind) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await testDatabase(kind);
  });
  afterAll(() => database.drop());

  it('reads with Prisma what SQL wrote, and the other way round', async () => {
    await database.query(
      `INSERT INTO deployment (slug, variants, updated_by) VALUES ('assistant', '[{"label": "stable"}]', 'ops')`,
    );
    const read = await database.prisma.deployment.findUnique({ where: { slug: 'assistant' } });
    expect(read).toMatchObject({ slug: 'assistant', variants: [{ label: 'stable' }], revision: 1, updatedBy: 'ops' });
    await database.prisma.workflow.create({
      data: {
        namespace: 'media',
        name: 'transcode',
        createdBy: 'ops',
        versions: {
          create: {
            number: 1,
            maxAttempts: 3,
            fingerprint: Buffer.from('f'),
            createdBy: 'ops',
            routing: { terms: [] },
          },
        },
      },
    });
    const { rows } = await database.query(
      'SELECT w.name, v.routing FROM workflow w JOIN workflow_version v ON v.workflow_id = w.id',
    );
    expect(rows).toEqual([{ name: 'transcode', routing: { terms: [] } }]);
  });

  it('gives int8 as numbers and refuses to round one', async () => {
    const { rows } = await database.query(
      'SELECT count(*) AS n, ARRAY[1, 2]::int8[] AS list, now() AS at FROM leadership',
    );
    expect(rows[0]).toMatchObject({ n: 1, list: [1, 2] });
    expect(rows[0]?.['at']).toBeInstanceOf(Date);
    await expect(database.query('SELECT 9007199254740993::int8 AS n')).rejects.toThrow('does not fit a number');
  });

  it('keeps the parameters of concurrent statements apart, however large', async () => {
    const large = 'x'.repeat(400_000);
    const ask = async (caller: number, i: number): Promise<boolean> => {
      const small = caller % 2 === 0;
      const text = small
        ? `SELECT $1::int + ${caller} AS sum`
        : `SELECT $1::int + ${caller} AS sum, length($2::text) AS size`;
      const { rows } = await database.query(text, small ? [i] : [i, large], { priority: small ? 'hot' : 'request' });
      return rows[0]?.['sum'] === i + caller && (small || rows[0]['size'] === large.length);
    };
    const callers = Array.from({ length: 8 }, async (_, caller) => {
      const right: boolean[] = [];
      for (let i = 0; i < 25; i += 1) right.push(await ask(caller * 1000, i), await ask(caller * 1000 + 1, i));
      return right.every(Boolean);
    });
    expect(await Promise.all(callers)).toEqual(callers.map(() => true));
  });

  it('keeps a transaction to its connection', async () => {
    const one = await database.direct();
    await one.query('BEGIN');
    await one.query(`INSERT INTO workflow (namespace, name, created_by) VALUES ('tx', 'open', 'x')`);
    const count = database.query(`SELECT count(*) AS n FROM workflow WHERE namespace = 'tx'`);
    // Time enough for the count to slip in, if it could.
    for (let i = 0; i < 20; i += 1) await one.query('SELECT 1');
    await one.query('ROLLBACK');
    expect((await count).rows).toEqual([{ n: 0 }]);
    await one.end();
  });

  it('rolls back what a connection leaves open, and goes on', async () => {
    const one = await database.direct();
    one.on('error', () => undefined);
    await one.query('BEGIN');
    await one.query(`INSERT INTO workflow (namespace, name, created_by) VALUES ('tx', 'left', 'x')`);
    (one as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    const { rows } = await database.query(`SELECT count(*) AS n FROM workflow WHERE namespace = 'tx'`);
    expect(rows).toEqual([{ n: 0 }]);
  });

  it('goes on after a statement that fails', async () => {
    await expect(database.query('SELECT nonsense')).rejects.toThrow('column "nonsense" does not exist');
    await expect(database.query('SELECT 1 / $1::int', [0])).rejects.toThrow('division by zero');
    expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('knows the database’s clock', async () => {
    const before = database.now();
    const { rows } = await database.query<{ ms: number }>(
      'SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS ms',
    );
    const after = database.now();
    // Measured over the same way that a statement takes: half of the longest answer so far bounds the error.
    const slack = Math.max(50, after - before);
    expect(rows[0]?.ms).toBeGreaterThan(before - slack);
    expect(rows[0]?.ms).toBeLessThan(after + slack);
  });

  it('gives a connection of its own', async () => {
    const own = await database.dedicated();
    expect((await own.query('SELECT 2 AS two', [], { name: 'two' })).rows).toEqual([{ two: 2 }]);
    await own.close();
  });

  it('counts the rows of a write', async () => {
    const result = await database.query(`UPDATE leadership SET holder = 'me' WHERE one`);
    expect(result.rowCount).toBe(1);
  });
});

describe('prepared statements', () => {
  const names = async (options: { prepare?: boolean }, kind: 'embedded' | 'postgres'): Promise<string[]> => {
    const database = await testDatabase(kind, { ...options, poolSizes: { hot: 1 } });
    await database.query('SELECT $1::int', [1], { name: 'hot_one', priority: 'hot' });
    const { rows } = await database.query<{ name: string }>('SELECT name FROM pg_prepared_statements', [], {
      priority: 'hot',
    });
    await database.drop();
    return rows.map((row) => row.name).filter((name) => name !== '');
  };

  it('are named on PostgreSQL, unless a pooler forbids it, and never on the embedded database', async () => {
    expect(await names({}, 'postgres')).toEqual(['hot_one']);
    expect(await names({ prepare: false }, 'postgres')).toEqual([]);
    expect(await names({ prepare: true }, 'embedded')).toEqual([]);
  });
});

describe('the embedded database', () => {
  it('is for its owner alone, and for one process at a time', async () => {
    const { target, remove } = await createTestDatabase('embedded');
    const { dataDir } = target as { dataDir: string };
    chmodSync(dataDir, 0o755);
    const database = await openDatabase(target);
    expect(statSync(dataDir).mode & 0o077).toBe(0);
    await expect(openDatabase(target)).rejects.toThrow(
      `the data directory ${dataDir} is in use by process ${process.pid}`,
    );
    await database.query(`INSERT INTO workflow (namespace, name, created_by) VALUES ('a', 'kept', 'x')`);
    await database.close();
    const again = await openDatabase(target);
    expect((await again.query('SELECT name FROM workflow')).rows).toEqual([{ name: 'kept' }]);
    await again.close();
    await remove();
  });

  it('opens below a path that is too long for a socket', async () => {
    const { target, remove } = await createTestDatabase('embedded');
    const { dataDir } = target as { dataDir: string };
    const deep = `${dataDir}/${'deep/'.repeat(30)}`;
    const database = await openDatabase({ dataDir: deep });
    expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    await database.close();
    await remove();
  });

  it('takes a hot statement before waiting ones', async () => {
    const database = await testDatabase('embedded');
    const order: string[] = [];
    const note = (what: string) => () => order.push(what);
    // Holds the session while the others arrive.
    const slow = database.query('SELECT count(*) FROM generate_series(1, 3000000)').then(note('slow'));
    const rest = Array.from({ length: 6 }, () => database.query('SELECT 1').then(note('request')));
    const late = database.query('SELECT 1', [], { priority: 'background' }).then(note('background'));
    const hot = database.query('SELECT 1', [], { priority: 'hot' }).then(note('hot'));
    await Promise.all([slow, ...rest, late, hot]);
    expect(order.indexOf('hot')).toBeLessThan(order.lastIndexOf('request'));
    expect(order.at(-1)).toBe('background');
    await database.drop();
  });
});

describe('PostgreSQL', () => {
  it('ends a request’s statement that takes too long', async () => {
    const database = await testDatabase('postgres', { requestTimeoutMs: 50 });
    await expect(database.query('SELECT pg_sleep(20)')).rejects.toThrow('statement timeout');
    await database.drop();
  });

  it('gives a read of a request one second, and administration five', async () => {
    const template = await testDatabase('postgres');
    const database = await openDatabase(String(template.target));
    expect((await database.query('SHOW statement_timeout')).rows).toEqual([{ statement_timeout: '1s' }]);
    expect(await database.prisma.$queryRaw`SHOW statement_timeout`).toEqual([{ statement_timeout: '5s' }]);
    expect((await database.query('SHOW statement_timeout', [], { priority: 'hot' })).rows).toEqual([
      { statement_timeout: '0' },
    ]);
    await database.close();
    await template.drop();
  });

  it('plans no bitmap scan for a request, whose lists stop at a limit', async () => {
    const database = await testDatabase('postgres');
    const show = (priority: 'hot' | 'request' | 'background') =>
      database.query('SHOW enable_bitmapscan', [], { priority }).then(({ rows }) => rows);
    expect(await show('request')).toEqual([{ enable_bitmapscan: 'off' }]);
    expect(await show('hot')).toEqual([{ enable_bitmapscan: 'on' }]);
    await database.drop();
  });

  it('survives the loss of its idle connections', async () => {
    const database = await testDatabase('postgres');
    await database.query('SELECT 1');
    const other = new Client({ connectionString: String(database.target) });
    await other.connect();
    await other.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    );
    await other.end();
    await expect
      .poll(() =>
        database.query('SELECT 1 AS one').then(
          ({ rows }) => rows,
          () => null,
        ),
      )
      .toEqual([{ one: 1 }]);
    await database.drop();
  });

  it('says clearly that it cannot be reached', async () => {
    await expect(openDatabase('postgresql://postgres@localhost/x?host=/nonexistent')).rejects.toThrow('/nonexistent');
  });
});
