import { isName, MAX_NAME, MusterError } from '@muster/core';
import { requirePermission, type Viewer } from '../viewer/viewer.ts';

const MAX_HINT = 256;

/** What is needed of the registry. */
export interface BindingChecks {
  /** A registered worker has this name. */
  exists(name: string): boolean;
}

/**
 * The binding as it is stored, or null for none. Shape, then permission, then existence, in this order, so that names cannot be probed
 * (ruling 20). Throws BAD_INPUT, FORBIDDEN, UNKNOWN_WORKER.
 */
export function checkBinding(raw: string | null | undefined, viewer: Viewer, { exists }: BindingChecks): string | null {
  if (raw === null || raw === undefined) return null;
  const name = raw.trim();
  const field = 'requiredWorker';
  if (!isName(name, MAX_NAME)) {
    const message = `A worker's name has letters, digits, ".", "_" and "-", begins and ends with a letter or digit, and at most ${MAX_NAME} characters.`;
    throw new MusterError('BAD_INPUT', message, { field, issues: [{ path: field, code: 'NAME_SHAPE', message }] });
  }
  requirePermission(viewer, `worker:${name}:target`, field);
  if (!exists(name)) {
    const message = `No worker is registered as ${name}.`;
    throw new MusterError('UNKNOWN_WORKER', message, {
      field,
      issues: [{ path: field, code: 'UNKNOWN_WORKER', message }],
    });
  }
  return name;
}

/** The hint as it is stored: whatever is wrong with it, it is dropped, never refused (ruling 20). */
export function trimHint(raw: string | null | undefined): string | null {
  const hint = raw?.trim() ?? '';
  return hint.length <= MAX_HINT && isName(hint, MAX_NAME) ? hint : null;
}
