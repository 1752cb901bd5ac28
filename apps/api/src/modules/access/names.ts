import { checkName, type Issue, MAX_NAME, MAX_SHORT_NAME, quote } from '@muster/core';

const PRINCIPAL = /^[A-Za-z0-9](?:[A-Za-z0-9._@+-]*[A-Za-z0-9])?$/;

/** The problems of a principal's name: as other names, with `@` and `+`, so that it can be an address. */
export function checkPrincipalName(name: string, path: string): Issue[] {
  if (name.length > MAX_NAME || !/[@+]/.test(name)) return checkName(name, path, 'a principal', MAX_NAME);
  if (PRINCIPAL.test(name)) return [];
  const message = `a principal is named with letters, digits, ".", "_", "-", "+" and "@" and begins and ends with a letter or digit, not ${quote(name)}`;
  return [{ path, code: 'NAME_SHAPE', message }];
}

/** The problems of a role's name. */
export function checkRoleName(name: string, path: string): Issue[] {
  return checkName(name, path, 'a role', MAX_SHORT_NAME);
}
