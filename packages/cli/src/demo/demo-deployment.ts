import {
  type Client,
  ClientError,
  DeploymentCreateDocument,
  DeploymentListDocument,
  DeploymentShowDocument,
  RegisterWorkflowDocument,
  WorkerListDocument,
  WorkflowListDocument,
} from '@muster/client';
import { registration } from '@muster/worker';
import { demoWorkers } from './demo-fleet.ts';
import { demoWorkflows } from './demo-workflows.ts';

export const demoSlug = 'assistant';
/** Marks the demo's deployment, so that later starts of the same data know it. */
export const demoModule = 'demo';

/** `none`: nothing there; `demo`: the demo's deployment is; `other`: somebody's own. */
export type Contents = 'none' | 'demo' | 'other';

/** What a server's database holds, as far as the demo is concerned. */
export async function contentsOf(client: Client): Promise<Contents> {
  const { deployment } = await client.request(DeploymentShowDocument, { slug: demoSlug });
  if (deployment?.module === demoModule) return 'demo';
  const { deployments } = await client.request(DeploymentListDocument, { first: 1, after: null });
  const { workflows } = await client.request(WorkflowListDocument, { first: 1, after: null, search: null });
  return deployments.totalCount === 0 && workflows.totalCount === 0 ? 'none' : 'other';
}

/** Registers the demo's workflows and creates its deployment, as far as they are not there. May be called again. */
export async function createDemo(client: Client): Promise<void> {
  for (const workflow of demoWorkflows) {
    await client.request(RegisterWorkflowDocument, { input: registration(workflow) });
  }
  const { deployment } = await client.request(DeploymentShowDocument, { slug: demoSlug });
  if (deployment !== null) return;
  const input = {
    slug: demoSlug,
    module: demoModule,
    description: 'The demo: reads a text. Stable anywhere, a canary on GPU workers, a preview that nobody can run yet.',
    comment: 'Created with the demo',
    idempotencyKey: 'muster-demo',
    variants: [
      { label: 'stable', flowId: 'demo/summarise', weight: 70, targetRoles: [] },
      { label: 'canary', flowId: 'demo/chat', weight: 25, targetRoles: ['gpu-worker'] },
      { label: 'preview', flowId: 'demo/chat', weight: 5, targetRoles: ['gpu-preview'] },
    ],
  };
  try {
    await client.request(DeploymentCreateDocument, { input });
  } catch (error) {
    // Another process has created it in between.
    if (!(error instanceof ClientError) || error.code !== 'CONFLICT') throw error;
  }
}

/** Waits until the demo's workers can be given work, for 20 s at most; answers how many can. */
export async function demoWorkersOnDuty(client: Client): Promise<number> {
  const filter = { names: demoWorkers.map((worker) => worker.name) };
  const until = Date.now() + 20_000;
  for (;;) {
    const { workers } = await client.request(WorkerListDocument, { first: 10, after: null, filter });
    const onDuty = workers.nodes.filter((worker) => worker.eligible).length;
    if (onDuty === demoWorkers.length || Date.now() > until) return onDuty;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}
