import type { ExecutionDetail } from './execution-queries.ts';

type Source = Pick<
  ExecutionDetail,
  'workflowRef' | 'deployment' | 'sessionKey' | 'input' | 'preferredWorker' | 'requiredWorker' | 'priority'
>;

interface Call {
  query: string;
  variables: Record<string, unknown>;
}

/**
 * The call that would start this execution again. What a viewer cannot know stays out: whether there was routing input, and
 * what it was.
 */
export function callOf(execution: Source): Call {
  const shared = {
    ...(execution.input != null && { input: execution.input }),
    ...(execution.preferredWorker != null && { preferredWorker: execution.preferredWorker }),
    ...(execution.requiredWorker != null && { requiredWorker: execution.requiredWorker }),
    ...(execution.priority !== 0 && { priority: execution.priority }),
  };
  if (execution.deployment) {
    return {
      query:
        'mutation RunDeployment($input: RunDeploymentInput!) { runDeployment(input: $input) { execution { id state why } } }',
      variables: {
        input: {
          deployment: execution.deployment.slug,
          ...(execution.sessionKey != null && { sessionKey: execution.sessionKey }),
          ...shared,
        },
      },
    };
  }
  return {
    query:
      'mutation RunWorkflow($input: RunWorkflowInput!) { runWorkflow(input: $input) { execution { id state why } } }',
    variables: { input: { workflow: execution.workflowRef, ...shared } },
  };
}

/** A curl command for a POSIX shell. The token is a placeholder, never a real one. */
export function asCurl(call: Call, origin: string): string {
  const body = JSON.stringify(call).replaceAll("'", `'\\''`);
  return [
    `curl -sS ${origin}/graphql \\`,
    `  -H "Authorization: Bearer $TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${body}'`,
  ].join('\n');
}

/** Document and variables, for a GraphQL client. */
export function asGraphql(call: Call): string {
  return `${call.query}\n\n# variables\n${JSON.stringify(call.variables, null, 2)}`;
}
