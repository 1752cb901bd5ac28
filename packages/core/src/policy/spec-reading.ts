import type { JsonObject, JsonValue } from '../lib/json.ts';
import {
  isKeyShape,
  isRecord,
  isServiceName,
  LABEL_KEY_MAX,
  META_KEY_MAX,
  own,
  readPath,
  SERVICE_PREFIX,
  valueText,
  whenInputEquals,
  isComparisonOperator,
} from './values.ts';
import type { ComparisonOperator } from './spec.ts';

/** The two places a reference may read from. */
export interface ReferenceSource {
  readonly input: JsonValue | undefined;
  readonly routingInput: JsonObject | null;
}

/** `input("a.b")` or `routing_input("a.b")` of a stored spec. */
export interface Reference {
  readonly routing: boolean;
  readonly name: string;
  readonly path: readonly string[];
}

export function resolve(reference: Reference, source: ReferenceSource): JsonValue | undefined {
  return readPath(reference.routing ? (source.routingInput ?? undefined) : source.input, reference.path);
}

/** Reads `{input: path}` or `{routing_input: path}`, or the `$` spelling; input wins. 'none' where neither key is there. */
export function readReference(record: Record<string, unknown>, dollar: boolean): Reference | 'none' | 'malformed' {
  const inputKey = dollar ? '$input' : 'input';
  const routingKey = dollar ? '$routing_input' : 'routing_input';
  const routing = !Object.hasOwn(record, inputKey);
  if (routing && !Object.hasOwn(record, routingKey)) return 'none';
  const name = own(record, routing ? routingKey : inputKey);
  if (typeof name !== 'string' || name === '') return 'malformed';
  return { routing, name, path: name.split('.') };
}

/** A label or metadata key that an input completes. */
export interface DynamicKey {
  readonly kind: 'label' | 'meta';
  readonly prefix: string;
  readonly reference: Reference;
}

export function readDynamicKey(selector: Record<string, unknown>): DynamicKey | null {
  const kind = own(selector, 'kind');
  const prefix = own(selector, 'prefix');
  const reference = readReference(selector, false);
  if (kind !== 'label' && kind !== 'meta') return null;
  if (typeof prefix !== 'string' || prefix === '' || typeof reference === 'string') return null;
  return { kind, prefix, reference };
}

/** The completed key, or why there is none: the path is absent, or no worker could carry such a key. */
export function resolveKey(key: DynamicKey, source: ReferenceSource): { key: string } | 'unresolved' | 'invalid' {
  const fragment = resolve(key.reference, source);
  if (fragment === undefined) return 'unresolved';
  if (fragment === null || typeof fragment === 'object') return 'invalid';
  const text = valueText(fragment);
  const full = key.prefix + text;
  if (full.length > (key.kind === 'label' ? LABEL_KEY_MAX : META_KEY_MAX) || !isKeyShape(full)) return 'invalid';
  if (key.kind === 'label' && key.prefix === SERVICE_PREFIX && !isServiceName(text)) return 'invalid';
  return { key: full };
}

/** The condition of a `when`. */
export type CompiledCondition =
  | { readonly on: 'input'; readonly reference: Reference; readonly op: '==' | '!='; readonly value: unknown }
  | {
      readonly on: 'worker';
      readonly selector: string;
      readonly op: ComparisonOperator;
      readonly value: string | number | boolean;
    };

/** null: malformed. `workerKinds`: what a worker-state condition may look at in this stage. */
export function readCondition(condition: unknown, workerKinds: RegExp): CompiledCondition | null {
  if (!isRecord(condition)) return null;
  const op = own(condition, 'op');
  const value = own(condition, 'value') ?? null;
  const reference = readReference(condition, false);
  if (reference === 'malformed') return null;
  if (reference !== 'none') return op === '==' || op === '!=' ? { on: 'input', reference, op, value } : null;
  const selector = own(condition, 'selector');
  if (typeof selector !== 'string' || !workerKinds.test(selector) || !isComparisonOperator(op)) return null;
  if (value === null || typeof value === 'object') return null;
  return { on: 'worker', selector, op, value: value as string | number | boolean };
}

/** Whether an input condition holds; an absent path leaves it inactive for both operators (ruling 4). */
export function inputConditionHolds(
  condition: Extract<CompiledCondition, { on: 'input' }>,
  source: ReferenceSource,
): 'absent' | boolean {
  const value = resolve(condition.reference, source);
  if (value === undefined) return 'absent';
  return whenInputEquals(value, condition.value) === (condition.op === '==');
}
