import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import {
  createDeployment,
  registerWorkflow,
  runDeploymentDocument,
  type RunDeploymentAnswer,
} from '../support/fleet.ts';
import { ask, refusal } from '../support/graphql.ts';
import { liveClient, record } from '../support/live.ts';
import { hastyLiveness, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

let server: Server;
const workers: WorkerProcess[] = [];

beforeAll(async () => {
  server = await Server.start({ env: hastyLiveness });
});
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.kill())));
afterAll(() => server.dispose());

async function startWorker(name: string, role: string, prefix: string): Promise<WorkerProcess> {
  const worker = await WorkerProcess.start(server, { name, role, prefix, capacity: 50 });
  workers.push(worker);
  return worker;
}

const deploymentDocument = `query Deployment($slug: String!) {
  deployment(slug: $slug) { unavailable health variants { label dead share effectiveShare roles { role healthy workers } } }
}`;

interface DeploymentAnswer {
  readonly [key: string]: unknown;
  readonly deployment: {
    readonly unavailable: boolean;
    readonly health: string;
    readonly variants: readonly {
      readonly label: string;
      readonly dead: boolean;
      readonly share: number;
      readonly effectiveShare: number;
    }[];
  };
}

test('every variant pinned to dead roles: NO_HEALTHY_VARIANT, until a worker of such a role starts', async () => {
  await registerWorkflow(server, 'e2e', 'dead-echo');
  await createDeployment(server, 'all-dead', [
    { label: 'one', flowId: 'e2e/dead-echo', weight: 1, targetRoles: ['dead-a'] },
    { label: 'two', flowId: 'e2e/dead-echo', weight: 1, targetRoles: ['dead-b', 'dead-c'] },
  ]);
  const call = { input: { deployment: 'all-dead', sessionKey: 'ana', input: { text: 'hello' }, waitSeconds: 20 } };

  const error = await refusal(server, runDeploymentDocument, call);
  expect(error.extensions?.code).toBe('NO_HEALTHY_VARIANT');
  expect(error.message).toContain('no variants with healthy target roles');
  expect((await ask<DeploymentAnswer>(server, deploymentDocument, { slug: 'all-dead' })).deployment).toMatchObject({
    unavailable: true,
    health: 'UNAVAILABLE',
  });

  const client = liveClient(server);
  const roles = record<{ roleHealth: { roles: { role: string; healthy: boolean }[] } }>(
    client,
    'subscription { roleHealth { kind roles { role healthy } } }',
  );
  await startWorker('dead-c-1', 'dead-c', 'dead-');
  await until('the subscription tells that dead-c is healthy', () =>
    roles.events.some((event) => event.roleHealth.roles.some((item) => item.role === 'dead-c' && item.healthy)),
  );
  roles.stop();
  await client.dispose();

  const { runDeployment } = await ask<RunDeploymentAnswer>(server, runDeploymentDocument, call);
  expect(runDeployment.resolved).toMatchObject({ variant: { label: 'two' }, skipped: ['one'], sticky: true });
  expect(runDeployment.execution).toMatchObject({ state: 'COMPLETED', workerName: 'dead-c-1', variantLabel: 'two' });
});

test('200 sessions while the canary is dead: all on stable, none fails, and the shares say so', async () => {
  await startWorker('canary-w-1', 'canary-w', 'canary-');
  await createDeployment(server, 'dead-canary', [
    { label: 'stable', flowId: 'e2e/canary-echo', weight: 50 },
    { label: 'canary', flowId: 'e2e/canary-echo', weight: 50, targetRoles: ['canary-gpu'] },
  ]);
  const { deployment } = await ask<DeploymentAnswer>(server, deploymentDocument, { slug: 'dead-canary' });
  expect(deployment.health).toBe('DEGRADED');
  expect(deployment.variants).toEqual([
    expect.objectContaining({ label: 'stable', dead: false, share: 0.5, effectiveShare: 1 }),
    expect.objectContaining({ label: 'canary', dead: true, share: 0.5, effectiveShare: 0 }),
  ]);

  const sessions = Array.from({ length: 200 }, (_, index) => `session-${index}`);
  const call = async (sessionKey: string) => {
    const data = await ask<RunDeploymentAnswer>(server, runDeploymentDocument, {
      input: { deployment: 'dead-canary', sessionKey, waitSeconds: 60 },
    });
    return data.runDeployment;
  };
  const asleep = await Promise.all(sessions.map(call));
  expect(new Set(asleep.map(({ execution }) => `${execution.variantLabel} ${execution.state}`))).toEqual(
    new Set(['stable COMPLETED']),
  );

  // The control: with the role alive, the same sessions do reach the canary.
  await startWorker('canary-gpu-1', 'canary-gpu', 'canary-');
  const awake = await Promise.all(sessions.map(call));
  const reached = awake.filter(({ resolved }) => resolved.variant.label === 'canary').length;
  expect(reached).toBeGreaterThan(60);
  expect(reached).toBeLessThan(140);
});
