import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp, until } from '../../testing/test-app.ts';

/** The worker protocol as any language speaks it: what the wire itself refuses or does not need. */
let app: TestApp;

beforeAll(async () => {
  app = await startTestApp();
  await app.ask('mutation { registerWorkflow(input: { name: "any" }) { created } }');
});
afterAll(() => app.close());

const register =
  'mutation ($input: WorkerRegisterInput!) { workerRegister(input: $input) { heartbeatSeconds worker { status startedAt } } }';

async function registerWithClock(name: string, offsetMs: number): Promise<void> {
  const startedAt = new Date(Date.now() + offsetMs).toISOString();
  const { workerRegister } = await app.ask(register, {
    input: { name, instanceId: `${name}-1`, role: 'worker', hostname: 'h', version: '1', startedAt },
  });
  expect(workerRegister.worker).toEqual({ status: 'HEALTHY', startedAt });
}

describe('a write of a worker', () => {
  it.each(['claims', 'starts', 'ends', 'releases', 'events'])(
    'is refused without a generation: %s (B11)',
    async (list) => {
      const more = { ends: 'state: COMPLETED', events: 'type: "note"' }[list] ?? '';
      const answer = await app.post(
        `mutation { workerReport(input: { worker: "w", instanceId: "i", ${list}: [{ id: "ex_${'0'.repeat(32)}", ${more} }] }) { ${list} { code } } }`,
      );
      expect(answer.status).toBe(400);
      expect(answer.errors[0]?.extensions.code).toBe('BAD_INPUT');
      expect(JSON.stringify(answer.errors)).toContain('generation');
    },
  );
});

describe('the clock of a worker', () => {
  it.each([
    ['behind', -120_000],
    ['ahead', 120_000],
  ])('two minutes %s delays nothing and kills nobody (A13)', async (name, offset) => {
    await registerWithClock(name, offset);
    const socket = app.socket();
    const assigned = new Promise<string>((resolve) => {
      socket.subscribe(
        { query: `subscription { workerInbox(worker: "${name}", instanceId: "${name}-1") { assignments { id } } }` },
        {
          next: ({ data }) => {
            const [first] = (data as { workerInbox: { assignments: { id: string }[] } }).workerInbox.assignments;
            if (first) resolve(first.id);
          },
          error: () => undefined,
          complete: () => undefined,
        },
      );
    });
    await until(() => app.plane.fleet.get(name)?.eligible, 'it is on duty');
    const { runWorkflow } = await app.ask(
      'mutation ($worker: String!) { runWorkflow(input: { workflow: "any", requiredWorker: $worker }) { execution { id } } }',
      { worker: name },
    );
    expect(await assigned).toBe(runWorkflow.execution.id);
    const { execution } = await app.ask(
      'query ($id: ID!) { execution(id: $id) { latestDecision { waitMs outcome } } }',
      {
        id: runWorkflow.execution.id,
      },
    );
    expect(execution.latestDecision).toMatchObject({ outcome: 'ASSIGNED' });
    expect(execution.latestDecision.waitMs).toBeLessThan(60_000);
    expect(execution.latestDecision.waitMs).toBeGreaterThanOrEqual(0);
    await socket.dispose();
  });
});
