import {
  WorkflowListDocument,
  WorkflowRunDocument,
  WorkflowShowDocument,
  type WorkflowShowQuery,
  WorkflowVersionsDocument,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import type { Style } from '../output/style.ts';
import { renderFields, renderTable, titled } from '../output/table.ts';
import { ago } from '../output/words.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';
import { finishRun, type RunFlags, runInput } from './run-flags.ts';

/** `muster workflow list`. */
export async function workflowList(context: CommandContext, flags: { readonly search?: string }): Promise<void> {
  const search = flags.search ?? null;
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(WorkflowListDocument, { first, after, search })).workflows;
  });
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No workflows. A worker registers its own when it starts: muster worker start FILE';
    const now = Date.now();
    const rows = nodes.map(({ ref, latest, description }) => [
      ref,
      String(latest.number),
      `${ago(latest.createdAt, now)} ago`,
      latest.routingText === null ? 'least loaded' : 'policy',
      description ?? '',
    ]);
    const titles = ['workflow', 'version', 'since', 'routing', 'description'];
    return renderTable(titled(titles, ['workflow', 'version', 'since']), rows, style) + (more ? '\n… and more' : '');
  });
}

/** `muster workflow versions REF`: newest first. */
export async function workflowVersions(context: CommandContext, ref: string): Promise<void> {
  const { nodes, more } = await allPages(async (first, after) => {
    const { workflow } = await context.client.request(WorkflowVersionsDocument, { ref, first, after });
    if (workflow === null) throw new CommandError(`There is no workflow ${ref}.`, exitCodes.notFound);
    return workflow.versions;
  });
  show(context, nodes, (style) => {
    const now = Date.now();
    const rows = nodes.map((version) => [
      String(version.number),
      version.id,
      `${ago(version.createdAt, now)} ago`,
      version.createdBy,
      version.runner ?? '',
      version.routingText ?? 'least loaded',
      version.affinityText ?? '',
    ]);
    const titles = ['version', 'id', 'created', 'by', 'runner', 'routing', 'affinity'];
    return renderTable(titled(titles, ['version', 'id', 'created']), rows, style) + (more ? '\n… and more' : '');
  });
}

/** `muster workflow show REF`. */
export async function workflowShow(context: CommandContext, ref: string): Promise<void> {
  const { workflow } = await context.client.request(WorkflowShowDocument, { ref });
  if (workflow === null) throw new CommandError(`There is no workflow ${ref}.`, exitCodes.notFound);
  show(context, workflow, (style) => workflowText(workflow, style));
}

/** `muster workflow run REF [INPUT]`. */
export async function workflowRun(
  context: CommandContext,
  ref: string,
  inputText: string | undefined,
  flags: RunFlags & { readonly versionId?: string },
): Promise<void> {
  const input = {
    workflow: ref,
    versionId: flags.versionId ?? null,
    ...(await runInput(inputText, flags, context.io)),
  };
  const { runWorkflow } = await context.client.request(WorkflowRunDocument, { input });
  await finishRun(context, runWorkflow.execution, flags);
}

function workflowText(workflow: NonNullable<WorkflowShowQuery['workflow']>, style: Style): string {
  const { latest } = workflow;
  const requests = latest.requests;
  const fields = renderFields(
    [
      ['workflow', style.bold(workflow.ref)],
      ['description', workflow.description],
      ['version', `${latest.number} (${latest.id}) by ${latest.createdBy}, ${latest.createdAt}`],
      ['routing', latest.routingText ?? 'least loaded'],
      ['affinity', latest.affinityText],
      ['requests', requests === null ? null : describeRequests(requests)],
      ['runner', latest.runner],
      ['attempts', String(latest.maxAttempts)],
      ['timeout', latest.timeoutSeconds === null ? null : `${latest.timeoutSeconds} s`],
      [
        'used by',
        workflow.variants.map((one) => `${one.deployment.slug} / ${one.label} (weight ${one.weight})`).join('\n'),
      ],
    ],
    style,
  );
  const rows = workflow.versions.nodes.map((version) => [
    String(version.number),
    version.id,
    version.createdAt,
    version.createdBy,
  ]);
  const titles = ['version', 'id', 'created', 'by'];
  return `${fields}\n\n${renderTable(titled(titles, ['version', 'id', 'created']), rows, style)}`;
}

type Requests = NonNullable<NonNullable<WorkflowShowQuery['workflow']>['latest']['requests']>;

function describeRequests({ cpu, memory, memoryText, disk, gpu, packages }: Requests): string {
  const parts = [
    cpu === null ? '' : `cpu ${cpu}`,
    memoryText !== null ? `memory ${memoryText}` : memory === null ? '' : `memory ${memory} bytes`,
    disk === null ? '' : `disk ${disk} bytes`,
    gpu === null ? '' : `gpu ${gpu}`,
    ...packages,
  ];
  return parts.filter((part) => part !== '').join(', ');
}
