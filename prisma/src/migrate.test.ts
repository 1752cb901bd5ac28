import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openDatabase } from './database.ts';
import { migrate } from './migrate.ts';
import { createTestDatabase, type TestDatabase, testDatabase } from './testing/test-database.ts';

describe.each(['embedded', 'postgres'] as const)('migrations on %s', (kind) => {
  let database: TestDatabase;
  let migrationsDir: string;
  beforeAll(async () => {
    database = await testDatabase(kind);
  });
  afterAll(() => database.drop());
  beforeEach(() => {
    migrationsDir = mkdtempSync(join(tmpdir(), 'muster-migrations-'));
  });
  afterEach(() => rmSync(migrationsDir, { recursive: true }));

  const write = (name: string, sql: string): void => {
    mkdirSync(join(migrationsDir, name), { recursive: true });
    writeFileSync(join(migrationsDir, name, 'migration.sql'), sql);
  };
  const tables = async (pattern: string): Promise<string[]> => {
    const { rows } = await database.query<{ name: string }>(
      `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename LIKE $1 ORDER BY 1`,
      [pattern],
    );
    return rows.map((row) => row.name);
  };

  it('have nothing to do a second time', async () => {
    expect(await migrate(database)).toEqual([]);
  });

  it('keep their own secrets, once made', async () => {
    const read = () => database.query<{ name: string; value: Buffer }>('SELECT name, value FROM secret ORDER BY name');
    const before = (await read()).rows;
    expect(before.map((row) => [row.name, row.value.length])).toEqual([
      ['cookie', 32],
      ['execution-token', 32],
      ['idempotency', 32],
    ]);
    await migrate(database);
    expect((await read()).rows).toEqual(before);
  });

  it('apply in order of name, and only what is new', async () => {
    write('20990101_a', 'CREATE TABLE order_a (id int)');
    write('20990102_b', 'CREATE TABLE order_b AS SELECT * FROM order_a; CREATE TABLE order_c (id int)');
    expect(await migrate(database, { migrationsDir })).toEqual(['20990101_a', '20990102_b']);
    expect(await tables('order\\__')).toEqual(['order_a', 'order_b', 'order_c']);
    expect(await migrate(database, { migrationsDir })).toEqual([]);
  });

  it('refuse a file that was edited after it was applied', async () => {
    write('20990201_edited', 'SELECT 1');
    await migrate(database, { migrationsDir });
    write('20990201_edited', 'SELECT 2');
    await expect(migrate(database, { migrationsDir })).rejects.toThrow(
      'migration 20990201_edited was edited after it was applied: restore the file and add a new migration',
    );
  });

  it('leave nothing of a file that fails, and succeed once it is mended', async () => {
    write('20990301_failing', 'CREATE TABLE half_done (id int); SELECT nonsense');
    await expect(migrate(database, { migrationsDir })).rejects.toThrow(
      /^migration 20990301_failing failed: .*nonsense/,
    );
    expect(await tables('half_done')).toEqual([]);
    write('20990301_failing', 'CREATE TABLE half_done (id int)');
    expect(await migrate(database, { migrationsDir })).toEqual(['20990301_failing']);
  });

  it('wait at most 5 s for a lock inside a transaction', async () => {
    write('20990401_timeout', `CREATE TABLE timeouts AS SELECT current_setting('lock_timeout') AS value`);
    await migrate(database, { migrationsDir });
    const { rows } = await database.query('SELECT value FROM timeouts');
    expect(rows).toEqual([{ value: '5s' }]);
  });

  it('repeat a statement that needs no transaction', async () => {
    write(
      '20990501_alone',
      '-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS alone ON workflow (description, nonsense)',
    );
    await expect(migrate(database, { migrationsDir })).rejects.toThrow('20990501_alone failed');
    write(
      '20990501_alone',
      '-- no-transaction\nCREATE INDEX CONCURRENTLY IF NOT EXISTS alone ON workflow (description)',
    );
    expect(await migrate(database, { migrationsDir })).toEqual(['20990501_alone']);
    expect(await migrate(database, { migrationsDir })).toEqual([]);
  });

  it('refuse to go on after a migration that another tool left half done', async () => {
    write('20990601_half', 'SELECT 1');
    await database.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name) VALUES ('x', 'y', '20990601_half')`,
    );
    await expect(migrate(database, { migrationsDir })).rejects.toThrow(
      'prisma migrate resolve --rolled-back 20990601_half',
    );
    await database.query(`DELETE FROM "_prisma_migrations" WHERE id = 'x'`);
  });
});

describe('replicas that start at once', () => {
  it('migrate once', async () => {
    const { target, remove } = await createTestDatabase('postgres');
    const migrationsDir = mkdtempSync(join(tmpdir(), 'muster-migrations-'));
    mkdirSync(join(migrationsDir, '20990101_once'));
    writeFileSync(
      join(migrationsDir, '20990101_once', 'migration.sql'),
      'SELECT pg_sleep(0.2); CREATE TABLE once (id int)',
    );
    const replicas = await Promise.all([1, 2, 3].map(() => openDatabase(target)));
    const applied = await Promise.all(replicas.map((replica) => migrate(replica, { migrationsDir })));
    expect(applied.flat()).toEqual(['20990101_once']);
    await Promise.all(replicas.map((replica) => replica.close()));
    rmSync(migrationsDir, { recursive: true });
    await remove();
  });
});
