import type { FleetWorker } from '../fleet/worker-record.ts';
import type { ApiTokenRow } from '../modules/access/api-token-store.ts';
import type { LoginSessionRow } from '../modules/access/login-session-store.ts';
import type { PrincipalRow } from '../modules/access/principal-store.ts';
import type { StoredDecision } from '../modules/decision/stored-decision.ts';
import type { DeploymentRevisionRow, DeploymentRow } from '../modules/deployment/deployment-store.ts';
import type { VariantView } from '../modules/deployment/variant-view.ts';
import type { EventRow, ExecutionRow } from '../modules/execution/execution-rows.ts';
import type { JoinTokenRow, WorkerCredentialRow } from '../modules/join-token/join-token-row.ts';
import type { ScheduleRow } from '../modules/schedule/schedule-row.ts';
import type { RoleView } from '../modules/worker/role-view.ts';
import type { VersionRow, WorkflowRow } from '../modules/workflow/workflow-store.ts';
import { builder } from './builder.ts';
import { connectionType } from './connection.ts';

/**
 * The types that refer to each other, and the connections of them. What a type's fields are stands in the `x.graphql.ts` of its module; here is only
 * what stands behind it.
 */
export const WorkerRef = builder.objectRef<FleetWorker>('Worker');
export const RoleHealthRef = builder.objectRef<RoleView>('RoleHealth');
export const WorkflowRef = builder.objectRef<WorkflowRow>('Workflow');
export const WorkflowVersionRef = builder.objectRef<VersionRow>('WorkflowVersion');
export const DeploymentRef = builder.objectRef<DeploymentRow>('Deployment');
export const DeploymentVariantRef = builder.objectRef<VariantView>('DeploymentVariant');
export const DeploymentRevisionRef = builder.objectRef<DeploymentRevisionRow>('DeploymentRevision');
export const ExecutionRef = builder.objectRef<ExecutionRow>('Execution');
export const ExecutionEventRef = builder.objectRef<EventRow>('ExecutionEvent');
export const ScheduleRef = builder.objectRef<ScheduleRow>('Schedule');
export const PrincipalRef = builder.objectRef<PrincipalRow>('Principal');
export const ApiTokenRef = builder.objectRef<ApiTokenRow>('ApiToken');
export const LoginSessionRef = builder.objectRef<LoginSessionRow>('LoginSession');
export const JoinTokenRef = builder.objectRef<JoinTokenRow>('JoinToken');
export const WorkerCredentialRef = builder.objectRef<WorkerCredentialRow>('WorkerCredential');
export const DecisionRef = builder.objectRef<StoredDecision>('DispatchDecision');

export const WorkerConnection = connectionType('Worker', WorkerRef);
export const WorkflowConnection = connectionType('Workflow', WorkflowRef);
export const WorkflowVersionConnection = connectionType('WorkflowVersion', WorkflowVersionRef);
export const DeploymentConnection = connectionType('Deployment', DeploymentRef);
export const DeploymentRevisionConnection = connectionType('DeploymentRevision', DeploymentRevisionRef);
export const ExecutionConnection = connectionType('Execution', ExecutionRef, { bounded: true });
export const ExecutionEventConnection = connectionType('ExecutionEvent', ExecutionEventRef);
export const ScheduleConnection = connectionType('Schedule', ScheduleRef);
export const DecisionConnection = connectionType('DispatchDecision', DecisionRef, { bounded: true });
export const PrincipalConnection = connectionType('Principal', PrincipalRef, { bounded: true });
export const ApiTokenConnection = connectionType('ApiToken', ApiTokenRef, { bounded: true });
export const LoginSessionConnection = connectionType('LoginSession', LoginSessionRef, { bounded: true });
export const JoinTokenConnection = connectionType('JoinToken', JoinTokenRef, { bounded: true });
export const WorkerCredentialConnection = connectionType('WorkerCredential', WorkerCredentialRef, { bounded: true });
