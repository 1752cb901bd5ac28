import { ask } from './graphql.ts';
import type { Server } from './server.ts';
import { until } from './until.ts';

export interface ExecutionView {
  readonly id: string;
  readonly state: string;
  readonly attempt: number;
  readonly generation: number;
  readonly workerName: string | null;
  readonly variantLabel: string | null;
  readonly parked: boolean;
  readonly why: string;
  readonly output: unknown;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly attempts: readonly {
    readonly number: number;
    readonly generation: number;
    readonly worker: string;
    readonly outcome: string;
  }[];
  readonly events: {
    readonly nodes: readonly { readonly type: string; readonly worker: string | null; readonly data: unknown }[];
  };
}

const executionFields = `
  id state attempt generation workerName variantLabel parked why output error { type message }
  attempts { number generation worker outcome }
  events(first: 100) { nodes { type worker data } }
`;

const ended = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

/** Everything about one execution that these tests look at. */
export async function execution(server: Server, id: string): Promise<ExecutionView> {
  const data = await ask<{ execution: ExecutionView }>(
    server,
    `query Execution($id: ID!) { execution(id: $id) { ${executionFields} } }`,
    { id },
  );
  return data.execution;
}

/** Waits until it has ended, however. */
export function ending(server: Server, id: string, seconds = 60): Promise<ExecutionView> {
  return until(
    `execution ${id} ends`,
    async () => {
      const view = await execution(server, id);
      return ended.has(view.state) && view;
    },
    seconds,
  );
}

/** @returns its id */
export async function runWorkflow(
  server: Server,
  workflow: string,
  input: unknown,
  more: Record<string, unknown> = {},
): Promise<string> {
  const data = await ask<{ runWorkflow: { execution: { id: string } } }>(
    server,
    'mutation Run($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id } } }',
    { input: { workflow, input, ...more } },
  );
  return data.runWorkflow.execution.id;
}

export interface VariantInput {
  readonly label: string;
  readonly flowId: string;
  readonly weight: number;
  readonly targetRoles?: readonly string[];
}

export async function createDeployment(server: Server, slug: string, variants: readonly VariantInput[]): Promise<void> {
  await ask(
    server,
    'mutation Create($input: CreateDeploymentInput!) { createDeployment(input: $input) { deployment { revision } } }',
    {
      input: { slug, variants },
    },
  );
}

export const runDeploymentDocument = `mutation Run($input: RunDeploymentInput!) {
  runDeployment(input: $input) { execution { id state workerName variantLabel } resolved { variant { label } sticky skipped } }
}`;

export interface RunDeploymentAnswer {
  readonly [key: string]: unknown;
  readonly runDeployment: {
    readonly execution: {
      readonly id: string;
      readonly state: string;
      readonly workerName: string | null;
      readonly variantLabel: string;
    };
    readonly resolved: {
      readonly variant: { readonly label: string };
      readonly sticky: boolean;
      readonly skipped: readonly string[];
    };
  };
}

export async function registerWorkflow(
  server: Server,
  namespace: string,
  name: string,
  more: Record<string, unknown> = {},
): Promise<void> {
  await ask(
    server,
    'mutation Register($input: RegisterWorkflowInput!) { registerWorkflow(input: $input) { created } }',
    {
      input: { namespace, name, ...more },
    },
  );
}
