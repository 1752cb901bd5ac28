import type { DeploymentVariantInput, KeyValueInput } from '../../api/generated/graphql.ts';
import type { DeploymentDetail } from './deployment-queries.ts';
import type { Change } from '../../ui/conflict-dialog.tsx';

/** One variant as it stands in the editor. `weight` is what was typed. */
export interface DraftVariant {
  /** Stays while the label is typed. */
  key: string;
  label: string;
  flowId: string;
  versionId: string | null;
  weight: string;
  targetRoles: readonly string[];
  labels: readonly KeyValueInput[];
}

export interface Draft {
  module: string;
  description: string;
  variants: readonly DraftVariant[];
}

export const MAX_WEIGHT = 1_000_000;

export function draftOf(deployment: Pick<DeploymentDetail, 'module' | 'description' | 'variants'>): Draft {
  return {
    module: deployment.module ?? '',
    description: deployment.description ?? '',
    variants: deployment.variants.map((variant) => ({
      key: variant.label,
      label: variant.label,
      flowId: variant.flowId,
      versionId: variant.versionId ?? null,
      weight: String(variant.weight),
      targetRoles: variant.targetRoles,
      labels: variant.labels.map(({ key, value }) => ({ key, value })),
    })),
  };
}

export function newVariant(existing: readonly DraftVariant[], key: string): DraftVariant {
  const taken = new Set(existing.map((variant) => variant.label));
  let number = existing.length + 1;
  while (taken.has(`variant-${number}`)) number += 1;
  return {
    key,
    label: existing.length === 0 ? 'stable' : `variant-${number}`,
    flowId: existing[0]?.flowId ?? '',
    versionId: null,
    weight: existing.length === 0 ? '100' : '0',
    targetRoles: [],
    labels: [],
  };
}

/** The typed weight as a number; null where it is not a whole number from 0 to 1,000,000. */
export function readWeight(typed: string): number | null {
  if (!/^\d+$/.test(typed.trim())) return null;
  const weight = Number(typed.trim());
  return weight <= MAX_WEIGHT ? weight : null;
}

/** Problems by field path (`variants.1.weight`, `variants`), in the words of the API. */
export function problemsOf(variants: readonly DraftVariant[]): Record<string, string> {
  const problems: Record<string, string> = {};
  const labels = new Set<string>();
  variants.forEach((variant, index) => {
    const weight = readWeight(variant.weight);
    if (weight === null) {
      problems[`variants.${index}.weight`] =
        `Weight must be a whole number from 0 to 1,000,000. It was ${variant.weight.trim() === '' ? 'empty' : variant.weight}.`;
    }
    const label = variant.label.trim();
    if (label === '') problems[`variants.${index}.label`] = 'A variant needs a label.';
    else if (labels.has(label)) problems[`variants.${index}.label`] = `${label} stands twice.`;
    labels.add(label);
    if (variant.flowId === '') problems[`variants.${index}.flowId`] = 'Choose a workflow.';
  });
  if (variants.length === 0) problems['variants'] = 'A deployment needs at least one variant.';
  else if (variants.every((variant) => readWeight(variant.weight) === 0)) {
    problems['variants'] = 'At least one weight must be above 0, or nothing is ever picked.';
  }
  return problems;
}

/** For the API. Call only where `problemsOf` found none. */
export function toInput(variants: readonly DraftVariant[]): DeploymentVariantInput[] {
  return variants.map((variant) => ({
    label: variant.label.trim(),
    flowId: variant.flowId,
    versionId: variant.versionId,
    weight: readWeight(variant.weight) ?? 0,
    targetRoles: [...variant.targetRoles],
    labels: [...variant.labels],
  }));
}

const roles = (list: readonly string[]): string => (list.length === 0 ? 'any' : list.join(' or '));

/** Every difference between what is saved and what is typed. */
export function changesOf(saved: Draft, draft: Draft, versionName: (id: string | null) => string): Change[] {
  const changes: Change[] = [];
  const add = (subject: string, what: string, from: string, to: string): void => {
    if (from !== to) changes.push({ subject, what, from, to });
  };
  add('module', '', saved.module || 'none', draft.module || 'none');
  add('description', '', saved.description || 'none', draft.description || 'none');
  const before = new Map(saved.variants.map((variant) => [variant.key, variant]));
  for (const variant of draft.variants) {
    const old = before.get(variant.key);
    before.delete(variant.key);
    if (!old) {
      changes.push({
        subject: variant.label,
        what: 'variant',
        from: 'none',
        to: `weight ${variant.weight}, roles ${roles(variant.targetRoles)}`,
      });
      continue;
    }
    add(old.label, 'label', old.label, variant.label);
    add(variant.label, 'workflow', old.flowId, variant.flowId);
    add(variant.label, 'version', versionName(old.versionId), versionName(variant.versionId));
    add(variant.label, 'weight', old.weight, variant.weight.trim());
    add(variant.label, 'roles', roles(old.targetRoles), roles(variant.targetRoles));
  }
  for (const gone of before.values())
    changes.push({ subject: gone.label, what: 'variant', from: `weight ${gone.weight}`, to: 'removed' });
  return changes;
}

/** Even weights that keep the sum; what does not divide goes to the first ones, one each. Nobody gets nothing. */
export function evenSplit(variants: readonly DraftVariant[]): DraftVariant[] {
  if (variants.length === 0) return [];
  const sum = variants.reduce((total, variant) => total + (readWeight(variant.weight) ?? 0), 0) || 100;
  const spread = Math.max(sum, variants.length);
  const each = Math.floor(spread / variants.length);
  const over = spread % variants.length;
  return variants.map((variant, index) => ({ ...variant, weight: String(each + (index < over ? 1 : 0)) }));
}
