import { checkPermission } from '@muster/core/permissions';

export interface PermissionText {
  permissions: string[];
  problems: { line: number; message: string }[];
}

/** One permission a line; empty lines mean nothing. Checked by the rule of the server. */
export function readPermissions(text: string): PermissionText {
  const permissions: string[] = [];
  const problems: { line: number; message: string }[] = [];
  for (const [index, raw] of text.split('\n').entries()) {
    const permission = raw.trim();
    if (permission === '') continue;
    permissions.push(permission);
    for (const { message } of checkPermission(permission, '')) problems.push({ line: index + 1, message });
  }
  return { permissions, problems };
}
