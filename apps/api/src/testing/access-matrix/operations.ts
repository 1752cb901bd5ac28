import type { Team } from '../two-teams.ts';
import type { Visitor } from './visitors.ts';

/**
 * For fields about what is a team's: the operation on that. What writes is made so that it passes who is let in and then finds nothing, or a revision that is not:
 * `-gone` is a name that a team may manage and nothing has.
 */
export const OPERATIONS: Readonly<
  Record<string, (team: Team, visitor: Pick<Visitor, 'name' | 'joinSecret'>) => string>
> = {
  // Reads: what they select is what may be seen.
  'Query.node': ({ ids }) => `{ node(id: "${ids.execution}") { id } }`,
  'Query.nodes': ({ ids }) => `{ nodes(ids: ["${ids.execution}", "${ids.worker}"]) { id } }`,
  'Query.viewer': () => '{ viewer { name } }',
  'Query.worker': ({ worker }) => `{ worker(name: "${worker}") { name } }`,
  'Query.workers': () => '{ workers { totalCount nodes { name } } }',
  'Query.workflow': ({ workflow }) => `{ workflow(ref: "${workflow}") { ref } }`,
  'Query.workflows': () => '{ workflows { totalCount nodes { ref } } }',
  'Query.deployment': ({ deployment }) => `{ deployment(slug: "${deployment}") { slug } }`,
  'Query.deployments': () => '{ deployments { totalCount nodes { slug } } }',
  'Query.schedule': ({ schedule }) => `{ schedule(name: "${schedule}") { name } }`,
  'Query.schedules': () => '{ schedules { totalCount nodes { name } } }',
  'Query.execution': ({ ids }) => `{ execution(id: "${ids.execution}") { id } }`,
  'Query.executions': () => '{ executions { totalCount nodes { id } } }',
  'Query.executionCounts': () => '{ executionCounts { count } }',
  'Query.decision': ({ ids }) => `{ decision(id: "${ids.decision}") { id } }`,
  'Query.decisions': () => '{ decisions { totalCount nodes { id } } }',
  'Query.selectorKeys': () => '{ selectorKeys(kind: LABEL) { key } }',
  'Query.resolveDeployment': ({ deployment }) => `{ resolveDeployment(slug: "${deployment}") { variant { label } } }`,
  'Query.previewDeployment': ({ deployment }) =>
    `{ previewDeployment(input: { slug: "${deployment}", variants: [] }) { unavailable warnings variants { label } } }`,
  'Query.previewDispatch': ({ workflow }) => `{ previewDispatch(input: { workflow: "${workflow}" }) { outcome } }`,
  'Query.previewSchedule': () => '{ previewSchedule(input: { intervalSeconds: 60 }) { runs { at } } }',
  'Query.checkPolicy': () => '{ checkPolicy(text: "least(load())", stage: ROUTING) { problems { code } } }',
  'Query.principal': () => '{ principal(name: "admin") { name } }',
  // Changes.
  'Mutation.registerWorkflow': ({ namespace }) =>
    `mutation { registerWorkflow(input: { namespace: "${namespace}", name: "job" }) { created } }`,
  'Mutation.runWorkflow': ({ workflow }) =>
    `mutation { runWorkflow(input: { workflow: "${workflow}" }) { execution { id } } }`,
  'Mutation.runDeployment': ({ deployment }) =>
    `mutation { runDeployment(input: { deployment: "${deployment}" }) { execution { id } } }`,
  'Mutation.resumeExecution': ({ ids }) =>
    `mutation { resumeExecution(input: { id: "${ids.execution}" }) { execution { id } } }`,
  'Mutation.cancelExecution': ({ ids }) =>
    `mutation { cancelExecution(input: { id: "${ids.failed}" }) { execution { id } } }`,
  'Mutation.retryExecution': ({ ids }) =>
    `mutation { retryExecution(input: { id: "${ids.execution}" }) { execution { id } } }`,
  'Mutation.setWorkerMetadata': ({ namespace }) =>
    `mutation { setWorkerMetadata(input: { worker: "${namespace}-gone", metadata: {} }) { worker { id } } }`,
  'Mutation.unsetWorkerMetadata': ({ namespace }) =>
    `mutation { unsetWorkerMetadata(input: { worker: "${namespace}-gone", all: true }) { worker { id } } }`,
  'Mutation.setWorkerAvailability': ({ namespace }) =>
    `mutation { setWorkerAvailability(input: { worker: "${namespace}-gone", availability: ACTIVE }) { worker { id } } }`,
  'Mutation.removeWorker': ({ namespace }) =>
    `mutation { removeWorker(input: { worker: "${namespace}-gone" }) { name } }`,
  'Mutation.createDeployment': ({ deployment, workflow }) =>
    `mutation { createDeployment(input: { slug: "${deployment}", variants: [{ label: "a", flowId: "${workflow}", weight: 1 }] }) { warnings } }`,
  'Mutation.updateDeployment': ({ deployment }) =>
    `mutation { updateDeployment(input: { slug: "${deployment}", expectedRevision: 999 }) { warnings } }`,
  'Mutation.rollbackDeployment': ({ deployment }) =>
    `mutation { rollbackDeployment(input: { slug: "${deployment}", toRevision: 1, expectedRevision: 999 }) { warnings } }`,
  'Mutation.deleteDeployment': ({ deployment }) =>
    `mutation { deleteDeployment(input: { slug: "${deployment}", expectedRevision: 999 }) { slug } }`,
  'Mutation.createSchedule': ({ schedule, workflow }) =>
    `mutation { createSchedule(input: { name: "${schedule}", workflow: "${workflow}", cron: "0 0 1 1 *" }) { warnings } }`,
  'Mutation.updateSchedule': ({ schedule }) =>
    `mutation { updateSchedule(input: { name: "${schedule}", expectedRevision: 999 }) { warnings } }`,
  'Mutation.pauseSchedule': ({ schedule }) =>
    `mutation { pauseSchedule(input: { name: "${schedule}", expectedRevision: 999 }) { warnings } }`,
  'Mutation.resumeSchedule': ({ schedule }) =>
    `mutation { resumeSchedule(input: { name: "${schedule}", expectedRevision: 999 }) { warnings } }`,
  'Mutation.deleteSchedule': ({ schedule }) =>
    `mutation { deleteSchedule(input: { name: "${schedule}", expectedRevision: 999 }) { name } }`,
  'Mutation.runSchedule': ({ schedule }) =>
    `mutation { runSchedule(input: { name: "${schedule}" }) { execution { id } } }`,
  'Mutation.revokeLoginSessions': (_team, { name }) =>
    `mutation { revokeLoginSessions(input: { principal: "${name}" }) { __typename } }`,
  'Mutation.workerJoin': (_team, { joinSecret }) =>
    `mutation { workerJoin(input: { secret: "${joinSecret}" }) { worker } }`,
  // Streams: the first event is what may be seen.
  'Subscription.workerEvents': () => 'subscription { workerEvents { workers { name } } }',
  'Subscription.deploymentChanges': () => 'subscription { deploymentChanges { deployments { slug } } }',
  'Subscription.executionChanges': () => 'subscription { executionChanges { executions { id } } }',
  'Subscription.executionEvents': ({ ids }) => `subscription { executionEvents(id: "${ids.failed}") { type } }`,
  'Subscription.dispatchDecisions': ({ workflow }) =>
    `subscription { dispatchDecisions(filter: { workflow: "${workflow}" }) { id } }`,
};

/** For the routes, by operation id: which address, of what a team has. */
export const ADDRESSES: Readonly<Record<string, (team: Team) => string>> = {
  runWorkflowAsync: ({ workflow }) => `/workflows/${workflow}/run/async`,
  runWorkflowSync: ({ workflow }) => `/workflows/${workflow}/run/sync`,
  runWorkflowStream: ({ workflow }) => `/workflows/${workflow}/run/stream`,
  runDeploymentAsync: ({ deployment }) => `/deployments/${deployment}/run/async`,
  runDeploymentSync: ({ deployment }) => `/deployments/${deployment}/run/sync`,
  runDeploymentStream: ({ deployment }) => `/deployments/${deployment}/run/stream`,
  getExecution: ({ ids }) => `/executions/${ids.failed}`,
  streamExecutionEvents: ({ ids }) => `/executions/${ids.failed}/events`,
  cancelExecution: ({ ids }) => `/executions/${ids.failed}/cancel`,
  resumeExecution: ({ ids }) => `/executions/${ids.execution}/resume`,
  listWorkers: () => '/workers',
  getWorker: ({ worker }) => `/workers/${worker}`,
  listRegistry: () => '/admin/workers',
  getWorkerMetadata: ({ worker }) => `/admin/workers/${worker}/metadata`,
  getWorkerMetadataEntry: ({ worker }) => `/admin/workers/${worker}/metadata/rack`,
  setWorkerMetadata: ({ namespace }) => `/admin/workers/${namespace}-gone/metadata`,
  clearWorkerMetadata: ({ namespace }) => `/admin/workers/${namespace}-gone/metadata`,
  setWorkerMetadataEntry: ({ namespace }) => `/admin/workers/${namespace}-gone/metadata/rack`,
  unsetWorkerMetadataEntry: ({ namespace }) => `/admin/workers/${namespace}-gone/metadata/rack`,
};
