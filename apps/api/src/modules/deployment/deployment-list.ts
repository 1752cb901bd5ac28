import { compareCodePoints } from '@muster/core';
import { type Connection, type CursorKey, type Page, pageInMemory } from '../../graphql/connection.ts';
import type { DeploymentRow } from './deployment-store.ts';

export type DeploymentHealth = 'OK' | 'DEGRADED' | 'UNAVAILABLE';
export type DeploymentOrder = 'SLUG' | 'UPDATED' | 'LAST_EXECUTION';

export interface DeploymentFilter {
  search?: string | null | undefined;
  health?: readonly DeploymentHealth[] | null | undefined;
  roles?: readonly string[] | null | undefined;
  module?: string | null | undefined;
  workflow?: string | null | undefined;
}

/** Says whether a deployment is in the filtered list; `search` is part of slug, module or description. */
export function deploymentMatcher(
  filter: DeploymentFilter | null | undefined,
  healthOf: (deployment: DeploymentRow) => DeploymentHealth,
): (deployment: DeploymentRow) => boolean {
  if (!filter) return () => true;
  const { health, roles, module, workflow } = filter;
  const search = filter.search?.trim().toLowerCase();
  return (d) =>
    (!search || [d.slug, d.module ?? '', d.description ?? ''].some((text) => text.toLowerCase().includes(search))) &&
    (!health || health.includes(healthOf(d))) &&
    (!roles || d.variants.some((variant) => variant.targetRoles.some((role) => roles.includes(role)))) &&
    (module == null || d.module === module) &&
    (workflow == null || d.variants.some((variant) => variant.flowId === workflow));
}

export function deploymentOrderName(order: DeploymentOrder, descending: boolean): string {
  return `deployments-${order}${descending ? '-desc' : ''}`;
}

/** One page, ties by slug. Those without executions come first in the order of the last one. */
export function deploymentPage(
  deployments: readonly DeploymentRow[],
  order: DeploymentOrder,
  descending: boolean,
  page: Page,
  lastExecutions: ReadonlyMap<number, Date>,
): Connection<DeploymentRow> {
  const keyOf = (d: DeploymentRow): CursorKey =>
    order === 'SLUG'
      ? d.slug
      : order === 'UPDATED'
        ? d.updatedAt.getTime()
        : (lastExecutions.get(d.id)?.getTime() ?? 0);
  const keysOf = (d: DeploymentRow): CursorKey[] => [keyOf(d), d.slug];
  const sign = descending ? -1 : 1;
  const compare = (a: readonly CursorKey[], b: readonly CursorKey[]): number => {
    const first = order === 'SLUG' ? 0 : Number(a[0]) - Number(b[0]);
    return sign * (first || compareCodePoints(String(a[1]), String(b[1])));
  };
  const sorted = [...deployments].sort((a, b) => compare(keysOf(a), keysOf(b)));
  return pageInMemory(page, deploymentOrderName(order, descending), sorted, keysOf, compare);
}
