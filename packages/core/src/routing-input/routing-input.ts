import type { Issue } from '../lib/errors.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import { hasLoneSurrogate, utf8Length } from '../lib/text.ts';
import { type JsonFault, parseStrictJson } from './strict-json.ts';

/** Most bytes of routing input as compact UTF-8 JSON, and of a raw header. */
export const MAX_ROUTING_INPUT_BYTES = 4096;
/** Most keys on all levels together. */
export const MAX_ROUTING_INPUT_KEYS = 64;
/** Most levels of objects; the outermost is the first. */
export const MAX_ROUTING_INPUT_LEVELS = 8;

/**
 * What became of a given routing input. `value` is null where there is none: nothing given, or `{}`. An issue names the
 * rule only, never a key or a value (ruling 22).
 */
export type RoutingInputResult =
  | { readonly accept: true; readonly value: JsonObject | null }
  | { readonly accept: false; readonly issue: Issue };

/**
 * Reads the header `X-Flux-Routing-Input` (ruling 21). `values` are all values received under that name, bytes decoded as
 * UTF-8; null or none: the header is absent.
 */
export function parseRoutingInputHeader(values: readonly string[] | null): RoutingInputResult {
  const [text, ...more] = values ?? [];
  if (text === undefined) return { accept: true, value: null };
  if (more.length > 0) {
    return refuse('REPEATED', `The routing input header must be sent once; it was received ${more.length + 1} times.`);
  }
  if (utf8Length(text) > MAX_ROUTING_INPUT_BYTES) return tooLong();
  const json = parseStrictJson(text);
  return json.ok ? checkObject(json.value) : refuse(`JSON_${json.fault}`, FAULTS[json.fault]);
}

/**
 * Checks routing input that is a JSON value already: a GraphQL argument, a schedule's field, an option of a call. Absent or
 * null means none. Never throws, whatever the value is.
 */
export function checkRoutingInput(value: unknown): RoutingInputResult {
  return value === undefined || value === null ? { accept: true, value: null } : checkObject(value);
}

/** Reads the `key=value` pairs of a command line; values are texts, split at the first `=`. */
export function parseRoutingInputPairs(pairs: readonly string[]): RoutingInputResult {
  const values = new Map<string, string>();
  for (const [index, pair] of pairs.entries()) {
    const split = pair.indexOf('=');
    if (split < 1) return refuse('PAIR_INVALID', `Pair ${index + 1} is not key=value with a key.`);
    const key = pair.slice(0, split);
    if (values.has(key)) return refuse('DUPLICATE_KEY', `Pair ${index + 1} has a key that was given before.`);
    values.set(key, pair.slice(split + 1));
  }
  return checkObject(Object.fromEntries(values));
}

const FAULTS: Readonly<Record<JsonFault, string>> = {
  SYNTAX: 'The routing input is not valid JSON.',
  TOO_DEEP: `The routing input has more than ${MAX_ROUTING_INPUT_LEVELS} levels.`,
  DUPLICATE_KEY: 'The routing input has a key twice in one object.',
  NUMBER_TOO_LARGE: 'The routing input has a number beyond a double.',
};

function refuse(code: string, message: string): RoutingInputResult {
  return { accept: false, issue: { path: 'routingInput', code, message } };
}

function tooLong(): RoutingInputResult {
  return refuse('TOO_LONG', `The routing input exceeds ${MAX_ROUTING_INPUT_BYTES} bytes.`);
}

/** Carries a refusal out of the walk. */
class Refusal extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function checkObject(value: unknown): RoutingInputResult {
  try {
    if (!isPlainObject(value)) throw new Refusal('NOT_AN_OBJECT', 'The routing input must be a JSON object.');
    const copy = copyObject(value, 1, { left: MAX_ROUTING_INPUT_KEYS });
    if (utf8Length(JSON.stringify(copy)) > MAX_ROUTING_INPUT_BYTES) return tooLong();
    return { accept: true, value: Object.keys(copy).length === 0 ? null : copy };
  } catch (error) {
    if (error instanceof Refusal) return refuse(error.code, error.message);
    throw error;
  }
}

function copyObject(object: Record<string, unknown>, level: number, keys: { left: number }): JsonObject {
  if (level > MAX_ROUTING_INPUT_LEVELS) throw new Refusal('TOO_DEEP', FAULTS.TOO_DEEP);
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(object)) {
    keys.left -= 1;
    if (keys.left < 0) {
      throw new Refusal('TOO_MANY_KEYS', `The routing input has more than ${MAX_ROUTING_INPUT_KEYS} keys.`);
    }
    if (key === '') throw new Refusal('KEY_EMPTY', 'The routing input has an empty key.');
    if (key.includes('.'))
      throw new Refusal('KEY_DOTTED', 'The routing input has a key with a dot; nest objects instead.');
    checkCharacters(key);
    entries.push([key, copyValue(value, level, keys)]);
  }
  return Object.fromEntries(entries);
}

function copyValue(value: unknown, level: number, keys: { left: number }): JsonValue {
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'string') {
    checkCharacters(value);
    return value;
  }
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  if (isPlainObject(value)) return copyObject(value, level + 1, keys);
  const message = 'The values of the routing input must be texts, finite numbers, true, false, null or objects.';
  throw new Refusal('VALUE_INVALID', message);
}

function checkCharacters(text: string): void {
  if (hasLoneSurrogate(text)) {
    throw new Refusal('TEXT_NOT_UNICODE', 'The routing input has half of a surrogate pair, which is no character.');
  }
}

/** Objects of GraphQL arguments have no prototype. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}
