import type { Bus } from './bus/bus.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Dispatcher } from './dispatch/dispatch-api.ts';
import type { Fleet } from './fleet/fleet.ts';
import type { Log } from './log.ts';
import type { DecisionReader } from './modules/decision/stored-decision.ts';
import type { DeploymentDirectory } from './modules/deployment/deployment-directory.ts';
import type { DeploymentService } from './modules/deployment/deployment-service.ts';
import type { DeploymentStore } from './modules/deployment/deployment-store.ts';
import type { DeploymentUsageStore } from './modules/deployment/deployment-usage-store.ts';
import type { ExecutionReader } from './modules/execution/execution-reader.ts';
import type { ExecutionService } from './modules/execution/execution-service.ts';
import type { StepReader } from './modules/execution/step-reader.ts';
import type { RunService } from './modules/execution/run-service.ts';
import type { MetricsService } from './modules/metrics/metrics-service.ts';
import type { PreviewService } from './modules/policy/preview-service.ts';
import type { ScheduleService } from './modules/schedule/schedule-service.ts';
import type { ScheduleStore } from './modules/schedule/schedule-store.ts';
import type { Registry } from './modules/worker/registry.ts';
import type { WorkerProtocol } from './modules/worker/worker-protocol.ts';
import type { WorkerService } from './modules/worker/worker-service.ts';
import type { WorkflowService } from './modules/workflow/workflow-service.ts';
import type { WorkflowStore } from './modules/workflow/workflow-store.ts';

/** Everything that resolvers may use; put together in `app.ts`. */
export interface Services {
  readonly config: Config;
  readonly clock: Clock;
  /** ms by the database's clock. */
  readonly now: () => number;
  readonly log: Log;
  readonly bus: Bus;
  readonly fleet: Fleet;
  readonly registry: Registry;
  readonly workers: WorkerService;
  readonly workerProtocol: WorkerProtocol;
  readonly dispatcher: Dispatcher;
  readonly executions: ExecutionService;
  readonly executionReader: ExecutionReader;
  readonly stepReader: StepReader;
  readonly decisions: DecisionReader;
  readonly workflows: WorkflowService;
  readonly workflowStore: WorkflowStore;
  readonly deployments: DeploymentDirectory;
  readonly deploymentService: DeploymentService;
  readonly deploymentStore: DeploymentStore;
  readonly deploymentUsage: DeploymentUsageStore;
  readonly runs: RunService;
  readonly schedules: ScheduleService;
  readonly scheduleStore: ScheduleStore;
  readonly previews: PreviewService;
  readonly metrics: MetricsService;
}
