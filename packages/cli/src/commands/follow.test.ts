import { createClient } from '@muster/client';
import { afterEach, describe, expect, test } from 'vitest';
import { type EventScript, eventServer } from '../testing/event-server.ts';
import { executionDetailOf, executionOf } from '../testing/execution.ts';
import { runCommand } from '../testing/run-command.ts';
import { testIo } from '../testing/test-io.ts';
import { followEvents } from './follow.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const event = (sequence: number, type: string, data: unknown = null) => ({
  sequence,
  type,
  at: `2026-01-01T00:00:0${sequence}.000Z`,
  worker: sequence === 1 ? null : 'w-1',
  data,
});
const events = [event(1, 'CREATED'), event(2, 'SCHEDULED'), event(3, 'STARTED'), event(4, 'COMPLETED')];

async function serve(script: Partial<EventScript> & { readonly state?: string } = {}) {
  const { state = 'COMPLETED', ...rest } = script;
  const error = state === 'FAILED' ? { type: 'TypeError', message: 'no text', stack: null, retryable: false } : null;
  const server = await eventServer({
    events,
    answers: {
      WorkflowRun: () => ({ runWorkflow: { execution: executionOf({ state: 'PENDING' }) } }),
      ExecutionState: () => ({ execution: { id: 'ex_1', state, parked: false } }),
      ExecutionShow: () => ({ execution: executionDetailOf({ state, error }) }),
    },
    ...rest,
  });
  cleanups.push(() => server.close());
  return server;
}

describe('execution events --follow', () => {
  test('prints each event and exits 0 where it completed', async () => {
    const { url, asked } = await serve();
    const { code, out, err } = await runCommand(['execution', 'events', 'ex_1', '--follow'], { url });
    expect({ code, err, asked }).toEqual({ code: 0, err: '', asked: [0] });
    expect(out.split('\n')).toEqual([
      '2026-01-01T00:00:01.000Z  CREATED',
      '2026-01-01T00:00:02.000Z  SCHEDULED  w-1',
      '2026-01-01T00:00:03.000Z  STARTED  w-1',
      '2026-01-01T00:00:04.000Z  COMPLETED  w-1',
    ]);
  });

  test('survives connections that break, and prints no event twice', async () => {
    const { url, asked } = await serve({ breaks: [2, 1] });
    const { code, out, err } = await runCommand(['execution', 'events', 'ex_1', '--follow', '--json'], { url });
    expect({ code, asked }).toEqual({ code: 0, asked: [0, 2, 3] });
    expect(out.split('\n').map((line) => JSON.parse(line) as unknown)).toEqual(events);
    expect(err).toContain('The connection to the server broke');
  }, 60_000);

  test('goes on where the stream ends before the execution', async () => {
    const states = ['RUNNING', 'COMPLETED'];
    const { url, asked } = await serve({
      stops: [1],
      answers: { ExecutionState: () => ({ execution: { id: 'ex_1', state: states.shift(), parked: false } }) },
    });
    const { code, out } = await runCommand(['execution', 'events', 'ex_1', '--follow', '--json'], { url });
    expect({ code, asked }).toEqual({ code: 0, asked: [0, 1] });
    expect(out.split('\n')).toHaveLength(4);
  });

  test.each(['FAILED', 'CANCELLED'])('exits 1 where it ended as %s', async (state) => {
    const { url } = await serve({ state });
    const { code, err } = await runCommand(['execution', 'events', 'ex_1', '--follow'], { url });
    expect({ code, err }).toEqual({ code: 1, err: `ex_1 ended as ${state}.` });
  });

  test('starts after a sequence', async () => {
    const { url, asked } = await serve();
    const { out } = await runCommand(['execution', 'events', 'ex_1', '--follow', '--after', '3'], { url });
    expect({ out, asked }).toEqual({ out: '2026-01-01T00:00:04.000Z  COMPLETED  w-1', asked: [3] });
  });

  test.each([
    ['NOT_FOUND', 3],
    ['FORBIDDEN', 4],
    ['UNAUTHENTICATED', 4],
  ])('%s is %i', async (code, exit) => {
    const { url } = await serve({ error: { code, message: 'Refused.' } });
    const ran = await runCommand(['execution', 'events', 'ex_1', '--follow'], { url });
    expect(ran).toEqual({ code: exit, out: '', err: 'Refused.' });
  });

  test('a token that the server does not know is 4', async () => {
    const { url } = await serve({ closeCode: 4401 });
    expect((await runCommand(['execution', 'events', 'ex_1', '--follow'], { url })).code).toBe(4);
  });

  test('a server that stays away is 5, and says how to go on', async () => {
    const io = testIo();
    const connection = { url: 'http://127.0.0.1:1' };
    const context = { io, connection, client: createClient(connection), json: false };
    await expect(followEvents(context, 'ex_1', 7, () => undefined, 50)).rejects.toMatchObject({
      exitCode: 5,
      message: expect.stringContaining('muster execution events ex_1 --follow --after 7'),
    });
  });
});

describe('workflow run --follow', () => {
  test('prints the events, then the execution', async () => {
    const { url } = await serve();
    const { code, out, err } = await runCommand(['workflow', 'run', 'demo/chat', '--follow'], { url });
    expect({ code, err }).toEqual({ code: 0, err: 'ex_1 is PENDING.' });
    expect(out).toMatch(/^2026-01-01T00:00:01.000Z {2}CREATED\n[^]*\n\nexecution {3}ex_1\n/);
    expect(out).toContain('"answer": 42');
  });

  test('--json: one event a line, then the execution', async () => {
    const { url } = await serve();
    const { code, out, err } = await runCommand(['workflow', 'run', 'demo/chat', '--follow', '--json'], { url });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out.split('\n').map((line) => JSON.parse(line) as { execution?: object });
    expect(lines.slice(0, -1)).toEqual(events);
    expect(lines.at(-1)?.execution).toMatchObject({ id: 'ex_1', state: 'COMPLETED', output: { answer: 42 } });
    expect(lines.at(-1)?.execution).not.toHaveProperty('events');
  });

  test('exits 1 where it failed, and says why', async () => {
    const failed = [
      ...events.slice(0, 3),
      event(4, 'FAILED', { type: 'TypeError', message: 'no text', stack: 'at …' }),
    ];
    const { url } = await serve({ state: 'FAILED', events: failed });
    const { code, out, err } = await runCommand(['workflow', 'run', 'demo/chat', '--follow'], { url });
    expect(code).toBe(1);
    expect(out).toContain('2026-01-01T00:00:04.000Z  FAILED  w-1  TypeError: no text');
    expect(err).toContain('ex_1 ended as FAILED: TypeError: no text');
  });
});
