import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Server as TcpServer } from 'node:net';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { startPostgresCluster } from '@muster/db/testing';
import { RetryableError, Worker, workflow } from '@muster/worker';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, post } from '../support/graphql.ts';
import { liveClient, record, type Recording } from '../support/live.ts';
import { musterCommand, Server } from '../support/server.ts';
import { until } from '../support/until.ts';

/**
 * A routing value of its own for every channel by which one can come: none of them may be found in any table but the two that
 * hold them, nor in anything the server says, streams, logs or hands to a worker.
 */
const channels = [
  'variable',
  'literal',
  'bulk',
  'deployment',
  'rest',
  'rest-deployment',
  'call',
  'cli',
  'schedule',
  'preview',
] as const;
type Channel = (typeof channels)[number];
const secret = `canary${randomBytes(9).toString('hex')}`;
const valueOf = (channel: string): string => `${secret}-${channel}`;

let postgres: Awaited<ReturnType<typeof startPostgresCluster>>;
let db: pg.Client;
let server: Server;
let wire: TcpServer;
/** Every byte that the server has sent to the worker. */
let delivered = '';
/** Everything that handlers were given, and everything that came back to callers. */
const seen: string[] = [];
const recordings: Recording<Record<string, unknown>>[] = [];
let worker: Worker;

const routing = 'score(prefer(label("cohort") == routing_input("cohort"), weight=5), least(load()))';
/** Its policy weighs the value, whatever it is. */
const weighed = workflow({ namespace: 'canary', name: 'weighed', routing }, (ctx) => {
  seen.push(JSON.stringify({ ...ctx, keys: Object.keys(ctx) }));
  return ctx.input;
});
/** No worker has the value: it parks, and fails when its time is over. */
const unmatched = workflow(
  { namespace: 'canary', name: 'unmatched', affinity: 'require(label("cohort") == routing_input("cohort"))' },
  () => 'never',
);
/** Fails, so that its error and its retries can be searched too. */
const failing = workflow({ namespace: 'canary', name: 'failing', routing, maxAttempts: 2 }, () => {
  throw new RetryableError('as it should');
});
const caller = workflow({ namespace: 'canary', name: 'caller' }, (ctx) =>
  ctx.call(weighed, { called: true } as never, { routingInput: { cohort: valueOf('call') } }),
);

beforeAll(async () => {
  postgres = await startPostgresCluster();
  db = new pg.Client({ connectionString: postgres.url });
  await db.connect();
  server = await Server.start({ env: { LOG_LEVEL: 'trace', DATABASE_URL: postgres.url } });
  wire = createServer((near) => {
    const far = connect(server.port, '127.0.0.1');
    far.on('data', (chunk: Buffer) => {
      delivered += chunk.toString('latin1');
      near.write(chunk);
    });
    near.on('data', (chunk) => far.write(chunk));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => wire.listen(0, '127.0.0.1', resolve));
  const address = wire.address();
  worker = new Worker({
    server: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    token: server.token,
    name: 'watched',
    role: 'worker',
    labels: { cohort: 'other' },
    capacity: 8,
    workflows: [weighed, unmatched, failing, caller],
    signals: false,
    log: (_level, message, facts) => seen.push(`${message} ${JSON.stringify(facts)}`),
  });
  void worker.run();
  await until('the worker is eligible', async () => {
    const data = await ask<{ worker: { eligible: boolean } | null }>(
      server,
      '{ worker(name: "watched") { eligible } }',
    );
    return data.worker?.eligible;
  });
  await ask(
    server,
    'mutation Create($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { revision } } }',
    { input: { slug: 'canary', variants: [{ label: 'only', flowId: 'canary/weighed', weight: 1 }] } },
  );
  const client = liveClient(server);
  for (const document of [
    'subscription { executionChanges { kind executions { id state why error { type message } output latestDecision { explanation } } removed } }',
    'subscription { dispatchDecisions { id explanation outcome candidates { worker rejectedBecause } } }',
    'subscription { workerEvents { kind workers { name load labels { key value } } } }',
  ])
    recordings.push(record(client, document));
});
afterAll(async () => {
  await worker.stop();
  wire.close();
  await server.dispose();
  await db.end();
  await postgres.stop();
});

const run = promisify(execFile);
const runDocument =
  'mutation Run($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id state why } } }';

async function overRest(path: string, value: string): Promise<string> {
  const response = await fetch(`${server.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}`, 'x-flux-routing-input': JSON.stringify({ cohort: value }) },
    body: '{"n":1}',
  });
  return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`;
}

async function command(...args: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'] ?? '', MUSTER_SERVER: server.url, MUSTER_TOKEN: server.token };
  const answer = await run(process.execPath, [musterCommand, ...args], { env }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
  return `${answer.stdout}\n${answer.stderr}`;
}

/** Sends the value by one channel to one workflow and gives back whatever was answered. */
const send: Record<Channel, (workflowName: string, value: string) => Promise<unknown>> = {
  variable: (name, value) =>
    post(server, runDocument, {
      input: { workflow: name, input: 1, routingInput: { cohort: value }, parkTtlSeconds: 1 },
    }),
  literal: (name, value) =>
    post(
      server,
      `mutation { runWorkflow(input: { workflow: "${name}", parkTtlSeconds: 1, routingInput: { cohort: "${value}" } }) { execution { id why } } }`,
    ),
  bulk: (name, value) =>
    post(
      server,
      'mutation Many($input: RunWorkflowsInput!) { runWorkflows(input: $input) { results { execution { id } error { message } } } }',
      {
        input: { runs: [{ workflow: name, input: 1, routingInput: { cohort: value }, parkTtlSeconds: 1 }] },
      },
    ),
  deployment: (_name, value) =>
    post(
      server,
      'mutation Run($input: RunDeploymentInput!) { runDeployment(input: $input) { execution { id why } } }',
      {
        input: { deployment: 'canary', input: 1, routingInput: { cohort: value } },
      },
    ),
  rest: (name, value) => overRest(`/workflows/${name}/run/async?park_ttl=1`, value),
  'rest-deployment': (_name, value) => overRest('/deployments/canary/run/sync', value),
  call: () => post(server, runDocument, { input: { workflow: 'canary/caller', input: 1 } }),
  cli: (name, value) => command('workflow', 'run', name, '1', '-r', `cohort=${value}`, '--park-ttl', '1'),
  schedule: async (name, value) => {
    const suffix = randomBytes(4).toString('hex');
    const created = await post(
      server,
      'mutation Create($input: CreateScheduleInput!) { createSchedule(input: $input) { schedule { id name revision } } }',
      {
        input: {
          name: `canary-${suffix}`,
          workflow: name,
          intervalSeconds: 3600,
          routingInput: { cohort: value },
          parkTtlSeconds: 1,
        },
      },
    );
    const ran = await post(
      server,
      'mutation Now($input: RunScheduleInput!) { runSchedule(input: $input) { execution { id } schedule { name } } }',
      { input: { name: `canary-${suffix}` } },
    );
    return [created, ran];
  },
  preview: (name, value) =>
    post(server, 'query Preview($input: PreviewInput!) { previewDispatch(input: $input) { outcome } }', {
      input: { workflow: name, routingInput: { cohort: value } },
    }),
};

/** What no channel takes, with the value in it. */
const invalid: [string, (value: string) => Promise<unknown>][] = [
  [
    'a list as variable',
    (value) => post(server, runDocument, { input: { workflow: 'canary/weighed', routingInput: [value] } }),
  ],
  [
    'a key with a dot',
    (value) =>
      post(server, runDocument, { input: { workflow: 'canary/weighed', routingInput: { [`a.${value}`]: 1 } } }),
  ],
  ['an unknown workflow', (value) => send.variable('canary/nothing', value)],
  ['a header that is no object', (value) => overRest('/workflows/canary/weighed/run/async', `"${value}`)],
  ['a header for an unknown workflow', (value) => overRest('/workflows/canary/nothing/run/async', value)],
  [
    'a schedule with a bad cron',
    (value) =>
      post(
        server,
        'mutation Create($input: CreateScheduleInput!) { createSchedule(input: $input) { schedule { id } } }',
        {
          input: { name: 'bad', cron: 'never', workflow: 'canary/weighed', routingInput: { cohort: value } },
        },
      ),
  ],
  [
    'an update of a schedule that is not there',
    (value) =>
      post(
        server,
        'mutation Update($input: UpdateScheduleInput!) { updateSchedule(input: $input) { schedule { id } } }',
        {
          input: { name: 'nowhere', expectedRevision: 1, routingInput: { cohort: value } },
        },
      ),
  ],
  ['a flag without a key', (value) => command('workflow', 'run', 'canary/weighed', '1', '-r', `=${value}`)],
];

const executionsDocument = `query ($after: String) { executions(first: 25, after: $after) { pageInfo { hasNextPage endCursor } nodes {
  id state why parkedReason input output error { type message stack } workerName
  attempts { outcome error { message } }
  events(first: 50) { nodes { type data } }
  decisions(first: 20) { nodes { outcome explanation terms { text note } reason candidates { worker rejectedBecause cells { value } } } }
} } schedules(first: 50) { nodes { name input lastError { message } nextRuns(count: 2) { at } } } }`;

interface ExecutionsPage {
  readonly executions: { readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null } };
}

async function counted(where: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(`SELECT count(*)::int AS n FROM execution WHERE ${where}`);
  return rows[0]?.n ?? 0;
}

test('no routing value is found anywhere but where it is kept for the dispatcher', { timeout: 180_000 }, async () => {
  for (const channel of channels) {
    for (const name of ['canary/weighed', 'canary/unmatched', 'canary/failing'])
      seen.push(JSON.stringify(await send[channel](name, valueOf(channel))));
  }
  for (const [, attempt] of invalid) seen.push(JSON.stringify(await attempt(valueOf('invalid'))));
  await until('everything has ended', async () => (await counted('finished_state IS NULL')) === 0, 90);

  // The values did arrive: what they routed ran, what they kept away parked until its time was over.
  const kept = await db.query<{ value: string }>('SELECT value::text AS value FROM execution_routing');
  expect(kept.rows.filter(({ value }) => value.includes(secret)).length).toBeGreaterThan(8);
  expect(await counted(`error->>'type' = 'ParkTimeoutError'`)).toBeGreaterThan(3);
  expect(await counted(`finished_state = 'COMPLETED'`)).toBeGreaterThan(8);

  const tables = await db.query<{ name: string }>(
    `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname = 'public' ORDER BY 1`,
  );
  const withSecret: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await db.query<{ found: boolean }>(
      `SELECT EXISTS (SELECT FROM ${name} t WHERE t::text LIKE '%' || $1 || '%' OR t::text LIKE '%' || $2 || '%') AS found`,
      [secret, Buffer.from(secret).toString('hex')],
    );
    if (rows[0]?.found) withSecret.push(name);
  }
  expect(withSecret).toEqual(['execution_routing', 'schedule_routing']);
  const frames = await db.query<{ data: Buffer }>('SELECT data FROM decision_frame');
  const explained = frames.rows.map(({ data }) => inflateRawSync(data).toString('utf8'));
  expect(explained.some((frame) => frame.includes('watched'))).toBe(true);
  seen.push(...explained);

  let after: string | null = null;
  for (let more = true; more; ) {
    const page: ExecutionsPage = await ask<ExecutionsPage>(server, executionsDocument, { after });
    seen.push(JSON.stringify(page));
    after = page.executions.pageInfo.endCursor;
    more = page.executions.pageInfo.hasNextPage;
  }
  for (const path of ['/metrics', '/openapi.json', '/workers', '/admin/workers'])
    seen.push(
      await (await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${server.token}` } })).text(),
    );
  seen.push(await command('execution', 'list', '--json'));
  for (const recording of recordings) {
    expect(recording.events.length).toBeGreaterThan(0);
    seen.push(JSON.stringify(recording.events));
    recording.stop();
  }
  await worker.stop();
  await server.stop();
  expect(delivered).toContain('canary/weighed');
  expect(delivered).not.toContain(secret);
  expect(server.output).toContain('cohort');
  expect(server.output).not.toContain(secret);
  expect(seen.filter((text) => text.includes(secret))).toEqual([]);
});
