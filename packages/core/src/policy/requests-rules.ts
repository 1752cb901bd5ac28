import { parseMemory, parsePackageRequirement } from './resource-units.ts';
import type { BrokenRule } from './rules.ts';

/** Most packages of one request. */
export const MAX_PACKAGES = 64;

/** An amount of cpu (cores), disk (bytes) or gpu (whole cards): a finite number, not below 0. */
export function checkAmount(field: 'cpu' | 'disk' | 'gpu', amount: unknown): BrokenRule | null {
  const unit = { cpu: 'cores', disk: 'bytes', gpu: 'GPUs' }[field];
  if (typeof amount !== 'number' || !Number.isFinite(amount) || amount < 0) {
    return { code: 'AMOUNT_INVALID', message: `${field} takes a number of ${unit}, 0 or more.` };
  }
  if (field === 'gpu' && !Number.isInteger(amount)) {
    return { code: 'AMOUNT_INVALID', message: 'gpu takes a whole number of GPUs.' };
  }
  return null;
}

/** An amount of memory: bytes, or a text such as `512Mi` (ruling 16). */
export function checkMemory(amount: unknown): BrokenRule | null {
  if (parseMemory(amount) !== null) return null;
  const message =
    'memory takes a number of bytes, or a text such as "512Mi" or "2.5Gi" (K M G T P, or Ki Mi Gi Ti Pi).';
  return { code: 'MEMORY_INVALID', message };
}

/** One wanted package (ruling 16). */
export function checkPackage(text: unknown): BrokenRule | null {
  if (parsePackageRequirement(text) !== null) return null;
  const message = 'A package is a text: "name", "name==1.2" or "name>=1.2"; other operators are not supported.';
  return { code: 'PACKAGE_INVALID', message };
}
