import {
  DeploymentCreateDocument,
  DeploymentForUpdateDocument,
  DeploymentHistoryDocument,
  type DeploymentHistoryQuery,
  DeploymentRollbackDocument,
  DeploymentUpdateDocument,
  type DeploymentUpdateMutation,
} from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { renderTable, titled } from '../output/table.ts';
import { ago, percent } from '../output/words.ts';
import { parsePairs, parseWhole } from '../settings/parse-arguments.ts';
import { maxWeight, parseVariant } from '../settings/parse-variant.ts';
import { allPages } from './all-pages.ts';
import { type CommandContext, show } from './context.ts';

export interface EditFlags {
  readonly comment?: string;
  readonly expectedRevision?: string;
}

export interface RollbackFlags extends EditFlags {
  readonly force?: boolean;
}

export interface DeploymentCreateFlags {
  readonly variant?: readonly string[];
  readonly module?: string;
  readonly description?: string;
  readonly comment?: string;
  readonly idempotencyKey?: string;
}

type Saved = DeploymentUpdateMutation['updateDeployment'];

/** `muster deployment create SLUG --variant …`. */
export async function deploymentCreate(
  context: CommandContext,
  slug: string,
  flags: DeploymentCreateFlags,
): Promise<void> {
  const variants = flags.variant ?? [];
  if (variants.length === 0) {
    const message = 'A deployment has at least one variant: --variant LABEL=WORKFLOW.';
    throw new CommandError(message, exitCodes.usage);
  }
  const input = {
    slug,
    module: flags.module ?? null,
    description: flags.description ?? null,
    variants: variants.map(parseVariant),
    comment: flags.comment ?? null,
    idempotencyKey: flags.idempotencyKey ?? null,
  };
  const { createDeployment } = await context.client.request(DeploymentCreateDocument, { input });
  showSaved(context, createDeployment);
}

/** `muster deployment set-weights SLUG LABEL=WEIGHT…`; refused with CONFLICT where somebody else was faster. */
export async function deploymentSetWeights(
  context: CommandContext,
  slug: string,
  pairs: readonly string[],
  flags: EditFlags,
): Promise<void> {
  const weights = new Map(
    Object.entries(parsePairs(pairs, 'set-weights')).map(([label, text]) => [
      label,
      parseWhole(text, `The weight of ${label}`, 0, maxWeight),
    ]),
  );
  const present = await deploymentNow(context, slug);
  const unknown = [...weights.keys()].filter((label) => present.variants.every((variant) => variant.label !== label));
  if (unknown.length > 0) {
    const known = present.variants.map((variant) => variant.label).join(', ');
    throw new CommandError(`${slug} has no variant ${unknown.join(', ')}; it has ${known}.`, exitCodes.usage);
  }
  const input = {
    slug,
    expectedRevision: expectedRevision(flags, present.revision),
    comment: flags.comment ?? null,
    variants: present.variants.map((variant) => ({ ...variant, weight: weights.get(variant.label) ?? variant.weight })),
  };
  const { updateDeployment } = await context.client.request(DeploymentUpdateDocument, { input });
  showSaved(context, updateDeployment);
}

/** `muster deployment rollback SLUG [REVISION]`: to the one before where none is named. */
export async function deploymentRollback(
  context: CommandContext,
  slug: string,
  revision: string | undefined,
  flags: RollbackFlags,
): Promise<void> {
  const present = await deploymentNow(context, slug);
  const toRevision = revision === undefined ? present.revision - 1 : parseWhole(revision, 'REVISION', 1, 2_147_483_647);
  if (toRevision < 1) throw new CommandError(`${slug} has only one revision.`, exitCodes.failed);
  const input = {
    slug,
    toRevision,
    expectedRevision: expectedRevision(flags, present.revision),
    comment: flags.comment ?? null,
    force: flags.force ?? false,
  };
  const { rollbackDeployment } = await context.client.request(DeploymentRollbackDocument, { input });
  showSaved(context, rollbackDeployment);
}

/** `muster deployment history SLUG`. */
export async function deploymentHistory(context: CommandContext, slug: string): Promise<void> {
  const { nodes, more } = await allPages(async (first, after) => {
    const { deployment } = await context.client.request(DeploymentHistoryDocument, { slug, first, after });
    if (deployment === null) throw missing(slug);
    return deployment.history;
  });
  show(context, nodes, (style) => {
    const now = Date.now();
    const rows = nodes.map(({ revision, variants, comment, author, at }) => [
      String(revision),
      `${ago(at, now)} ago`,
      author,
      variantsText(variants),
      comment ?? '',
    ]);
    const columns = titled(['revision', 'changed', 'by', 'variants', 'comment'], ['revision', 'changed']);
    return renderTable(columns, rows, style) + (more ? '\n… and more' : '');
  });
}

type StoredVariants = NonNullable<DeploymentHistoryQuery['deployment']>['history']['nodes'][number]['variants'];

function variantsText(variants: StoredVariants): string {
  if (!Array.isArray(variants)) return '';
  return (variants as { label?: unknown; weight?: unknown }[])
    .map(({ label, weight }) => `${String(label)} ${String(weight)}`)
    .join(', ');
}

async function deploymentNow(context: CommandContext, slug: string) {
  const { deployment } = await context.client.request(DeploymentForUpdateDocument, { slug });
  if (deployment === null) throw missing(slug);
  return deployment;
}

function expectedRevision(flags: EditFlags, present: number): number {
  if (flags.expectedRevision === undefined) return present;
  return parseWhole(flags.expectedRevision, '--expected-revision', 1, 2_147_483_647);
}

function showSaved(context: CommandContext, saved: Saved): void {
  const { deployment, warnings } = saved;
  for (const warning of context.json ? [] : warnings) context.io.err(`! ${warning}`);
  show(context, saved, (style) => {
    const rows = deployment.variants.map((variant) => [
      variant.label,
      variant.flowId,
      String(variant.weight),
      percent(variant.share),
      variant.dead ? style.red('dead') : percent(variant.effectiveShare),
      variant.targetRoles.length === 0 ? 'any' : variant.targetRoles.join(' or '),
    ]);
    const columns = titled(['variant', 'workflow', 'weight', 'share', 'effective', 'roles'], ['variant', 'weight']);
    return `${style.bold(deployment.slug)} is at revision ${deployment.revision}.\n\n${renderTable(columns, rows, style)}`;
  });
}

function missing(slug: string): CommandError {
  return new CommandError(`There is no deployment ${slug}.`, exitCodes.notFound);
}
