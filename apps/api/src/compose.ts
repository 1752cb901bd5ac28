import type { Bus } from './bus/bus.ts';
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
import { LoginThrottle } from './modules/login/login-throttle.ts';
import { MetricsService } from './modules/metrics/metrics-service.ts';
import { PreviewService } from './modules/policy/preview-service.ts';
import { WorkerReads } from './modules/worker/worker-reads.ts';
import { WorkflowReads } from './modules/workflow/workflow-reads.ts';
import { WorkflowService } from './modules/workflow/workflow-service.ts';
import type { WorkflowStore } from './modules/workflow/workflow-store.ts';
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
  const { database, executor, bus, fleet, workforce, workflowStore, executions, dispatcher, idempotencyKey } = plane;
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
  const deploymentParts = createDeployments(plane, { log, random });
  const { deployments, deploymentService } = deploymentParts;
  const reads = createReads(plane, deployments);
  const metrics = new MetricsService({
    executor,
    fleet,
    deployments,
    executions: reads.executionReader,
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
  const credentials = createWorkerCredentials(plane, { config, log, access });
  const throttle = new LoginThrottle(clock.monotonic);
  const accessServices = createAccessServices(plane, { config, access, throttle });
  const login = createLogin(plane, { config, clock, log, access, throttle, principals: accessServices.principals });
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
    workerReads: reads.workerReads,
    workerProtocol: workforce.protocol,
    joinTokens: credentials.joinTokens,
    workerCredentials: credentials.workerCredentials,
    dispatcher,
    executions,
    executionReads: reads.executionReads,
    stepReader: new StepReader(executor),
    decisions: reads.decisionReads,
    workflows,
    workflowReads: reads.workflowReads,
    workflowStore,
    ...deploymentParts,
    deploymentReads: reads.deploymentReads,
    deploymentUsage: new DeploymentUsageStore(executor),
    runs: new RunService({ workflows, deployments: deploymentService, executions, fleet, config, idempotencyKey, log }),
    schedules: schedules.service,
    scheduleReads: new ScheduleReads(schedules.store),
    scheduleStore: schedules.store,
    previews: new PreviewService({
      dispatcher,
      decisions: reads.decisionReads,
      executions: reads.executionReads,
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
    ...running({ bus, workflowStore, access, login, credentials, deployments, metrics, schedules, reads }),
  };
}

function createDeployments(
  { database, ids, bus, workflowStore, fleet, idempotencyKey }: ControlPlane,
  { log, random }: Pick<ComposeOptions, 'log' | 'random'>,
): Pick<Services, 'deployments' | 'deploymentService' | 'deploymentStore'> {
  const deploymentStore = new DeploymentStore(
    database.prisma,
    () => ids.next(),
    () => database.now(),
  );
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
  return { deployments, deploymentService, deploymentStore };
}

/** What shows each viewer the part that he may read. */
function createReads(
  { database, executor, workflowStore, decisions, fleet }: ControlPlane,
  deployments: DeploymentDirectory,
): Pick<Services, 'executionReads' | 'workflowReads' | 'workerReads' | 'deploymentReads'> & {
  executionReader: ExecutionReader;
  decisionReads: DecisionReads;
} {
  const executionReader = new ExecutionReader(executor);
  const workflowReads = new WorkflowReads(workflowStore, () => database.now());
  const readable = { workflows: workflowReads, versions: workflowStore };
  return {
    executionReader,
    workflowReads,
    executionReads: new ExecutionReads({ reader: executionReader, ...readable }),
    decisionReads: new DecisionReads({ reader: decisions, ...readable }),
    workerReads: new WorkerReads(fleet),
    deploymentReads: new DeploymentReads(deployments),
  };
}

/** What of it runs by itself, in the order in which it starts and ends. */
function running(parts: {
  bus: Bus;
  workflowStore: WorkflowStore;
  access: Access;
  login: LoginServices;
  credentials: { close(): void };
  deployments: DeploymentDirectory;
  metrics: MetricsService;
  schedules: ReturnType<typeof createSchedules>;
  reads: ReturnType<typeof createReads>;
}): { start(): Promise<void>; close(): Promise<void> } {
  const { bus, workflowStore, access, login, credentials, deployments, metrics, schedules, reads } = parts;
  const stops: (() => void)[] = [];
  return {
    async start() {
      access.start();
      const forget = (): void => {
        workflowStore.forgetLatest();
        reads.workflowReads.forget();
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
