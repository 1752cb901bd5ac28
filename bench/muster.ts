import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Client, createClient } from 'graphql-ws';
import WebSocket from 'ws';
import type { Contestant, Payload } from './contestant.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const token = 'bench-token-of-one-run-only';

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  if (typeof address !== 'object' || !address) throw new Error('no port');
  return address.port;
}

async function waitFor(what: string, ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 20_000; tries += 1) {
    if (await ask().catch(() => null)) return;
    await delay(50);
  }
  throw new Error(`waited in vain: ${what}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** One operation over the socket; throws its errors. */
export async function ask<T extends Record<string, unknown>>(
  client: Client,
  query: string,
  variables?: Record<string, unknown>,
): Promise<T> {
  for await (const { data, errors } of client.iterate<T>({ query, variables })) {
    if (errors || !data) throw new Error(JSON.stringify(errors));
    return data;
  }
  throw new Error('no answer');
}

const ended = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);
const counts = '{ executionCounts { state count } }';
const connected = '{ worker(name: "bench-1") { connected } }';

interface Connected {
  readonly [key: string]: unknown;
  readonly worker: { readonly connected: boolean } | null;
}

/** What a dashboard needs besides. */
export interface Muster extends Contestant {
  readonly url: string;
  readonly client: Client;
}

/** The built server as a process, a worker as another, and one WebSocket for submitting; every decision is stored. `databaseUrl` null: the embedded database. */
export async function muster(databaseUrl: string | null): Promise<Muster> {
  const port = await freePort();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'muster-bench-'));
  // `MUSTER_BENCH_PROFILE=FOLDER` keeps what the server's processor time went into, for Chromium's developer tools.
  const profile = process.env['MUSTER_BENCH_PROFILE'];
  const nodeArgs = profile ? ['--cpu-prof', `--cpu-prof-dir=${profile}`] : [];
  const server = spawn(
    process.execPath,
    [...nodeArgs, path.join(root, 'packages/cli/dist/muster.mjs'), 'serve', '--no-demo'],
    {
      env: {
        ...process.env,
        PORT: String(port),
        DATABASE_URL: databaseUrl ?? '',
        MUSTER_DATA_DIR: dataDir,
        MUSTER_ADMIN_TOKEN: token,
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  const url = `http://127.0.0.1:${port}`;
  await waitFor('the server is ready', async () => (await fetch(`${url}/readyz`)).ok);
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token },
    lazy: false,
  });
  await ask(
    client,
    'mutation { registerWorkflow(input: { namespace: "bench", name: "nothing", routing: "score(least(load()))" }) { created } }',
  );

  /** Counts of ended executions are bounded, those that are open are few: done when none is left. */
  const open = async () => {
    const { executionCounts } = await ask<{ executionCounts: { state: string; count: number }[] }>(client, counts);
    return executionCounts.filter((item) => !ended.has(item.state)).reduce((sum, item) => sum + item.count, 0);
  };
  const runInput = (input: Payload) => ({ workflow: 'bench/nothing', input });

  return {
    url,
    client,
    name: 'Muster',
    how: 'runWorkflows of 500 over one WebSocket; one worker, capacity 1,000; every decision stored',
    submitMany: async (payloads) => {
      await ask(
        client,
        'mutation Many($input: RunWorkflowsInput!) { runWorkflows(input: $input) { results { id } } }',
        {
          input: { runs: payloads.map(runInput) },
        },
      );
    },
    submitOne: async (payload) => {
      await ask(client, 'mutation One($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }', {
        input: runInput(payload),
      });
    },
    drain: async (count) => {
      const worker = spawn(
        process.execPath,
        ['--import', 'tsx', path.join(root, 'bench/muster-worker.ts'), url, token],
        {
          cwd: root,
          stdio: ['ignore', 'ignore', 'inherit'],
        },
      );
      await waitFor('the worker is connected', async () => (await ask<Connected>(client, connected)).worker?.connected);
      const begun = performance.now();
      await waitFor(`${count} executions completed`, async () => (await open()) === 0);
      const elapsed = performance.now() - begun;
      await end(worker);
      return elapsed;
    },
    close: async () => {
      await client.dispose();
      await end(server);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
