import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, testDatabaseKind } from '@muster/db/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../testing/test-app.ts';

/** Real processes, killed without notice: two replicas on PostgreSQL, one after the other on the embedded database. */
const tsx = createRequire(import.meta.url).resolve('tsx');
const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const cluster = testDatabaseKind() === 'postgres';

interface Server {
  process: ChildProcess;
  url: string;
  output(): string;
}

interface Executions {
  executions: { nodes: { scheduleRun: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
}

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let dataDir: string;
const servers: Server[] = [];

beforeAll(async () => {
  database = await createTestDatabase(testDatabaseKind());
  const { target } = database;
  dataDir = typeof target === 'string' ? await mkdtemp(join(tmpdir(), 'muster-cluster-')) : target.dataDir;
});
afterAll(async () => {
  for (const server of servers) await kill(server);
  await database.remove();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(): Promise<Server> {
  const { target } = database;
  const child = spawn(process.execPath, ['--import', tsx, main], {
    env: {
      PATH: process.env['PATH'],
      PORT: '0',
      MUSTER_DATA_DIR: dataDir,
      MUSTER_ADMIN_TOKEN: 'cluster-token-cluster-token-cluster-token',
      LOG_LEVEL: 'info',
      ...(typeof target === 'string' ? { DATABASE_URL: target } : {}),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const server: Server = { process: child, url: '', output: () => text };
  servers.push(server);
  child.stdout.on('data', (chunk) => (text += String(chunk)));
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  server.url = await until(() => /is up: (http:\/\/[^/]+)\//.exec(text)?.[1], 'a server');
  return server;
}

async function kill(server: Server): Promise<void> {
  if (server.process.exitCode !== null || server.process.signalCode !== null) return;
  const ended = new Promise((resolve) => server.process.once('exit', resolve));
  server.process.kill('SIGKILL');
  await ended;
}

/** The data of an answer without errors, of the shape that the query asks for. */
async function ask<TData>({ url }: Server, query: string): Promise<TData> {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data, errors } = (await response.json()) as { data: TData; errors?: unknown };
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

const token = async (): Promise<string> =>
  (
    await readFile(join(dataDir, 'admin-token'), 'utf8').catch(() => 'cluster-token-cluster-token-cluster-token')
  ).trim();

const leads = (server: Server): boolean => server.output().includes('dispatching now');
const startedCount = async (server: Server): Promise<number> =>
  (await ask<{ schedule: { startedCount: number } }>(server, '{ schedule(name: "seconds") { startedCount } }')).schedule
    .startedCount;

it('every second has one execution, while leaders are killed', async () => {
  const first = await start();
  await until(() => leads(first), 'the first leader');
  const second = cluster ? await start() : null;
  await ask(first, 'mutation { registerWorkflow(input: { name: "tick" }) { created } }');
  await ask(
    first,
    'mutation { createSchedule(input: { name: "seconds", cron: "* * * * * *", workflow: "tick", overlap: ALLOW, catchUpLimit: 100 }) { warnings } }',
  );
  await until(async () => (await startedCount(first)) >= 3, 'runs');
  await kill(first);
  const next = second ?? (await start());
  await until(() => leads(next), 'the next leader');
  const sofar = await startedCount(next);
  await until(async () => (await startedCount(next)) >= sofar + 5, 'runs of the next leader');
  await ask(next, 'mutation { pauseSchedule(input: { name: "seconds" }) { warnings } }');

  const runs: number[] = [];
  for (let after = ''; ; ) {
    const { executions } = await ask<Executions>(
      next,
      `{ executions(first: 200${after}) { nodes { scheduleRun } pageInfo { hasNextPage endCursor } } }`,
    );
    runs.push(...executions.nodes.map((node) => Date.parse(node.scheduleRun) / 1_000));
    if (!executions.pageInfo.hasNextPage) break;
    after = `, after: "${executions.pageInfo.endCursor}"`;
  }
  runs.sort((a, b) => a - b);
  expect(runs.length).toBeGreaterThanOrEqual(8);
  expect(runs).toEqual(runs.map((_, i) => (runs[0] ?? 0) + i));
  expect(await ask(next, '{ schedule(name: "seconds") { missedCount skippedCount failedCount } }')).toEqual({
    schedule: { missedCount: 0, skippedCount: 0, failedCount: 0 },
  });
}, 180_000);
