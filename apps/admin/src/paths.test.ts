import { expect, test } from 'vitest';
import { paths } from './paths.ts';

test('every address', () => {
  expect({
    overview: paths.overview(),
    deployments: paths.deployments({ health: 'DEGRADED' }),
    deploymentNew: paths.deploymentNew(),
    deployment: paths.deployment('assistant', { tab: 'history' }),
    workers: paths.workers({ status: 'STALE,OFFLINE', q: 'region=eu' }),
    worker: paths.worker('gpu/1 a'),
    executions: paths.executions({ parked: undefined, state: '' }),
    executionNew: paths.executionNew({ deployment: 'assistant' }),
    execution: paths.execution('ex_0193'),
    decision: paths.decision('de_0193', { view: 'raw' }),
    workflows: paths.workflows(),
    workflow: paths.workflow('default/chat', { version: '2' }),
  }).toMatchInlineSnapshot(`
    {
      "decision": "/decisions/de_0193?view=raw",
      "deployment": "/deployments/assistant?tab=history",
      "deploymentNew": "/deployments/new",
      "deployments": "/deployments?health=DEGRADED",
      "execution": "/executions/ex_0193",
      "executionNew": "/executions/new?deployment=assistant",
      "executions": "/executions",
      "overview": "/",
      "worker": "/workers/gpu%2F1%20a",
      "workers": "/workers?status=STALE%2COFFLINE&q=region%3Deu",
      "workflow": "/workflows/default/chat?version=2",
      "workflows": "/workflows",
    }
  `);
});
