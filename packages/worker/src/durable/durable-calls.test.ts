import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionContext } from '../execution-context.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { startWorker } from '../testing/start-worker.ts';
import type { Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';
import { type Workflow, workflow } from '../workflow.ts';

let server: ProtocolServer;
let worker: Worker | undefined;

beforeEach(async () => {
  server = new ProtocolServer();
  await server.start();
});

afterEach(async () => {
  await worker?.stop();
  await server.stop();
});

const flow = (name: string, handler: (context: ExecutionContext, input: never) => unknown): Workflow =>
  workflow({ namespace: 'test', name }, handler);

async function start(workflows: readonly Workflow[], options: Partial<WorkerOptions> = {}): Promise<void> {
  worker = await startWorker(server, { workflows, ...options });
}

const ended = (count = 1) => expect.poll(() => server.items('ends').length).toBe(count);
const suspended = (count = 1) => expect.poll(() => server.items('suspends').length).toBe(count);
const lastEnd = () => server.items('ends').at(-1);

describe('call', () => {
  const parent = flow('parent', async (context, input: number[]) => {
    const children = input.map((n) => context.call<number>('test/child', { n }));
    return await Promise.all(children);
  });

  test('starts children and waits for them without a slot', async () => {
    await start([parent]);
    server.assign(['ex_1'], 'test/parent', { claim: { input: [1, 2] } });
    await suspended();
    expect(server.items('calls')).toEqual(
      [0, 1].map((position) => ({
        id: 'ex_1',
        generation: 1,
        position,
        name: 'test/child',
        workflow: 'test/child',
        input: { n: position + 1 },
      })),
    );
    expect(server.items('suspends')).toMatchObject([{ positions: [0, 1] }]);
    server.wake('ex_1', 'test/parent', 2, 1, { result: 20 }, { input: [1, 2] });
    await suspended(2);
    expect(server.items('suspends').at(-1)).toMatchObject({ generation: 2, positions: [0] });
    server.wake('ex_1', 'test/parent', 3, 0, { result: 10 }, { input: [1, 2] });
    await ended();
    expect(lastEnd()).toMatchObject({ output: [10, 20] });
    expect(server.items('calls')).toHaveLength(2);
  });

  test('a child that failed throws by name and message', async () => {
    const asks = flow('asks', (context) =>
      context.call('test/child', null).catch((error: Error) => `${error.name}: ${error.message}`),
    );
    await start([asks]);
    server.assign(['ex_1'], 'test/asks');
    await suspended();
    const error = { type: 'ParkTimeoutError', message: 'nobody was there', stack: null, retryable: false };
    server.wake('ex_1', 'test/asks', 2, 0, { error });
    await ended();
    expect(lastEnd()).toMatchObject({ output: 'ParkTimeoutError: nobody was there' });
  });

  test('a failure of a child is final for its parent, whatever it says of itself: another attempt would see it again', async () => {
    await start([flow('asks', (context) => context.call('test/child', null))]);
    server.assign(['ex_1'], 'test/asks');
    await suspended();
    const error = { type: 'RetryableError', message: 'busy', stack: null, retryable: true };
    server.wake('ex_1', 'test/asks', 2, 0, { error });
    await ended();
    expect(lastEnd()).toMatchObject({ state: 'FAILED', error: { type: 'RetryableError', retryable: false } });
  });

  test('one that cannot be made is recorded as failed, and the same in a replay', async () => {
    server.behaviour.item = (list) =>
      list === 'calls' ? { code: 'BAD_INPUT', message: 'there is no workflow test/none' } : undefined;
    const asks = flow('asks', (context) =>
      context.call('test/none', null).catch((error: Error) => `${error.name}: ${error.message}`),
    );
    await start([asks]);
    server.assign(['ex_1'], 'test/asks');
    await ended();
    server.behaviour.item = () => undefined;
    server.assign(['ex_1'], 'test/asks', { generation: 2 });
    await ended(2);
    expect(lastEnd()).toMatchObject({
      output: 'CallError: test/none cannot be called: there is no workflow test/none',
    });
    expect(server.items('calls')).toHaveLength(1);
  });

  test('what the server completed after the claim was taken is not seen before the next claim', async () => {
    server.steps.set('ex_1', [
      { position: 0, kind: 'CALL', name: 'test/child', done: true, result: 1, error: null, generation: 3, order: null },
    ]);
    await start([parent]);
    server.assign(['ex_1'], 'test/parent', { generation: 2, claim: { input: [1] } });
    await suspended();
    expect(server.items('suspends')).toEqual([{ id: 'ex_1', generation: 2, positions: [0] }]);
    server.assign(['ex_1'], 'test/parent', { generation: 3, claim: { input: [1] } });
    await ended();
    expect(lastEnd()).toMatchObject({ generation: 3, output: [1] });
  });

  test('routing input goes into the call and nowhere else', async () => {
    const asks = flow('asks', async (context) => {
      const options = { routingInput: { cohort: 'canary-7f3a' }, version: 3, priority: 5, transient: true };
      context.log('calling');
      return await context.call('test/child', { n: 1 }, options).catch((error: Error) => error.message);
    });
    await start([asks, flow('child', () => 'never here')]);
    server.assign(['ex_1'], 'test/asks');
    await suspended();
    expect(server.items('calls')).toMatchObject([
      { workflow: 'test/child', routingInput: { cohort: 'canary-7f3a' }, version: 3, priority: 5 },
    ]);
    const rest = server.reports.filter((report) => report.list !== 'calls');
    expect(JSON.stringify([rest, server.heartbeats])).not.toContain('canary-7f3a');
  });
});

describe('a transient call', () => {
  const child = flow('child', async (context, input: { n: number }) => {
    const doubled = await context.task('double', () => input.n * 2);
    context.log('doubled');
    return [doubled, context.executionId];
  });
  const parent = flow('parent', (context) => context.call(child, { n: 4 } as never, { transient: true }));

  test('runs right here and records its result only', async () => {
    await start([parent, child], { capacity: 1 });
    server.assign(['ex_1'], 'test/parent');
    await ended();
    expect(lastEnd()).toMatchObject({ output: [8, 'ex_1:0'] });
    expect(server.items('calls')).toEqual([]);
    expect(server.items('steps')).toMatchObject([
      { position: 0, kind: 'CALL', name: 'test/child', done: true, result: [8, 'ex_1:0'] },
    ]);
    expect(server.items('events')).toMatchObject([{ id: 'ex_1', type: 'log', data: { message: 'doubled' } }]);
  });

  test('is dispatched where the worker option says so, or the worker does not have the workflow', async () => {
    await start([parent, child], { transientCalls: false });
    server.assign(['ex_1'], 'test/parent');
    await suspended();
    await worker?.stop();
    await start([parent]);
    server.assign(['ex_2'], 'test/parent');
    await suspended(2);
    expect(server.items('calls')).toMatchObject([{ id: 'ex_1' }, { id: 'ex_2' }]);
  });

  test.each<[string, (context: ExecutionContext) => unknown, RegExp]>([
    ['pause', (context) => context.pause('x'), /test\/wants cannot pause; call it without transient/],
    ['sleep long', (context) => context.sleep(60_000), /cannot sleep longer than 30000 ms/],
    ['call elsewhere', (context) => context.call('test/far', null), /can only call workflows that its worker runs/],
  ])('that wants to %s fails with what would be right', async (_, handler, message) => {
    const wants = flow('wants', handler);
    const asks = flow('asks', (context) => context.call(wants, null as never, { transient: true }));
    await start([asks, wants]);
    server.assign(['ex_1'], 'test/asks');
    await ended();
    expect(lastEnd()).toMatchObject({ state: 'FAILED', error: { message: expect.stringMatching(message) } });
    expect(server.items('steps')).toMatchObject([{ kind: 'CALL', error: { message: expect.stringMatching(message) } }]);
  });
});
