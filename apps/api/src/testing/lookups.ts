import type { Team } from './two-teams.ts';

/** Names that nothing has. */
const ABSENT = { workflow: 'ops/none', deployment: 'ops-none', schedule: 'ops-none', worker: 'ops-none' };

/** Lookups that find nothing for anybody. */
export const NOTHING_HAS = new Set(['executions by deployment', 'executions by parent']);

/** What is asked, by which of a team's names or ids, and a name that nothing has ('': an id of the same kind). */
export const lookups: [string, string, (team: Team) => string, string][] = [
  ['worker', 'query ($x: String!) { worker(name: $x) { id name } }', (t) => t.worker, ABSENT.worker],
  ['workflow', 'query ($x: String!) { workflow(ref: $x) { id latest { id } } }', (t) => t.workflow, ABSENT.workflow],
  ['deployment', 'query ($x: String!) { deployment(slug: $x) { id } }', (t) => t.deployment, ABSENT.deployment],
  ['schedule', 'query ($x: String!) { schedule(name: $x) { id } }', (t) => t.schedule, ABSENT.schedule],
  [
    'resolveDeployment',
    'query ($x: String!) { resolveDeployment(slug: $x) { sticky } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  [
    'previewDeployment',
    'query ($x: String!) { previewDeployment(input: { slug: $x, variants: [] }) { movedShare } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  ...(
    ['execution', 'failed', 'decision', 'event', 'worker', 'workflow', 'version', 'deployment', 'schedule'] as const
  ).map((kind): [string, string, (team: Team) => string, string] => [
    `node of a ${kind}`,
    'query ($x: ID!) { node(id: $x) { id __typename } nodes(ids: [$x]) { id } }',
    (t) => t.ids[kind],
    '',
  ]),
  ['execution', 'query ($x: ID!) { execution(id: $x) { id } }', (t) => t.ids.execution, ''],
  ['decision', 'query ($x: ID!) { decision(id: $x) { id } }', (t) => t.ids.decision, ''],
  [
    'cancelExecution',
    'mutation ($x: ID!) { cancelExecution(input: { id: $x }) { execution { id } } }',
    (t) => t.ids.failed,
    '',
  ],
  [
    'resumeExecution',
    'mutation ($x: ID!) { resumeExecution(input: { id: $x }) { execution { id } } }',
    (t) => t.ids.execution,
    '',
  ],
  [
    'retryExecution',
    'mutation ($x: ID!) { retryExecution(input: { id: $x }) { execution { id } } }',
    (t) => t.ids.execution,
    '',
  ],
  // Who may not touch it is refused before anything is looked up.
  [
    'runWorkflow',
    'mutation ($x: String!) { runWorkflow(input: { workflow: $x }) { execution { id } } }',
    (t) => t.workflow,
    ABSENT.workflow,
  ],
  [
    'runWorkflow with a version of it',
    'mutation ($x: String!) { runWorkflow(input: { workflow: "ml/job", versionId: $x }) { execution { id } } }',
    (t) => t.ids.version,
    '',
  ],
  [
    'runWorkflow bound to it',
    'mutation ($x: String!) { runWorkflow(input: { workflow: "ml/job", requiredWorker: $x }) { execution { id } } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'runDeployment',
    'mutation ($x: String!) { runDeployment(input: { deployment: $x }) { execution { id } } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  [
    'runSchedule',
    'mutation ($x: String!) { runSchedule(input: { name: $x }) { execution { id } } }',
    (t) => t.schedule,
    ABSENT.schedule,
  ],
  [
    'pauseSchedule',
    'mutation ($x: String!) { pauseSchedule(input: { name: $x }) { warnings } }',
    (t) => t.schedule,
    ABSENT.schedule,
  ],
  [
    'updateSchedule to run it',
    'mutation ($x: String!) { updateSchedule(input: { name: "ml-nightly", expectedRevision: 1, workflow: $x }) { warnings } }',
    (t) => t.workflow,
    ABSENT.workflow,
  ],
  [
    'updateSchedule to another name',
    'mutation ($x: String!) { updateSchedule(input: { name: "ml-nightly", expectedRevision: 1, newName: $x }) { warnings } }',
    (t) => t.schedule,
    ABSENT.schedule,
  ],
  [
    'createSchedule of a deployment',
    'mutation ($x: String!) { createSchedule(input: { name: "ml-nightly", cron: "0 0 1 1 *", deployment: $x }) { warnings } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  [
    'updateDeployment',
    'mutation ($x: String!) { updateDeployment(input: { slug: $x, expectedRevision: 9 }) { warnings } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  [
    'updateDeployment to run it',
    'mutation ($x: String!) { updateDeployment(input: { slug: "ml-live", expectedRevision: 1, variants: [{ label: "main", flowId: $x, weight: 1 }] }) { warnings } }',
    (t) => t.workflow,
    ABSENT.workflow,
  ],
  [
    'removeWorker',
    'mutation ($x: String!) { removeWorker(input: { worker: $x }) { name } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'setWorkerMetadata',
    'mutation ($x: String!) { setWorkerMetadata(input: { worker: $x, metadata: {} }) { worker { id } } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'executions by workflow',
    'query ($x: String!) { executions(filter: { workflow: $x }) { totalCount nodes { id } } }',
    (t) => t.workflow,
    ABSENT.workflow,
  ],
  [
    'executions by deployment',
    'query ($x: String!) { executions(filter: { deployment: $x }) { totalCount } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  [
    'executions by id',
    'query ($x: ID!) { executions(filter: { ids: [$x] }) { totalCount nodes { id } } }',
    (t) => t.ids.execution,
    '',
  ],
  [
    'executions by parent',
    'query ($x: ID!) { executions(filter: { parent: $x }) { totalCount } }',
    (t) => t.ids.execution,
    '',
  ],
  [
    'executions by the beginning of an id',
    'query ($x: String!) { executions(filter: { search: $x }) { totalCount } }',
    (t) => t.ids.execution,
    '',
  ],
  [
    'executions by worker',
    'query ($x: String!) { executions(filter: { worker: $x }) { totalCount } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'executionCounts',
    'query ($x: String!) { executionCounts(filter: { workflow: $x }) { state count } }',
    (t) => t.workflow,
    ABSENT.workflow,
  ],
  [
    'decisions',
    'query ($x: ID!) { decisions(filter: { execution: $x }) { totalCount nodes { id } } }',
    (t) => t.ids.execution,
    '',
  ],
  [
    'decisions by winner',
    'query ($x: String!) { decisions(filter: { winner: $x }) { totalCount } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'workers by name',
    'query ($x: String!) { workers(filter: { names: [$x] }) { totalCount } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'workers by search',
    'query ($x: String!) { workers(filter: { search: $x }) { totalCount } }',
    (t) => t.worker,
    ABSENT.worker,
  ],
  [
    'workflows by search',
    'query ($x: String!) { workflows(search: $x) { totalCount } }',
    (t) => t.workflow,
    ABSENT.workflow,
  ],
  [
    'deployments by search',
    'query ($x: String!) { deployments(filter: { search: $x }) { totalCount } }',
    (t) => t.deployment,
    ABSENT.deployment,
  ],
  [
    'schedules by search',
    'query ($x: String!) { schedules(filter: { search: $x }) { totalCount } }',
    (t) => t.schedule,
    ABSENT.schedule,
  ],
];

/** The same at the routes: method, address, whose name or id it is, and one that nothing has. */
export const addresses: [string, string, (team: Team) => string, string][] = [
  ['GET', '/executions/NAME', (t) => t.ids.execution, ''],
  ['GET', '/executions/NAME/events', (t) => t.ids.failed, ''],
  ['POST', '/executions/NAME/cancel', (t) => t.ids.execution, ''],
  ['POST', '/executions/NAME/resume', (t) => t.ids.execution, ''],
  ['GET', '/workers/NAME', (t) => t.worker, ABSENT.worker],
  ['GET', '/admin/workers/NAME/metadata', (t) => t.worker, ABSENT.worker],
  ['GET', '/admin/workers/NAME/metadata/rack', (t) => t.worker, ABSENT.worker],
  ['PUT', '/admin/workers/NAME/metadata/rack', (t) => t.worker, ABSENT.worker],
  ['DELETE', '/admin/workers/NAME/metadata', (t) => t.worker, ABSENT.worker],
  ['POST', '/workflows/NAME/run/async', (t) => t.workflow, ABSENT.workflow],
  ['POST', '/workflows/NAME/run/async?version=1', (t) => t.workflow, ABSENT.workflow],
  ['POST', '/deployments/NAME/run/sync', (t) => t.deployment, ABSENT.deployment],
];
