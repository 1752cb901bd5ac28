import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Worker, workflow } from '@muster/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/graphql.ts';
import { musterCommand, Server } from '../support/server.ts';
import { until } from '../support/until.ts';

/** The policies of the reference in the Python form in which it prints them; each is registered by the command and run by workers. */
const FLOWS = `
from flux import ExecutionContext, workflow
from flux.routing import (score, prefer, least, most, sticky, when, require, optional, label, label_for, meta_for, metric,
    resource, load, utilization, input, routing_input)


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


@workflow.with_options(routing=score(prefer(label_for("cache.", input("dataset")) == "true", weight=5)))
async def cached(ctx): ...


@workflow.with_options(routing=score(prefer(meta_for("approved.", input("artefact")) == "true", weight=5)))
async def approved(ctx): ...


@workflow.with_options(
    routing=score(when(input("latency_sensitive") == "true", least(load(), weight=10)), prefer(label("region") == "eu"))
)
async def urgent(ctx): ...


@workflow.with_options(
    affinity=require(label("datacenter") == input("dc")),          # must
    routing=score(
        prefer(label_for("cache.", input("dataset")) == "true",    # prefer
               weight=10),
        least(load()),
    ),
)
async def floor(ctx): ...


@workflow.with_options(routing=score(sticky(weight=3), least(load())))
async def sticks(ctx): ...


@workflow.with_options(routing=score(sticky(weight=0.5), least(load())))
async def defeated(ctx): ...


@workflow.with_options(
    routing=score(
        when(load() < 5, sticky(weight=3)),   # stickiness, while there is room
        least(load()),                        # otherwise spread
    )
)
async def gated(ctx): ...


@workflow.with_options(routing=score(when(utilization() < 0.8, sticky(weight=3)), least(load())))
async def by_ratio(ctx): ...


@workflow.with_options(routing=score(least(load())))
async def unhinted(ctx): ...


@workflow
async def no_policy(ctx): ...


@workflow.with_options(routing=score(least(metric("nobody_sends_it"), weight=5), prefer(label("region") == "us")))
async def half_known(ctx): ...


@workflow.with_options(affinity=require(optional(label("region") == input("region"))))
async def pinned_if_said(ctx): ...
`;
const NAMES = [...FLOWS.matchAll(/^async def (\w+)/gm)].map(([, name]) => name ?? '');

let server: Server;
let folder: string;
const workers: Worker[] = [];
const held: (() => void)[] = [];

/** A worker that answers with its own name, and holds what it is given to hold. */
async function start(name: string, more: Partial<ConstructorParameters<typeof Worker>[0]>): Promise<void> {
  const worker = new Worker({
    server: server.url,
    token: server.token,
    name,
    role: 'worker',
    signals: false,
    log: () => undefined,
    workflows: [
      ...NAMES.map((flow) => workflow({ name: flow }, () => name)),
      workflow({ name: 'hold' }, () => new Promise<void>((resolve) => held.push(resolve))),
    ],
    ...more,
  });
  workers.push(worker);
  void worker.run();
}

beforeAll(async () => {
  server = await Server.start({ env: { MUSTER_HEARTBEAT_SECONDS: '1' } });
  folder = mkdtempSync(path.join(tmpdir(), 'muster-flows-'));
  await start('alpha', {
    labels: { region: 'eu', datacenter: 'fra', 'cache.imagenet': 'true' },
    capacity: 10,
    metricsProvider: () => ({ temp: 50, queue_depth: 1 }),
  });
  await start('beta', {
    labels: { region: 'us', datacenter: 'iad', 'cache.coco': 'true' },
    capacity: 10,
    metricsProvider: () => ({ temp: 90, queue_depth: 9 }),
  });
  await until('both send their metrics', async () => {
    const { workers: shown } = await get<{ workers: { eligible: boolean; metrics: Record<string, number> }[] }>(
      '/workers?role=worker',
    );
    return shown.length === 2 && shown.every(({ eligible, metrics }) => eligible && 'queue_depth' in metrics);
  });
  writeFileSync(path.join(folder, 'flows.py'), FLOWS);
  await muster('workflow', 'register', 'flows.py');
});
afterAll(async () => {
  for (const release of held) release();
  await Promise.all(workers.map((worker) => worker.stop()));
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the built command; what it printed. */
async function muster(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', MUSTER_SERVER: server.url, MUSTER_TOKEN: server.token };
  const { stdout } = await promisify(execFile)(process.execPath, [musterCommand, ...args], { cwd: folder, env });
  return stdout;
}

const headers = () => ({ authorization: `Bearer ${server.token}` });
async function get<T>(address: string): Promise<T> {
  return (await (await fetch(server.url + address, { headers: headers() })).json()) as T;
}

interface Ran {
  readonly id: string;
  readonly state: string;
  readonly output: unknown;
}

/** Runs it to its end, with a hint where one is given; answers the worker that had it. */
async function placed(name: string, input: unknown = null, hint?: string): Promise<unknown> {
  const response = await fetch(`${server.url}/workflows/default/${name}/run/sync`, {
    method: 'POST',
    headers: { ...headers(), ...(hint === undefined ? {} : { 'X-Flux-Preferred-Worker': hint }) },
    body: JSON.stringify(input),
  });
  const { id, state, output } = (await response.json()) as Ran;
  expect(state).toBe('COMPLETED');
  const { execution } = await ask<{ execution: { latestDecision: { degraded: string | null; method: string } } }>(
    server,
    'query ($id: ID!) { execution(id: $id) { latestDecision { degraded method } } }',
    { id },
  );
  expect(execution.latestDecision.degraded).toBeNull();
  return output;
}

/** So many executions stay on the worker while `work` runs. */
async function withLoad<T>(worker: string, count: number, work: () => Promise<T>): Promise<T> {
  for (let i = 0; i < count; i++) {
    await fetch(`${server.url}/workflows/default/hold/run/async`, {
      method: 'POST',
      headers: { ...headers(), 'X-Flux-Require-Worker': worker },
    });
  }
  const load = (wanted: number) =>
    until(
      `load ${wanted} on ${worker}`,
      async () => (await get<{ load: number }>(`/workers/${worker}`)).load === wanted,
    );
  await until(`${count} are held`, () => held.length === count);
  await load(count);
  try {
    return await work();
  } finally {
    for (const release of held.splice(0)) release();
    await load(0);
  }
}

test('every policy of the reference is registered from the file as it stands, and shown with the workflow', async () => {
  const shown = await muster('workflow', 'show', 'train');
  for (const term of [
    'prefer(label("region") == input("region"), weight=10)',
    'prefer(metric("temp") < 60, weight=2)',
    'least(metric("queue_depth"), weight=5)',
    'most(resource("memory_available"))',
    'sticky(weight=3)',
    'least(load())',
  ]) {
    expect(shown).toContain(term);
  }
});

test('the six terms of the first example: the payload decides, then temperature and queue', async () => {
  expect(await placed('train', { region: 'eu' })).toBe('alpha');
  expect(await placed('train', { region: 'us' })).toBe('beta');
  expect(await placed('train', { region: 'nowhere' })).toBe('alpha');
  expect(await placed('train')).toBe('alpha');
});

test('a dynamic label prefers the warm worker, and says nothing where the input is absent or names nobody', async () => {
  expect(await placed('cached', { dataset: 'imagenet' })).toBe('alpha');
  expect(await placed('cached', { dataset: 'coco' })).toBe('beta');
  for (const input of [{ dataset: 'other' }, { dataset: 'no such key!' }, {}, null]) {
    expect(await placed('cached', input)).toBe('alpha');
  }
});

test('dynamic metadata prefers whom an operator approved, from the next dispatch on', async () => {
  expect(await placed('approved', { artefact: 'model-x' })).toBe('alpha');
  await muster('worker', 'metadata', 'set', 'beta', 'approved.model-x=true');
  expect(await placed('approved', { artefact: 'model-x' })).toBe('beta');
  await muster('worker', 'metadata', 'unset', 'beta', 'approved.model-x');
  expect(await placed('approved', { artefact: 'model-x' })).toBe('alpha');
});

test('a term under when(input(…)) applies only where the request says so', async () => {
  await withLoad('alpha', 1, async () => {
    expect(await placed('urgent', { latency_sensitive: 'true' })).toBe('beta');
    expect(await placed('urgent', { latency_sensitive: 'false' })).toBe('alpha');
    expect(await placed('urgent', {})).toBe('alpha');
  });
});

test('the floor is a wall and the preference ranks behind it', async () => {
  expect(await placed('floor', { dc: 'fra', dataset: 'coco' })).toBe('alpha');
  expect(await placed('floor', { dc: 'iad', dataset: 'imagenet' })).toBe('beta');
});

test('optional(…) is a pin where the input is there, and nothing where it is not', async () => {
  expect(await placed('pinned_if_said', { region: 'us' })).toBe('beta');
  expect(await placed('pinned_if_said', {})).toBe('alpha');
});

test('sticky(weight=3) holds at any load, sticky(weight=0.5) falls to a single execution in flight', async () => {
  expect(await placed('sticks', null, 'beta')).toBe('beta');
  expect(await placed('defeated', null, 'beta')).toBe('beta');
  await withLoad('beta', 1, async () => {
    expect(await placed('sticks', null, 'beta')).toBe('beta');
    expect(await placed('defeated', null, 'beta')).toBe('alpha');
  });
  await withLoad('beta', 9, async () => {
    expect(await placed('sticks', null, 'beta')).toBe('beta');
  });
});

test('when(load() < 5, sticky(…)) sticks while there is room and spreads beyond', async () => {
  await withLoad('beta', 4, async () => expect(await placed('gated', null, 'beta')).toBe('beta'));
  await withLoad('beta', 5, async () => expect(await placed('gated', null, 'beta')).toBe('alpha'));
});

test('when(utilization() < 0.8, sticky(…)) goes by the share of the capacity', async () => {
  await withLoad('beta', 7, async () => expect(await placed('by_ratio', null, 'beta')).toBe('beta'));
  await withLoad('beta', 8, async () => expect(await placed('by_ratio', null, 'beta')).toBe('alpha'));
});

test('without a policy the hint decides; a policy without sticky overrides it', async () => {
  expect(await placed('no_policy', null, 'beta')).toBe('beta');
  expect(await placed('no_policy')).toBe('alpha');
  expect(await placed('unhinted', null, 'beta')).toBe('alpha');
});

test('a metric that nobody sends makes its term a no-op', async () => {
  expect(await placed('half_known')).toBe('beta');
});

test('a policy never routes to a worker that is full or cordoned', async () => {
  await withLoad('alpha', 10, async () => expect(await placed('train', { region: 'eu' })).toBe('beta'));
  await muster('worker', 'cordon', 'alpha');
  expect(await placed('train', { region: 'eu' })).toBe('beta');
  await muster('worker', 'uncordon', 'alpha');
  expect(await placed('train', { region: 'eu' })).toBe('alpha');
});

test('a worker without a capacity has no utilization: it does not match', async () => {
  await start('gamma', { labels: { region: 'none' } });
  await until('gamma', async () => (await get<{ eligible: boolean }>('/workers/gamma')).eligible);
  // Its start has registered its workflows without policies: the file is the newest again.
  await muster('workflow', 'register', 'flows.py');
  await withLoad('gamma', 1, async () => {
    expect(await placed('by_ratio', null, 'gamma')).toBe('alpha');
    expect(await placed('gated', null, 'gamma')).toBe('gamma');
  });
});

test.for([
  ['a gate on load above a hard constraint', 'affinity=require(when(load() < 5, label("a") == "b"))'],
  ['a gate on what a worker asserts', 'routing=score(when(label("a") == "b", sticky()))'],
  ['a dynamic key in least', 'routing=score(least(label_for("a.", input("b"))))'],
  ['a value that is no literal', 'routing=score(prefer(metric("temp") < LIMIT))'],
  ['an order in when(input(…))', 'routing=score(when(input("a") < 5, sticky()))'],
])('%s is refused at registration with its place, and nothing is registered', async ([, option]) => {
  const source = `from flux import workflow\nfrom flux.routing import *\n\n@workflow.with_options(${option})\nasync def refused(ctx): ...\n`;
  writeFileSync(path.join(folder, 'refused.py'), source);
  await expect(muster('workflow', 'register', 'refused.py')).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/refused\.py:4:\d+/),
  });
  await expect(muster('workflow', 'show', 'refused')).rejects.toMatchObject({ code: 3 });
});
