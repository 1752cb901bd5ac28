import type { JsonValue } from '../lib/json.ts';
import type { ComparisonOperator } from './spec.ts';

/** What a selector can read of a worker; undefined: the worker has no such value. */
export type WorkerValue = string | number | undefined;

const DECIMAL = /^ *[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)? *$/;
const INTEGER = /^ *[+-]?[0-9]{1,512} *$/;

/**
 * A finite JSON number, or a string that is one whole decimal literal with ASCII spaces around it; anything else is not a
 * number (ruling 1). Never a language coercion: `""`, `"0x10"`, `true` and `null` are not numbers.
 */
export function readNumber(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !mayBeNumber(value) || !DECIMAL.test(value)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** Cheap and rough: a decimal literal begins with a space, a sign, a point or a digit. */
function mayBeNumber(text: string): boolean {
  const unit = text.charCodeAt(0);
  return unit === 32 || (unit >= 43 && unit <= 57);
}

/** Text of a scalar in a comparison: booleans in lower case (ruling 3), numbers as JavaScript writes them (ruling 5). */
export function valueText(value: string | number | boolean): string {
  return typeof value === 'string' ? value : String(value);
}

export function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function readInteger(value: string | number): bigint | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : null;
  if (!mayBeNumber(value) || !INTEGER.test(value)) return null;
  const digits = value.trim();
  return digits.startsWith('-') ? -BigInt(digits.slice(1)) : BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
}

function ordered<T extends number | bigint>(left: T, op: ComparisonOperator, right: T): boolean {
  switch (op) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

/**
 * The comparison of `prefer`, of worker-state conditions and of metadata: numeric where both sides are numbers, exact for
 * integers written as text (ruling 2), else textual for `==` and `!=` and false for an order. A missing worker value, a null
 * and a composite reference make every operator false (ruling 5).
 */
export function scoreCompare(left: WorkerValue, op: ComparisonOperator, right: JsonValue | undefined): boolean {
  if (left === undefined || !isScalar(right)) return false;
  if (typeof right !== 'boolean') {
    if (typeof left === 'number' && typeof right === 'number') return ordered(left, op, right);
    const a = readInteger(left);
    const b = a === null ? null : readInteger(right);
    if (a !== null && b !== null) return ordered(a, op, b);
    const x = readNumber(left);
    const y = x === null ? null : readNumber(right);
    if (x !== null && y !== null) return ordered(x, op, y);
  }
  if (op === '==') return valueText(left) === valueText(right);
  if (op === '!=') return valueText(left) !== valueText(right);
  return false;
}

/**
 * The comparison of a label in `require`: exact text (`"03"` is not 3). A worker without the label, and a null or composite
 * reference, satisfy `!=` only (ruling 5).
 */
export function labelEquals(label: string | undefined, op: '==' | '!=', reference: JsonValue | undefined): boolean {
  const equal = label !== undefined && isScalar(reference) && label === valueText(reference);
  return op === '==' ? equal : !equal;
}

/** Metadata in `require`: as {@link scoreCompare}, but `!=` holds unless the value is there and equal (ruling 5). */
export function metadataMatches(value: WorkerValue, op: ComparisonOperator, reference: JsonValue | undefined): boolean {
  return op === '!=' ? !scoreCompare(value, '==', reference) : scoreCompare(value, op, reference);
}

/** The comparison of `when(input(...) == constant)`: JSON values as they are, nothing is converted (ruling 4). */
export function whenInputEquals(value: JsonValue, constant: unknown): boolean {
  return (value === null || isScalar(value)) && value === constant;
}

/** Follows a path through objects, own properties only; undefined where it ends early. An array index is not a step. */
export function readPath(root: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let value = root;
  for (const step of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, step))
      return undefined;
    value = value[step];
  }
  return value;
}

export type SelectorKind = 'label' | 'metric' | 'meta' | 'resource' | 'load' | 'utilization';

/** A static selector taken apart; null for a kind that does not exist, which reads as missing. */
export function parseSelector(selector: string): { kind: SelectorKind; key: string } | null {
  if (selector === 'load' || selector === 'utilization') return { kind: selector, key: '' };
  const colon = selector.indexOf(':');
  const kind = selector.slice(0, Math.max(colon, 0));
  if (kind !== 'label' && kind !== 'metric' && kind !== 'meta' && kind !== 'resource') return null;
  return { kind, key: selector.slice(colon + 1) };
}

const KEY_SHAPE = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const SERVICE_NAME = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

export const SERVICE_PREFIX = 'flux.service.';
export const LABEL_KEY_MAX = 128;
export const META_KEY_MAX = 64;

/** Shape of label and metadata keys; length is checked apart ({@link LABEL_KEY_MAX}, {@link META_KEY_MAX}). */
export function isKeyShape(key: string): boolean {
  return key.length <= 1024 && KEY_SHAPE.test(key);
}

export function isServiceName(name: string): boolean {
  return name.length <= 32 && SERVICE_NAME.test(name) && !name.includes('--');
}

export function isComparisonOperator(op: unknown): op is ComparisonOperator {
  return op === '==' || op === '!=' || op === '<' || op === '<=' || op === '>' || op === '>=';
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An own property, so that a key like `constructor` is not found on the prototype. */
export function own(record: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}
