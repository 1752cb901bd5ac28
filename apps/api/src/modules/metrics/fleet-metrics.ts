import type { DispatchStats, PercentileFigures } from '../../dispatch/dispatch-api.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { ExecutionState } from '@muster/core';
import type { RoleView } from '../worker/role-view.ts';

/** The figures of one moment. */
export interface FleetFigures {
  at: Date;
  workers: number;
  healthyWorkers: number;
  unhealthyWorkers: number;
  staleWorkers: number;
  offlineWorkers: number;
  cordonedWorkers: number;
  drainingWorkers: number;
  roles: number;
  deadRoles: number;
  /** Of the workers that may be given work; null where one of them has no limit. */
  capacity: number | null;
  load: number;
  utilization: number | null;
  pending: number;
  parked: number;
  scheduled: number;
  running: number;
  paused: number;
  dispatchedPerSecond: number;
  completedPerSecond: number;
  failedPerSecond: number;
  dispatchLatencyMs: PercentileFigures;
  decisionUs: PercentileFigures;
  degradedDecisionsPerMinute: number;
  parkedReasons: DispatchStats['parkedReasons'];
}

export type StateCounts = readonly { state: ExecutionState; count: number; parked: number }[];

/** Puts the figures together. Foreign processes are no workers of ours and do not count. */
export function fleetFigures(
  at: Date,
  fleet: readonly FleetWorker[],
  roles: readonly RoleView[],
  counts: StateCounts,
  stats: DispatchStats,
): FleetFigures {
  const workers = fleet.filter((worker) => worker.registered);
  const having = (test: (worker: FleetWorker) => boolean): number => workers.filter(test).length;
  const active = workers.filter((worker) => worker.eligible);
  const capacity = active.some(({ facts }) => facts.capacity === null)
    ? null
    : active.reduce((sum, { facts }) => sum + (facts.capacity ?? 0), 0);
  const load = workers.reduce((sum, { facts }) => sum + facts.load, 0);
  const count = (...states: ExecutionState[]): number =>
    counts.filter(({ state }) => states.includes(state)).reduce((sum, row) => sum + row.count, 0);
  return {
    at,
    workers: workers.length,
    healthyWorkers: having(({ facts }) => facts.status === 'HEALTHY'),
    unhealthyWorkers: having(({ facts }) => facts.status === 'UNHEALTHY'),
    staleWorkers: having(({ facts }) => facts.status === 'STALE'),
    offlineWorkers: having(({ facts }) => facts.status === 'OFFLINE'),
    cordonedWorkers: having(({ facts }) => facts.availability === 'CORDONED'),
    drainingWorkers: having(({ facts }) => facts.availability === 'DRAINING'),
    roles: roles.length,
    deadRoles: roles.filter((role) => !role.healthy).length,
    capacity,
    load,
    utilization:
      capacity === null || capacity === 0 ? null : active.reduce((sum, { facts }) => sum + facts.load, 0) / capacity,
    pending: count('PENDING', 'RESUMING'),
    parked: counts.reduce((sum, row) => sum + row.parked, 0),
    scheduled: count('SCHEDULED'),
    running: count('CLAIMED', 'RUNNING', 'CANCELLING'),
    paused: count('PAUSED'),
    dispatchedPerSecond: stats.dispatchedPerSecond,
    completedPerSecond: stats.completedPerSecond,
    failedPerSecond: stats.failedPerSecond,
    dispatchLatencyMs: stats.dispatchLatencyMs,
    decisionUs: stats.decisionUs,
    degradedDecisionsPerMinute: stats.degradedDecisionsPerMinute,
    parkedReasons: stats.parkedReasons,
  };
}
