import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ExecutionContext } from '../execution-context.ts';
import { ProtocolServer } from '../testing/protocol-server.ts';
import { startWorker } from '../testing/start-worker.ts';
import type { Worker } from '../worker.ts';
import { workflow } from '../workflow.ts';

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

async function start(handler: (context: ExecutionContext, input: never) => unknown): Promise<void> {
  worker = await startWorker(server, { workflows: [workflow({ namespace: 'test', name: 'flow' }, handler)] });
}

const ended = (count = 1) => expect.poll(() => server.items('ends').length).toBe(count);
const lastEnd = () => server.items('ends').at(-1);

describe('what a handler says', () => {
  test('is said once, however often the handler does it again; what tasks say is said when they run', async () => {
    await start(async (context) => {
      context.log('begins');
      await context.task('work', () => context.progress(0.5, 'working'));
      context.log('waits');
      const answer = await context.pause('approval');
      context.event('answered', { answer });
      return null;
    });
    server.assign(['ex_1'], 'test/flow');
    await expect.poll(() => server.items('suspends').length).toBe(1);
    server.wake('ex_1', 'test/flow', 2, 1, { result: 'yes' });
    await ended();
    expect(server.items('events').map(({ generation, type, data }) => [generation, type, data])).toEqual([
      [1, 'log', { message: 'begins' }],
      [1, 'progress', { fraction: 0.5, message: 'working' }],
      [1, 'log', { message: 'waits' }],
      [2, 'answered', { answer: 'yes' }],
    ]);
  });

  test('is with the server before the claim is let go', async () => {
    const order: string[] = [];
    server.behaviour.report = (list) => void order.push(list);
    await start(async (context) => {
      for (let n = 0; n < 60; n += 1) context.progress(n / 60);
      await context.pause('approval');
    });
    server.assign(['ex_1'], 'test/flow');
    await expect.poll(() => order.includes('suspends')).toBe(true);
    expect(order.slice(order.indexOf('suspends'))).toEqual(['suspends']);
    expect(server.items('events').at(-1)).toMatchObject({ data: { fraction: 59 / 60 } });
    expect(server.items('events')).toHaveLength(51);
  });

  test('can be any JSON; what is none is told instead of thrown', async () => {
    await start((context) => {
      context.progress({ step: 2, of: 3 });
      context.event('odd', { big: 1n });
      return 'unharmed';
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({ output: 'unharmed' });
    expect(server.items('events')).toMatchObject([
      { type: 'progress', data: { value: { step: 2, of: 3 } } },
      { type: 'log', data: { message: expect.stringMatching(/^the data of the event "odd" is not JSON/) } },
    ]);
  });
});

describe('steps on their way to the server', () => {
  test('go in batches of at most 200, one of them under way', async () => {
    let open = 0;
    let most = 0;
    server.behaviour.report = async (list) => {
      if (list !== 'steps') return undefined;
      open += 1;
      most = Math.max(most, open);
      await new Promise((resolve) => setImmediate(resolve));
      open -= 1;
      return undefined;
    };
    await start(async (context) => {
      const numbers = await Promise.all(Array.from({ length: 900 }, (_, n) => context.task(`n${n}`, () => n)));
      return numbers.reduce((sum, n) => sum + n, 0);
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({ output: 404_550 });
    expect(most).toBe(1);
    const batches = server.reports.filter((report) => report.list === 'steps').map((report) => report.items.length);
    expect(Math.max(...batches)).toBe(200);
    expect(batches.length).toBeLessThan(20);
  });

  test('whose answer was lost are sent again, and the handler goes on', async () => {
    let ran = 0;
    server.behaviour.report = (list) => {
      if (list !== 'steps') return undefined;
      server.behaviour.report = () => undefined;
      server.cut();
      return new Promise(() => undefined);
    };
    await start((context) => context.task('work', () => (ran += 1)));
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(lastEnd()).toMatchObject({ output: 1 });
    const [first, second] = server.items('steps');
    expect(second).toEqual(first);
    expect(ran).toBe(1);
  });

  test('nothing is recorded of a task that the handler has left behind, and its signal fires', async () => {
    let signal: AbortSignal | undefined;
    let finish: () => void = () => undefined;
    await start(async (context) => {
      void context.task('left behind', async (task) => {
        ({ signal } = task);
        await new Promise<void>((resolve) => void (finish = resolve));
      });
      return await context.task('quick', () => 'done');
    });
    server.assign(['ex_1'], 'test/flow');
    await ended();
    expect(signal?.aborted).toBe(true);
    finish();
    server.assign(['ex_2'], 'test/flow');
    await ended(2);
    expect(server.items('steps').map((step) => [step.id, step['name']])).toEqual([
      ['ex_1', 'quick'],
      ['ex_2', 'quick'],
    ]);
  });
});
