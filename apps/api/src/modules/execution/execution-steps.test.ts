import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, pause, step, suspend, timer } from '../../testing/durable-items.ts';
import { startTestApp, type TestApp } from '../../testing/test-app.ts';
import { onDuty, type WorkerOnDuty } from '../../testing/worker-on-duty.ts';

let app: TestApp;
let worker: WorkerOnDuty;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { namespace: "test", name: "durable" }) { created } }');
  worker = await onDuty(app.plane, 'w-steps');
});
afterAll(async () => {
  await worker.leave();
  await app.close();
});

const document = `query Steps($id: ID!, $first: Int, $after: String) { execution(id: $id) {
  state steps(first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes { position kind name done result error { type message } at wakeAt child { id parent { id } } }
  }
} }`;

describe('the steps of an execution', () => {
  it('are read in order, page by page, with what each has recorded or waits for', async () => {
    const { runWorkflow } = await app.ask(
      'mutation { runWorkflow(input: { workflow: "test/durable" }) { execution { id } } }',
    );
    const id: string = runWorkflow.execution.id;
    const raw = id.slice(3);
    const { generation } = await worker.claimed(raw);
    const held = { id: raw, generation };
    const called = await worker.report({
      steps: [
        step(held, 0, { result: { paid: 1 } }),
        step(held, 1, { error: { type: 'Declined', message: 'no', stack: null, retryable: false } }),
        timer(held, 2, 3_600_000),
        pause(held, 3),
      ],
      calls: [call(held, 4)],
    });
    await worker.report({ suspends: [suspend(held, 2, 3, 4)] });

    const first = (await app.ask(document, { id, first: 2 })).execution;
    expect(first).toMatchObject({
      state: 'PAUSED',
      steps: {
        totalCount: 5,
        pageInfo: { hasNextPage: true },
        nodes: [
          {
            position: 0,
            kind: 'TASK',
            name: 'charge',
            done: true,
            result: { paid: 1 },
            error: null,
            wakeAt: null,
            child: null,
          },
          { position: 1, kind: 'TASK', done: true, result: null, error: { type: 'Declined', message: 'no' } },
        ],
      },
    });
    const rest = (await app.ask(document, { id, after: first.steps.pageInfo.endCursor })).execution;
    expect(rest.steps).toMatchObject({
      pageInfo: { hasNextPage: false },
      nodes: [
        { position: 2, kind: 'TIMER', done: false, wakeAt: expect.any(String), child: null },
        { position: 3, kind: 'RESUME', name: 'approval', done: false, result: null, wakeAt: null },
        { position: 4, kind: 'CALL', done: false, child: { id: `ex_${called.calls[0]?.child}`, parent: { id } } },
      ],
    });
    expect(Date.parse(rest.steps.nodes[0].wakeAt) - Date.parse(rest.steps.nodes[0].at)).toBeCloseTo(3_600_000, -3);
  });

  it('are none where nothing durable was called', async () => {
    const { runWorkflow } = await app.ask(
      'mutation { runWorkflow(input: { workflow: "test/durable" }) { execution { id steps { totalCount nodes { position } } } } }',
    );
    expect(runWorkflow.execution.steps).toEqual({ totalCount: 0, nodes: [] });
  });
});
