import { compareCodePoints } from '../lib/code-point-order.ts';
import type { WorkerAvailability, WorkerStatus } from './worker-facts.ts';

export interface RoleMember {
  readonly role: string;
  readonly status: WorkerStatus;
  readonly availability: WorkerAvailability;
  /** When it was last heard, by the server's clock. */
  readonly lastSeenAt: number | null;
}

/** The workers of one role, each counted once: HEALTHY and ACTIVE, HEALTHY but cordoned or draining (unavailable), or by its other status. */
export interface RoleSummary {
  readonly role: string;
  /** At least one worker of it is HEALTHY and ACTIVE. */
  readonly healthy: boolean;
  readonly workers: number;
  readonly healthyWorkers: number;
  readonly unavailableWorkers: number;
  readonly unhealthyWorkers: number;
  readonly staleWorkers: number;
  readonly offlineWorkers: number;
  readonly lastSeenAt: number | null;
}

/**
 * Role by role, in code-point order. `named` are roles that must be listed even where no worker has them: those that variants target.
 */
export function roleHealth(workers: Iterable<RoleMember>, named: Iterable<string> = []): Map<string, RoleSummary> {
  const members = new Map<string, RoleMember[]>();
  for (const role of named) members.set(role, []);
  for (const worker of workers) {
    const list = members.get(worker.role);
    if (list === undefined) members.set(worker.role, [worker]);
    else list.push(worker);
  }
  const roles = [...members.keys()].sort(compareCodePoints);
  return new Map(roles.map((role) => [role, summarise(role, members.get(role) ?? [])]));
}

function summarise(role: string, members: readonly RoleMember[]): RoleSummary {
  const having = (status: WorkerStatus): RoleMember[] => members.filter((worker) => worker.status === status);
  const healthy = having('HEALTHY');
  const active = healthy.filter((worker) => worker.availability === 'ACTIVE').length;
  const seen = members.map((worker) => worker.lastSeenAt).filter((at) => at !== null);
  return {
    role,
    healthy: active > 0,
    workers: members.length,
    healthyWorkers: active,
    unavailableWorkers: healthy.length - active,
    unhealthyWorkers: having('UNHEALTHY').length,
    staleWorkers: having('STALE').length,
    offlineWorkers: having('OFFLINE').length,
    lastSeenAt: seen.length === 0 ? null : seen.reduce((latest, at) => Math.max(latest, at)),
  };
}
