import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { MetricsService } from './metrics-service.ts';

/** What /metrics answers: the figures of the fleet at the moment of asking, and the process's own. */
export function createPrometheus(metrics: MetricsService, leading: () => boolean): () => Promise<string> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const workers = gauge('muster_workers', 'Registered workers by status.', ['status']);
  const availability = gauge('muster_workers_unavailable', 'Workers that an operator keeps from new work.', [
    'availability',
  ]);
  const roles = gauge('muster_roles', 'Roles by health.', ['healthy']);
  const executions = gauge('muster_executions', 'Executions that have not ended, by state.', ['state']);
  const parked = gauge('muster_executions_parked', 'Executions that no worker can take now.');
  const load = gauge('muster_load', 'Executions on workers.');
  const capacity = gauge(
    'muster_capacity',
    'What the workers that may be given work can take; absent without a limit.',
  );
  const rates = gauge('muster_executions_per_second', 'Over the last minute, as this process saw it.', ['event']);
  const latency = gauge(
    'muster_dispatch_latency_milliseconds',
    'From being dispatchable to being assigned, of the last minute.',
    ['quantile'],
  );
  const decision = gauge('muster_decision_microseconds', 'Time inside the decision itself, of the last minute.', [
    'quantile',
  ]);
  const leader = gauge('muster_leader', '1 where this process dispatches.');
  return async () => {
    const now = await metrics.figures();
    workers.set({ status: 'healthy' }, now.healthyWorkers);
    workers.set({ status: 'unhealthy' }, now.unhealthyWorkers);
    workers.set({ status: 'stale' }, now.staleWorkers);
    workers.set({ status: 'offline' }, now.offlineWorkers);
    availability.set({ availability: 'cordoned' }, now.cordonedWorkers);
    availability.set({ availability: 'draining' }, now.drainingWorkers);
    roles.set({ healthy: 'true' }, now.roles - now.deadRoles);
    roles.set({ healthy: 'false' }, now.deadRoles);
    executions.set({ state: 'pending' }, now.pending);
    executions.set({ state: 'scheduled' }, now.scheduled);
    executions.set({ state: 'running' }, now.running);
    executions.set({ state: 'paused' }, now.paused);
    parked.set(now.parked);
    load.set(now.load);
    if (now.capacity === null) capacity.remove();
    else capacity.set(now.capacity);
    rates.set({ event: 'dispatched' }, now.dispatchedPerSecond);
    rates.set({ event: 'completed' }, now.completedPerSecond);
    rates.set({ event: 'failed' }, now.failedPerSecond);
    for (const [target, figures] of [
      [latency, now.dispatchLatencyMs],
      [decision, now.decisionUs],
    ] as const) {
      target.reset();
      for (const [quantile, value] of [
        ['0.5', figures.p50],
        ['0.95', figures.p95],
        ['0.99', figures.p99],
      ] as const) {
        if (value !== null) target.set({ quantile }, value);
      }
    }
    leader.set(leading() ? 1 : 0);
    return registry.metrics();
  };
}
