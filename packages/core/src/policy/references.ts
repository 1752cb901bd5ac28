import type { DynamicSelector } from './spec.ts';
import { isRecord, own } from './values.ts';

/** What a policy or affinity reads, each in order of first appearance. */
export interface SpecReferences {
  /** `label:region`, `metric:queue_depth`, `load`, … */
  readonly selectors: readonly string[];
  /** Keys completed by an input. */
  readonly dynamicSelectors: readonly DynamicSelector[];
  /** Paths of `input(...)`. */
  readonly inputs: readonly string[];
  /** Paths of `routing_input(...)`. */
  readonly routingInputs: readonly string[];
}

/**
 * Whether a version's policy or affinity names `routing_input` anywhere, which is what blinds its decisions (ruling 23). A
 * malformed stored spec counts as naming it if anything in it looks like such a reference. Never throws.
 */
export function namesRoutingInput(policy: unknown, affinity: unknown): boolean {
  return policyNamesRoutingInput(policy) || affinityNamesRoutingInput(affinity);
}

/** As `namesRoutingInput`, for the policy alone. */
export function policyNamesRoutingInput(policy: unknown): boolean {
  return hasRoutingReference(policy);
}

/** As `namesRoutingInput`, for the affinity alone. A label map names labels, never inputs. */
export function affinityNamesRoutingInput(affinity: unknown): boolean {
  return Array.isArray(affinity) && hasRoutingReference(affinity);
}

/** Whether one term of a policy or affinity names `routing_input`. */
export function termNamesRoutingInput(term: unknown): boolean {
  return hasRoutingReference(term);
}

/** Everything a policy and an affinity read from workers and from the execution; of malformed parts, what can be read. */
export function listReferences(policy: unknown, affinity: unknown): SpecReferences {
  const selectors = new Set<string>();
  const dynamicSelectors = new Map<string, DynamicSelector>();
  const inputs = new Set<string>();
  const routingInputs = new Set<string>();
  if (isRecord(affinity)) for (const label of Object.keys(affinity)) selectors.add(`label:${label}`);
  visit([policy, Array.isArray(affinity) ? affinity : null], (record) => {
    const selector = own(record, 'selector');
    if (typeof selector === 'string') selectors.add(selector);
    for (const key of ['input', '$input']) addText(inputs, own(record, key));
    for (const key of ['routing_input', '$routing_input']) addText(routingInputs, own(record, key));
    const kind = own(record, 'kind');
    const prefix = own(record, 'prefix');
    const input = own(record, 'input');
    const routingInput = own(record, 'routing_input');
    if ((kind !== 'label' && kind !== 'meta') || typeof prefix !== 'string') return;
    if (typeof input === 'string') dynamicSelectors.set(`${kind} i ${prefix} ${input}`, { kind, prefix, input });
    else if (typeof routingInput === 'string') {
      dynamicSelectors.set(`${kind} r ${prefix} ${routingInput}`, { kind, prefix, routing_input: routingInput });
    }
  });
  return {
    selectors: [...selectors],
    dynamicSelectors: [...dynamicSelectors.values()],
    inputs: [...inputs],
    routingInputs: [...routingInputs],
  };
}

function hasRoutingReference(spec: unknown): boolean {
  let found = false;
  visit(spec, (record) => {
    found ||= Object.hasOwn(record, 'routing_input') || Object.hasOwn(record, '$routing_input');
  });
  return found;
}

/** Every object inside a value, outer before inner, in order. Works without recursion and stops at repeated objects. */
function visit(value: unknown, see: (record: Record<string, unknown>) => void): void {
  const seen = new Set<unknown>();
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || seen.has(next)) continue;
    seen.add(next);
    if (isRecord(next)) see(next);
    for (const inner of Object.values(next).toReversed()) waiting.push(inner);
  }
}

function addText(into: Set<string>, value: unknown): void {
  if (typeof value === 'string') into.add(value);
}
