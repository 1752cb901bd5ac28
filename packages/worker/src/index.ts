export type { Check, CheckResult, Checks } from './checks.ts';
export { NonDeterminismError, type StepIdentity } from './durable/non-determinism-error.ts';
export { StepError } from './durable/step-error.ts';
export type { Backoff, TaskOptions } from './durable/task-options.ts';
export type { TaskContext } from './durable/task-runner.ts';
export type { ExecutionClient, StartedExecution } from './execution-client.ts';
export { type CallOptions, type ExecutionContext, RetryableError } from './execution-context.ts';
export { type Log, type LogLevel, logToStderr } from './log.ts';
export type { MetricsProvider } from './metrics/metrics-provider.ts';
export {
  input,
  label,
  labelFor,
  least,
  load,
  meta,
  metaFor,
  metric,
  most,
  optional,
  prefer,
  require,
  resource,
  resourceRequest,
  routingInput,
  score,
  service,
  sticky,
  utilization,
  when,
} from '@muster/core';
export { registration } from './registration.ts';
export type { RunnerName } from './runners/by-name.ts';
export type { SubprocessOptions } from './runners/subprocess.ts';
export { type StopReason, Worker, type WorkerState } from './worker.ts';
export type { WorkerOptions } from './worker-options.ts';
export { type Handler, isWorkflow, type Workflow, type WorkflowOptions, workflow } from './workflow.ts';
