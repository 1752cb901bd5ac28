import type { Issue } from '../lib/errors.ts';
import { type Checked, checkInteger, checkLabels, checkText, type KeyValue } from '../worker/guardrails.ts';
import { checkName, MAX_NAME, parseWorkflowRef, quote } from '../worker/names.ts';
import type { Variant } from './variant.ts';

export const MAX_VARIANTS = 100;
export const MAX_WEIGHT = 1_000_000;
export const MAX_TARGET_ROLES = 32;
export const MAX_VARIANT_LABEL = 64;

/** A variant as a caller gives it. */
export interface VariantInput {
  readonly label: string;
  readonly flowId: string;
  readonly versionId?: string | null | undefined;
  readonly weight: number;
  readonly targetRoles?: readonly string[] | null | undefined;
  readonly labels?: readonly KeyValue[] | null | undefined;
}

/**
 * The bounds of a deployment's variants, all problems at once with paths under `path`: 1 … 100 variants, unique labels, whole weights 0 … 1,000,000 of
 * which one is above 0, at most 32 distinct target roles. Whether the workflow exists is not this function's to know.
 */
export function checkVariants(inputs: readonly VariantInput[], path: string): Checked<Variant[]> {
  const issues: Issue[] = [];
  if (inputs.length === 0 || inputs.length > MAX_VARIANTS) {
    const message = `a deployment has 1 to ${MAX_VARIANTS} variants, not ${inputs.length}`;
    issues.push({ path, code: 'VARIANT_COUNT', message });
  }
  const value: Variant[] = [];
  const seen = new Set<string>();
  for (const [index, input] of inputs.slice(0, MAX_VARIANTS).entries()) {
    const at = `${path}.${index}`;
    const checked = checkVariant(input, at);
    issues.push(...checked.issues);
    if (seen.has(input.label)) {
      const message = `another variant is called ${quote(input.label)} already`;
      issues.push({ path: `${at}.label`, code: 'VARIANT_LABEL_DUPLICATE', message });
    }
    seen.add(input.label);
    value.push(checked.value);
  }
  if (value.length > 0 && !value.some((variant) => variant.weight > 0)) {
    issues.push({ path, code: 'NO_WEIGHT', message: 'at least one variant needs a weight above 0' });
  }
  return { value, issues };
}

function checkVariant(input: VariantInput, at: string): Checked<Variant> {
  const issues: Issue[] = [];
  if (input.label.trim() === '' || input.label !== input.label.trim()) {
    const message = `a variant's label is not empty and has no space around it, not ${quote(input.label)}`;
    issues.push({ path: `${at}.label`, code: 'VARIANT_LABEL_SHAPE', message });
  }
  issues.push(...checkText(input.label, `${at}.label`, "a variant's label", MAX_VARIANT_LABEL));
  if (!input.flowId.includes('/') || parseWorkflowRef(input.flowId) === null) {
    const message = `a variant's flowId is a workflow, namespace/name, not ${quote(input.flowId)}`;
    issues.push({ path: `${at}.flowId`, code: 'FLOW_ID_SHAPE', message });
  }
  issues.push(...checkInteger(input.weight, `${at}.weight`, 'a weight', 0, MAX_WEIGHT));
  const targetRoles = input.targetRoles ?? [];
  issues.push(...checkTargetRoles(targetRoles, `${at}.targetRoles`));
  const labels = checkLabels(input.labels ?? [], `${at}.labels`, 'allow');
  issues.push(...labels.issues);
  const value: Variant = {
    label: input.label,
    flowId: input.flowId,
    versionId: input.versionId ?? null,
    // −0 becomes 0.
    weight: input.weight + 0,
    targetRoles: [...targetRoles],
    labels: Object.fromEntries(labels.value),
  };
  return { value, issues };
}

/** The issues of a list of roles: at most 32, each of a role's shape, none twice. Also for roles that a caller previews with. */
export function checkTargetRoles(roles: readonly string[], path: string): Issue[] {
  const issues: Issue[] = [];
  if (roles.length > MAX_TARGET_ROLES) {
    const message = `a variant has at most ${MAX_TARGET_ROLES} target roles, not ${roles.length}`;
    issues.push({ path, code: 'TOO_MANY_TARGET_ROLES', message });
  }
  for (const [index, role] of roles.slice(0, MAX_TARGET_ROLES).entries()) {
    issues.push(...checkName(role, `${path}.${index}`, 'a role', MAX_NAME));
    if (roles.indexOf(role) < index) {
      issues.push({
        path: `${path}.${index}`,
        code: 'TARGET_ROLE_DUPLICATE',
        message: `${quote(role)} is given twice`,
      });
    }
  }
  return issues;
}
