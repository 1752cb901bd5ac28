import type { VariantShare } from '@muster/core';
import { MusterError } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import type { Context } from '../../graphql/context.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { decodeInt, encodeId } from '../../graphql/ids.ts';
import { KeyValue, KeyValueInput, keyValues } from '../../graphql/key-value.ts';
import { NodeRef } from '../../graphql/node.ts';
import {
  DeploymentConnection,
  DeploymentRef,
  DeploymentRevisionConnection,
  DeploymentRevisionRef,
  DeploymentVariantRef,
  RoleHealthRef,
  WorkflowRef,
  WorkflowVersionRef,
} from '../../graphql/refs.ts';
import { roleView } from '../worker/role-view.ts';
import { deploymentMatcher, deploymentOrderName, deploymentPage } from './deployment-list.ts';
import { variantViews, type VariantView } from './variant-view.ts';

export const DeploymentHealth = builder.enumType('DeploymentHealth', {
  values: ['OK', 'DEGRADED', 'UNAVAILABLE'] as const,
});
const DeploymentOrder = builder.enumType('DeploymentOrder', { values: ['SLUG', 'UPDATED', 'LAST_EXECUTION'] as const });

DeploymentRevisionRef.implement({
  fields: (t) => ({
    revision: t.exposeInt('revision'),
    variants: t.field({ type: 'JSON', resolve: (r) => r.variants as never }),
    comment: t.exposeString('comment', { nullable: true }),
    author: t.exposeString('author'),
    at: t.expose('at', { type: 'DateTime' }),
  }),
});

DeploymentRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (d) => encodeId('dp', d.id) }),
    slug: t.exposeString('slug', { description: "Chosen by the operator: lower case, digits, '-'; e.g. assistant." }),
    module: t.exposeString('module', {
      nullable: true,
      description: 'What asks for it, e.g. the module or service that routes by this deployment.',
    }),
    description: t.exposeString('description', { nullable: true }),
    variants: t.field({ type: [DeploymentVariantRef], resolve: (d) => variantViews(d) }),
    unavailable: t.boolean({
      description:
        'Every variant is pinned to roles of which none is healthy: resolving fails with NO_HEALTHY_VARIANT.',
      resolve: (d, _args, { services }) => services.deploymentService.unavailable(d),
    }),
    revision: t.exposeInt('revision'),
    history: t.field({
      type: DeploymentRevisionConnection,
      description: 'Newest first.',
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: async (d, args, context) => {
        const store = context.services.deploymentStore;
        const page = pageOf(args, 'history', ['int'], context);
        const { items, more } = await store.history(d.id, page);
        return connectionOf(
          page,
          'history',
          items,
          more,
          (r) => [r.revision],
          () => store.historyCount(d.id),
        );
      },
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime' }),
    health: t.field({
      type: DeploymentHealth,
      description: 'DEGRADED: a variant that should get sessions is dead. UNAVAILABLE: resolving fails.',
      resolve: (d, _args, { services }) => services.deploymentService.health(d),
    }),
    updatedBy: t.exposeString('updatedBy'),
    lastExecutionAt: t.field({
      type: 'DateTime',
      nullable: true,
      resolve: (d, _args, { loaders }) => loaders.lastExecutionAt.load(d.id),
    }),
  }),
});

DeploymentVariantRef.implement({
  fields: (t) => ({
    label: t.string({ resolve: ({ variant }) => variant.label }),
    flowId: t.string({ resolve: ({ variant }) => variant.flowId }),
    versionId: t.string({
      nullable: true,
      description: "null: the workflow's latest version.",
      resolve: ({ variant }) => variant.versionId,
    }),
    weight: t.int({ resolve: ({ variant }) => variant.weight }),
    targetRoles: t.stringList({
      description: 'Empty: any role. Several: any one of them (OR).',
      resolve: ({ variant }) => [...variant.targetRoles],
    }),
    labels: t.field({ type: [KeyValue], resolve: ({ variant }) => keyValues(Object.entries(variant.labels)) }),
    workflow: t.field({
      type: WorkflowRef,
      nullable: true,
      description: 'null where the viewer may not read it.',
      resolve: ({ variant }, _args, { loaders }) => loaders.workflowByRef.load(variant.flowId),
    }),
    version: t.field({
      type: WorkflowVersionRef,
      nullable: true,
      description: 'What it runs now.',
      resolve: async ({ variant }, _args, { loaders }) => {
        if (variant.versionId !== null) {
          const id = decodeInt('wv', variant.versionId);
          return id === null ? null : loaders.version.load(id);
        }
        const workflow = await loaders.workflowByRef.load(variant.flowId);
        return workflow && loaders.latestVersion.load(workflow.id);
      },
    }),
    deployment: t.field({ type: DeploymentRef, resolve: ({ deployment }) => deployment }),
    roles: t.field({
      type: [RoleHealthRef],
      description: 'One row per target role.',
      resolve: ({ variant }, _args, { loaders }) => variant.targetRoles.map((role) => roleView(role, loaders.roles())),
    }),
    dead: t.boolean({
      description: 'Target roles are set and none of them is healthy: the variant is skipped.',
      resolve: (view, _args, context) => shareOf(view, context).dead,
    }),
    share: t.float({
      description: 'Its share of new sessions by weight alone, 0..1, and with dead variants left out (0 where dead).',
      resolve: (view, _args, context) => shareOf(view, context).share,
    }),
    effectiveShare: t.float({
      description: 'share with dead variants left out; 0 where dead.',
      resolve: (view, _args, context) => shareOf(view, context).effectiveShare,
    }),
    observedShare: t.float({
      nullable: true,
      description: 'Share of the executions of the last window that went here; null where there were none.',
      args: { windowMinutes: t.arg.int({ defaultValue: 60 }) },
      resolve: async ({ deployment, variant }, args, { loaders }) => {
        const counts = await loaders.observed(windowOf(args)).load(deployment.id);
        const all = [...counts.values()].reduce((sum, n) => sum + n, 0);
        return all === 0 ? null : (counts.get(variant.label) ?? 0) / all;
      },
    }),
    observedCount: t.int({
      description:
        'Executions of the last window that went here; of very busy deployments the newest 20,000 are counted.',
      args: { windowMinutes: t.arg.int({ defaultValue: 60 }) },
      resolve: async ({ deployment, variant }, args, { loaders }) =>
        (await loaders.observed(windowOf(args)).load(deployment.id)).get(variant.label) ?? 0,
    }),
  }),
});

function windowOf(args: { windowMinutes?: number | null | undefined }): number {
  const minutes = args.windowMinutes ?? 60;
  if (minutes < 1 || minutes > 10_080)
    throw new MusterError('BAD_INPUT', 'windowMinutes must be from 1 to 10080 (7 days).', { field: 'windowMinutes' });
  return minutes;
}

function shareOf({ deployment, variant }: VariantView, { services }: Context): VariantShare {
  const share = services.deploymentService.shares(deployment).find(({ label }) => label === variant.label);
  return share ?? { label: variant.label, share: 0, effectiveShare: 0, dead: false };
}

export const DeploymentVariantInput = builder.inputType('DeploymentVariantInput', {
  fields: (t) => ({
    label: t.string({ required: true }),
    flowId: t.string({ required: true }),
    versionId: t.string(),
    weight: t.int({ required: true }),
    targetRoles: t.stringList({ defaultValue: [] }),
    labels: t.field({ type: [KeyValueInput], defaultValue: [] }),
  }),
});

const DeploymentFilterInput = builder.inputType('DeploymentFilter', {
  fields: (t) => ({
    search: t.string(),
    health: t.field({ type: [DeploymentHealth] }),
    roles: t.stringList(),
    module: t.string(),
    workflow: t.string(),
  }),
});

builder.queryFields((t) => ({
  deployment: t.field({
    authScopes: { reads: 'deployment:{slug}:read' },
    type: DeploymentRef,
    nullable: true,
    args: { slug: t.arg.string({ required: true }) },
    resolve: (_root, { slug }, { services, viewer }) => services.deploymentReads.get(slug, viewer),
  }),
  deployments: t.field({
    authScopes: { reads: 'deployment:{slug}:read' },
    type: DeploymentConnection,
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: DeploymentFilterInput }),
      orderBy: t.arg({ type: DeploymentOrder, defaultValue: 'SLUG' }),
      descending: t.arg.boolean({ defaultValue: false }),
    },
    resolve: async (_root, args, context) => {
      const { services, viewer } = context;
      const order = args.orderBy ?? 'SLUG';
      const descending = args.descending ?? false;
      const page = pageOf(
        args,
        deploymentOrderName(order, descending),
        [order === 'SLUG' ? 'text' : 'number', 'text'],
        context,
      );
      const matching = services.deploymentReads
        .all(viewer)
        .filter(deploymentMatcher(args.filter, (d) => services.deploymentService.health(d)));
      const last =
        order === 'LAST_EXECUTION'
          ? await services.deploymentUsage.lastExecutions(matching.map((d) => d.id))
          : new Map<number, Date>();
      return deploymentPage(matching, order, descending, page, last);
    },
  }),
}));
