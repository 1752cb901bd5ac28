export { ClientError, type ClientIssue } from './client-error.ts';
export {
  type CandidateFieldsFragment,
  DeploymentCreateDocument,
  DeploymentListDocument,
  DeploymentResolveDocument,
  DeploymentRunDocument,
  type DeploymentShowQuery,
  DeploymentShowDocument,
  type ExecutionFieldsFragment,
  type ExecutionShowQuery,
  ExecutionShowDocument,
  ExecutionStateDocument,
  type ExecutionWhyQuery,
  ExecutionWhyDocument,
  type HealthCheckInput,
  type RegisterWorkflowInput,
  RegisterWorkflowDocument,
  type ResourceRequestsInput,
  type WorkerHeartbeatInput,
  WorkerHeartbeatDocument,
  WorkerInboxDocument,
  type WorkerInboxSubscription,
  WorkerLeaveDocument,
  WorkerListDocument,
  type WorkerListQuery,
  type WorkerRegisterInput,
  WorkerRegisterDocument,
  type WorkerReportInput,
  type WorkerReportMutation,
  WorkerReportDocument,
  type WorkerStepsQuery,
  WorkerStepsDocument,
  type WorkerResourcesInput,
  type WorkerShowQuery,
  WorkerShowDocument,
  WorkflowListDocument,
  WorkflowRunDocument,
  type WorkflowShowQuery,
  WorkflowShowDocument,
} from './generated/graphql.ts';
export { type Client, type ClientOptions, createClient, graphqlEndpoint } from './http-client.ts';
export type { Sink } from './live-iterable.ts';
export { LiveLink, type LiveLinkOptions, type LinkStatus } from './live-link.ts';
export type { WebSocketFactory, WebSocketLike } from './live-socket.ts';
export { reconnectDelay } from './reconnect-delay.ts';
export type { TypedDocument } from './typed-document.ts';
