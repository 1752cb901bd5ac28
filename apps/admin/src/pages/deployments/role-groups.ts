import type { RoleFacts } from '../../api/roles.ts';
import { clock } from '../../format.ts';

export type RoleGroup = 'Healthy' | 'Unhealthy' | 'Known, none alive';

export const ROLE_GROUPS: readonly RoleGroup[] = ['Healthy', 'Unhealthy', 'Known, none alive'];

/** Healthy: some worker may take work. Unhealthy: some are alive, none may. Known: nobody is alive. */
export function groupOf(role: RoleFacts): RoleGroup {
  if (role.healthy) return 'Healthy';
  return role.unhealthyWorkers + role.unavailableWorkers + role.staleWorkers > 0 ? 'Unhealthy' : 'Known, none alive';
}

/** What stands beside a role in the picker. */
export function roleNote(role: RoleFacts): string {
  const workers = role.workers === 1 ? 'worker' : 'workers';
  switch (groupOf(role)) {
    case 'Healthy':
      return `${role.healthyWorkers} of ${role.workers} ${workers}`;
    case 'Unhealthy': {
      const parts = [
        role.unhealthyWorkers > 0 && `${role.unhealthyWorkers} unhealthy`,
        role.staleWorkers > 0 && `${role.staleWorkers} stale`,
        role.unavailableWorkers > 0 && `${role.unavailableWorkers} cordoned`,
      ].filter((part) => part !== false);
      return `0 of ${role.workers} ${workers}, ${parts.join(', ')}`;
    }
    case 'Known, none alive':
      if (role.workers === 0) return 'nobody has announced it';
      return role.since ? `since ${clock(role.since).slice(0, 5)}` : `0 of ${role.workers} ${workers}`;
  }
}

/** The roles whose name has the text, by group, each group by name. */
export function groupRoles(
  roles: readonly RoleFacts[],
  search: string,
): Array<{ group: RoleGroup; roles: RoleFacts[] }> {
  const text = search.trim().toLowerCase();
  const found = roles
    .filter((role) => role.role.toLowerCase().includes(text))
    .toSorted((a, b) => (a.role < b.role ? -1 : a.role > b.role ? 1 : 0));
  return ROLE_GROUPS.map((group) => ({ group, roles: found.filter((role) => groupOf(role) === group) })).filter(
    (each) => each.roles.length > 0,
  );
}
