import { compareCodePoints } from '@muster/core';
import type { RoleHealthFacts } from '../../fleet/fleet.ts';
import type { DeploymentRow } from '../deployment/deployment-store.ts';

/** What the fleet knows of a role, and how many variants are pinned to it. */
export interface RoleView extends Omit<RoleHealthFacts, 'since'> {
  readonly since: Date | null;
  readonly variants: number;
}

/** Every role that a worker has announced or a variant names, in code-point order. */
export function roleViews(roles: readonly RoleHealthFacts[], deployments: readonly DeploymentRow[]): RoleView[] {
  const variants = new Map<string, number>();
  for (const deployment of deployments) {
    for (const variant of deployment.variants) {
      for (const role of variant.targetRoles) variants.set(role, (variants.get(role) ?? 0) + 1);
    }
  }
  const views: RoleView[] = roles.map((role) => ({ ...role, variants: variants.get(role.role) ?? 0 }));
  const known = new Set(roles.map((role) => role.role));
  for (const [role, count] of variants) if (!known.has(role)) views.push(unannounced(role, count));
  return views.sort((a, b) => compareCodePoints(a.role, b.role));
}

/** One role, also one that nobody has announced. */
export function roleView(role: string, roles: ReadonlyMap<string, RoleView>): RoleView {
  return roles.get(role) ?? unannounced(role, 0);
}

function unannounced(role: string, variants: number): RoleView {
  return {
    role,
    healthy: false,
    workers: 0,
    healthyWorkers: 0,
    unavailableWorkers: 0,
    unhealthyWorkers: 0,
    staleWorkers: 0,
    offlineWorkers: 0,
    lastSeenAt: null,
    since: null,
    variants,
  };
}
