import { permits } from './permissions.ts';

/** What both of two sets of permissions cover, as the shortest such set: what a token of `granted` may when it is narrowed to `scopes`. */
export function intersectPermissions(granted: readonly string[], scopes: readonly string[]): string[] {
  const common = new Set<string>();
  for (const grant of granted) {
    for (const scope of scopes) {
      const both = meet(grant.split(':'), scope.split(':'));
      if (both !== null) common.add(both);
    }
  }
  const all = [...common];
  return all.filter((permission) => !all.some((other) => other !== permission && permits([other], permission)));
}

/** A shorter pattern ends in `*`, which stands for all the segments that the other one still has. */
function meet(a: readonly string[], b: readonly string[]): string | null {
  const length = Math.max(a.length, b.length);
  const met: string[] = [];
  for (let index = 0; index < length; index += 1) {
    const left = a[index] ?? (a.at(-1) === '*' ? '*' : null);
    const right = b[index] ?? (b.at(-1) === '*' ? '*' : null);
    if (left === null || right === null) return null;
    if (left !== right && left !== '*' && right !== '*') return null;
    met.push(left === '*' ? right : left);
  }
  return met.join(':');
}
