import { compareCodePoints, type JsonValue, MusterError } from '@muster/core';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import { type WorkerFilter, workerMatcher } from '../../modules/worker/worker-list.ts';
import * as examples from './examples.ts';
import { isoTime } from './iso-time.ts';
import { pathParameter, queryParameter, workerName } from './parameters.ts';
import { queryInteger, readInput } from './read-call.ts';
import type { Parameter, RestAnswer, RestCall, Route } from './route.ts';
import { ref } from './schemas.ts';
import { heartbeatJson, metadataJson, workerJson } from './worker-json.ts';

/** Most workers in one answer; what is more is asked for after the last name. */
const MAX_WORKERS = 1_000;
const STATUSES = ['HEALTHY', 'UNHEALTHY', 'STALE', 'OFFLINE'] as const;

const listParameters: readonly Parameter[] = [
  queryParameter('role', 'Of this role only.', { type: 'string' }, 'gpu-worker'),
  queryParameter('status', 'Of this status only.', { enum: STATUSES }, 'HEALTHY'),
  queryParameter('limit', 'At most so many.', {
    type: 'integer',
    minimum: 1,
    maximum: MAX_WORKERS,
    default: MAX_WORKERS,
  }),
  queryParameter('after', 'Begin after the worker of this name: `next` of the page before.', { type: 'string' }),
];

/** One page of the registry by name, in code-point order. Errors: BAD_INPUT. */
function page({ query, context }: RestCall, show: (worker: FleetWorker) => unknown): RestAnswer {
  const limit = queryInteger(query, 'limit', 1, MAX_WORKERS) ?? MAX_WORKERS;
  const after = query.get('after');
  const role = query.get('role');
  const filter: WorkerFilter = { roles: role === undefined ? null : [role], statuses: statusFilter(query) };
  const found = context.services.workerReads
    .all(context.viewer)
    .filter(workerMatcher(filter))
    .filter(({ facts }) => after === undefined || compareCodePoints(facts.name, after) > 0)
    .sort((a, b) => compareCodePoints(a.facts.name, b.facts.name));
  const shown = found.slice(0, limit);
  const next = found.length > limit ? (shown.at(-1)?.facts.name ?? null) : null;
  return { status: 200, body: { workers: shown.map(show), next } };
}

function statusFilter(query: ReadonlyMap<string, string>): WorkerFilter['statuses'] {
  const given = query.get('status');
  if (given === undefined) return null;
  const status = STATUSES.find((known) => known === given);
  if (status === undefined)
    throw new MusterError('BAD_INPUT', `status must be one of ${STATUSES.join(', ')}.`, { field: 'status' });
  return [status];
}

/** Errors: NOT_FOUND. */
function workerOf({ params, context }: RestCall): FleetWorker {
  const worker = context.services.workerReads.get(params['name'] ?? '', context.viewer);
  if (worker === null) throw new MusterError('NOT_FOUND', 'There is no such worker.', { field: 'name' });
  return worker;
}

/** One that may have metadata. Errors: NOT_FOUND. */
function registeredOf(call: RestCall): FleetWorker {
  const worker = workerOf(call);
  if (!worker.registered) throw new MusterError('NOT_FOUND', 'There is no such worker.', { field: 'name' });
  return worker;
}

function withMetadata(worker: FleetWorker): RestAnswer {
  return { status: 200, body: { metadata: metadataJson(worker.metadata) } };
}

/** `{"metadata": {…}, "replace": false}`. Errors: BAD_INPUT; what metadata may be is said by the service. */
async function readChange(call: RestCall): Promise<{ metadata: { [key: string]: JsonValue }; replace: boolean }> {
  const body = await readInput(call);
  const right = 'Send {"metadata": {"key": "value"}, "replace": false}.';
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new MusterError('BAD_INPUT', right);
  const { metadata, replace = false, ...rest } = body;
  if (Object.keys(rest).length > 0)
    throw new MusterError('BAD_INPUT', `The body has a member that is not known. ${right}`);
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata))
    throw new MusterError('BAD_INPUT', `metadata must be an object. ${right}`, { field: 'metadata' });
  if (typeof replace !== 'boolean')
    throw new MusterError('BAD_INPUT', 'replace must be true or false.', { field: 'replace' });
  return { metadata, replace };
}

/** The value alone, or as reading it gives it: `{"value": …}`. */
async function readValue(call: RestCall): Promise<JsonValue> {
  const body = await readInput(call);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { value } = body;
  if (value === undefined)
    throw new MusterError('BAD_INPUT', 'Send the value as JSON, or {"value": …}.', { field: 'value' });
  return value;
}

const metadataKey = pathParameter('key', 'A key of the metadata.', 'rack');
const metadataAnswer = {
  200: { description: 'The metadata as it is now.', schema: ref('Metadata'), example: examples.metadata },
};
const METADATA_TAG = 'Worker metadata';

export const workerRoutes: readonly Route[] = [
  {
    method: 'GET',
    path: '/workers',
    operationId: 'listWorkers',
    tag: 'Workers',
    summary: 'The registry with the latest metrics',
    access: { reads: 'worker:{name}:read' },
    parameters: listParameters,
    answers: {
      200: { description: 'By name.', schema: ref('WorkerPage'), example: { workers: [examples.worker], next: null } },
    },
    errors: [],
    sharedWithPage: true,
    handle: async (call) => page(call, workerJson),
  },
  {
    method: 'GET',
    path: '/workers/{name}',
    operationId: 'getWorker',
    tag: 'Workers',
    summary: 'One worker',
    access: { reads: 'worker:{name}:read' },
    parameters: [workerName],
    answers: { 200: { description: 'The worker.', schema: ref('Worker'), example: examples.worker } },
    errors: ['NOT_FOUND'],
    sharedWithPage: true,
    handle: async (call) => ({ status: 200, body: workerJson(workerOf(call)) }),
  },
  {
    method: 'GET',
    path: '/admin/workers',
    operationId: 'listRegistry',
    tag: 'Workers',
    summary: 'The raw registry: one object per process, in the field names of its heartbeat',
    access: { reads: 'worker:{name}:read' },
    parameters: listParameters,
    answers: {
      200: {
        description: 'Registered workers, and other services that are known by their heartbeats only.',
        schema: ref('RegistryPage'),
        example: { workers: [examples.registryEntry], next: null },
      },
    },
    errors: [],
    async handle(call) {
      const { fleet } = call.context.services;
      return page(call, (worker) => heartbeatJson(worker, fleet.record(worker.facts.name)?.pulse ?? null));
    },
  },
  {
    method: 'GET',
    path: '/admin/workers/{name}/metadata',
    operationId: 'getWorkerMetadata',
    tag: METADATA_TAG,
    summary: 'What operators wrote about a worker',
    access: { reads: 'worker:{name}:read' },
    parameters: [workerName],
    answers: metadataAnswer,
    errors: ['NOT_FOUND'],
    handle: async (call) => withMetadata(registeredOf(call)),
  },
  {
    method: 'PUT',
    path: '/admin/workers/{name}/metadata',
    operationId: 'setWorkerMetadata',
    tag: METADATA_TAG,
    summary: 'Write metadata',
    description:
      'Merged into what is there, or in its place with `replace`. At most 64 keys; a value is a text of at most 256 characters, a finite number, or a boolean, which is kept as text.',
    access: { permission: 'worker:{name}:manage' },
    parameters: [workerName],
    body: {
      description: 'The keys to write.',
      required: true,
      schema: ref('MetadataChange'),
      example: { metadata: { rack: 'b3' }, replace: false },
    },
    answers: metadataAnswer,
    errors: ['NOT_FOUND', 'TOO_LARGE'],
    async handle(call) {
      const { services, viewer, requestId } = call.context;
      const { metadata, replace } = await readChange(call);
      return withMetadata(
        await services.workers.setMetadata(call.params['name'] ?? '', metadata, replace, viewer, requestId),
      );
    },
  },
  {
    method: 'DELETE',
    path: '/admin/workers/{name}/metadata',
    operationId: 'clearWorkerMetadata',
    tag: METADATA_TAG,
    summary: 'Remove all metadata',
    access: { permission: 'worker:{name}:manage' },
    parameters: [workerName],
    answers: metadataAnswer,
    errors: ['NOT_FOUND'],
    async handle({ params, context: { services, viewer, requestId } }) {
      return withMetadata(await services.workers.unsetMetadata(params['name'] ?? '', [], true, viewer, requestId));
    },
  },
  {
    method: 'GET',
    path: '/admin/workers/{name}/metadata/{key}',
    operationId: 'getWorkerMetadataEntry',
    tag: METADATA_TAG,
    summary: 'One entry of the metadata',
    access: { reads: 'worker:{name}:read' },
    parameters: [workerName, metadataKey],
    answers: {
      200: { description: 'The entry.', schema: ref('MetadataEntry'), example: examples.metadataEntry },
    },
    errors: ['NOT_FOUND'],
    async handle(call) {
      const key = call.params['key'] ?? '';
      const entry = registeredOf(call).metadata.get(key);
      if (entry === undefined) throw new MusterError('NOT_FOUND', 'There is no such key.', { field: 'key' });
      const { value, updatedAt, updatedBy } = entry;
      return { status: 200, body: { key, value, updatedAt: isoTime(updatedAt), updatedBy } };
    },
  },
  {
    method: 'PUT',
    path: '/admin/workers/{name}/metadata/{key}',
    operationId: 'setWorkerMetadataEntry',
    tag: METADATA_TAG,
    summary: 'Write one entry of the metadata',
    access: { permission: 'worker:{name}:manage' },
    parameters: [workerName, metadataKey],
    body: {
      description: 'The value, or `{"value": …}`.',
      required: true,
      schema: { type: ['string', 'number', 'boolean', 'object'] },
      example: 'b3',
    },
    answers: metadataAnswer,
    errors: ['NOT_FOUND', 'TOO_LARGE'],
    async handle(call) {
      const { services, viewer, requestId } = call.context;
      const patch = { [call.params['key'] ?? '']: await readValue(call) };
      return withMetadata(
        await services.workers.setMetadata(call.params['name'] ?? '', patch, false, viewer, requestId),
      );
    },
  },
  {
    method: 'DELETE',
    path: '/admin/workers/{name}/metadata/{key}',
    operationId: 'unsetWorkerMetadataEntry',
    tag: METADATA_TAG,
    summary: 'Remove one entry of the metadata',
    description: 'Fine where it is not there.',
    access: { permission: 'worker:{name}:manage' },
    parameters: [workerName, metadataKey],
    answers: metadataAnswer,
    errors: ['NOT_FOUND'],
    async handle({ params, context: { services, viewer, requestId } }) {
      const keys = [params['key'] ?? ''];
      return withMetadata(await services.workers.unsetMetadata(params['name'] ?? '', keys, false, viewer, requestId));
    },
  },
];
