import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient, type TypedDocument, WorkerShowDocument, WorkflowRunDocument } from '@muster/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { asking } from '../testing/child-flows.ts';
import { RealServer } from '../testing/real-server.ts';
import { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { type Workflow, workflow } from '../workflow.ts';

const patience = { timeout: 100_000, interval: 100 };
// Credentials that live so short are renewed while the tests run.
const server = new RealServer({ MUSTER_WORKER_CREDENTIAL_SECONDS: '60' });
const dir = mkdtempSync(join(tmpdir(), 'muster-joined-'));
let client: Client;
const started: Worker[] = [];

beforeAll(async () => {
  await server.start();
  client = server.client;
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await server.remove();
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((worker) => worker.stop()));
});

function document<TResult, TVariables>(text: string): TypedDocument<TResult, TVariables> {
  return text;
}

const createJoinToken = document<{ createJoinToken: { secret: string } }, { input: object }>(
  'mutation ($input: CreateJoinTokenInput!) { createJoinToken(input: $input) { secret } }',
);
const listCredentials = document<
  { workerCredentials: { nodes: { id: string; status: string }[] } },
  { worker: string }
>('query ($worker: String) { workerCredentials(filter: { worker: $worker }) { nodes { id status } } }');
const revokeCredential = document<unknown, { id: string }>(
  'mutation ($id: ID!) { revokeWorkerCredential(input: { id: $id }) { workerCredential { status } } }',
);
const showExecution = document<
  { execution: { state: string; output: unknown; preferredWorker: string | null; error: { message: string } | null } },
  { id: string }
>('query ($id: ID!) { execution(id: $id) { state output preferredWorker error { message } } }');

async function joinToken(input: object): Promise<string> {
  return (await client.request(createJoinToken, { input })).createJoinToken.secret;
}

const file = (name: string): string => join(dir, `${name}.json`);
const kept = (name: string) => JSON.parse(readFileSync(file(name), 'utf8')) as { credential: string };

function start(name: string, workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}) {
  const logged: string[] = [];
  const worker = new Worker({
    server: server.url,
    name,
    role: 'worker',
    workflows,
    signals: false,
    credentialFile: file(name),
    log: (_level, message) => logged.push(message),
    ...options,
  });
  started.push(worker);
  const ended = worker.run();
  ended.catch(() => undefined);
  return { worker, ended, logged };
}

async function onDuty(name: string): Promise<void> {
  const eligible = async () => (await client.request(WorkerShowDocument, { name })).worker?.eligible;
  await expect.poll(eligible, patience).toBe(true);
}

async function run(ref: string, input: unknown) {
  const { runWorkflow } = await client.request(WorkflowRunDocument, {
    input: { workflow: ref, input, waitSeconds: 60 },
  });
  return runWorkflow.execution;
}

const leaf = workflow<unknown, unknown>({ namespace: 'own', name: 'leaf' }, (_context, input) => input);

test('a worker joins, keeps its credential in a file of its own, renews it, and comes back with it', async () => {
  const registers = ['own:*'];
  const secret = await joinToken({ worker: 'w-own', role: 'worker', services: ['vllm'], registers });
  const first = start('w-own', [leaf], { joinToken: secret });
  await first.worker.ready;
  await onDuty('w-own');
  expect(statSync(file('w-own')).mode & 0o777).toBe(0o600);
  const { credential } = kept('w-own');
  expect(credential).toMatch(/^msw_/);
  expect((await client.request(WorkerShowDocument, { name: 'w-own' })).worker?.labels).toEqual([
    { key: 'flux.service.vllm', value: 'true' },
  ]);
  expect((await run('own/leaf', 'one')).output).toBe('one');

  await expect.poll(() => kept('w-own').credential, patience).not.toBe(credential);
  await onDuty('w-own');
  expect((await run('own/leaf', 'two')).output).toBe('two');
  expect((await client.request(listCredentials, { worker: 'w-own' })).workerCredentials.nodes).toHaveLength(2);
  await first.worker.stop();

  // The join token is spent; what is in the file is used.
  const second = start('w-own', [leaf], { joinToken: secret });
  await second.worker.ready;
  await onDuty('w-own');
  expect((await run('own/leaf', 'three')).output).toBe('three');
  expect(first.logged.concat(second.logged).join(' ')).not.toMatch(/ms[wj]_/);
});

test('a worker that is banned ends, and comes back with a new join token alone', async () => {
  const secret = await joinToken({ worker: 'w-banned', role: 'worker', registers: ['own:*'] });
  const { ended } = start('w-banned', [leaf], { joinToken: secret });
  await onDuty('w-banned');
  const [credential] = (await client.request(listCredentials, { worker: 'w-banned' })).workerCredentials.nodes;
  await client.request(revokeCredential, { id: credential?.id ?? '' });
  await expect(ended).rejects.toMatchObject({ name: 'ClientError' });

  const again = start('w-banned', [leaf]);
  await expect(again.ended).rejects.toMatchObject({
    code: 'UNAUTHENTICATED',
    message: expect.stringContaining('new join token'),
  });
  const spent = start('w-banned', [leaf], { joinToken: secret });
  await expect(spent.ended).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  const back = start('w-banned', [leaf], {
    joinToken: await joinToken({ worker: 'w-banned', role: 'worker', registers: ['own:*'] }),
  });
  await back.worker.ready;
});

test('a file that holds something else is left alone, and said', async () => {
  writeFileSync(file('w-file'), 'not a credential');
  const { ended } = start('w-file', [leaf], { joinToken: 'msj_x' });
  await expect(ended).rejects.toMatchObject({ message: expect.stringContaining(file('w-file')) });
  expect(readFileSync(file('w-file'), 'utf8')).toBe('not a credential');
});

test('a worker runs what it may not register, where that is registered in the same words, and nothing else', async () => {
  const other = (description: string, maxAttempts: number) =>
    workflow<unknown, unknown>({ namespace: 'foreign', name: 'flow', description, maxAttempts }, () => 'ran');
  const admin = start('w-admin', [other('by an operator', 2)], { token: server.token });
  await admin.worker.ready;
  await admin.worker.stop();
  const same = start('w-foreign', [other('', 2)], {
    joinToken: await joinToken({ worker: 'w-foreign', role: 'worker' }),
  });
  await same.worker.ready;
  expect(same.logged.join(' ')).toContain('This worker may not register foreign/flow');
  await onDuty('w-foreign');
  expect((await run('foreign/flow', null)).output).toBe('ran');
  await same.worker.stop();
  const differs = start('w-foreign', [other('', 3)]);
  await expect(differs.ended).rejects.toMatchObject({
    code: 'FORBIDDEN',
    message: expect.stringContaining('registers: foreign:flow'),
  });
});

test('a handler asks with the token of its execution, which ends with it, and its worker is the hint of what it starts', async () => {
  const tokens: string[] = [];
  const parent = workflow<unknown, unknown>({ namespace: 'own', name: 'parent' }, async (context) => {
    tokens.push(context.token);
    const one = await context.client.runWorkflow({ workflow: 'own/leaf', input: 1 });
    const many = document<{ runWorkflows: { results: { id: string }[] } }, { input: object }>(
      'mutation ($input: RunWorkflowsInput!) { runWorkflows(input: $input) { results { id } } }',
    );
    await context.client.request(many, { input: { runs: [{ workflow: 'own/leaf', input: 2 }] } });
    const seen = await context.client.request(showExecution, { id: one.id });
    const refused = await context.client.request(listCredentials, { worker: 'w-asking' }).then(
      () => 'let in',
      (error: { code: string }) => error.code,
    );
    return { started: one.id, hint: seen.execution.preferredWorker, refused };
  });
  const registers = ['own:*', 'child:*'];
  const secret = await joinToken({ worker: 'w-asking', role: 'worker', registers });
  const { worker, logged } = start('w-asking', [leaf, parent, asking], { joinToken: secret });
  await worker.ready;
  await onDuty('w-asking');
  const { output } = (await run('own/parent', null)) as { output: { started: string; hint: unknown; refused: string } };
  // What it started has the hint, which is told to others than an execution alone (ruling 20).
  expect(output).toEqual({ started: expect.stringMatching(/^ex_/), hint: null, refused: 'FORBIDDEN' });
  expect((await client.request(showExecution, { id: output.started })).execution.preferredWorker).toBe('w-asking');
  expect(tokens).toHaveLength(1);
  const late = createClient({ url: server.url, token: tokens[0] ?? '' });
  await expect(late.request(showExecution, { id: output.started })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(logged.join(' ')).not.toContain('msx_');

  const child = (await run('child/asking', null)) as { output: { id: string; kind: string; seen: boolean } };
  expect(child.output).toEqual({ id: expect.stringMatching(/^ex_/), kind: 'msx_', seen: false });
  expect((await client.request(showExecution, { id: child.output.id })).execution.preferredWorker).toBe('w-asking');
});
