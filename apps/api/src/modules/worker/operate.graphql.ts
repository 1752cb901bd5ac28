import { builder } from '../../graphql/builder.ts';
import { WorkerRef } from '../../graphql/refs.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import { WorkerAvailability } from './worker.graphql.ts';

const WorkerPayload = builder.objectRef<{ worker: FleetWorker }>('WorkerPayload').implement({
  fields: (t) => ({ worker: t.field({ type: WorkerRef, resolve: (payload) => payload.worker }) }),
});
const RemoveWorkerPayload = builder.objectRef<{ name: string }>('RemoveWorkerPayload').implement({
  fields: (t) => ({ name: t.exposeString('name') }),
});
const SetWorkerMetadataInput = builder.inputType('SetWorkerMetadataInput', {
  fields: (t) => ({
    worker: t.string({ required: true }),
    metadata: t.field({ type: 'JSONObject', required: true }),
    replace: t.boolean({ defaultValue: false }),
  }),
});
const UnsetWorkerMetadataInput = builder.inputType('UnsetWorkerMetadataInput', {
  description: 'At least one key, or all: true.',
  fields: (t) => ({
    worker: t.string({ required: true }),
    keys: t.stringList({ defaultValue: [] }),
    all: t.boolean({ defaultValue: false }),
  }),
});
const SetWorkerAvailabilityInput = builder.inputType('SetWorkerAvailabilityInput', {
  fields: (t) => ({
    worker: t.string({ required: true }),
    availability: t.field({ type: WorkerAvailability, required: true }),
  }),
});
const RemoveWorkerInput = builder.inputType('RemoveWorkerInput', {
  fields: (t) => ({ worker: t.string({ required: true }) }),
});

builder.mutationFields((t) => ({
  setWorkerMetadata: t.field({
    authScopes: { permission: 'worker:{name}:manage' },
    type: WorkerPayload,
    args: { input: t.arg({ type: SetWorkerMetadataInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      worker: await services.workers.setMetadata(
        input.worker,
        input.metadata,
        input.replace ?? false,
        viewer,
        requestId,
      ),
    }),
  }),
  unsetWorkerMetadata: t.field({
    authScopes: { permission: 'worker:{name}:manage' },
    type: WorkerPayload,
    args: { input: t.arg({ type: UnsetWorkerMetadataInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      worker: await services.workers.unsetMetadata(
        input.worker,
        input.keys ?? [],
        input.all ?? false,
        viewer,
        requestId,
      ),
    }),
  }),
  setWorkerAvailability: t.field({
    authScopes: { permission: 'worker:{name}:manage' },
    type: WorkerPayload,
    args: { input: t.arg({ type: SetWorkerAvailabilityInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      worker: await services.workers.setAvailability(input.worker, input.availability, viewer, requestId),
    }),
  }),
  removeWorker: t.field({
    authScopes: { permission: 'worker:{name}:manage' },
    type: RemoveWorkerPayload,
    args: { input: t.arg({ type: RemoveWorkerInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      await services.workers.remove(input.worker, viewer, requestId);
      return { name: input.worker };
    },
  }),
}));
