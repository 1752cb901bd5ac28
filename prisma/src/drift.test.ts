import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeSchema } from './testing/schema-snapshot.ts';
import { type TestDatabase, testDatabase } from './testing/test-database.ts';

const prismaCli = createRequire(import.meta.url).resolve('prisma/build/index.js');
const root = fileURLToPath(new URL('../../', import.meta.url));
const snapshot = readFileSync(new URL('../schema.snapshot.sql', import.meta.url), 'utf8');

function prisma(args: string[], url: string): Promise<{ stdout: string }> {
  const env = { ...process.env, DATABASE_URL: url };
  return promisify(execFile)(process.execPath, [prismaCli, ...args], { cwd: root, env });
}

describe('drift', () => {
  let postgres: TestDatabase;
  let embedded: TestDatabase;
  beforeAll(async () => {
    [postgres, embedded] = await Promise.all([testDatabase('postgres'), testDatabase('embedded')]);
  });
  afterAll(async () => {
    await postgres.drop();
    await embedded.drop();
  });

  it('is none between the migrations and schema.prisma', async () => {
    const diff = [
      'migrate',
      'diff',
      '--from-migrations',
      'prisma/migrations',
      '--to-schema',
      'prisma/schema.prisma',
      '--exit-code',
    ];
    const { stdout } = await prisma(diff, 'pglite:');
    expect(stdout).toContain('No difference detected');
  });

  it('is none between a migrated PostgreSQL and the committed snapshot', async () => {
    expect(await describeSchema(postgres)).toBe(snapshot);
  });

  it('is none between the two homes of the schema', async () => {
    expect(await describeSchema(embedded)).toBe(snapshot);
  });

  it('shows what Prisma cannot see', async () => {
    await postgres.query('ALTER TABLE worker_pulse SET LOGGED');
    await postgres.query('ALTER TABLE execution SET (fillfactor = 100)');
    const changed = (await describeSchema(postgres)).split('\n').filter((line) => !snapshot.split('\n').includes(line));
    expect(changed).toEqual(['TABLE execution WITH (fillfactor=100)', 'TABLE worker_pulse WITH (fillfactor=50)']);
  });

  it('is none for Prisma’s own migrate status, after our migrator', async () => {
    const { stdout } = await prisma(['migrate', 'status'], String(postgres.target));
    expect(stdout).toContain('Database schema is up to date');
  });
});
