import { type ErrorCode, MusterError } from '@muster/core';
import { statusOf } from '../respond.ts';
import type { DocumentedAnswer, Route } from './route.ts';
import { ref, schemas } from './schemas.ts';

type Json = Record<string, unknown>;

/** What any route may answer; BAD_INPUT for a query or an address that cannot be read. */
const ALWAYS: readonly ErrorCode[] = ['BAD_INPUT', 'UNAUTHENTICATED', 'FORBIDDEN', 'UNAVAILABLE', 'INTERNAL'];

/** One sentence per code, for the examples. */
const MESSAGES: Record<ErrorCode, string> = {
  BAD_INPUT: 'park_ttl must be a whole number in digits',
  POLICY_INVALID: 'The policy has problems.',
  ROUTING_INPUT_INVALID: 'The routing input must be a JSON object.',
  UNKNOWN_WORKER: 'No worker is registered as worker-9.',
  UNAUTHENTICATED: 'Send Authorization: Bearer with a token.',
  FORBIDDEN: 'This takes the permission worker:worker-7:target.',
  NOT_FOUND: 'There is no such execution.',
  CONFLICT: 'It has COMPLETED already; there is nothing to cancel.',
  TOO_LARGE: 'The body may have at most 1048576 bytes.',
  RATE_LIMITED: 'Too many requests.',
  NO_HEALTHY_VARIANT: 'no variants with healthy target roles',
  UNAVAILABLE: 'The server stops; try again in a moment.',
  INTERNAL: 'Unexpected error.',
};

/** OpenAPI 3.1 of these routes. */
export function openApiDocument(routes: readonly Route[]): Json {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const operations = paths[route.path] ?? {};
    operations[route.method.toLowerCase()] = operationOf(route);
    paths[route.path] = operations;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Muster',
      version: '1.0.0',
      summary: 'Routes for scripts',
      description:
        'Run workflows and deployments, follow executions, read the registry. The same services as the GraphQL API at /graphql. Bodies are JSON whatever their Content-Type.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'The token of the installation; session cookies are not accepted.',
        },
      },
    },
  };
}

function operationOf(route: Route): Json {
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    parameters: route.parameters.map((parameter) => ({
      ...parameter,
      ...(parameter.in === 'path' ? { required: true } : {}),
    })),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            description: route.body.description,
            required: route.body.required,
            content: { 'application/json': { schema: route.body.schema, example: route.body.example } },
          },
        }),
    responses: responsesOf(route),
  };
}

function responsesOf(route: Route): Json {
  const responses: Json = {};
  for (const [status, answer] of Object.entries(route.answers)) responses[status] = answerOf(answer);
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set([...ALWAYS, ...route.errors])) {
    const status = statusOf(new MusterError(code, ''));
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) responses[status] = refusalOf(codes);
  return responses;
}

function answerOf({ description, schema, example, contentType, headers }: DocumentedAnswer): Json {
  return {
    description,
    ...(headers === undefined
      ? {}
      : {
          headers: Object.fromEntries(
            Object.entries(headers).map(([name, text]) => [name, { description: text, schema: { type: 'string' } }]),
          ),
        }),
    ...(example === undefined ? {} : { content: { [contentType ?? 'application/json']: { schema, example } } }),
  };
}

function refusalOf(codes: readonly ErrorCode[]): Json {
  const example = (code: ErrorCode): Json => ({
    value: { error: { code, message: MESSAGES[code], requestId: '7d1c8f0e-4a52-4f6b-9b0a-6a1f0c2d3e4f' } },
  });
  return {
    description: codes.join(', '),
    content: {
      'application/json': {
        schema: ref('Error'),
        examples: Object.fromEntries(codes.map((code) => [code, example(code)])),
      },
    },
  };
}
