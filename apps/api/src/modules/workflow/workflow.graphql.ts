import { formatPolicy, type RequestsSpec } from '@muster/core';
import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import {
  DeploymentVariantRef,
  WorkflowConnection,
  WorkflowRef,
  WorkflowVersionConnection,
  WorkflowVersionRef,
} from '../../graphql/refs.ts';
import { variantViews } from '../deployment/variant-view.ts';
import type { VersionRow } from './workflow-store.ts';

const ResourceRequests = builder.objectRef<RequestsSpec>('ResourceRequests').implement({
  fields: (t) => ({
    cpu: t.float({ nullable: true, resolve: (r) => r.cpu ?? null }),
    memory: t.float({
      nullable: true,
      description: 'Bytes, where it was given as a number.',
      resolve: (r) => (typeof r.memory === 'number' ? r.memory : null),
    }),
    disk: t.float({ nullable: true, resolve: (r) => r.disk ?? null }),
    gpu: t.int({ nullable: true, resolve: (r) => r.gpu ?? null }),
    memoryText: t.string({
      nullable: true,
      description: '512Mi, 8Gi, … where it was given as text.',
      resolve: (r) => (typeof r.memory === 'string' ? r.memory : null),
    }),
    packages: t.stringList({ resolve: (r) => r.packages ?? [] }),
  }),
});

WorkflowRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (w) => encodeId('wf', w.id) }),
    namespace: t.exposeString('namespace'),
    name: t.exposeString('name'),
    ref: t.exposeString('ref', { description: 'namespace/name' }),
    description: t.exposeString('description', { nullable: true }),
    latest: t.field({ type: WorkflowVersionRef, resolve: (w, _args, { loaders }) => loaders.latestVersion.load(w.id) }),
    versions: t.field({
      type: WorkflowVersionConnection,
      description: 'Newest first.',
      args: { first: t.arg.int(), after: t.arg.string() },
      resolve: async (w, args, context) => {
        const store = context.services.workflowStore;
        const page = pageOf(args, 'versions', ['int'], context);
        const { items, more } = await store.versionPage(w.id, page);
        return connectionOf(
          page,
          'versions',
          items,
          more,
          (v) => [v.number],
          () => store.versionCount(w.id),
        );
      },
    }),
    variants: t.field({
      type: [DeploymentVariantRef],
      description: 'Variants of deployments that run it.',
      resolve: (w, _args, { services, viewer }) =>
        services.deploymentReads
          .all(viewer)
          .flatMap((deployment) => variantViews(deployment).filter(({ variant }) => variant.flowId === w.ref)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
  }),
});

WorkflowVersionRef.implement({
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (v) => encodeId('wv', v.id) }),
    workflow: t.field({
      type: WorkflowRef,
      nullable: true,
      description: 'null where the viewer may not read it.',
      resolve: (v, _args, { loaders }) => loaders.workflow.load(v.workflowId),
    }),
    workflowRef: t.exposeString('workflowRef'),
    number: t.exposeInt('number'),
    routing: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The compiled policy (see the routing specification), or null: least loaded.',
      resolve: (v) => v.routing as never,
    }),
    routingText: t.string({
      nullable: true,
      description: 'The same policy in the expression language.',
      resolve: (v) => (v.routing == null ? null : formatPolicy(v.routing, 'ROUTING')),
    }),
    affinity: t.field({
      type: 'JSON',
      nullable: true,
      description: 'A label map, or a compiled require(...) list.',
      resolve: (v) => v.affinity as never,
    }),
    affinityText: t.string({
      nullable: true,
      resolve: (v) => (v.affinity == null ? null : formatPolicy(v.affinity, 'AFFINITY')),
    }),
    requests: t.field({ type: ResourceRequests, nullable: true, resolve: (v) => requestsOf(v) }),
    runner: t.exposeString('runner', { nullable: true }),
    maxAttempts: t.exposeInt('maxAttempts'),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    createdBy: t.exposeString('createdBy'),
  }),
});

function requestsOf(version: VersionRow): RequestsSpec | null {
  return typeof version.requests === 'object' ? version.requests : null;
}

export const ResourceRequestsInput = builder.inputType('ResourceRequestsInput', {
  fields: (t) => ({
    cpu: t.float(),
    memory: t.float(),
    disk: t.float(),
    gpu: t.int(),
    memoryText: t.string({ description: 'Instead of memory: 512Mi, 8Gi, …' }),
    packages: t.stringList({ defaultValue: [] }),
  }),
});

const RegisterWorkflowInput = builder.inputType('RegisterWorkflowInput', {
  fields: (t) => ({
    namespace: t.string({ defaultValue: 'default' }),
    name: t.string({ required: true }),
    description: t.string(),
    routing: t.string({
      description: 'Expression text, e.g. score(prefer(label("region") == input("region"), weight=10), least(load()))',
    }),
    affinity: t.string({
      description: 'require(...) text, or a label map in the same syntax (JSON objects of strings are a subset).',
    }),
    requests: t.field({ type: ResourceRequestsInput }),
    runner: t.string(),
    maxAttempts: t.int({ defaultValue: 3 }),
    timeoutSeconds: t.int(),
  }),
});

const RegisterWorkflowPayload = builder
  .objectRef<{ version: VersionRow; created: boolean }>('RegisterWorkflowPayload')
  .implement({
    description: 'created is false where the newest version already says the same.',
    fields: (t) => ({
      version: t.field({ type: WorkflowVersionRef, resolve: (payload) => payload.version }),
      created: t.exposeBoolean('created'),
    }),
  });

builder.mutationField('registerWorkflow', (t) =>
  t.field({
    authScopes: { registers: 'workflow:{namespace}:{name}:register' },
    type: RegisterWorkflowPayload,
    args: { input: t.arg({ type: RegisterWorkflowInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.workflows.register(
        { ...input, namespace: input.namespace ?? 'default', maxAttempts: input.maxAttempts ?? 3 },
        viewer,
        requestId,
      ),
  }),
);

builder.queryFields((t) => ({
  workflow: t.field({
    authScopes: { reads: 'workflow:{namespace}:{name}:read' },
    type: WorkflowRef,
    nullable: true,
    args: { ref: t.arg.string({ required: true }) },
    resolve: (_root, { ref }, { loaders }) => loaders.workflowByRef.load(ref.includes('/') ? ref : `default/${ref}`),
  }),
  workflows: t.field({
    authScopes: { reads: 'workflow:{namespace}:{name}:read' },
    type: WorkflowConnection,
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      search: t.arg.string(),
    },
    resolve: async (_root, args, context) => {
      const { services, viewer } = context;
      const search = args.search?.trim() || null;
      const page = pageOf(args, 'workflows', ['text', 'text'], context);
      const { items, more } = await services.workflowReads.page(page, search, viewer);
      return connectionOf(
        page,
        'workflows',
        items,
        more,
        (w) => [w.namespace, w.name],
        () => services.workflowReads.count(search, viewer),
      );
    },
  }),
}));
