import type { FleetWorker, HealthCheck, MetricEntry } from '../../fleet/worker-record.ts';
import { builder } from '../../graphql/builder.ts';
import { pageOf } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { KeyValue, KeyValueInput, keyValues } from '../../graphql/key-value.ts';
import { NodeRef } from '../../graphql/node.ts';
import {
  DecisionConnection,
  ExecutionConnection,
  RoleHealthRef,
  WorkerConnection,
  WorkerRef,
} from '../../graphql/refs.ts';
import { decisionConnection } from '../decision/decision-list.ts';
import { executionConnection } from '../execution/execution-list.ts';
import { ExecutionFilterInput } from '../execution/execution-filter.graphql.ts';
import { roleViews } from './role-view.ts';
import { workerMatcher, workerOrderKeys, workerOrderName, workerPage } from './worker-list.ts';

export const WorkerStatus = builder.enumType('WorkerStatus', {
  description:
    'HEALTHY: fresh heartbeat, all checks pass. UNHEALTHY: fresh heartbeat, some check fails. STALE: no heartbeat for 30 s. OFFLINE: said goodbye, or stale for the grace period as well.',
  values: ['HEALTHY', 'UNHEALTHY', 'STALE', 'OFFLINE'] as const,
});
export const WorkerAvailability = builder.enumType('WorkerAvailability', {
  description:
    'What an operator has said about a worker. CORDONED: gets nothing new. DRAINING: gets nothing new and leaves when idle.',
  values: ['ACTIVE', 'CORDONED', 'DRAINING'] as const,
});
const WorkerOrder = builder.enumType('WorkerOrder', {
  values: ['NAME', 'ROLE', 'LOAD', 'UTILIZATION', 'LAST_SEEN'] as const,
});

const HealthCheckType = builder.objectRef<HealthCheck>('HealthCheck').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    healthy: t.exposeBoolean('healthy'),
    message: t.exposeString('message', { nullable: true }),
  }),
});
const MetadataEntry = builder
  .objectRef<{ key: string; value: string | number; updatedAt: Date; updatedBy: string }>('MetadataEntry')
  .implement({
    description: 'value is a string or a finite number.',
    fields: (t) => ({
      key: t.exposeString('key'),
      value: t.field({ type: 'JSON', resolve: (entry) => entry.value }),
      updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
      updatedBy: t.exposeString('updatedBy'),
    }),
  });
const MetricType = builder.objectRef<MetricEntry>('Metric').implement({
  fields: (t) => ({
    key: t.exposeString('key'),
    value: t.exposeFloat('value'),
    builtin: t.exposeBoolean('builtin'),
    at: t.expose('at', { type: 'DateTime', description: 'When the server received it.' }),
    stale: t.exposeBoolean('stale', { description: 'Older than 90 s: counts as missing.' }),
  }),
});
const Gpu = builder
  .objectRef<{ name: string; memory_total?: number | null; memory_available?: number | null }>('Gpu')
  .implement({
    fields: (t) => ({
      name: t.exposeString('name'),
      memoryTotal: t.float({ nullable: true, resolve: (gpu) => gpu.memory_total ?? null }),
      memoryAvailable: t.float({ nullable: true, resolve: (gpu) => gpu.memory_available ?? null }),
    }),
  });
const WorkerResources = builder.objectRef<NonNullable<FleetWorker['facts']['resources']>>('WorkerResources').implement({
  description: 'Measured when the worker registered; amounts in bytes.',
  fields: (t) => ({
    cpuTotal: t.float({ nullable: true, resolve: (r) => r.cpu_total ?? null }),
    cpuAvailable: t.float({ nullable: true, resolve: (r) => r.cpu_available ?? null }),
    memoryTotal: t.float({ nullable: true, description: 'Bytes.', resolve: (r) => r.memory_total ?? null }),
    memoryAvailable: t.float({ nullable: true, resolve: (r) => r.memory_available ?? null }),
    diskTotal: t.float({ nullable: true, resolve: (r) => r.disk_total ?? null }),
    diskFree: t.float({ nullable: true, resolve: (r) => r.disk_free ?? null }),
    gpus: t.field({ type: [Gpu], resolve: (r) => [...(r.gpus ?? [])] }),
  }),
});
const Package = builder.objectRef<{ name: string; version: string }>('Package').implement({
  fields: (t) => ({ name: t.exposeString('name'), version: t.exposeString('version') }),
});

WorkerRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (w) => encodeId('wk', w.registered ? w.id : w.facts.name) }),
    name: t.string({
      description: 'Unique and stable over restarts; what bindings, hints and permissions name.',
      resolve: (w) => w.facts.name,
    }),
    instanceId: t.string({ description: 'New with every process start.', resolve: (w) => w.facts.instanceId }),
    role: t.string({ resolve: (w) => w.facts.role }),
    hostname: t.exposeString('hostname'),
    version: t.exposeString('version'),
    status: t.field({ type: WorkerStatus, resolve: (w) => w.facts.status }),
    availability: t.field({ type: WorkerAvailability, resolve: (w) => w.facts.availability }),
    eligible: t.exposeBoolean('eligible', { description: 'HEALTHY, ACTIVE and connected: may be given work.' }),
    checks: t.field({ type: [HealthCheckType], resolve: (w) => [...w.checks] }),
    labels: t.field({ type: [KeyValue], resolve: (w) => keyValues(w.facts.labels) }),
    metadata: t.field({
      type: [MetadataEntry],
      description: 'Written by operators only; no worker can reach it.',
      resolve: (w) =>
        [...w.metadata].map(([key, entry]) => ({ key, ...entry })).sort((a, b) => (a.key < b.key ? -1 : 1)),
    }),
    metrics: t.field({ type: [MetricType], resolve: (w) => [...w.metrics] }),
    resources: t.field({ type: WorkerResources, resolve: (w) => w.facts.resources ?? {} }),
    runners: t.stringList({ resolve: (w) => [...w.facts.runners] }),
    workflows: t.stringList({
      description: 'Workflows (namespace/name) this worker has handlers for; empty = any.',
      resolve: (w) => [...w.facts.workflows],
    }),
    capacity: t.int({ nullable: true, description: 'null: no limit advertised.', resolve: (w) => w.facts.capacity }),
    load: t.int({
      description: 'Active executions, counted by the server from its own table.',
      resolve: (w) => w.facts.load,
    }),
    utilization: t.exposeFloat('utilization', { nullable: true }),
    startedAt: t.expose('startedAt', { type: 'DateTime' }),
    registeredAt: t.expose('registeredAt', { type: 'DateTime' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime' }),
    registered: t.exposeBoolean('registered', {
      description: 'false: known only by its heartbeats on the bus; it cannot take work.',
    }),
    connected: t.boolean({ resolve: (w) => w.facts.connected }),
    packages: t.field({ type: [Package], resolve: (w) => [...w.facts.packages] }),
    statusReasons: t.stringList({ resolve: (w) => [...w.facts.statusReasons] }),
    executions: t.field({
      type: ExecutionConnection,
      args: { first: t.arg.int(), after: t.arg.string(), filter: t.arg({ type: ExecutionFilterInput }) },
      resolve: (w, { filter, ...page }, context) => executionConnection(context, page, filter, { workerIds: [w.id] }),
    }),
    decisions: t.field({
      type: DecisionConnection,
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: (w, page, context) => decisionConnection(context, page, { worker: w.id }),
    }),
  }),
});

RoleHealthRef.implement({
  description:
    'healthy: at least one worker of this role is HEALTHY and ACTIVE. A role stays listed while any worker, alive or not, or any variant names it.',
  fields: (t) => ({
    role: t.exposeString('role'),
    healthy: t.exposeBoolean('healthy'),
    healthyWorkers: t.exposeInt('healthyWorkers'),
    workers: t.exposeInt('workers'),
    variants: t.exposeInt('variants'),
    lastSeenAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: (role) => (role.lastSeenAt === null ? null : new Date(role.lastSeenAt)),
    }),
    unhealthyWorkers: t.exposeInt('unhealthyWorkers'),
    staleWorkers: t.exposeInt('staleWorkers'),
    offlineWorkers: t.exposeInt('offlineWorkers'),
    unavailableWorkers: t.exposeInt('unavailableWorkers', { description: 'HEALTHY, but cordoned or draining.' }),
    since: t.expose('since', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when healthy has had its present value.',
    }),
  }),
});

export const WorkerFilterInput = builder.inputType('WorkerFilter', {
  fields: (t) => ({
    roles: t.stringList(),
    statuses: t.field({ type: [WorkerStatus] }),
    availabilities: t.field({ type: [WorkerAvailability] }),
    labels: t.field({ type: [KeyValueInput], description: 'Worker has all of them.' }),
    search: t.string({ description: 'Part of name, host or role.' }),
    versions: t.stringList(),
    names: t.stringList(),
    workflow: t.string(),
  }),
});

builder.queryFields((t) => ({
  worker: t.field({
    authScopes: { reads: 'worker:{name}:read' },
    type: WorkerRef,
    nullable: true,
    args: { name: t.arg.string({ required: true }) },
    resolve: (_root, { name }, { services, viewer }) => services.workerReads.get(name, viewer),
  }),
  workers: t.field({
    authScopes: { reads: 'worker:{name}:read' },
    type: WorkerConnection,
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: WorkerFilterInput }),
      orderBy: t.arg({ type: WorkerOrder, defaultValue: 'NAME' }),
      descending: t.arg.boolean({ defaultValue: false }),
    },
    resolve: (_root, args, context) => {
      const order = args.orderBy ?? 'NAME';
      const descending = args.descending ?? false;
      const page = pageOf(args, workerOrderName(order, descending), workerOrderKeys(order), context);
      const workers = context.services.workerReads.all(context.viewer).filter(workerMatcher(args.filter));
      return workerPage(workers, order, descending, page);
    },
  }),
  roles: t.field({
    authScopes: { signedIn: true },
    type: [RoleHealthRef],
    resolve: (_root, _args, { services }) => roleViews(services.fleet.roleHealth(), services.deployments.all()),
  }),
}));
