import { MusterError } from '@muster/core';
import type { PercentileFigures } from '../../dispatch/dispatch-api.ts';
import { builder } from '../../graphql/builder.ts';
import type { FleetFigures } from './fleet-metrics.ts';

const Percentiles = builder.objectRef<PercentileFigures>('Percentiles').implement({
  fields: (t) => ({
    p50: t.exposeFloat('p50', { nullable: true }),
    p95: t.exposeFloat('p95', { nullable: true }),
    p99: t.exposeFloat('p99', { nullable: true }),
  }),
});
const ParkedReasonCount = builder.objectRef<FleetFigures['parkedReasons'][number]>('ParkedReasonCount').implement({
  fields: (t) => ({
    reason: t.exposeString('reason'),
    count: t.exposeInt('count'),
    oldest: t.expose('oldest', { type: 'DateTime' }),
  }),
});

export const FleetMetricsRef = builder.objectRef<FleetFigures>('FleetMetrics').implement({
  description: 'Rates and percentiles are of the last minute. Counts of executions are exact to 20,000.',
  fields: (t) => ({
    at: t.expose('at', { type: 'DateTime' }),
    workers: t.exposeInt('workers'),
    healthyWorkers: t.exposeInt('healthyWorkers'),
    roles: t.exposeInt('roles'),
    deadRoles: t.exposeInt('deadRoles'),
    capacity: t.exposeInt('capacity', {
      nullable: true,
      description: 'Of the workers that may be given work; null where one of them has no limit.',
    }),
    load: t.exposeInt('load'),
    utilization: t.exposeFloat('utilization', { nullable: true }),
    pending: t.exposeInt('pending'),
    parked: t.exposeInt('parked'),
    running: t.exposeInt('running'),
    dispatchedPerSecond: t.exposeFloat('dispatchedPerSecond', { description: 'Over the last minute.' }),
    completedPerSecond: t.exposeFloat('completedPerSecond'),
    failedPerSecond: t.exposeFloat('failedPerSecond'),
    dispatchLatencyMs: t.expose('dispatchLatencyMs', { type: Percentiles }),
    decisionUs: t.expose('decisionUs', { type: Percentiles, description: 'Time inside the decision itself.' }),
    unhealthyWorkers: t.exposeInt('unhealthyWorkers'),
    staleWorkers: t.exposeInt('staleWorkers'),
    offlineWorkers: t.exposeInt('offlineWorkers'),
    cordonedWorkers: t.exposeInt('cordonedWorkers'),
    drainingWorkers: t.exposeInt('drainingWorkers'),
    scheduled: t.exposeInt('scheduled'),
    paused: t.exposeInt('paused'),
    degradedDecisionsPerMinute: t.exposeFloat('degradedDecisionsPerMinute'),
    parkedReasons: t.expose('parkedReasons', {
      type: [ParkedReasonCount],
      description: 'Most frequent first, at most 10. Empty for those who may not read every execution.',
    }),
  }),
});

builder.queryFields((t) => ({
  fleetMetrics: t.field({
    authScopes: { signedIn: true },
    type: FleetMetricsRef,
    resolve: (_root, _args, { services, viewer }) => services.metrics.current(viewer),
  }),
  fleetHistory: t.field({
    authScopes: { signedIn: true },
    type: [FleetMetricsRef],
    description: 'One point per minute, at most 24 h, oldest first; written by the leader.',
    args: { minutes: t.arg.int({ defaultValue: 60 }) },
    resolve: (_root, { minutes }, { services, viewer }) => {
      const window = minutes ?? 60;
      if (window < 1 || window > 1440)
        throw new MusterError('BAD_INPUT', 'minutes must be from 1 to 1440 (24 hours).', { field: 'minutes' });
      return services.metrics.history(window, viewer);
    },
  }),
}));
