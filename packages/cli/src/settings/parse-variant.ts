import type { DeploymentVariantInput } from '@muster/client';
import { CommandError, exitCodes } from '../exit-codes.ts';
import { parseWhole } from './parse-arguments.ts';

export const maxWeight = 1_000_000;

/**
 * `LABEL=WORKFLOW[,weight=N][,role=ROLE]…[,version=ID][,label:KEY=VALUE]…` as a variant; weight 100 where it is not given.
 * Throws a usage error that names what is wrong.
 */
export function parseVariant(text: string): DeploymentVariantInput {
  const [head = '', ...parts] = text.split(',');
  const at = head.indexOf('=');
  const label = head.slice(0, Math.max(at, 0)).trim();
  const workflow = head.slice(at + 1).trim();
  if (label === '' || workflow === '')
    throw usage(`--variant begins with LABEL=WORKFLOW, not ${JSON.stringify(head)}.`);
  const targetRoles: string[] = [];
  const labels: { key: string; value: string }[] = [];
  let weight: number | undefined;
  let versionId: string | undefined;
  for (const part of parts) {
    const [key, value] = split(part, label);
    if (key === 'role') targetRoles.push(value);
    else if (key === 'weight' && weight === undefined)
      weight = parseWhole(value, `The weight of ${label}`, 0, maxWeight);
    else if (key === 'version' && versionId === undefined) versionId = value;
    else if (key.startsWith('label:') && key.length > 6) labels.push({ key: key.slice(6), value });
    else throw usage(`--variant ${label}: ${key} is not one of weight, role, version, label:KEY, or is given twice.`);
  }
  const flowId = workflow.includes('/') ? workflow : `default/${workflow}`;
  return { label, flowId, weight: weight ?? 100, targetRoles, labels, versionId: versionId ?? null };
}

function split(part: string, label: string): readonly [string, string] {
  const at = part.indexOf('=');
  const key = part.slice(0, Math.max(at, 0)).trim();
  if (key === '') throw usage(`--variant ${label}: ${JSON.stringify(part)} is not key=value.`);
  return [key, part.slice(at + 1).trim()];
}

function usage(message: string): CommandError {
  return new CommandError(message, exitCodes.usage);
}
