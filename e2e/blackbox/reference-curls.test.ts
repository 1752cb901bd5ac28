import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { Worker, workflow } from '@muster/worker';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/graphql.ts';
import { registerWorkflow } from '../support/fleet.ts';
import { musterCommand, Server } from '../support/server.ts';
import { until } from '../support/until.ts';

/** The commands as the reference prints them; the port is ours, and the token stands in curl's own configuration. */
const ROUTED = `curl -X POST localhost:8000/workflows/default/audit_probe/run/async \\
     -H 'X-Flux-Routing-Input: {"cohort":"canary"}' \\
     -d '{"real":"payload"}'`;
const BOUND = `curl -X POST localhost:8000/workflows/default/verify/run/async \\
     -H "X-Flux-Require-Worker: worker-7"`;

let server: Server;
let home: string;
const workers: Worker[] = [];
/** Everything that the handlers were given, by worker. */
const received: string[] = [];

const probe = workflow(
  { name: 'audit_probe', affinity: 'require(optional(label("cohort") == routing_input("cohort")))' },
  (ctx) => {
    received.push(JSON.stringify(ctx));
    return ctx.input;
  },
);
const approve = workflow({ name: 'approve' }, async (ctx) => ({ answer: await ctx.pause('approval') }));
const verify = workflow({ name: 'verify' }, (ctx) => ({ verified: ctx.input }));

async function start(name: string, labels: Record<string, string> = {}): Promise<Worker> {
  const worker = new Worker({
    server: server.url,
    token: server.token,
    name,
    role: 'worker',
    labels,
    capacity: 4,
    workflows: [probe, verify, approve],
    signals: false,
    log: () => undefined,
  });
  workers.push(worker);
  void worker.run();
  await until(`${name} is eligible`, async () => {
    const data = await ask<{ worker: { eligible: boolean } | null }>(
      server,
      `{ worker(name: "${name}") { eligible } }`,
    );
    return data.worker?.eligible;
  });
  return worker;
}

beforeAll(async () => {
  server = await Server.start({ env: { LOG_LEVEL: 'trace' } });
  home = mkdtempSync(path.join(tmpdir(), 'muster-curl-'));
  writeFileSync(path.join(home, '.curlrc'), `header = "Authorization: Bearer ${server.token}"\nsilent\nshow-error\n`);
  await start('a-plain');
  await start('canary-1', { cohort: 'canary' });
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await server.dispose();
  rmSync(home, { recursive: true, force: true });
});

/** Runs the text in a shell, with our port in the place of the printed one. */
async function shell(command: string): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', CURL_HOME: home };
  const text = command.replaceAll('localhost:8000', `127.0.0.1:${server.port}`);
  const { stdout } = await promisify(execFile)('sh', ['-c', text], { env, maxBuffer: 16 * 1_048_576 });
  return stdout;
}

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly parked: boolean;
  readonly parkedReason: string | null;
  readonly input: unknown;
  readonly output: unknown;
  readonly error: { type: string; message: string } | null;
  readonly workerName: string | null;
  readonly requiredWorker: string | null;
  readonly preferredWorker: string | null;
}
interface Refused {
  readonly error: { code: string; message: string; field?: string };
}

const json = async <T = Shown>(command: string): Promise<T> => JSON.parse(await shell(command)) as T;
const read = (id: string) => json(`curl localhost:8000/executions/${id}`);
const inState = (id: string, state: string) =>
  until(`${id} is ${state}`, async () => {
    const shown = await read(id);
    return shown.state === state && shown;
  });

test('there is a curl to run them with', () => {
  expect(String(execFileSync('curl', ['--version']))).toMatch(/^curl \d/);
});

test('the printed curl with routing input runs on the worker of that cohort, each time, and the worker learns nothing', async () => {
  for (let round = 0; round < 6; round++) {
    const accepted = await json(ROUTED);
    const ended = await inState(accepted.id, 'COMPLETED');
    expect(ended).toMatchObject({ workerName: 'canary-1', input: { real: 'payload' }, output: { real: 'payload' } });
    expect(JSON.stringify([accepted, ended])).not.toContain('cohort');
  }
  // Without it the tie of two idle workers falls to the first name.
  for (let round = 0; round < 6; round++) {
    const { id } = await json(ROUTED.replace(/^ +-H .*\n/m, ''));
    expect((await inState(id, 'COMPLETED')).workerName).toBe('a-plain');
  }
  expect(received.length).toBe(12);
  expect(received.join('\n')).not.toContain('cohort');
});

test('the printed command with -r runs where the printed curl does', async () => {
  const { PATH = '' } = process.env;
  const env = { PATH, MUSTER_SERVER: server.url, MUSTER_TOKEN: server.token };
  const args = ['workflow', 'run', 'audit_probe', '{"real":"payload"}', '-r', 'cohort=canary', '--json', '--wait'];
  const { stdout } = await promisify(execFile)(process.execPath, [musterCommand, ...args], { env });
  const { id } = /"(?<id>ex_[0-9a-f]{32})"/.exec(stdout)?.groups ?? {};
  expect(await inState(id ?? '', 'COMPLETED')).toMatchObject({ workerName: 'canary-1', input: { real: 'payload' } });
  expect(stdout).not.toContain('cohort');
});

test('the printed curl whose value no worker has fails with a blind reason', async () => {
  const command = ROUTED.replace('"canary"', '"nobody-has-it-7"').replace('/run/async', '/run/async?park_ttl=1');
  const { id } = await json(command);
  const failed = await inState(id, 'FAILED');
  expect(failed.error?.type).toBe('ParkTimeoutError');
  expect(failed.error?.message).toContain('routing constraint unsatisfied');
  const events = await shell(`curl -N localhost:8000/executions/${id}/events`);
  expect(events).toContain('event: FAILED');
  for (const text of [JSON.stringify(failed), events]) expect(text).not.toMatch(/cohort|nobody-has-it-7/);
});

test('the printed curl with what is wrong with routing input is a 400', async () => {
  const header = `'X-Flux-Routing-Input: {"cohort":"canary"}'`;
  const wrong = [
    `'X-Flux-Routing-Input: {"cohort":'`,
    `'X-Flux-Routing-Input: ["canary"]'`,
    `'X-Flux-Routing-Input: {"a":{"b.c":1}}'`,
    `'X-Flux-Routing-Input: {"cohort":"${'x'.repeat(4_096)}"}'`,
    `${header} -H ${header}`,
  ];
  for (const value of wrong) {
    const answer = await shell(`${ROUTED.replace(header, value)} -w '\\n%{http_code}'`);
    const [body = '', status] = answer.split('\n');
    expect([status, (JSON.parse(body) as Refused).error.code]).toEqual(['400', 'ROUTING_INPUT_INVALID']);
    expect(body).not.toContain('canary');
  }
});

test('the printed curl that requires worker-7 is refused until it has registered, then waits for it and never falls back', async () => {
  const unknown = await json<Refused>(BOUND);
  expect(unknown.error).toMatchObject({ code: 'UNKNOWN_WORKER', field: 'X-Flux-Require-Worker' });

  const seven = await start('worker-7');
  const first = await json(BOUND);
  expect(await inState(first.id, 'COMPLETED')).toMatchObject({
    workerName: 'worker-7',
    requiredWorker: 'worker-7',
    input: null,
    output: { verified: null },
  });

  await seven.stop();
  const waiting = await json(BOUND);
  const parked = await until('parking', async () => {
    const shown = await read(waiting.id);
    return shown.parked && shown;
  });
  expect(parked).toMatchObject({ state: 'PENDING', workerName: null });
  const limited = await json(BOUND.replace('/run/async', '/run/async?park_ttl=1'));
  const failed = await inState(limited.id, 'FAILED');
  expect(failed.error).toMatchObject({ type: 'ParkTimeoutError', message: expect.stringContaining('worker-7') });
  expect((await read(waiting.id)).state).toBe('PENDING');

  await start('worker-7');
  expect((await inState(waiting.id, 'COMPLETED')).workerName).toBe('worker-7');
});

test('a bound execution that was paused is resumed by a curl, and waits for its worker again', async () => {
  const bound = await start('bound-1');
  const { id } = await json(BOUND.replace('verify', 'approve').replace('worker-7', 'bound-1'));
  expect((await inState(id, 'PAUSED')).requiredWorker).toBe('bound-1');
  await bound.stop();
  await json(`curl -X POST localhost:8000/executions/${id}/resume -d '{"approved":true}'`);
  const parked = await until('parking', async () => {
    const shown = await read(id);
    return shown.parked && shown;
  });
  expect(parked.state).toBe('RESUMING');
  await start('bound-1');
  expect(await inState(id, 'COMPLETED')).toMatchObject({
    workerName: 'bound-1',
    output: { answer: { approved: true } },
  });
});

test('a preferred worker is a hint: taken when there, dropped when unknown, and ignored beside a binding', async () => {
  const run = (headers: string) => json(`curl -X POST localhost:8000/workflows/default/verify/run/sync ${headers}`);
  for (const name of ['a-plain', 'canary-1']) {
    expect((await run(`-H 'X-Flux-Preferred-Worker: ${name}'`)).workerName).toBe(name);
  }
  expect((await run(`-H 'X-Flux-Preferred-Worker: never-seen'`)).state).toBe('COMPLETED');
  const both = await run(`-H 'X-Flux-Preferred-Worker: a-plain' -H 'X-Flux-Require-Worker: canary-1'`);
  expect(both).toMatchObject({ workerName: 'canary-1', requiredWorker: 'canary-1', preferredWorker: null });
});

test('sync prints the result and stream every event, with curl alone', async () => {
  const result = await json(`curl -X POST localhost:8000/workflows/default/verify/run/sync -d '{"n":1}'`);
  expect(result).toMatchObject({ state: 'COMPLETED', output: { verified: { n: 1 } } });
  const text = await shell(`curl -N -X POST localhost:8000/workflows/default/verify/run/stream -d 2`);
  const types = [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type);
  expect([types[0], types.at(-1)]).toEqual(['CREATED', 'COMPLETED']);
});

test('GET /admin/workers and GET /workers print who is on duty and what they measure', async () => {
  interface Registry {
    workers: { name: string; instance_id: string; role: string; healthy: boolean; status: string; checks: unknown[] }[];
  }
  const { workers: raw } = await json<Registry>('curl localhost:8000/admin/workers');
  const canary = raw.find(({ name }) => name === 'canary-1');
  expect(canary).toMatchObject({ role: 'worker', healthy: true, status: 'HEALTHY' });
  expect(canary?.checks).toContainEqual({ name: 'event-loop', healthy: true });
  for (const field of [
    'instance_id',
    'hostname',
    'role',
    'version',
    'started_at',
    'healthy',
    'checks',
    'status',
    'last_seen',
  ]) {
    expect(canary).toHaveProperty(field);
  }
  const metrics = await until('metrics', async () => {
    const { workers: list } = await json<{ workers: { name: string; metrics: Record<string, number> }[] }>(
      'curl localhost:8000/workers',
    );
    const found = list.find(({ name }) => name === 'canary-1')?.metrics;
    return found !== undefined && 'flux.running_executions' in found && found;
  });
  expect(metrics['flux.slots_free']).toBe(4);
});

test('without a token nothing is answered, and nothing of routing input was printed', async () => {
  const refused = JSON.parse(
    await shell(`curl -q -s -X POST localhost:8000/workflows/default/verify/run/async`),
  ) as Refused;
  expect(refused.error.code).toBe('UNAUTHENTICATED');
  await registerWorkflow(server, 'e2e', 'marker');
  await server.stop();
  expect(server.output).toContain('routing input received');
  expect(server.output).not.toMatch(/"canary"|nobody-has-it-7/);
  expect(server.output).not.toContain(server.token);
});
