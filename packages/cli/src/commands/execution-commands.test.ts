import { afterEach, describe, expect, test } from 'vitest';
import { answeringServer } from '../testing/answering-server.ts';
import { executionOf } from '../testing/execution.ts';
import { runCommand } from '../testing/run-command.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function serve(answers: Parameters<typeof answeringServer>[0]) {
  const server = await answeringServer(answers);
  cleanups.push(() => server.close());
  return server;
}

const lastPage = { hasNextPage: false, endCursor: null };

describe('list', () => {
  test('flags become the filter', async () => {
    const { url, received } = await serve({
      ExecutionList: {
        data: {
          executions: {
            totalCount: 1,
            totalCountExact: true,
            pageInfo: lastPage,
            nodes: [executionOf({ parked: true, state: 'PENDING' })],
          },
        },
      },
    });
    const flags =
      '--state pending RUNNING --workflow chat --deployment assistant --variant stable --worker w-1 --role gpu --session alice --parent ex_0 --parked --limit 5';
    const { code, out } = await runCommand(['execution', 'list', ...flags.split(' ')], { url, columns: 200 });
    expect(code).toBe(0);
    expect(received[0]?.variables).toEqual({
      first: 5,
      after: null,
      filter: {
        states: ['PENDING', 'RUNNING'],
        workflow: 'default/chat',
        deployment: 'assistant',
        variant: 'stable',
        worker: 'w-1',
        role: 'gpu',
        sessionKey: 'alice',
        parent: 'ex_0',
        parked: true,
      },
    });
    expect(out.split('\n')[1]).toMatch(/^ex_1 +demo\/chat +assistant\/stable +PARKED +w-1 +\d+ d +Ran on w-1\.$/);
  });

  test('goes on to further pages up to its limit, and says that there is more', async () => {
    let page = 0;
    const { url, received } = await serve({
      ExecutionList: () => {
        page += 1;
        const nodes = Array.from({ length: page === 1 ? 200 : 50 }, (_, index) =>
          executionOf({ id: `ex_${page}_${index}` }),
        );
        return { data: { executions: { pageInfo: { hasNextPage: true, endCursor: `c${page}` }, nodes } } };
      },
    });
    const { out } = await runCommand(['execution', 'list', '--limit', '250'], { url });
    expect(received.map(({ variables }) => [variables['first'], variables['after']])).toEqual([
      [200, null],
      [50, 'c1'],
    ]);
    expect(out).toContain('… and more (--limit)');
  });

  test('a state that there is none of is a usage error', async () => {
    const { code, err } = await runCommand(['execution', 'list', '--state', 'LOST']);
    expect(code).toBe(2);
    expect(err).toContain('--state is one of PENDING, ');
  });
});

describe('events', () => {
  const nodes = [
    { sequence: 1, type: 'CREATED', at: '2026-01-01T00:00:00.000Z', worker: null, data: null },
    { sequence: 2, type: 'STARTED', at: '2026-01-01T00:00:01.000Z', worker: 'w-1', data: null },
    { sequence: 3, type: 'PROGRESS', at: '2026-01-01T00:00:02.000Z', worker: 'w-1', data: { done: 0.5 } },
    {
      sequence: 4,
      type: 'FAILED',
      at: '2026-01-01T00:00:03.000Z',
      worker: 'w-1',
      data: { type: 'TypeError', message: 'no text', stack: 'at …' },
    },
  ];
  const answer = {
    ExecutionEventList: {
      data: { execution: { id: 'ex_1', state: 'FAILED', events: { totalCount: 4, pageInfo: lastPage, nodes } } },
    },
  };

  test('one line each, or a list', async () => {
    const { url } = await serve(answer);
    const { code, out } = await runCommand(['execution', 'events', 'ex_1'], { url });
    expect(code).toBe(0);
    expect(out.split('\n')).toEqual([
      '2026-01-01T00:00:00.000Z  CREATED',
      '2026-01-01T00:00:01.000Z  STARTED  w-1',
      '2026-01-01T00:00:02.000Z  PROGRESS  w-1  {"done":0.5}',
      '2026-01-01T00:00:03.000Z  FAILED  w-1  TypeError: no text',
    ]);
    expect(JSON.parse((await runCommand(['execution', 'events', 'ex_1', '--json'], { url })).out)).toEqual(nodes);
  });

  test('--after leaves out what came before', async () => {
    const { url } = await serve(answer);
    const { out } = await runCommand(['execution', 'events', 'ex_1', '--after', '3', '--json'], { url });
    expect(JSON.parse(out)).toEqual(nodes.slice(3));
    expect((await runCommand(['execution', 'events', 'ex_1', '--after', '4'], { url })).out).toBe('No events.');
  });

  test('of an execution that is not there', async () => {
    const { url } = await serve({ ExecutionEventList: { data: { execution: null } } });
    expect(await runCommand(['execution', 'events', 'ex_9'], { url })).toEqual({
      code: 3,
      out: '',
      err: 'There is no execution ex_9.',
    });
  });
});

describe('cancel, resume and retry', () => {
  test.each([
    [['cancel', 'ex_1'], 'ExecutionCancel', 'cancelExecution', { id: 'ex_1' }],
    [['retry', 'ex_1'], 'ExecutionRetry', 'retryExecution', { id: 'ex_1' }],
    [['resume', 'ex_1'], 'ExecutionResume', 'resumeExecution', { input: { id: 'ex_1' } }],
    [
      ['resume', 'ex_1', '{"approved":true}'],
      'ExecutionResume',
      'resumeExecution',
      { input: { id: 'ex_1', input: { approved: true } } },
    ],
    [['resume', 'ex_1', 'null'], 'ExecutionResume', 'resumeExecution', { input: { id: 'ex_1', input: null } }],
  ])('%j', async (args, operation, field, variables) => {
    const execution = executionOf({ state: 'RESUMING' });
    const { url, received } = await serve({ [operation]: { data: { [field]: { execution } } } });
    const { code, out } = await runCommand(['execution', ...args], { url });
    expect(code).toBe(0);
    expect(out).toContain('state       RESUMING');
    expect(received[0]).toMatchObject({ operation, variables });
    expect(JSON.parse((await runCommand(['execution', ...args, '--json'], { url })).out)).toEqual(execution);
  });

  test('what is not paused cannot be resumed: exit code 1', async () => {
    const { url } = await serve({ ExecutionResume: { error: { code: 'CONFLICT', message: 'It is RUNNING.' } } });
    expect(await runCommand(['execution', 'resume', 'ex_1'], { url })).toEqual({
      code: 1,
      out: '',
      err: 'It is RUNNING.',
    });
  });

  test('an input that is no JSON is a usage error', async () => {
    expect(await runCommand(['execution', 'resume', 'ex_1', 'yes'])).toMatchObject({ code: 2, out: '' });
  });
});
