import type { IncomingMessage } from 'node:http';
import {
  checkInteger,
  checkParkTtl,
  checkPriority,
  type Issue,
  type JsonObject,
  type JsonValue,
  MusterError,
  parseRoutingInputHeader,
} from '@muster/core';
import { issuesError } from '../../lib/issues.ts';
import { jsonProblem } from '../../lib/json-rules.ts';
import { parseJson, readBody } from '../respond.ts';
import type { RestCall } from './route.ts';

const MAX_BODY_BYTES = 1_048_576;
const MAX_VERSION = 2_147_483_647;
/** The longest that `sync` waits, and how long it does unless the caller prefers less. */
export const MAX_WAIT_SECONDS = 60;

/** The headers that say where an execution goes and how often it is made. */
export const ROUTING_INPUT = 'X-Flux-Routing-Input';
export const REQUIRE_WORKER = 'X-Flux-Require-Worker';
export const PREFERRED_WORKER = 'X-Flux-Preferred-Worker';
export const IDEMPOTENCY_KEY = 'Idempotency-Key';
export const SESSION_KEY = 'X-Session-Key';

/**
 * A header's values as they came, bytes read as UTF-8 (Node hands them over as Latin-1). null: none.
 * A value that is no UTF-8 is null inside the list.
 */
function headerValues(request: IncomingMessage, name: string): (string | null)[] | null {
  const values = request.headersDistinct[name.toLowerCase()];
  return values === undefined ? null : values.map(decodeUtf8);
}

function decodeUtf8(value: string): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(value, 'latin1'));
  } catch {
    return null;
  }
}

/** A header that may be sent once. Errors: BAD_INPUT. */
export function onceHeader(request: IncomingMessage, name: string): string | undefined {
  const values = headerValues(request, name);
  if (values === null) return undefined;
  const [value, ...more] = values;
  if (more.length > 0)
    throw refusal(name, 'REPEATED', `${name} must be sent once; it was received ${values.length} times.`);
  if (value == null) throw refusal(name, 'NOT_UTF8', `${name} must be UTF-8.`);
  return value;
}

/** The hint: whatever is wrong with it, it is dropped (ruling 20). */
export function hintHeader(request: IncomingMessage): string | undefined {
  const values = headerValues(request, PREFERRED_WORKER);
  return values?.length === 1 ? (values[0] ?? undefined) : undefined;
}

/** Routing input, or undefined for none. Errors: ROUTING_INPUT_INVALID, naming the rule and neither key nor value (rulings 21, 22). */
export function routingInputHeader(request: IncomingMessage): JsonObject | undefined {
  const values = headerValues(request, ROUTING_INPUT);
  if (values !== null && values.length === 1 && values[0] === null)
    throw routingRefusal('TEXT_NOT_UNICODE', 'The routing input header must be UTF-8.');
  const checked = parseRoutingInputHeader(values === null ? null : values.map((value) => value ?? ''));
  if (!checked.accept) throw routingRefusal(checked.issue.code, checked.issue.message);
  return checked.value ?? undefined;
}

/** Refused where it would be dropped. Errors: ROUTING_INPUT_INVALID. */
export function refuseRoutingInput(request: IncomingMessage): void {
  if (headerValues(request, ROUTING_INPUT) !== null)
    throw routingRefusal('NOT_TAKEN', 'Routing input belongs to the request that starts an execution.');
}

function routingRefusal(code: string, message: string): MusterError {
  return new MusterError('ROUTING_INPUT_INVALID', message, { issues: [{ path: ROUTING_INPUT, code, message }] });
}

function refusal(path: string, code: string, message: string): MusterError {
  return new MusterError('BAD_INPUT', message, { issues: [{ path, code, message }] });
}

/** The query parameters, of the names that a route takes. What is unknown is refused, never dropped, and not repeated. */
export function readQuery(url: string, names: readonly string[]): Map<string, string> {
  const cut = url.indexOf('?');
  const given = [...new URLSearchParams(cut < 0 ? '' : url.slice(cut + 1))];
  const query = new Map<string, string>();
  for (const [name, value] of given) {
    if (!names.includes(name)) {
      const right = names.length === 0 ? 'This route takes no query parameters.' : `It takes ${names.join(', ')}.`;
      throw new MusterError('BAD_INPUT', `There is a query parameter that this route does not know. ${right}`);
    }
    if (query.has(name)) throw refusal(name, 'REPEATED', `${name} must be given once.`);
    query.set(name, value);
  }
  return query;
}

/** Whole numbers of the query with their bounds. Errors: BAD_INPUT with every problem. */
export function runNumbers(query: ReadonlyMap<string, string>): {
  version: number | undefined;
  parkTtlSeconds: number | undefined;
  priority: number;
} {
  const issues: Issue[] = [];
  const read = (name: string, check: (value: number, path: string) => Issue[]): number | undefined => {
    const text = query.get(name);
    if (text === undefined) return undefined;
    const value = wholeNumber(text);
    issues.push(...(value === null ? [notWhole(name)] : check(value, name)));
    return value ?? undefined;
  };
  const numbers = {
    version: read('version', (value, path) => checkInteger(value, path, 'version', 1, MAX_VERSION)),
    parkTtlSeconds: read('park_ttl', checkParkTtl),
    priority: read('priority', checkPriority) ?? 0,
  };
  if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
  return numbers;
}

/** A whole number of the query, or undefined. Errors: BAD_INPUT. */
export function queryInteger(
  query: ReadonlyMap<string, string>,
  name: string,
  low: number,
  high: number,
): number | undefined {
  const text = query.get(name);
  if (text === undefined) return undefined;
  const value = wholeNumber(text);
  const issues = value === null ? [notWhole(name)] : checkInteger(value, name, name, low, high);
  if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
  return value ?? undefined;
}

function wholeNumber(text: string): number | null {
  return /^-?[0-9]{1,15}$/.test(text) ? Number(text) : null;
}

function notWhole(path: string): Issue {
  return { path, code: 'NUMBER_SHAPE', message: `${path} must be a whole number in digits` };
}

/**
 * The body as one JSON value of at most 1 MiB and 64 levels, whatever its Content-Type; an empty one is null.
 * Errors: BAD_INPUT, TOO_LARGE; neither has any of its text.
 */
export async function readInput({ request }: RestCall): Promise<JsonValue> {
  const bytes = await readBody(request, MAX_BODY_BYTES);
  if (bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d)) return null;
  const { value } = parseJson(bytes);
  const problem = jsonProblem(value);
  if (problem !== null)
    throw new MusterError(problem.tooLarge ? 'TOO_LARGE' : 'BAD_INPUT', `The body ${problem.rule}.`);
  return value as JsonValue;
}

/** How long `sync` waits, s: `Prefer: wait=…` (RFC 7240), at most 60. */
export function preferredWait({ request }: RestCall): { seconds: number; stated: boolean } {
  const prefer = request.headersDistinct['prefer']?.join(',') ?? '';
  const stated = /(?:^|[,;\s])wait\s*=\s*"?([0-9]{1,9})"?(?:$|[,;\s])/i.exec(prefer)?.[1];
  return { seconds: Math.min(Number(stated ?? MAX_WAIT_SECONDS), MAX_WAIT_SECONDS), stated: stated !== undefined };
}

/** The sequence after which an event stream begins: `Last-Event-ID`, else 0. Errors: BAD_INPUT. */
export function lastEventId({ request }: RestCall): number {
  const text = onceHeader(request, 'Last-Event-ID');
  if (text === undefined || text === '') return 0;
  const value = wholeNumber(text);
  if (value === null || value < 0 || value > 2_147_483_647)
    throw refusal('Last-Event-ID', 'NUMBER_RANGE', 'Last-Event-ID must be the id of an event of this stream.');
  return value;
}
