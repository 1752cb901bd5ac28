import {
  DeploymentListDocument,
  DeploymentResolveDocument,
  DeploymentRunDocument,
  DeploymentShowDocument,
  type DeploymentShowQuery,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { paintState, type Style } from '../output/style.ts';
import { renderFields, renderTable, titled } from '../output/table.ts';
import { ago, percent } from '../output/words.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';
import { finishRun, type RunFlags, runInput } from './run-flags.ts';

/** `muster deployment list`. */
export async function deploymentList(context: CommandContext): Promise<void> {
  const { nodes, more } = await allPages(async (first, after) => {
    return (await context.client.request(DeploymentListDocument, { first, after })).deployments;
  });
  show(context, nodes, (style) => {
    if (nodes.length === 0) return 'No deployments.';
    const now = Date.now();
    const rows = nodes.map((deployment) => [
      deployment.slug,
      paintState(deployment.health, style),
      deployment.variants
        .map((one) => (one.dead ? style.red(`${one.label} ${one.weight} dead`) : `${one.label} ${one.weight}`))
        .join(', '),
      String(deployment.revision),
      `${ago(deployment.updatedAt, now)} ago`,
    ]);
    const titles = ['deployment', 'health', 'variants', 'revision', 'changed'];
    return renderTable(titled(titles, ['deployment', 'health']), rows, style) + (more ? '\n… and more' : '');
  });
}

/** `muster deployment show SLUG`. */
export async function deploymentShow(context: CommandContext, slug: string): Promise<void> {
  const { deployment } = await context.client.request(DeploymentShowDocument, { slug });
  if (deployment === null) throw new CommandError(`There is no deployment ${slug}.`, exitCodes.notFound);
  show(context, deployment, (style) => deploymentText(deployment, style));
}

/** `muster deployment resolve SLUG --session KEY`: which variant that session would get now; nothing runs. */
export async function deploymentResolve(
  context: CommandContext,
  slug: string,
  flags: { readonly session?: string },
): Promise<void> {
  const sessionKey = flags.session ?? null;
  const { resolveDeployment } = await context.client.request(DeploymentResolveDocument, { slug, sessionKey });
  show(context, resolveDeployment, (style) => {
    const { variant, version, sticky, skippedVariants } = resolveDeployment;
    return renderFields(
      [
        ['variant', style.bold(variant.label)],
        ['workflow', `${variant.flowId}${version === null ? '' : ` version ${version.number}`}`],
        ['roles', variant.targetRoles.length === 0 ? 'any' : variant.targetRoles.join(' or ')],
        ['chosen by', sticky ? 'the session key' : 'a weighted draw'],
        ['share', percent(variant.effectiveShare)],
        [
          'skipped',
          skippedVariants
            .map(
              (one) =>
                `${one.label}: ${one.reason === 'WEIGHT_ZERO' ? 'weight 0' : `no healthy worker of role ${one.deadRoles.join(' or ')}`}`,
            )
            .join('\n'),
        ],
      ],
      style,
    );
  });
}

/** `muster deployment run SLUG [INPUT]`. */
export async function deploymentRun(
  context: CommandContext,
  slug: string,
  inputText: string | undefined,
  flags: RunFlags & { readonly session?: string },
): Promise<void> {
  const input = {
    deployment: slug,
    sessionKey: flags.session ?? null,
    ...(await runInput(inputText, flags, context.io)),
  };
  const { runDeployment } = await context.client.request(DeploymentRunDocument, { input });
  await finishRun(context, runDeployment.execution, flags);
}

function deploymentText(deployment: NonNullable<DeploymentShowQuery['deployment']>, style: Style): string {
  const fields = renderFields(
    [
      ['deployment', style.bold(deployment.slug)],
      ['description', deployment.description],
      ['module', deployment.module],
      ['health', paintState(deployment.health, style)],
      ['revision', `${deployment.revision} by ${deployment.updatedBy}, ${deployment.updatedAt}`],
    ],
    style,
  );
  const rows = deployment.variants.map((variant) => [
    variant.label,
    variant.flowId,
    String(variant.weight),
    percent(variant.share),
    percent(variant.effectiveShare),
    percent(variant.observedShare),
    variant.roles.length === 0
      ? 'any'
      : variant.roles.map((one) => (one.healthy ? one.role : style.red(`${one.role} (dead)`))).join(' or '),
  ]);
  const titles = ['variant', 'workflow', 'weight', 'share', 'effective', 'observed', 'roles'];
  const warning = deployment.unavailable
    ? `\n\n${style.red('No variant has a healthy target role: runs are refused.')}`
    : '';
  return `${fields}\n\n${renderTable(titled(titles, ['variant', 'workflow']), rows, style)}${warning}`;
}
