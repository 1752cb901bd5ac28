import { afterEach, describe, expect, test } from 'vitest';
import { runProgram } from './program.ts';
import { answeringServer } from './testing/answering-server.ts';
import { executionDetailOf, executionOf } from './testing/execution.ts';
import { testIo } from './testing/test-io.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(answers: Parameters<typeof answeringServer>[0]) {
  const server = await answeringServer(answers);
  cleanups.push(() => server.close());
  return server;
}

async function run(args: string[], url?: string) {
  const io = testIo({ env: url === undefined ? {} : { MUSTER_SERVER: url, MUSTER_TOKEN: 't' } });
  const code = await runProgram(args, io);
  return { code, out: io.stdout.join('\n'), err: io.stderr.join('\n') };
}

const execution = executionOf();
const ran = (fields: object) => ({
  WorkflowRun: { data: { runWorkflow: { execution: { ...execution, ...fields } } } },
});

describe('usage', () => {
  test('help is printed with examples and exit codes', async () => {
    const { code, out } = await run(['--help']);
    expect(code).toBe(0);
    expect(out).toContain('Examples:\n  muster serve');
    expect(out).toContain('Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 denied, 5 unavailable');
    expect(out).not.toContain('demo-worker');
  });

  test.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['why'], "missing required argument 'id'"],
    [['worker', 'list', '--frob'], "unknown option '--frob'"],
    [['workflow', 'run', 'demo/chat', 'text'], 'INPUT is not JSON'],
    [['workflow', 'run', 'demo/chat', '-r', 'novalue'], '--routing-input takes key=value'],
    [['workflow', 'run', 'demo/chat', '--priority', 'high'], '--priority must be a whole number'],
    [['workflow', 'run', 'demo/chat', '-r', '=x'], '--routing-input takes key=value'],
    [['workflow', 'run', 'demo/chat', '-r', 'a=1', '-r', 'a=2'], 'gives "a" twice'],
    [['workflow', 'run', 'demo/chat', '--follow', '--wait'], '--follow waits for the end by itself'],
    [['worker', 'start', 'missing.ts'], 'There is no file missing.ts'],
    [['worker', 'list', '--server', 'nonsense'], "'nonsense' is not an http"],
  ])('%j is a usage error', async (args, message) => {
    const { code, err, out } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(message);
  });
});

describe('exit codes', () => {
  test.each([
    ['BAD_INPUT', 2],
    ['POLICY_INVALID', 2],
    ['ROUTING_INPUT_INVALID', 2],
    ['UNKNOWN_WORKER', 2],
    ['TOO_LARGE', 2],
    ['NOT_FOUND', 3],
    ['UNAUTHENTICATED', 4],
    ['FORBIDDEN', 4],
    ['NO_HEALTHY_VARIANT', 5],
    ['UNAVAILABLE', 5],
    ['RATE_LIMITED', 5],
    ['CONFLICT', 1],
    ['INTERNAL', 1],
  ])('%s is %i', async (code, exit) => {
    const issues = [{ path: 'variants.0', code: 'X', message: 'what is wrong' }];
    const { url } = await serve({ WorkerList: { error: { code, message: 'Refused.', issues } } });
    const result = await run(['worker', 'list'], url);
    expect(result).toEqual({ code: exit, out: '', err: 'Refused.\n  variants.0: what is wrong' });
  });

  test('what is not there is 3, a server that is not there 5', async () => {
    const { url } = await serve({
      WorkerShow: { data: { worker: null } },
      ExecutionWhy: { data: { execution: null } },
    });
    expect(await run(['worker', 'show', 'w-1'], url)).toEqual({ code: 3, out: '', err: 'There is no worker w-1.' });
    expect(await run(['why', 'ex_1'], url)).toEqual({ code: 3, out: '', err: 'There is no execution ex_1.' });
    expect(await run(['why', 'ex_1'], 'http://127.0.0.1:1')).toMatchObject({ code: 5, out: '' });
  });
});

describe('runs', () => {
  test('flags become the input of the mutation', async () => {
    const { url, received } = await serve(ran({ state: 'PENDING' }));
    const args = [
      'workflow',
      'run',
      'demo/chat',
      '{"text":"hi"}',
      '-r',
      'cohort=b',
      '-r',
      'tier=',
      '--require-worker',
      'w-1',
      '--park-ttl',
      '0',
      '--priority',
      '-7',
    ];
    expect((await run(args, url)).code).toBe(0);
    expect(received[0]?.variables['input']).toEqual({
      workflow: 'demo/chat',
      versionId: null,
      input: { text: 'hi' },
      routingInput: { cohort: 'b', tier: '' },
      requiredWorker: 'w-1',
      preferredWorker: null,
      parkTtlSeconds: 0,
      priority: -7,
      idempotencyKey: null,
      waitSeconds: 0,
    });
    expect(received[0]?.headers.authorization).toBe('Bearer t');
  });

  test('--wait prints the ended execution and tells by the exit code how it ended', async () => {
    const completed = await serve(ran({}));
    const good = await run(['workflow', 'run', 'demo/chat', '--wait', '5'], completed.url);
    expect(good.code).toBe(0);
    expect(good.out).toContain('"answer": 42');
    expect(completed.received[0]?.variables['input']).toMatchObject({ waitSeconds: 5 });

    const failed = await serve(
      ran({
        state: 'FAILED',
        output: null,
        error: { type: 'TypeError', message: 'no text', stack: null, retryable: false },
      }),
    );
    const bad = await run(['workflow', 'run', 'demo/chat', '--wait'], failed.url);
    expect(bad).toMatchObject({ code: 1, err: 'ex_1 ended as FAILED: TypeError: no text' });
  });

  test('--wait goes on where the execution has parked, until it ends', async () => {
    let asked = 0;
    const createdAt = new Date().toISOString();
    const { url } = await serve({
      ...ran({ state: 'PENDING', parked: true, parkedReason: 'nobody', createdAt }),
      ExecutionState: () => {
        asked += 1;
        return { data: { execution: { id: 'ex_1', state: asked < 2 ? 'PENDING' : 'COMPLETED', parked: asked < 2 } } };
      },
      ExecutionShow: {
        data: { execution: executionDetailOf({ createdAt }) },
      },
    });
    const { code, err } = await run(['workflow', 'run', 'demo/chat', '--wait', '30'], url);
    expect(code).toBe(0);
    expect(err).toContain('ex_1 is parked');
  });

  test('--wait that runs out is 5 and says what it waits for', async () => {
    const waiting = { ...execution, state: 'PENDING', parked: true, parkedReason: 'no worker of role gpu-preview' };
    const { url } = await serve({ ...ran(waiting), ExecutionShow: { data: { execution: waiting } } });
    const { code, err } = await run(['workflow', 'run', 'demo/chat', '--wait', '1'], url);
    expect(code).toBe(5);
    expect(err).toBe('ex_1 has not ended after 1 s; it is PENDING and is parked: no worker of role gpu-preview.');
  });

  test('--json prints what the server answered', async () => {
    const { url } = await serve({
      DeploymentRun: {
        data: { runDeployment: { execution, resolved: { sticky: true, skipped: [], variant: { label: 'stable' } } } },
      },
    });
    const { code, out } = await run(['deployment', 'run', 'assistant', '--session', 'alice', '--json'], url);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ id: 'ex_1', workerName: 'w-1', output: { answer: 42 } });
  });
});

describe('lists', () => {
  const worker = {
    id: 'wk_1',
    name: 'gpu-eu',
    role: 'gpu-worker',
    hostname: 'h',
    version: '1',
    status: 'STALE',
    statusReasons: ['silent for 40 s'],
    availability: 'CORDONED',
    eligible: false,
    connected: true,
    registered: true,
    load: 1,
    capacity: 4,
    lastSeenAt: new Date().toISOString(),
    labels: [{ key: 'region', value: 'eu' }],
    metrics: [
      { key: 'queue_depth', value: 4, builtin: false, stale: false, at: new Date().toISOString() },
      {
        key: 'flux.memory_available_bytes',
        value: 1_073_741_824,
        builtin: true,
        stale: true,
        at: new Date().toISOString(),
      },
    ],
  };

  test('are read page by page and printed in columns', async () => {
    let page = 0;
    const { url, received } = await serve({
      WorkerList: () => {
        page += 1;
        const pageInfo = { hasNextPage: page === 1, endCursor: page === 1 ? 'c1' : null };
        return { data: { workers: { totalCount: 2, pageInfo, nodes: [{ ...worker, name: `gpu-${page}` }] } } };
      },
    });
    const { code, out } = await run(['worker', 'list', '--role', 'gpu-worker'], url);
    expect(code).toBe(0);
    expect(received.map((one) => one.variables)).toEqual([
      { first: 200, after: null, filter: { roles: ['gpu-worker'] } },
      { first: 200, after: 'c1', filter: { roles: ['gpu-worker'] } },
    ]);
    expect(out.split('\n')[0]).toMatch(/^name +role +status +load +labels +seen +because +metrics$/);
    expect(out.split('\n')[1]).toMatch(
      /^gpu-1 +gpu-worker +STALE +CORDONED +1 of 4 +region=eu +\d+ s +silent for 40 s +queue_depth=4/,
    );
    expect(out).toMatch(/\ngpu-2 /);
  });

  test('that are empty say what to do', async () => {
    const { url } = await serve({
      WorkerList: {
        data: { workers: { totalCount: 0, pageInfo: { hasNextPage: false, endCursor: null }, nodes: [] } },
      },
    });
    expect((await run(['worker', 'list'], url)).out).toContain('muster worker start FILE');
    expect((await run(['worker', 'list', '--json'], url)).out).toBe('[]');
  });
});
