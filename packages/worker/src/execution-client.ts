import {
  type Client,
  createClient,
  ExecutionRunDeploymentDocument,
  ExecutionRunWorkflowDocument,
  type RunDeploymentInput,
  type RunWorkflowInput,
  type TypedDocument,
} from '@muster/client';
import type { ExecutionAccess } from './run-host.ts';

/** What was started; with `waitSeconds`, as it is then. */
export interface StartedExecution {
  readonly id: string;
  readonly state: string;
  readonly output?: unknown;
}

/** What a handler asks the server with: its execution's token, and its worker's name as the hint of every run it starts. */
export interface ExecutionClient extends Client {
  /** Starts an execution of a workflow. */
  runWorkflow(input: RunWorkflowInput): Promise<StartedExecution>;
  /** Starts an execution by a deployment. */
  runDeployment(input: RunDeploymentInput): Promise<StartedExecution>;
}

/**
 * `request` gives the hint to `runWorkflow`, `runWorkflows` and `runDeployment` where their input is the variable `input`; one that is
 * there, or a binding, stays.
 */
export function createExecutionClient({ server, token, worker }: ExecutionAccess): ExecutionClient {
  const plain = createClient({ url: server, token });
  const request: Client['request'] = (document, variables, options) =>
    plain.request(document, withHint(document, variables, worker), options);
  return {
    request,
    runWorkflow: async (input) => (await request(ExecutionRunWorkflowDocument, { input })).runWorkflow.execution,
    runDeployment: async (input) => (await request(ExecutionRunDeploymentDocument, { input })).runDeployment.execution,
  };
}

const RUNS = /\brun(?:Workflows?|Deployment)\b/;

function withHint<TVariables>(
  document: TypedDocument<unknown, TVariables>,
  variables: TVariables,
  worker: string,
): TVariables {
  const { input } = variables as { input?: unknown };
  if (!isFields(input) || !RUNS.test(document.toString())) return variables;
  const { runs } = input;
  const hinted = Array.isArray(runs)
    ? { ...input, runs: runs.map((run: unknown) => (isFields(run) ? hint(run, worker) : run)) }
    : hint(input, worker);
  return { ...variables, input: hinted };
}

function hint(run: Fields, worker: string): Fields {
  return run['preferredWorker'] == null && run['requiredWorker'] == null ? { ...run, preferredWorker: worker } : run;
}

type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
