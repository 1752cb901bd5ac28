import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from 'pg';
import type { Database } from './database.ts';

/** The lock that the Prisma CLI takes too. */
const LOCK_ID = 72_707_369;
const LOCK_WAIT = '60s';
const NO_TRANSACTION = /^-- no-transaction\s*$/m;
const SECRETS = ['idempotency', 'cookie', 'execution-token'];
const SECRET_BYTES = 32;

interface Applied {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/**
 * Brings the database up to date: runs what is new in the migrations directory, in order of name, and makes the secrets that are missing. Keeps Prisma's
 * own `_prisma_migrations` table, so that its CLI agrees. Each file is one transaction that waits 5 s for a lock at most; a file with a line
 * `-- no-transaction` holds one statement that may be repeated. Several replicas may call this at once: one works, the others wait.
 *
 * @returns the names of the migrations that were applied now.
 * @throws Error where an applied file was edited, or a migration fails: the database is then as it was before that file.
 */
export async function migrate(
  database: Pick<Database, 'direct' | 'kind'>,
  options: { migrationsDir?: string } = {},
): Promise<string[]> {
  const files = readMigrations(options.migrationsDir ?? migrationsDir());
  const client = await database.direct();
  try {
    // Only this session, which ends below. The embedded database is one session for all, and its data directory is locked already.
    if (database.kind === 'postgres') await client.query(`SET lock_timeout = '${LOCK_WAIT}'`);
    if (database.kind === 'postgres') await client.query('SELECT pg_advisory_lock($1)', [LOCK_ID]);
    const applied = await apply(client, files);
    await makeSecrets(client);
    return applied;
  } finally {
    await client.end();
  }
}

interface MigrationFile {
  name: string;
  sql: string;
  checksum: string;
}

function readMigrations(dir: string): MigrationFile[] {
  const names = readdirSync(dir).filter((name) => existsSync(join(dir, name, 'migration.sql')));
  return names.sort().map((name) => {
    const bytes = readFileSync(join(dir, name, 'migration.sql'));
    return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') };
  });
}

async function apply(client: Client, files: readonly MigrationFile[]): Promise<string[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
    id varchar(36) PRIMARY KEY NOT NULL, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL,
    logs text, rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`);
  const { rows } = await client.query<Applied>(
    'SELECT migration_name, checksum, finished_at FROM "_prisma_migrations" WHERE rolled_back_at IS NULL',
  );
  const known = new Map(rows.map((row) => [row.migration_name, row]));
  const applied: string[] = [];
  for (const file of files) {
    const before = known.get(file.name);
    const repeatable = NO_TRANSACTION.test(file.sql);
    if (before?.finished_at) {
      if (before.checksum !== file.checksum) {
        throw new Error(
          `migration ${file.name} was edited after it was applied: restore the file and add a new migration`,
        );
      }
      continue;
    }
    if (before !== undefined && !repeatable) {
      throw new Error(
        `migration ${file.name} failed before: repair the database, then mark it with "prisma migrate resolve --rolled-back ${file.name}"`,
      );
    }
    try {
      await (repeatable ? applyAlone(client, file, before !== undefined) : applyInTransaction(client, file));
    } catch (error) {
      throw new Error(`migration ${file.name} failed: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    applied.push(file.name);
  }
  return applied;
}

async function applyInTransaction(client: Client, file: MigrationFile): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query("SET LOCAL lock_timeout = '5s'");
    await client.query(file.sql);
    await record(client, file, true);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

async function applyAlone(client: Client, file: MigrationFile, begun: boolean): Promise<void> {
  if (!begun) await record(client, file, false);
  await client.query(file.sql);
  await client.query(
    'UPDATE "_prisma_migrations" SET finished_at = now(), applied_steps_count = 1, checksum = $2 WHERE migration_name = $1 AND rolled_back_at IS NULL',
    [file.name, file.checksum],
  );
}

async function record(client: Client, file: MigrationFile, finished: boolean): Promise<void> {
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, CASE WHEN $4::bool THEN clock_timestamp() END, $4::bool::int)`,
    [randomUUID(), file.checksum, file.name, finished],
  );
}

async function makeSecrets(client: Client): Promise<void> {
  for (const name of SECRETS) {
    await client.query('INSERT INTO secret (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING', [
      name,
      randomBytes(SECRET_BYTES),
    ]);
  }
}

/** Beside this module in a bundle, above it in the sources. */
function migrationsDir(): string {
  const bundled = fileURLToPath(new URL('./migrations/', import.meta.url));
  return existsSync(bundled) ? bundled : fileURLToPath(new URL('../migrations/', import.meta.url));
}
