import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { migrate, openDatabase } from '@muster/db';
import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { workflow } from '@muster/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type App, createApp } from './app.ts';
import { readConfig } from './config.ts';
import { createLog } from './log.ts';
import { until } from './testing/test-app.ts';

/** A database as the release before left it: its migrations, its data, its way to write the audit. */
const BEFORE = ['20261130040000_initial', '20261130090000_durable_steps', '20261130091000_schedules'];
const migrations = fileURLToPath(new URL('../../../prisma/migrations/', import.meta.url));

let app: App | undefined;
let remove: () => Promise<void>;
let dataDir: string;
let execution: string;

async function fill(target: Parameters<typeof openDatabase>[0], migrationsDir: string): Promise<void> {
  const database = await openDatabase(target, { requestTimeoutMs: 30_000 });
  await database.query('DROP SCHEMA public CASCADE');
  await database.query('CREATE SCHEMA public');
  expect(await migrate(database, { migrationsDir })).toEqual(BEFORE);
  await database.query(
    `WITH w AS (INSERT INTO workflow (namespace, name, description, created_by) VALUES ('default', 'echo', 'old', 'admin') RETURNING id)
     INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 1, '\\x00', 'admin' FROM w`,
  );
  const variants = [{ label: 'a', flowId: 'default/echo', versionId: null, weight: 1, targetRoles: [], labels: {} }];
  await database.query(`INSERT INTO deployment (slug, variants, updated_by) VALUES ('chat', $1, 'admin')`, [
    JSON.stringify(variants),
  ]);
  await database.query(
    `INSERT INTO deployment_revision (deployment_id, revision, variants, author) SELECT id, 1, variants, 'admin' FROM deployment`,
  );
  await database.query(
    `INSERT INTO schedule (name, kind, cron, workflow, overlap, paused, created_by, updated_by) VALUES ('nightly', 'CRON', '0 3 * * *', 'default/echo', 'SKIP', true, 'admin', 'admin')`,
  );
  execution = database.uuidv7();
  await database.query(
    `INSERT INTO execution (id, version_id, submitted_by, input, created_at, queued_at, updated_at) SELECT $1, id, 'admin', '{"from": "before"}', now(), now(), now() FROM workflow_version`,
    [execution],
  );
  const principal = `INSERT INTO principal (name, kind, roles, created_by) VALUES ('anna', 'USER', '{viewer}', 'admin') RETURNING id`;
  await database.query(
    `WITH p AS (${principal}) INSERT INTO token (principal_id, name, prefix, hash, created_by) SELECT id, 'old', 'mst_x', '\\x01', 'admin' FROM p`,
  );
  for (const [action, data] of [
    ['deployment.create', { revision: 1, variants, comment: null }],
    ['deployment.update', { revision: 2, before: [1], after: [2], comment: 'more' }],
    ['worker.availability', { before: 'ACTIVE', after: 'CORDONED' }],
    ['worker.remove', {}],
  ] as const) {
    await database.query(
      `INSERT INTO audit (id, at, actor, action, target, request_id, data) VALUES ($1, now(), 'admin', $2, 'old:one', 'rq', $3)`,
      [database.uuidv7(), action, JSON.stringify(data)],
    );
  }
  await database.close();
}

beforeAll(async () => {
  const migrationsDir = mkdtempSync(join(tmpdir(), 'muster-before-'));
  for (const name of BEFORE) cpSync(join(migrations, name), join(migrationsDir, name), { recursive: true });
  const created = await createTestDatabase(testDatabaseKind());
  const { target } = created;
  dataDir = typeof target === 'string' ? mkdtempSync(join(tmpdir(), 'muster-upgrade-')) : target.dataDir;
  remove = async () => {
    await created.remove();
    for (const dir of [dataDir, migrationsDir]) rmSync(dir, { recursive: true, force: true });
  };
  await fill(target, migrationsDir);
  const where = typeof target === 'string' ? { databaseUrl: target, databaseDirectUrl: target } : {};
  const config = readConfig({}, { port: 0, workerName: 'api-test', embeddedWorker: true, dataDir, ...where });
  const log = createLog('error', { write: () => undefined });
  app = await createApp(config, { log, workflows: [workflow({ name: 'echo' }, (ctx) => ctx.input)] });
}, 400_000);
afterAll(async () => {
  await app?.close();
  await remove();
});

// oxlint-disable-next-line typescript/no-explicit-any
async function ask(query: string): Promise<any> {
  const response = await fetch(`${app?.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${app?.adminToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = await response.json();
  expect(errors).toBeUndefined();
  return data;
}

describe('a database of the release before', () => {
  it('has its work done', async () => {
    const id = `ex_${execution.replaceAll('-', '')}`;
    const done = await until(async () => {
      const { execution: found } = await ask(`{ execution(id: "${id}") { state output } }`);
      return found.state === 'COMPLETED' && found;
    }, 'the execution that waited');
    expect(done.output).toEqual({ from: 'before' });
    const { runDeployment } = await ask(
      'mutation { runDeployment(input: { deployment: "chat", waitSeconds: 30 }) { execution { state } } }',
    );
    expect(runDeployment.execution.state).toBe('COMPLETED');
  });

  it('is changed further, with everything that the audit knows now', async () => {
    await ask(
      'mutation { updateDeployment(input: { slug: "chat", expectedRevision: 1, description: "new" }) { deployment { revision } } }',
    );
    await ask('mutation { resumeSchedule(input: { name: "nightly" }) { schedule { nextAt } } }');
    await ask('mutation { registerWorkflow(input: { name: "echo", description: "new" }) { created } }');
    const { auditEntries } = await ask(
      '{ auditEntries(first: 20, filter: { actor: "admin" }) { nodes { action address before after } } }',
    );
    const found = new Map(auditEntries.nodes.map((entry: { action: string }) => [entry.action, entry]));
    expect(found.get('deployment.rollback')).toBeUndefined();
    expect(found.get('schedule.resume')).toMatchObject({ before: { paused: true }, after: { paused: false } });
    expect(found.get('worker.availability')).toEqual({
      action: 'worker.availability',
      address: null,
      before: 'ACTIVE',
      after: 'CORDONED',
    });
    const entries = auditEntries.nodes.filter(({ address }: { address: string | null }) => address === null);
    expect(entries.map(({ before, after }: { before: unknown; after: unknown }) => [before, after])).toEqual([
      [null, null],
      ['ACTIVE', 'CORDONED'],
      [[1], { revision: 2, after: [2], comment: 'more' }],
      [null, { revision: 1, variants: expect.any(Array), comment: null }],
    ]);
  });

  it('has its old entries sealed before the new ones', async () => {
    await until(async () => {
      const { auditEntries } = await ask('{ auditEntries(first: 50) { nodes { sealed } } }');
      return auditEntries.nodes.every(({ sealed }: { sealed: boolean }) => sealed);
    }, 'the seals');
    const { auditEntries } = await ask('{ auditEntries(last: 4) { nodes { position action } } }');
    expect(auditEntries.nodes.map(({ position }: { position: number }) => position)).toEqual([4, 3, 2, 1]);
  });

  it('still knows its people, and what they are called', async () => {
    const { principal } = await ask(
      '{ principal(name: "anna") { roles disabled hasPassword tokens { name status } } }',
    );
    expect(principal).toEqual({
      roles: ['viewer'],
      disabled: false,
      hasPassword: false,
      tokens: [{ name: 'old', status: 'ACTIVE' }],
    });
  });
});
