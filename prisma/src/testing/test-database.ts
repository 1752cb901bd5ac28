import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type Database, type DatabaseTarget, type OpenOptions, openDatabase } from '../database.ts';
import { migrate } from '../migrate.ts';
import { copyEmbeddedTemplate } from './embedded-template.ts';
import { startPostgresCluster } from './postgres-cluster.ts';

export type TestDatabaseKind = 'embedded' | 'postgres';

/** Where a test run keeps the URL of its PostgreSQL; set by the global set-up, so that all test processes share one server. */
export const POSTGRES_URL_VARIABLE = 'MUSTER_TEST_POSTGRES_URL';
const KIND_VARIABLE = 'MUSTER_TEST_DATABASE';
const TEMPLATE = 'muster_template';

export interface TestDatabase extends Database {
  /** What another process (or openDatabase) opens it by; an embedded one only after `close`. */
  readonly target: DatabaseTarget;
  /** Closes and removes it. */
  drop(): Promise<void>;
}

/** The database that this run of the tests is about: MUSTER_TEST_DATABASE, else embedded. */
export function testDatabaseKind(): TestDatabaseKind {
  const kind = process.env[KIND_VARIABLE] ?? 'embedded';
  if (kind !== 'embedded' && kind !== 'postgres') {
    throw new Error(`${KIND_VARIABLE} is "embedded" or "postgres", not "${kind}"`);
  }
  return kind;
}

/** Tests fill tables by the same queries that in a server are requests. */
const FILLING_MS = 5_000;

/** A migrated, empty database for one test file. */
export async function testDatabase(
  kind: TestDatabaseKind = testDatabaseKind(),
  options: OpenOptions = {},
): Promise<TestDatabase> {
  const { target, remove } = await createTestDatabase(kind);
  const database = await openDatabase(target, { requestTimeoutMs: FILLING_MS, ...options });
  // The template's secrets are nobody's.
  await migrate(database);
  return extend(database, target, remove);
}

/**
 * A migrated, empty database that nobody has opened yet, e.g. for a server that a test starts: by its URL or its data directory.
 */
export async function createTestDatabase(
  kind: TestDatabaseKind = testDatabaseKind(),
): Promise<{ target: DatabaseTarget; remove: () => Promise<void> }> {
  if (kind === 'embedded') {
    const dataDir = mkdtempSync(join(tmpdir(), 'muster-test-'));
    await copyEmbeddedTemplate(dataDir);
    return { target: { dataDir }, remove: async () => rmSync(dataDir, { recursive: true, force: true }) };
  }
  const server = await postgresUrl();
  const name = `t_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`);
  return {
    target: withDatabase(server, name),
    remove: () => onServer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

function extend(database: Database, target: DatabaseTarget, remove: () => Promise<void>): TestDatabase {
  const drop = async (): Promise<void> => {
    await database.close();
    await remove();
  };
  // `prisma` is a getter, which a spread would call.
  return Object.defineProperties({} as TestDatabase, {
    ...Object.getOwnPropertyDescriptors(database),
    target: { value: target, enumerable: true },
    drop: { value: drop, enumerable: true },
  });
}

let own: Promise<string> | undefined;

/** The run's server, or one of this process's own, which goes with it. */
async function postgresUrl(): Promise<string> {
  const shared = process.env[POSTGRES_URL_VARIABLE];
  if (shared !== undefined && shared !== '') return shared;
  own ??= startTestServer().then(({ url }) => url);
  return own;
}

/** A server with the template that every test database is a copy of. */
export async function startTestServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const cluster = await startPostgresCluster();
  await onServer(cluster.url, `CREATE DATABASE ${TEMPLATE}`);
  const template = await openDatabase(cluster.urlOf(TEMPLATE));
  await migrate(template);
  await template.query('DELETE FROM secret');
  await template.close();
  return cluster;
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
