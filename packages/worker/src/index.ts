export type { Check, CheckResult, Checks } from './checks.ts';
export { type ExecutionContext, RetryableError } from './execution-context.ts';
export { type Log, type LogLevel, logToStderr } from './log.ts';
export type { MetricsProvider } from './metrics-provider.ts';
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
export { type StopReason, Worker, type WorkerState } from './worker.ts';
export type { WorkerOptions } from './worker-options.ts';
export { type Handler, isWorkflow, type Workflow, type WorkflowOptions, workflow } from './workflow.ts';
