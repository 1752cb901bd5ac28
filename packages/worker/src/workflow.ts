import {
  type AffinitySpec,
  checkName,
  MAX_SHORT_NAME,
  MusterError,
  type PolicySpec,
  type RequestsSpec,
} from '@muster/core';
import type { ExecutionContext } from './execution-context.ts';

/** Runs one execution. What it returns (JSON, at most 1 MiB) is the output; what it throws is the failure. */
export type Handler<TInput, TOutput> = (context: ExecutionContext<TInput>, input: TInput) => TOutput | Promise<TOutput>;

export interface WorkflowOptions {
  /** `default` where absent. */
  readonly namespace?: string;
  readonly name: string;
  readonly description?: string;
  /** Which eligible worker is best: text in the policy language, or what its builder makes. Absent: the least loaded. */
  readonly routing?: string | PolicySpec;
  /** Which workers are eligible: `require(...)` as text or spec, or a map of labels. */
  readonly affinity?: string | AffinitySpec;
  /** Resources a worker must have: `ResourceRequest(...)` as text, or its fields. */
  readonly requests?: string | RequestsSpec;
  /** Only `inprocess` for now. */
  readonly runner?: 'inprocess';
  /** How often it may be claimed, after lost workers, before it fails; 3 where absent. */
  readonly maxAttempts?: number;
  /** Seconds until a running handler is aborted and its execution fails with TimeoutError. Absent: no limit. */
  readonly timeoutSeconds?: number;
}

/** A workflow and what runs it; made by {@link workflow}, given to `new Worker({ workflows })`. */
export interface Workflow<TInput = never, TOutput = unknown> {
  readonly kind: 'workflow';
  /** `namespace/name`. */
  readonly ref: string;
  readonly namespace: string;
  readonly options: WorkflowOptions;
  readonly handler: Handler<TInput, TOutput>;
}

/**
 * Declares a workflow. A worker that is given it registers its policy as a new version, if it differs from the newest,
 * and runs its executions. Throws BAD_INPUT for a name that cannot be one.
 */
export function workflow<TInput, TOutput>(
  options: WorkflowOptions,
  handler: Handler<TInput, TOutput>,
): Workflow<TInput, TOutput> {
  const namespace = options.namespace ?? 'default';
  const issues = [
    ...checkName(namespace, 'namespace', 'a namespace', MAX_SHORT_NAME),
    ...checkName(options.name, 'name', 'a workflow name', MAX_SHORT_NAME),
  ];
  if (issues.length > 0) {
    throw new MusterError('BAD_INPUT', issues.map((issue) => `${issue.path}: ${issue.message}`).join('; '), { issues });
  }
  return { kind: 'workflow', ref: `${namespace}/${options.name}`, namespace, options, handler };
}

/** Whether a value, e.g. an export of a file, is a workflow. */
export function isWorkflow(value: unknown): value is Workflow {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'workflow' && 'handler' in value
  );
}
