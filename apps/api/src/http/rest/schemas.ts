import { EXECUTION_STATES } from '@muster/core';
import type { JsonSchema } from './route.ts';

/** A schema of the components, by name. */
export function ref(name: keyof typeof schemas): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

const text: JsonSchema = { type: 'string' };
const time: JsonSchema = { type: 'string', format: 'date-time' };
const boolean: JsonSchema = { type: 'boolean' };
const integer: JsonSchema = { type: 'integer' };
const optionalText: JsonSchema = { type: ['string', 'null'] };
const optionalTime: JsonSchema = { type: ['string', 'null'], format: 'date-time' };
const optionalNumber: JsonSchema = { type: ['number', 'null'] };
const anything: JsonSchema = { description: 'Any JSON value.' };
const texts: JsonSchema = { type: 'array', items: text };
const numbers: JsonSchema = { type: 'object', additionalProperties: { type: 'number' } };

/** An object that has exactly these members. */
function record(properties: Readonly<Record<string, JsonSchema>>, optional: readonly string[] = []): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, required, additionalProperties: false };
}

function described(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

const check = (message: JsonSchema): JsonSchema => record({ name: text, healthy: boolean, message }, ['message']);
const metadata: JsonSchema = {
  type: 'object',
  additionalProperties: { type: ['string', 'number'] },
  description: 'Written by operators only; no worker can reach it.',
};
const status: JsonSchema = { enum: ['HEALTHY', 'UNHEALTHY', 'STALE', 'OFFLINE'] };

export const schemas = {
  Execution: record({
    id: described(text, 'The same in GraphQL, REST, commands and logs.'),
    workflowRef: described(text, 'namespace/name'),
    version: { type: ['integer', 'null'] },
    deployment: described(optionalText, 'Its slug, where it came through one.'),
    variantLabel: optionalText,
    targetRoles: described(texts, 'Roles it may run on; empty: any.'),
    sessionKey: optionalText,
    state: { enum: [...EXECUTION_STATES] },
    why: described(text, 'Why it is where it is, or why nobody has it.'),
    parked: described(boolean, 'It waits, and no worker can take it now.'),
    parkedReason: optionalText,
    parkedSince: optionalTime,
    parkDeadline: optionalTime,
    waitingFor: {
      oneOf: [
        { type: 'null' },
        record({
          kind: { enum: ['RESUME', 'TIMER', 'CHILD'] },
          name: optionalText,
          until: optionalTime,
          child: optionalText,
        }),
      ],
    },
    input: anything,
    output: anything,
    error: {
      oneOf: [{ type: 'null' }, record({ type: text, message: text, stack: optionalText, retryable: boolean })],
    },
    workerName: optionalText,
    requiredWorker: optionalText,
    preferredWorker: optionalText,
    priority: integer,
    attempt: integer,
    maxAttempts: integer,
    generation: described(integer, 'The fencing token: +1 at every assignment and release.'),
    revision: integer,
    parent: described(optionalText, 'The execution that called it.'),
    retryOf: described(optionalText, 'The execution that it retries.'),
    submittedBy: text,
    createdAt: time,
    scheduledAt: optionalTime,
    claimedAt: optionalTime,
    startedAt: optionalTime,
    finishedAt: optionalTime,
    updatedAt: time,
  }),
  ExecutionEvent: {
    ...record(
      {
        id: text,
        executionId: text,
        sequence: described(integer, 'The id of the event in its stream.'),
        type: described(
          text,
          'CREATED, SCHEDULED, CLAIMED, STARTED, …, COMPLETED, FAILED, CANCELLED, or a type of the workflow.',
        ),
        at: time,
        worker: optionalText,
        data: anything,
        execution: { $ref: '#/components/schemas/Execution' },
      },
      ['execution'],
    ),
    description: 'The data of one event. The last one, COMPLETED, FAILED or CANCELLED, brings the execution along.',
  },
  Worker: record({
    id: text,
    name: described(text, 'Stable over restarts.'),
    instanceId: described(text, 'New with every process start.'),
    role: text,
    hostname: text,
    version: text,
    status,
    statusReasons: texts,
    availability: { enum: ['ACTIVE', 'CORDONED', 'DRAINING'] },
    eligible: described(boolean, 'HEALTHY, ACTIVE and connected: may be given work.'),
    registered: described(boolean, 'false: known only by its heartbeats; it cannot take work.'),
    connected: boolean,
    checks: { type: 'array', items: check(optionalText) },
    labels: { type: 'object', additionalProperties: text },
    metadata,
    metrics: described(numbers, 'The latest that it sent.'),
    metricsAt: described(optionalTime, 'When the server received them.'),
    metricsStale: described(boolean, 'Older than 90 s: they count as missing.'),
    resources: record({
      cpuTotal: optionalNumber,
      cpuAvailable: optionalNumber,
      memoryTotal: optionalNumber,
      memoryAvailable: optionalNumber,
      diskTotal: optionalNumber,
      diskFree: optionalNumber,
      gpus: {
        type: 'array',
        items: record({ name: text, memoryTotal: optionalNumber, memoryAvailable: optionalNumber }),
      },
    }),
    runners: texts,
    workflows: described(texts, 'namespace/name of what it has handlers for; empty: any.'),
    packages: { type: 'array', items: record({ name: text, version: text }) },
    capacity: { type: ['integer', 'null'] },
    load: described(integer, 'Active executions, counted by the server.'),
    utilization: optionalNumber,
    startedAt: optionalTime,
    registeredAt: time,
    lastSeenAt: time,
  }),
  RegistryEntry: {
    ...record({
      instance_id: text,
      hostname: text,
      role: text,
      version: text,
      started_at: optionalTime,
      healthy: described(boolean, 'What its last heartbeat said, every check taken together.'),
      checks: { type: 'array', items: check(text) },
      status,
      last_seen: time,
      registered: described(boolean, 'false: another service, known only by its heartbeats on the bus.'),
      name: text,
      connected: boolean,
      draining: boolean,
      metrics: numbers,
    }),
    description: 'One process, in the field names of worker.heartbeat.',
  },
  WorkerPage: record({
    workers: { type: 'array', items: { $ref: '#/components/schemas/Worker' } },
    next: optionalText,
  }),
  RegistryPage: record({
    workers: { type: 'array', items: { $ref: '#/components/schemas/RegistryEntry' } },
    next: described(optionalText, 'Give it as `after` for the rest; null: that was all.'),
  }),
  Metadata: record({ metadata }),
  MetadataEntry: record({ key: text, value: { type: ['string', 'number'] }, updatedAt: time, updatedBy: text }),
  MetadataChange: record(
    { metadata: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } }, replace: boolean },
    ['replace'],
  ),
  Error: record({
    error: record(
      {
        code: described(text, 'Stable.'),
        message: text,
        field: described(text, 'What is wrong: a header, a parameter, a member of the body.'),
        issues: {
          type: 'array',
          items: record({ path: text, code: text, message: text, from: integer, to: integer }, ['from', 'to']),
        },
        requestId: described(text, 'Stands in the server log too.'),
      },
      ['field', 'issues'],
    ),
  }),
} satisfies Record<string, JsonSchema>;
