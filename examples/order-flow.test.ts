import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RealServer } from '@muster/worker/testing/real-server';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

/** The order of docs/durable-execution.md, on a worker as a user starts it: a process of its own, from the file. */
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FLOW = 'examples/typescript/order-flow.ts';
const patience = { timeout: 60_000, interval: 100 };
const server = new RealServer();
let worker: ChildProcess;

beforeAll(async () => {
  await server.start();
  const args = ['--import', 'tsx', join(ROOT, 'packages/cli/src/main.ts'), 'worker', 'start', FLOW];
  const options = ['--name', 'orders-1', '--role', 'worker', '--server', server.url, '--token', server.token];
  // One slot: an order must not take what its parcels need.
  worker = spawn(process.execPath, [...args, ...options, '--capacity', '1'], {
    cwd: ROOT,
    env: { ...process.env, LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await vi.waitFor(async () => {
    const asked = await ask<{ worker: { eligible: boolean } | null }>('{ worker(name: "orders-1") { eligible } }');
    expect(asked.worker?.eligible).toBe(true);
  }, patience);
}, 180_000);

afterAll(async () => {
  const gone = new Promise((resolve) => worker.once('exit', resolve));
  worker.kill('SIGTERM');
  await gone;
  await server.remove();
}, 60_000);

async function ask<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = (await response.json()) as { data: T; errors?: { message: string }[] };
  if (errors !== undefined) throw new Error(errors.map((error) => error.message).join('; '));
  return data;
}

interface Execution {
  readonly id: string;
  readonly state: string;
  readonly output: unknown;
  readonly waitingFor: { readonly kind: string; readonly name: string | null } | null;
  readonly children: { readonly nodes: readonly { readonly workflowRef: string; readonly state: string }[] };
}

const fields = 'id state output waitingFor { kind name } children(first: 10) { nodes { workflowRef state } }';

async function start(input: unknown): Promise<string> {
  const { runWorkflow } = await ask<{ runWorkflow: { execution: { id: string } } }>(
    'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
    { input: { workflow: 'examples/order', input } },
  );
  return runWorkflow.execution.id;
}

async function show(id: string): Promise<Execution> {
  const query = `query ($id: ID!) { execution(id: $id) { ${fields} } }`;
  return (await ask<{ execution: Execution }>(query, { id })).execution;
}

async function resume(id: string, input: unknown): Promise<void> {
  const mutation = 'mutation ($input: ResumeExecutionInput!) { resumeExecution(input: $input) { execution { id } } }';
  await ask(mutation, { input: { id, input } });
}

describe('an order', () => {
  it('waits for its approval, is charged and packed by children, on one slot', async () => {
    const id = await start({ customer: 'c-7', items: ['lamp', 'desk'] });
    await expect
      .poll(() => show(id), patience)
      .toMatchObject({ state: 'PAUSED', waitingFor: { kind: 'RESUME', name: 'approval' } });
    await resume(id, { approved: true });
    await expect.poll(async () => (await show(id)).state, patience).toBe('COMPLETED');
    const parcels = [
      { item: 'lamp', parcel: 'parcel of lamp' },
      { item: 'desk', parcel: 'parcel of desk' },
    ];
    const execution = await show(id);
    expect(execution.output).toMatchObject({ state: 'shipped', total: 500, receipt: 'c-7-500-1', parcels });
    expect(execution.children.nodes).toEqual([
      { workflowRef: 'examples/pack', state: 'COMPLETED' },
      { workflowRef: 'examples/pack', state: 'COMPLETED' },
    ]);
  }, 120_000);

  it('is refused by an answer that says so', async () => {
    const id = await start({ customer: 'c-8', items: ['lamp', 'desk', 'chair'] });
    await expect.poll(async () => (await show(id)).state, patience).toBe('PAUSED');
    await resume(id, { approved: false });
    await expect.poll(() => show(id), patience).toMatchObject({ output: { state: 'refused', total: 750 } });
  }, 120_000);
});

describe('docs/durable-execution.md', () => {
  it('shows nothing but code that runs here', async () => {
    const [page, flow] = await Promise.all(
      ['docs/durable-execution.md', FLOW].map((file) => readFile(join(ROOT, file), 'utf8')),
    );
    const blocks = [...(page ?? '').matchAll(/```ts\n([^]*?)```/g)].map(([, code]) => code);
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(flow).toContain(block);
  });
});
