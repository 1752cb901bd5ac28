import type { OidcSettings } from './oidc-settings.ts';

type Claims = Readonly<Record<string, unknown>>;

/** Values of one claim that are looked at. */
const MAX_VALUES = 1_000;

/** The value of a claim: of this name, or else along the dots of it. undefined: there is none. */
export function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/** The roles that the claim is mapped to: a text, or a list of them; what the map does not name gives nothing. */
export function mappedRoles(claims: Claims, { rolesClaim, rolesMap }: OidcSettings): string[] {
  const claim = claimAt(claims, rolesClaim);
  const values = Array.isArray(claim) ? claim.slice(0, MAX_VALUES) : [claim];
  const roles = values.flatMap((value) => {
    const role = typeof value === 'string' && Object.hasOwn(rolesMap, value) ? rolesMap[value] : undefined;
    return role === undefined ? [] : [role];
  });
  return [...new Set(roles)].sort();
}

/** What the person is to be called; null: the claim is missing. */
export function nameOf(claims: Claims, { nameClaim }: OidcSettings): string | null {
  const name = claimAt(claims, nameClaim);
  return typeof name === 'string' && name !== '' ? name : null;
}
