import {
  type AffinitySpec,
  checkName,
  MAX_SHORT_NAME,
  MusterError,
  type PolicySpec,
  type RequestsSpec,
} from '@muster/core';
import type { ExecutionContext } from './execution-context.ts';
import type { RunnerName } from './runners/by-name.ts';
import { noteDeclared } from './runners/child-workflows.ts';

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
  /**
   * Where the handler runs, and only on workers that offer it: `inprocess`, a function of the worker's process, as without it;
   * `subprocess`, a process of its own, with a memory limit, whose death fails the attempt and not the worker. Needs `module`.
   */
  readonly runner?: RunnerName;
  /** `import.meta.url` of the module that declares the workflow, for a process that has to find the handler by itself. */
  readonly module?: string;
  /** How often it may be tried, after lost workers, crashes, timeouts and retryable failures, before it fails; 3 where absent. */
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
  const declared = { kind: 'workflow' as const, ref: `${namespace}/${options.name}`, namespace, options, handler };
  noteDeclared(declared);
  return declared;
}

/** Whether a value, e.g. an export of a file, is a workflow. */
export function isWorkflow(value: unknown): value is Workflow {
  return (
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'workflow' && 'handler' in value
  );
}
