import { isName, MAX_NAME, MusterError } from '@muster/core';
import type { Viewer } from '../viewer/viewer.ts';

const MAX_HINT = 256;

/** What is needed of the registry and of permissions. */
export interface BindingChecks {
  /** A registered worker has this name. */
  exists(name: string): boolean;
  may(viewer: Viewer, permission: string): boolean;
}

/**
 * The binding as it is stored, or null for none. Shape, then permission, then existence, in this order, so that names cannot be probed
 * (ruling 20). Throws BAD_INPUT, FORBIDDEN, UNKNOWN_WORKER.
 */
export function checkBinding(
  raw: string | null | undefined,
  viewer: Viewer,
  { exists, may }: BindingChecks,
): string | null {
  if (raw === null || raw === undefined) return null;
  const name = raw.trim();
  const field = 'requiredWorker';
  if (!isName(name, MAX_NAME)) {
    const message = `A worker's name has letters, digits, ".", "_" and "-", begins and ends with a letter or digit, and at most ${MAX_NAME} characters.`;
    throw new MusterError('BAD_INPUT', message, { field, issues: [{ path: field, code: 'NAME_SHAPE', message }] });
  }
  if (!may(viewer, `worker:${name}:target`)) {
    throw new MusterError('FORBIDDEN', `This takes the permission worker:${name}:target.`, { field });
  }
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

/** Whether a permission is granted: `*` matches one segment, a trailing `*` the rest. */
export function mayByPermissions(viewer: Viewer, permission: string): boolean {
  const wanted = permission.split(':');
  return viewer.permissions.some((granted) => {
    const segments = granted.split(':');
    const matches = segments.every((segment, index) => segment === '*' || segment === wanted[index]);
    return (
      matches && (segments.length === wanted.length || (segments.at(-1) === '*' && segments.length < wanted.length))
    );
  });
}
