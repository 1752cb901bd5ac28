import type { Workflow } from '../workflow.ts';

/**
 * In a process that runs one handler, and only there: the workflows that its modules have declared. Global, because the
 * module may have another copy of this package.
 */
const key = Symbol.for('muster.runner.workflows');

interface ChildWorkflows {
  readonly declared: Map<string, Workflow>;
  /** A worker was told to run: the program of the module is through with its declarations. */
  readonly onWorkerRun: () => void;
}

const global = globalThis as { [key]?: ChildWorkflows };

/** Makes this process one that runs a handler. */
export function becomeChild(workflows: ChildWorkflows): void {
  global[key] = workflows;
}

/** Notes a workflow that was declared, in such a process. */
export function noteDeclared(workflow: Workflow): void {
  global[key]?.declared.set(workflow.ref, workflow);
}

/**
 * In such a process, a worker does not run: the module that runs it was only loaded for its handlers. True there; then what
 * would have run must never go on.
 */
export function workerRunsElsewhere(): boolean {
  global[key]?.onWorkerRun();
  return global[key] !== undefined;
}
