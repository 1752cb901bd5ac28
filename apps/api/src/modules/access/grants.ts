import { checkPermission, type Issue, MusterError, permits } from '@muster/core';
import type { Viewer } from '../viewer/viewer.ts';

const MAX_PERMISSIONS = 200;

/**
 * Nobody gives more than he has, and nobody changes who may more than he. Errors: FORBIDDEN, naming the first permission that the viewer lacks;
 * `details.permission` is it.
 */
export function requireCover(viewer: Viewer, permissions: readonly string[], field: string): void {
  const missing = permissions.find((permission) => !permits(viewer.permissions, permission));
  if (missing === undefined) return;
  throw new MusterError('FORBIDDEN', `Nobody gives or changes what he may not do himself: this takes ${missing}.`, {
    field,
    details: { permission: missing },
  });
}

/** The problems of a list of permissions that a role or a token may hold. */
export function checkPermissions(permissions: readonly string[], path: string): Issue[] {
  if (permissions.length > MAX_PERMISSIONS) {
    const message = `at most ${MAX_PERMISSIONS} permissions, not ${permissions.length}`;
    return [{ path, code: 'LIST_TOO_LONG', message }];
  }
  return permissions.flatMap((permission, index) => checkPermission(permission, `${path}.${index}`));
}

/** A person or a service account. Errors: FORBIDDEN for a worker's credential and an execution's token. */
export function requirePrincipal(viewer: Viewer): void {
  if (viewer.kind === 'person' || viewer.kind === 'service') return;
  throw new MusterError('FORBIDDEN', 'This is for people and service accounts.');
}
