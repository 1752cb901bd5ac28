import { MAX_PARK_TTL_SECONDS, MAX_PRIORITY, MAX_ROUTING_INPUT_BYTES } from '@muster/core';
import {
  IDEMPOTENCY_KEY,
  MAX_WAIT_SECONDS,
  PREFERRED_WORKER,
  REQUIRE_WORKER,
  ROUTING_INPUT,
  SESSION_KEY,
} from './read-call.ts';
import type { Parameter } from './route.ts';

const string = { type: 'string' } as const;

export function pathParameter(name: string, description: string, example: string): Parameter {
  return { name, in: 'path', description, schema: string, example };
}

export function queryParameter(
  name: string,
  description: string,
  schema: Parameter['schema'],
  example?: unknown,
): Parameter {
  return { name, in: 'query', description, schema, ...(example === undefined ? {} : { example }) };
}

function header(name: string, description: string, schema: Parameter['schema'], example: unknown): Parameter {
  return { name, in: 'header', description, schema, example };
}

export const executionId = pathParameter('id', 'The id of an execution.', 'ex_0193a3c2f1b87c1e9d5f0a1b2c3d4e5f');
export const workerName = pathParameter('name', 'The name of a worker.', 'worker-7');

export const versionNumber = queryParameter(
  'version',
  'The number of a version of the workflow; absent: the latest.',
  { type: 'integer', minimum: 1 },
  3,
);

/** What both kinds of run take. */
export const runParameters: readonly Parameter[] = [
  queryParameter(
    'park_ttl',
    "How many seconds it may wait for an eligible worker; 0: for ever; absent: the server's default.",
    { type: 'integer', minimum: 0, maximum: MAX_PARK_TTL_SECONDS },
    600,
  ),
  queryParameter(
    'priority',
    'Higher first.',
    { type: 'integer', minimum: -MAX_PRIORITY, maximum: MAX_PRIORITY, default: 0 },
    10,
  ),
  header(
    ROUTING_INPUT,
    `A JSON object of at most ${MAX_ROUTING_INPUT_BYTES} bytes, matched at dispatch, never delivered and never read back. Sent once; what is wrong with it is refused.`,
    string,
    '{"cohort":"canary"}',
  ),
  header(
    REQUIRE_WORKER,
    'Binds the execution to one worker: it waits for that one, and never falls back.',
    string,
    'worker-7',
  ),
  header(
    PREFERRED_WORKER,
    'A hint. Falls back where that worker is busy or gone.',
    { ...string, maxLength: 256 },
    'worker-7',
  ),
  header(
    IDEMPOTENCY_KEY,
    'The same key with the same request gives the first execution for 7 days; with another one, CONFLICT.',
    { ...string, pattern: '^[\\x21-\\x7e]{1,200}$' },
    'order-4711',
  ),
];

export const sessionKey = header(
  SESSION_KEY,
  'Requests with the same key get the same variant, as long as it lives.',
  string,
  'customer-42',
);

export const preferWait = header(
  'Prefer',
  `\`wait=N\`: answer after N seconds (RFC 7240), at most ${MAX_WAIT_SECONDS}, which is the default.`,
  string,
  'wait=10',
);

export const lastEventIdHeader = header(
  'Last-Event-ID',
  'The id of the last event that was received: the stream goes on after it.',
  { type: 'integer', minimum: 0 },
  3,
);
