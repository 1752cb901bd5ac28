import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Ran, runCommand } from './testing/run-command.ts';

// The command against the server itself: what a person types, and what they read.

const patience = { timeout: 90_000, interval: 100 };
const main = fileURLToPath(new URL('./main.ts', import.meta.url));
/** What `muster serve --json` said of itself, and the process. */
const server = { url: '', graphql: '', login: '', token: '', end: () => Promise.resolve<number | null>(null) };
let serving: ChildProcess;
const children: ChildProcess[] = [];
let dir: string;
let worker: ChildProcess;
/** Resolves to the exit code of the worker. */
let workerEnd: Promise<number | null>;

const flows = `
import { existsSync } from 'node:fs';
import { workflow } from '@muster/worker';

export const auditProbe = workflow({ name: 'audit_probe' }, (_, input: unknown) => ({ got: input }));
export const train = workflow({ name: 'train' }, (_, input: { region: string }) => input.region);
export const fails = workflow({ name: 'fails' }, () => { throw new TypeError('no text'); });
export const approve = workflow({ name: 'approve' }, async (ctx) => await ctx.pause('approval'));
export const slow = workflow({ name: 'slow' }, async (ctx, file: string) => {
  ctx.progress({ started: true });
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 20));
  return 'done';
});
`;

/** The workflows of the routing guide, as the guide writes them. */
const guide = `from flux import ExecutionContext, workflow
from flux.routing import score, prefer, least, most, sticky, label, metric, resource, load, input
from flux.routing import require, optional, routing_input


@workflow.with_options(
    routing=score(
        prefer(label("region") == input("region"), weight=10),  # payload locality
        prefer(metric("temp") < 60, weight=2),                   # threshold preference
        least(metric("queue_depth"), weight=5),                  # minimize a worker metric
        most(resource("memory_available")),                      # maximize a resource field
        sticky(weight=3),                                        # opt the relay hint into the score
        least(load()),                                           # built-in: active executions
    ),
)
async def train(ctx: ExecutionContext[dict]):
    ...


@workflow.with_options(
    affinity=require(optional(label("cohort") == routing_input("cohort"))),
)
async def audit_probe(ctx: ExecutionContext[dict]):
    ...
`;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'muster-real-'));
  mkdirSync(join(dir, 'bin'));
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const script = `#!/bin/sh\nexec '${process.execPath}' --import '${tsx}' '${main}' "$@"\n`;
  writeFileSync(join(dir, 'bin', 'muster'), script);
  chmodSync(join(dir, 'bin', 'muster'), 0o755);
  writeFileSync(join(dir, 'flows.ts'), flows);
  writeFileSync(join(dir, 'flows.py'), guide);
  await serve();
  const started = shell(
    'exec muster worker start --name worker-7 --role gpu-worker --label region=eu --label cohort=canary --capacity 4 flows.ts',
  );
  worker = started.child;
  workerEnd = started.exit;
  await vi.waitFor(async () => {
    expect((await muster('worker', 'list', '--json')).out).toContain('worker-7');
    expect((await muster('workflow', 'list')).out).toContain('default/slow');
  }, patience);
}, 400_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(dir, { recursive: true, force: true });
});

/** Starts the server, on a free port, or after a kill on the same one. Resolves when it is up. */
async function serve(): Promise<void> {
  const port = server.url === '' ? '0' : new URL(server.url).port;
  const { child, exit, printed } = shell(
    `LOG_LEVEL=error exec muster serve --no-demo --no-worker --port ${port} --json`,
  );
  serving = child;
  server.end = () => exit;
  await vi.waitFor(() => expect(printed.out).toContain('"graphql"'), { timeout: 300_000, interval: 100 });
  const line = printed.out.split('\n').find((one) => one.includes('"graphql"')) ?? '';
  Object.assign(server, JSON.parse(line));
  server.token = readFileSync(join(dir, '.muster', 'admin-token'), 'utf8').trim();
}

/** A command line as it is typed into a shell, with the command on the path. */
function shell(line: string) {
  const env = {
    ...process.env,
    PATH: `${join(dir, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`,
    MUSTER_SERVER: server.url,
    MUSTER_TOKEN: server.token,
  };
  const child = spawn('sh', ['-c', line], { cwd: dir, env });
  children.push(child);
  const printed = { out: '', err: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    printed.out += String(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    printed.err += String(chunk);
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, exit, printed };
}

/** The same in this process, which is quicker. */
function muster(...args: string[]): Promise<Ran> {
  return runCommand(args, { url: server.url, token: server.token, cwd: dir, columns: 200 });
}

async function json<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await muster(...args, '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as T;
}

interface Execution {
  readonly id: string;
  readonly state: string;
  readonly parked: boolean;
  readonly output: unknown;
  readonly workerName: string | null;
}

async function stateOf(id: string): Promise<string> {
  return (await json<Execution>('execution', 'show', id)).state;
}

describe('the commands of the routing guide', () => {
  test('workflow register reads the policies, workflow show has them', async () => {
    const registered = await json<{ ref: string; created: boolean }[]>('workflow', 'register', 'flows.py');
    expect(registered).toMatchObject([
      { ref: 'default/train', created: true },
      { ref: 'default/audit_probe', created: true },
    ]);
    expect((await muster('workflow', 'register', 'flows.py')).out).toMatch(/default\/train +\d+ +wv_\d+ +unchanged/);
    const { out } = await muster('workflow', 'show', 'train');
    expect(out.replaceAll(/\s+/g, ' ')).toContain(
      'prefer(label("region") == input("region"), weight=10), prefer(metric("temp") < 60, weight=2),',
    );
    const versions = await json<{ affinityText: string | null }[]>('workflow', 'versions', 'audit_probe');
    expect(versions[0]?.affinityText).toBe('require(optional(label("cohort") == routing_input("cohort")))');
  });

  test('workflow run with routing input, as printed', async () => {
    const { exit, printed } = shell(`muster workflow run audit_probe '{"real":"payload"}' -r cohort=canary`);
    expect(await exit).toBe(0);
    const id = /ex_[0-9a-f]+/.exec(printed.out)?.[0] ?? '';
    await expect.poll(() => stateOf(id), patience).toBe('COMPLETED');
    const { out } = await muster('execution', 'show', id);
    expect(out).toContain('"real": "payload"');
    expect(printed.out + out).not.toContain('canary');
  });

  test('a value that nobody matches parks, and nothing says which it was', async () => {
    const run = await muster('workflow', 'run', 'audit_probe', '-r', 'cohort=zebra', '--json');
    const { id } = JSON.parse(run.out) as Execution;
    await expect.poll(async () => (await json<Execution>('execution', 'show', id)).parked, patience).toBe(true);
    const told = await Promise.all([muster('why', id), muster('execution', 'show', id), muster('why', id, '--json')]);
    for (const { code, out } of told) {
      expect(code).toBe(0);
      expect(out).not.toContain('zebra');
    }
    expect((await muster('execution', 'list', '--parked')).out).toContain(id);
    expect((await json<Execution>('execution', 'cancel', id)).state).toBe('CANCELLED');
  });

  test.each([['cohort'], ['=x'], ['a.b=x']])('-r %s is a usage error', async (pair) => {
    expect(await muster('workflow', 'run', 'audit_probe', '-r', pair)).toMatchObject({ code: 2, out: '' });
  });

  test('worker list and worker show have the metrics', async () => {
    const lag = 'flux.loop_lag_p95_seconds';
    await expect
      .poll(async () => (await muster('worker', 'list', '--role', 'gpu-worker')).out, patience)
      .toContain(`${lag}=`);
    const list = await json<{ name: string; metrics: { key: string }[] }[]>('worker', 'list');
    expect(list.find(({ name }) => name === 'worker-7')?.metrics.map(({ key }) => key)).toContain(lag);
    expect((await muster('worker', 'show', 'worker-7')).out).toMatch(/flux\.slots_free +4 +\d+ s/);
    expect((await muster('worker', 'list', '--label', 'region=us')).out).toContain('No workers');
  });

  test('worker metadata set, show, unset and clear', async () => {
    expect((await muster('worker', 'metadata', 'set', 'worker-7', 'pool=blue', 'rank=3')).code).toBe(0);
    expect((await muster('worker', 'metadata', 'set', 'worker-7', 'build=007', '--string')).code).toBe(0);
    const values = async () =>
      (await json<{ key: string; value: unknown }[]>('worker', 'metadata', 'show', 'worker-7')).map(
        ({ key, value }) => [key, value],
      );
    expect(await values()).toEqual([
      ['build', '007'],
      ['pool', 'blue'],
      ['rank', 3],
    ]);
    expect((await muster('worker', 'metadata', 'unset', 'worker-7', 'pool', 'nothing')).code).toBe(0);
    expect(await values()).toEqual([
      ['build', '007'],
      ['rank', 3],
    ]);
    expect((await muster('worker', 'metadata', 'clear', 'worker-7')).out).toBe('No metadata.');
    expect(await muster('worker', 'metadata', 'set', 'worker-7', '-1=x')).toMatchObject({ code: 2 });
    expect(await muster('worker', 'metadata', 'set', 'nobody', 'a=b')).toMatchObject({ code: 3 });
  });
});

describe('runs', () => {
  test('--follow streams the events to the end; exit code 1 where it failed', async () => {
    const good = await muster('workflow', 'run', 'train', '{"region": "eu"}', '--follow', '--json');
    expect(good.code).toBe(0);
    const lines = good.out.split('\n').map((line) => JSON.parse(line) as { type?: string; execution?: Execution });
    expect(lines.map(({ type }) => type)).toEqual([
      'CREATED',
      'SCHEDULED',
      'CLAIMED',
      'STARTED',
      'COMPLETED',
      undefined,
    ]);
    expect(lines.at(-1)?.execution).toMatchObject({ state: 'COMPLETED', output: 'eu', workerName: 'worker-7' });
    const bad = await muster('workflow', 'run', 'fails', '--follow');
    expect(bad.code).toBe(1);
    expect(bad.out).toMatch(/FAILED {2}worker-7 {2}TypeError: no text/);
    expect(bad.err).toContain('ended as FAILED: TypeError: no text');
  });

  test('execution events --follow survives a restart of the server', async () => {
    const file = join(dir, 'go-on');
    const { id } = await json<Execution>('workflow', 'run', 'slow', JSON.stringify(file));
    const followed = shell(`muster execution events ${id} --follow --json`);
    await expect.poll(() => followed.printed.out, patience).toContain('"STARTED"');
    serving.kill('SIGKILL');
    await server.end();
    await expect.poll(() => followed.printed.err, patience).toContain('trying again');
    await serve();
    await expect.poll(async () => (await muster('worker', 'show', 'worker-7')).out, patience).toContain('HEALTHY');
    writeFileSync(file, '');
    expect(await followed.exit).toBe(0);
    const events = followed.printed.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { sequence: number; type: string });
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.at(-1)?.type).toBe('COMPLETED');
  }, 300_000);

  test('pause, resume, cancel and retry', async () => {
    const { id } = await json<Execution>('workflow', 'run', 'approve');
    await expect.poll(() => stateOf(id), patience).toBe('PAUSED');
    expect((await muster('execution', 'show', id)).out).toContain('waits for  being resumed (approval)');
    expect((await muster('execution', 'resume', id, '{"approved": true}')).code).toBe(0);
    await expect.poll(() => stateOf(id), patience).toBe('COMPLETED');
    expect((await json<Execution>('execution', 'show', id)).output).toEqual({ approved: true });
    expect(await muster('execution', 'resume', id)).toMatchObject({ code: 1, out: '' });
    expect(await muster('execution', 'retry', id)).toMatchObject({ code: 1, out: '' });

    const failed = JSON.parse((await muster('workflow', 'run', 'fails', '--wait', '--json')).out) as Execution;
    const again = await json<Execution>('execution', 'retry', failed.id);
    expect(again.id).not.toBe(failed.id);
    await expect.poll(() => stateOf(again.id), patience).toBe('FAILED');
    expect((await muster('execution', 'show', again.id)).out).toContain(`retry of  ${failed.id}`);
  });

  test('a cordon keeps work away, why says so, and an uncordon lets it run', async () => {
    expect((await muster('worker', 'cordon', 'worker-7')).out).toContain('worker-7 is given nothing new.');
    const { id } = await json<Execution>('workflow', 'run', 'train', '{"region": "eu"}', '--park-ttl', '0');
    await expect.poll(async () => (await muster('why', id)).out, patience).toMatch(/worker-7 +gpu-worker +CORDONED/);
    const preview = await muster('policy', 'preview', '--workflow', 'train');
    expect(preview).toMatchObject({ code: 0, out: expect.stringMatching(/^PARKED/) });
    expect((await muster('worker', 'uncordon', 'worker-7')).code).toBe(0);
    await expect.poll(() => stateOf(id), patience).toBe('COMPLETED');
    expect((await muster('why', id)).out).toContain('ASSIGNED');
  });

  test('bound to a worker, with a time limit on waiting', async () => {
    const ran = await muster('workflow', 'run', 'train', '{"region":"eu"}', '--require-worker', 'worker-7', '--follow');
    expect(ran).toMatchObject({ code: 0 });
    const unknown = await muster('workflow', 'run', 'train', '--require-worker', 'nobody');
    expect(unknown).toMatchObject({ code: 2, out: '' });
  });
});

test('a deployment from its creation to its rollback', async () => {
  const variants = ['--variant', 'stable=train,weight=90', '--variant', 'canary=audit_probe,weight=10,role=nobody'];
  const created = await muster('deployment', 'create', 'assistant', ...variants);
  expect(created).toMatchObject({ code: 0, err: expect.stringContaining('nobody') });
  expect((await muster('deployment', 'set-weights', 'assistant', 'canary=90')).out).toMatch(
    /canary +default\/audit_probe +90 +50 %/,
  );
  expect((await muster('deployment', 'set-weights', 'assistant', 'canary=5', '--expected-revision', '1')).code).toBe(1);
  expect((await muster('deployment', 'history', 'assistant')).out).toMatch(
    /2 .*stable 90, canary 90\n1 .*stable 90, canary 10/,
  );
  const rolledBack = await json<{ deployment: { revision: number } }>('deployment', 'rollback', 'assistant');
  expect(rolledBack.deployment.revision).toBe(3);
  expect((await muster('deployment', 'show', 'assistant')).out).toMatch(/canary +default\/audit_probe +10/);
  expect((await muster('deployment', 'resolve', 'assistant', '--session', 'alice')).out).toContain('variant    stable');
  const ran = await muster('deployment', 'run', 'assistant', '{"region":"eu"}', '--session', 'alice', '--follow');
  expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('assistant / stable') });
});

describe('exit codes', () => {
  test.each([
    [2, ['workflow', 'register', 'flows.ts']],
    [2, ['execution', 'list', '--limit', '0']],
    [2, ['policy', 'preview', '--routing', 'score()']],
    [3, ['worker', 'show', 'nobody']],
    [3, ['workflow', 'show', 'nothing']],
    [3, ['workflow', 'run', 'nothing']],
    [3, ['deployment', 'set-weights', 'nothing', 'a=1']],
    [3, ['execution', 'events', `ex_${'0'.repeat(32)}`]],
    [3, ['execution', 'events', `ex_${'0'.repeat(32)}`, '--follow']],
    [3, ['worker', 'cordon', 'nobody']],
  ])('%i: muster %j', async (code, args) => {
    expect(await muster(...args)).toMatchObject({ code, out: '' });
  });

  test('4 without a token that is known, 5 without a server', async () => {
    const refused = await runCommand(['worker', 'list'], { url: server.url, token: 'wrong' });
    expect(refused).toMatchObject({ code: 4, out: '' });
    const away = await runCommand(['worker', 'list'], { url: 'http://127.0.0.1:1' });
    expect(away).toMatchObject({ code: 5, out: '' });
  });

  test('5 where no variant has a healthy role', async () => {
    await muster('deployment', 'create', 'dead', '--variant', 'only=train,role=nobody');
    expect(await muster('deployment', 'run', 'dead')).toMatchObject({ code: 5, out: '' });
  });
});

test('worker drain lets the worker leave', async () => {
  expect((await muster('worker', 'drain', 'worker-7')).code).toBe(0);
  expect(await workerEnd).toBe(0);
  expect(worker.exitCode).toBe(0);
  await expect.poll(async () => (await muster('worker', 'show', 'worker-7')).out, patience).toContain('OFFLINE');
  expect((await muster('worker', 'remove', 'worker-7')).out).toBe('worker-7 is removed.');
  expect(await muster('worker', 'show', 'worker-7')).toMatchObject({ code: 3 });
});

test('serve says where it is, and stops at SIGTERM', async () => {
  expect(server.graphql).toBe(`${server.url}/graphql`);
  expect(server.login).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#login=/);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  serving.kill('SIGTERM');
  expect(await server.end()).toBe(0);
  expect(await muster('worker', 'list')).toMatchObject({ code: 5, out: '' });
});
