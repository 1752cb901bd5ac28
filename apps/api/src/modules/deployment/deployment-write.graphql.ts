import { MusterError } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { DeploymentRef, DeploymentVariantRef, WorkflowVersionRef } from '../../graphql/refs.ts';
import { DeploymentVariantInput } from './deployment.graphql.ts';
import type { PreviewResult, ResolvedVariant, Written } from './deployment-service.ts';

const FORCE =
  'Remove variants although executions of theirs have no worker yet; those keep their variant. Else CONFLICT, with `waiting`.';

const CreateDeploymentInput = builder.inputType('CreateDeploymentInput', {
  fields: (t) => ({
    slug: t.string({ required: true }),
    module: t.string(),
    description: t.string(),
    variants: t.field({ type: [DeploymentVariantInput], required: true }),
    comment: t.string(),
    idempotencyKey: t.string(),
  }),
});
const UpdateDeploymentInput = builder.inputType('UpdateDeploymentInput', {
  description: 'What is absent stays; null empties module and description.',
  fields: (t) => ({
    slug: t.string({ required: true }),
    expectedRevision: t.int({ required: true }),
    module: t.string(),
    description: t.string(),
    variants: t.field({ type: [DeploymentVariantInput] }),
    comment: t.string(),
    force: t.boolean({ defaultValue: false, description: FORCE }),
  }),
});
const RollbackDeploymentInput = builder.inputType('RollbackDeploymentInput', {
  fields: (t) => ({
    slug: t.string({ required: true }),
    toRevision: t.int({ required: true }),
    expectedRevision: t.int({ required: true }),
    comment: t.string(),
    force: t.boolean({ defaultValue: false, description: FORCE }),
  }),
});
const DeleteDeploymentInput = builder.inputType('DeleteDeploymentInput', {
  fields: (t) => ({
    slug: t.string({ required: true }),
    expectedRevision: t.int({ required: true }),
    force: t.boolean({ defaultValue: false, description: FORCE }),
  }),
});
const PreviewDeploymentInput = builder.inputType('PreviewDeploymentInput', {
  fields: (t) => ({
    slug: t.string({ required: true }),
    variants: t.field({ type: [DeploymentVariantInput], required: true }),
    sampleSessions: t.int({ defaultValue: 1000 }),
  }),
});

const DeploymentPayload = builder.objectRef<Written>('DeploymentPayload').implement({
  fields: (t) => ({
    deployment: t.field({ type: DeploymentRef, resolve: (payload) => payload.deployment }),
    warnings: t.stringList({
      description: 'E.g. a target role that no worker has announced.',
      resolve: (payload) => payload.warnings,
    }),
  }),
});
const DeleteDeploymentPayload = builder.objectRef<{ slug: string }>('DeleteDeploymentPayload').implement({
  fields: (t) => ({ slug: t.exposeString('slug') }),
});

const SkipReason = builder.enumType('SkipReason', { values: ['ROLES_DEAD', 'WEIGHT_ZERO'] as const });
const SkippedVariant = builder.objectRef<ResolvedVariant['skipped'][number]>('SkippedVariant').implement({
  fields: (t) => ({
    label: t.exposeString('label'),
    reason: t.expose('reason', { type: SkipReason }),
    deadRoles: t.stringList({ resolve: (skip) => [...skip.deadRoles] }),
  }),
});
export const ResolvedDeploymentRef = builder.objectRef<ResolvedVariant>('ResolvedDeployment').implement({
  fields: (t) => ({
    deployment: t.field({ type: DeploymentRef, resolve: (r) => r.deployment }),
    variant: t.field({ type: DeploymentVariantRef, resolve: ({ deployment, variant }) => ({ deployment, variant }) }),
    version: t.field({
      type: WorkflowVersionRef,
      nullable: true,
      resolve: (r, _args, { loaders }) => loaders.version.load(r.version.id),
    }),
    sticky: t.exposeBoolean('sticky', {
      description: 'True where the session key decided; false for a weighted draw.',
    }),
    skipped: t.stringList({
      description: 'Labels of the variants left out because their roles are dead (skippedVariants says more).',
      resolve: (r) => r.skipped.filter(({ reason }) => reason === 'ROLES_DEAD').map(({ label }) => label),
    }),
    skippedVariants: t.field({ type: [SkippedVariant], resolve: (r) => [...r.skipped] }),
  }),
});

const PreviewVariant = builder.objectRef<PreviewResult['variants'][number]>('PreviewVariant').implement({
  fields: (t) => ({
    label: t.exposeString('label'),
    share: t.exposeFloat('share'),
    effectiveShare: t.exposeFloat('effectiveShare'),
    dead: t.exposeBoolean('dead'),
    sampled: t.exposeInt('sampled', { description: 'How many of the sample sessions it would get.' }),
  }),
});
const DeploymentPreview = builder.objectRef<PreviewResult>('DeploymentPreview').implement({
  description: 'movedShare: expected part of sticky sessions that get another variant than now, 0..1.',
  fields: (t) => ({
    variants: t.field({ type: [PreviewVariant], resolve: (p) => p.variants }),
    movedShare: t.exposeFloat('movedShare'),
    unavailable: t.exposeBoolean('unavailable'),
    warnings: t.stringList({ resolve: (p) => p.warnings }),
  }),
});

builder.mutationFields((t) => ({
  createDeployment: t.field({
    authScopes: { permission: 'deployment:{slug}:write' },
    type: DeploymentPayload,
    args: { input: t.arg({ type: CreateDeploymentInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.deploymentService.create(input, viewer, requestId),
  }),
  updateDeployment: t.field({
    authScopes: { permission: 'deployment:{slug}:write' },
    type: DeploymentPayload,
    args: { input: t.arg({ type: UpdateDeploymentInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) => {
      if (input.variants === null)
        throw new MusterError('BAD_INPUT', 'variants must be a list, or absent to keep them.', { field: 'variants' });
      return services.deploymentService.update({ ...input, variants: input.variants ?? undefined }, viewer, requestId);
    },
  }),
  rollbackDeployment: t.field({
    authScopes: { permission: 'deployment:{slug}:write' },
    type: DeploymentPayload,
    args: { input: t.arg({ type: RollbackDeploymentInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.deploymentService.rollback(input, viewer, requestId),
  }),
  deleteDeployment: t.field({
    authScopes: { permission: 'deployment:{slug}:write' },
    type: DeleteDeploymentPayload,
    args: { input: t.arg({ type: DeleteDeploymentInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      await services.deploymentService.delete(input, viewer, requestId);
      return { slug: input.slug };
    },
  }),
}));

builder.queryFields((t) => ({
  resolveDeployment: t.field({
    authScopes: { reads: 'deployment:{slug}:read' },
    type: ResolvedDeploymentRef,
    description: 'Which variant this session would get now; nothing runs.',
    args: { slug: t.arg.string({ required: true }), sessionKey: t.arg.string() },
    resolve: (_root, { slug, sessionKey }, { services, viewer }) =>
      services.deploymentService.resolve(slug, sessionKey ?? null, { viewer, action: 'read', field: 'slug' }),
  }),
  previewDeployment: t.field({
    authScopes: { reads: 'deployment:{slug}:read' },
    type: DeploymentPreview,
    args: { input: t.arg({ type: PreviewDeploymentInput, required: true }) },
    resolve: (_root, { input }, { services, viewer }) =>
      services.deploymentService.preview({ ...input, sampleSessions: input.sampleSessions ?? 1000 }, viewer),
  }),
}));
