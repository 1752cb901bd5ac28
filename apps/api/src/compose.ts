import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import { createAccessServices } from './compose-access.ts';
import type { Log } from './log.ts';
import { Access } from './modules/access/access.ts';
import { DecisionReads } from './modules/decision/decision-reads.ts';
import { AuditChainStore } from './modules/audit/audit-chain-store.ts';
import { AuditService } from './modules/audit/audit-service.ts';
import { AuditStore } from './modules/audit/audit-store.ts';
import { DeploymentDirectory } from './modules/deployment/deployment-directory.ts';
import { DeploymentReads } from './modules/deployment/deployment-reads.ts';
import { DeploymentService } from './modules/deployment/deployment-service.ts';
import { DeploymentStore } from './modules/deployment/deployment-store.ts';
import { DeploymentUsageStore } from './modules/deployment/deployment-usage-store.ts';
import { ExecutionReads } from './modules/execution/execution-reads.ts';
import { ExecutionReader } from './modules/execution/execution-reader.ts';
import { RunService } from './modules/execution/run-service.ts';
import { StepReader } from './modules/execution/step-reader.ts';
import { MetricsService } from './modules/metrics/metrics-service.ts';
import { PreviewService } from './modules/policy/preview-service.ts';
import { WorkerReads } from './modules/worker/worker-reads.ts';
import { WorkflowReads } from './modules/workflow/workflow-reads.ts';
import { WorkflowService } from './modules/workflow/workflow-service.ts';
import { createSchedules } from './compose-schedules.ts';
import { createWorkerCredentials } from './compose-credentials.ts';
import { createLogin, type LoginServices } from './compose-login.ts';
import { ScheduleReads } from './modules/schedule/schedule-reads.ts';
import { scheduleTargets } from './modules/schedule/schedule-targets.ts';
import type { Services } from './services.ts';

export interface ComposeOptions {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** The token of the installation, as this process knows it. */
  readonly adminToken: string;
}

/** The services of the API over a started control plane. `start` reads what they keep in memory; `close` ends it. */
export function composeServices(
  plane: ControlPlane,
  { config, log, clock, random, adminToken }: ComposeOptions,
): { services: Services; access: Access; login: LoginServices; start(): Promise<void>; close(): Promise<void> } {
  const {
    database,
    executor,
    bus,
    fleet,
    workforce,
    workflowStore,
    executions,
    decisions,
    dispatcher,
    idempotencyKey,
  } = plane;
  const newId = (): string => plane.ids.next();
  const now = (): number => database.now();
  const access = new Access({
    db: executor,
    bus,
    log,
    now,
    monotonic: clock.monotonic,
    adminToken,
    settings: config,
  });
  const workflows = new WorkflowService({ store: workflowStore, bus });
  const deploymentStore = new DeploymentStore(database.prisma, newId, now);
  const deployments = new DeploymentDirectory(deploymentStore, bus, log);
  const deploymentService = new DeploymentService({
    store: deploymentStore,
    directory: deployments,
    workflows: workflowStore,
    fleet,
    bus,
    random,
    idempotencyKey,
  });
  const executionReader = new ExecutionReader(executor);
  const workflowReads = new WorkflowReads(workflowStore, now);
  const readable = { workflows: workflowReads, versions: workflowStore };
  const executionReads = new ExecutionReads({ reader: executionReader, ...readable });
  const decisionReads = new DecisionReads({ reader: decisions, ...readable });
  const metrics = new MetricsService({
    executor,
    fleet,
    deployments,
    executions: executionReader,
    dispatcher,
    now,
    log,
  });
  const schedules = createSchedules(plane, {
    config,
    log,
    random,
    targetOf: scheduleTargets(workflows, deploymentService),
  });
  const stops: (() => void)[] = [];
  const credentials = createWorkerCredentials(plane, { config, log, access });
  const accessServices = createAccessServices(plane, config, access);
  const login = createLogin(plane, { config, clock, log, access, principals: accessServices.principals });
  const services: Services = {
    ...accessServices,
    config,
    clock,
    now,
    log,
    bus,
    fleet,
    registry: workforce.registry,
    workers: workforce.workers,
    workerReads: new WorkerReads(fleet),
    workerProtocol: workforce.protocol,
    joinTokens: credentials.joinTokens,
    workerCredentials: credentials.workerCredentials,
    dispatcher,
    executions,
    executionReads,
    stepReader: new StepReader(executor),
    decisions: decisionReads,
    workflows,
    workflowReads,
    workflowStore,
    deployments,
    deploymentReads: new DeploymentReads(deployments),
    deploymentService,
    deploymentStore,
    deploymentUsage: new DeploymentUsageStore(executor),
    runs: new RunService({ workflows, deployments: deploymentService, executions, fleet, config, idempotencyKey, log }),
    schedules: schedules.service,
    scheduleReads: new ScheduleReads(schedules.store),
    scheduleStore: schedules.store,
    previews: new PreviewService({
      dispatcher,
      decisions: decisionReads,
      executions: executionReads,
      workflows,
      workflowStore,
      fleet,
    }),
    metrics,
    audit: new AuditService(new AuditStore(executor), new AuditChainStore(executor)),
  };
  return {
    services,
    access,
    login,
    async start() {
      access.start();
      const forget = (): void => {
        workflowStore.forgetLatest();
        workflowReads.forget();
      };
      stops.push(bus.subscribe('workflow', forget), bus.subscribe('resync', forget));
      await deployments.start();
      metrics.start();
      schedules.sweep.start();
    },
    async close() {
      for (const stop of stops.splice(0)) stop();
      credentials.close();
      await login.close();
      await schedules.sweep.close();
      deployments.close();
      await metrics.close();
      await access.close();
    },
  };
}
