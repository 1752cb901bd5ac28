import { type SignedIn, signIn, withToken } from './sign-in.ts';
import { healthy, operator } from './test-control-plane.ts';
import type { TestApp } from './test-app.ts';
import { onDuty, type WorkerOnDuty } from './worker-on-duty.ts';

/** Everything that a team has, by name and by id; its execution is claimed by its worker, its ended one has failed. */
export interface Team {
  readonly namespace: string;
  /** namespace/name */
  readonly workflow: string;
  readonly deployment: string;
  readonly schedule: string;
  readonly worker: string;
  readonly ids: {
    readonly workflow: string;
    readonly version: string;
    readonly deployment: string;
    readonly schedule: string;
    readonly worker: string;
    readonly execution: string;
    readonly failed: string;
    readonly decision: string;
    readonly event: string;
  };
  readonly duty: WorkerOnDuty;
  /** Says that its worker lives; now and then, where a test takes long. */
  beat(): Promise<unknown>;
  /** What the claimed execution itself may send. */
  readonly executionToken: string;
}

const SETUP = `mutation ($workflow: RegisterWorkflowInput!, $deployment: CreateDeploymentInput!, $schedule: CreateScheduleInput!) {
  registerWorkflow(input: $workflow) { version { id workflow { id } } }
  createDeployment(input: $deployment) { deployment { id } }
  createSchedule(input: $schedule) { schedule { id } }
}`;

/** What somebody of a team may: see and run what is his team's, and nothing else. */
export function permissionsOf({
  namespace,
  deployment,
  schedule,
  worker,
}: Pick<Team, 'namespace' | 'deployment' | 'schedule' | 'worker'>): string[] {
  return [
    `workflow:${namespace}:*`,
    'execution:*:read',
    'execution:*:cancel',
    `deployment:${deployment}:*`,
    `schedule:${schedule}:*`,
    ...['read', 'target', 'manage'].map((action) => `worker:${worker}:${action}`),
  ];
}

/** Two teams that share an installation. */
export async function twoTeams(app: TestApp): Promise<{ ours: Team; theirs: Team }> {
  const ours = await makeTeam(app, 'ml');
  return { ours, theirs: await makeTeam(app, 'ops') };
}

async function makeTeam(app: TestApp, namespace: string): Promise<Team> {
  const workflow = `${namespace}/job`;
  const names = {
    namespace,
    workflow,
    deployment: `${namespace}-live`,
    schedule: `${namespace}-nightly`,
    worker: `${namespace}-worker`,
  };
  const made = await app.ask(SETUP, {
    workflow: { namespace, name: 'job', description: `${namespace} work` },
    deployment: { slug: names.deployment, variants: [{ label: 'main', flowId: workflow, weight: 1 }] },
    schedule: { name: names.schedule, workflow, cron: '0 0 1 1 *' },
  });
  const duty = await onDuty(app.plane, names.worker, {
    role: `${namespace}-role`,
    workflows: [workflow],
    capacity: null,
    labels: [{ key: 'team', value: namespace }],
  });
  await app.ask('mutation ($input: SetWorkerMetadataInput!) { setWorkerMetadata(input: $input) { worker { id } } }', {
    input: { worker: names.worker, metadata: { rack: namespace } },
  });
  const run = async (): Promise<string> => {
    const answer = await app.ask(
      'mutation ($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
      { input: { workflow, input: { of: namespace } } },
    );
    return answer.runWorkflow.execution.id as string;
  };
  const failed = await run();
  const lost = await duty.claimed(failed.slice(3));
  const error = { type: 'Oops', message: `${namespace} broke`, stack: null, retryable: false };
  await duty.report({
    ends: [{ id: failed.slice(3), generation: lost.generation, state: 'FAILED', output: undefined, error }],
  });
  const execution = await run();
  const claim = await duty.claimed(execution.slice(3));
  const { execution: seen, worker } = await app.ask(
    `query ($id: ID!, $worker: String!) {
      execution(id: $id) { decisions(first: 1) { nodes { id } } events(first: 1) { nodes { id } } }
      worker(name: $worker) { id }
    }`,
    { id: execution, worker: names.worker },
  );
  return {
    ...names,
    duty,
    beat: () => app.plane.workforce.protocol.heartbeat(operator, names.worker, duty.instance, healthy),
    executionToken: app.plane.executionTokens.sign({
      id: execution.slice(3),
      generation: claim.generation,
      submittedBy: 'admin',
    }),
    ids: {
      workflow: made.registerWorkflow.version.workflow.id,
      version: made.registerWorkflow.version.id,
      deployment: made.createDeployment.deployment.id,
      schedule: made.createSchedule.schedule.id,
      worker: worker.id,
      execution,
      failed,
      decision: seen.decisions.nodes[0].id,
      event: seen.events.nodes[0].id,
    },
  };
}

/** A member of the team, and its claimed execution as it asks itself. */
export async function memberOf(app: TestApp, team: Team): Promise<SignedIn> {
  return signIn(app, `${team.namespace}-member`, { permissions: permissionsOf(team) });
}

export function executionOf(app: TestApp, team: Team): SignedIn {
  return withToken(app, `${team.namespace}-execution`, team.executionToken);
}

/** An id of the same kind that nothing has. */
export function absentId(id: string): string {
  const [kind = '', raw = ''] = id.split('_');
  if (kind === 'ev') return `ev_${'0'.repeat(32)}-1`;
  return raw.length === 32 ? `${kind}_${'0'.repeat(32)}` : `${kind}_2000000000`;
}
