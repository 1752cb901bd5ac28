import { MusterError } from '@muster/core';
import { IDEMPOTENCY_KEY, REQUIRE_WORKER, ROUTING_INPUT, SESSION_KEY } from './read-call.ts';

/** How the fields of the services are called where a caller of these routes wrote them. */
const NAMES: Readonly<Record<string, string>> = {
  requiredWorker: REQUIRE_WORKER,
  routingInput: ROUTING_INPUT,
  idempotencyKey: IDEMPOTENCY_KEY,
  sessionKey: SESSION_KEY,
  workflow: 'name',
  worker: 'name',
  deployment: 'slug',
};

/** The error in the words of the request: field and paths name its headers and parameters. */
export function inRestWords(error: MusterError): MusterError {
  const { field } = error;
  if (field === undefined || !Object.hasOwn(NAMES, field)) return error;
  const name = NAMES[field] ?? field;
  const message = error.message.startsWith(`${field} `) ? name + error.message.slice(field.length) : error.message;
  return new MusterError(error.code, message, {
    field: name,
    issues: error.issues.map((issue) => (issue.path === field ? { ...issue, path: name } : issue)),
    details: error.details,
    cause: error,
  });
}
