import type { JsonValue } from '../lib/json.ts';
import { shorten } from '../lib/text.ts';
import {
  type CompiledCondition,
  type DynamicKey,
  inputConditionHolds,
  readCondition,
  readDynamicKey,
  readReference,
  type Reference,
  type ReferenceSource,
  resolve,
  resolveKey,
} from '../policy/spec-reading.ts';
import { affinityNamesRoutingInput } from '../policy/references.ts';
import type { ComparisonOperator } from '../policy/spec.ts';
import {
  isComparisonOperator,
  isRecord,
  isScalar,
  labelEquals,
  metadataMatches,
  own,
  parseSelector,
  scoreCompare,
  valueText,
  type WorkerValue,
} from '../policy/values.ts';

export type AffinityProblemKind = 'unresolved' | 'invalid' | 'malformed';

/** Why an affinity can never be satisfied for this execution, whatever the worker (ruling 17). */
export interface AffinityProblem {
  readonly kind: AffinityProblemKind;
  /** The key or the value of the term comes from routing input: the message is blind. */
  readonly routing: boolean;
  /** Whether this problem shows at all depends on the routing value. */
  readonly dependsOnRouting: boolean;
  readonly message: string;
}

/** One constraint on a worker, with everything that comes from the execution filled in. */
export interface AffinityCheck {
  readonly gate: Extract<CompiledCondition, { on: 'worker' }> | null;
  readonly kind: 'label' | 'meta';
  readonly key: string;
  readonly op: ComparisonOperator;
  readonly reference: JsonValue;
  readonly routing: boolean;
  /** A broken term under a worker-state condition: it only rejects the workers for which the condition holds. */
  readonly never: boolean;
}

type Match = {
  readonly key: { readonly fixed: { kind: 'label' | 'meta'; key: string } } | { readonly dynamic: DynamicKey };
  readonly op: ComparisonOperator;
  readonly value: { readonly constant: string | number | boolean } | { readonly reference: Reference };
  readonly optional: boolean;
  readonly routing: boolean;
};

type Term = {
  readonly condition: CompiledCondition | null;
  readonly match: Match | null;
  readonly malformed: boolean;
};

export interface CompiledAffinity {
  readonly terms: readonly Term[];
  /** Not an expression at all, or one without terms. */
  readonly malformed: boolean;
  readonly routing: boolean;
}

export const ROUTING_UNSATISFIED = 'routing constraint unsatisfied';
const WORKER_CONDITIONS = /^(?:meta|metric):./;

/** null where there is no affinity. Never throws: what cannot be read is marked and found again when it is resolved. */
export function compileAffinity(spec: unknown): CompiledAffinity | null {
  if (spec === undefined || spec === null) return null;
  const routing = affinityNamesRoutingInput(spec);
  if (Array.isArray(spec)) return { terms: spec.map(compileTerm), malformed: spec.length === 0, routing };
  if (!isRecord(spec)) return { terms: [], malformed: true, routing };
  const terms = Object.entries(spec).map(([key, value]): Term => {
    if (!isScalar(value)) return { condition: null, match: null, malformed: true };
    const match: Match = {
      key: { fixed: { kind: 'label', key } },
      op: '==',
      value: { constant: value },
      optional: false,
      routing: false,
    };
    return { condition: null, match, malformed: false };
  });
  return { terms, malformed: false, routing };
}

function compileTerm(term: unknown): Term {
  const malformed: Term = { condition: null, match: null, malformed: true };
  if (!isRecord(term)) return malformed;
  const kind = own(term, 'kind');
  if (kind === 'match') {
    const match = compileMatch(term);
    return match === null ? malformed : { condition: null, match, malformed: false };
  }
  const then = own(term, 'then');
  if (kind !== 'when' || !isRecord(then) || own(then, 'kind') !== 'match') return malformed;
  const condition = readCondition(own(term, 'if'), WORKER_CONDITIONS);
  if (condition === null) return malformed;
  return { condition, match: compileMatch(then), malformed: false };
}

function compileMatch(term: Record<string, unknown>): Match | null {
  const selector = own(term, 'selector');
  const op = own(term, 'op');
  const value = own(term, 'value');
  const optional = own(term, 'optional') === true;
  if (!isComparisonOperator(op)) return null;
  let key: Match['key'];
  if (typeof selector === 'string') {
    const parsed = parseSelector(selector);
    if (parsed === null || parsed.key === '' || (parsed.kind !== 'label' && parsed.kind !== 'meta')) return null;
    key = { fixed: { kind: parsed.kind, key: parsed.key } };
  } else {
    const dynamic = isRecord(selector) ? readDynamicKey(selector) : null;
    if (dynamic === null) return null;
    key = { dynamic };
  }
  const kind = 'fixed' in key ? key.fixed.kind : key.dynamic.kind;
  if (kind === 'label' && op !== '==' && op !== '!=') return null;
  const routingKey = 'dynamic' in key && key.dynamic.reference.routing;
  if (isScalar(value)) return { key, op, value: { constant: value }, optional, routing: routingKey };
  const reference = isRecord(value) ? readReference(value, true) : 'none';
  if (typeof reference === 'string') return null;
  return { key, op, value: { reference }, optional, routing: routingKey || reference.routing };
}

/**
 * Fills in the execution: the checks that a worker must pass, and every problem in term order. With any problem no worker
 * matches. Terms under an inactive `when` are not looked at, those under a worker-state `when` never make a problem.
 */
export function resolveAffinity(
  affinity: CompiledAffinity,
  source: ReferenceSource,
): { checks: AffinityCheck[]; problems: AffinityProblem[] } {
  const checks: AffinityCheck[] = [];
  const problems: AffinityProblem[] = [];
  if (affinity.malformed) {
    problems.push({ kind: 'malformed', routing: false, dependsOnRouting: false, message: 'affinity is malformed' });
  }
  affinity.terms.forEach((term, index) => {
    const { condition } = term;
    if (condition?.on === 'input' && inputConditionHolds(condition, source) !== true) return;
    const gate = condition?.on === 'worker' ? condition : null;
    const underRouting = condition?.on === 'input' && condition.reference.routing;
    const outcome: AffinityCheck | Problem | 'skip' =
      term.malformed || term.match === null
        ? { kind: 'malformed', message: `affinity term ${index + 1} is malformed` }
        : resolveMatch(term.match, source);
    if (outcome === 'skip') return;
    if (!('message' in outcome)) checks.push({ ...outcome, gate, routing: outcome.routing || underRouting });
    else if (gate !== null) checks.push({ ...NEVER, gate, routing: term.match?.routing ?? false });
    else {
      const routing = outcome.kind !== 'malformed' && (term.match?.routing ?? false);
      problems.push({ ...outcome, routing, dependsOnRouting: routing || underRouting });
    }
  });
  return { checks, problems };
}

type Problem = { kind: AffinityProblemKind; message: string };

const NEVER: AffinityCheck = {
  gate: null,
  kind: 'label',
  key: '',
  op: '==',
  reference: null,
  routing: false,
  never: true,
};

function resolveMatch(match: Match, source: ReferenceSource): AffinityCheck | Problem | 'skip' {
  let key: { kind: 'label' | 'meta'; key: string };
  if ('fixed' in match.key) key = match.key.fixed;
  else {
    const { dynamic } = match.key;
    const resolved = resolveKey(dynamic, source);
    const from = `${dynamic.kind}_for("${dynamic.prefix}", ${dynamic.reference.routing ? 'routing_input' : 'input'}("${dynamic.reference.name}"))`;
    if (resolved === 'unresolved') {
      if (match.optional) return 'skip';
      return unresolved(match, dynamic.reference, from);
    }
    if (resolved === 'invalid')
      return { kind: 'invalid', message: blindly(match, `${from} gives a key that no worker can have`) };
    key = { kind: dynamic.kind, key: resolved.key };
  }
  let reference: JsonValue;
  if ('constant' in match.value) reference = match.value.constant;
  else {
    const value = resolve(match.value.reference, source);
    if (value === undefined) {
      if (match.optional) return 'skip';
      return unresolved(match, match.value.reference, `${key.kind}("${key.key}")`);
    }
    reference = value;
  }
  return { gate: null, kind: key.kind, key: key.key, op: match.op, reference, routing: match.routing, never: false };
}

function unresolved(match: Match, reference: Reference, wantedBy: string): Problem {
  return {
    kind: 'unresolved',
    message: blindly(match, `input("${reference.name}") is absent, and ${wantedBy} requires it`),
  };
}

/** Nothing about a term that reads routing input may be told: neither key nor value nor kind of problem (ruling 22). */
function blindly(match: Match, message: string): string {
  return match.routing ? ROUTING_UNSATISFIED : message;
}

/** Whether one worker passes one check, given what it has. A worker-state condition that does not hold lets it pass. */
export function passesCheck(check: AffinityCheck, read: (selector: string) => WorkerValue): boolean {
  if (check.gate !== null && !scoreCompare(read(check.gate.selector), check.gate.op, check.gate.value)) return true;
  if (check.never) return false;
  return holds(check, read(`${check.kind}:${check.key}`));
}

/** The check itself for a value that was read, the condition left aside. */
export function holds(check: AffinityCheck, value: WorkerValue): boolean {
  if (check.kind === 'meta') return metadataMatches(value, check.op, check.reference);
  const label = value === undefined ? undefined : valueText(value);
  return (check.op === '==' || check.op === '!=') && labelEquals(label, check.op, check.reference);
}

/** What a check wants, e.g. `gpu = a100`; null where routing input is involved. */
export function wantedText(check: AffinityCheck): string | null {
  if (check.routing) return null;
  if (check.never) return 'a readable constraint';
  const reference = isScalar(check.reference)
    ? shorten(valueText(check.reference), 80)
    : JSON.stringify(check.reference).slice(0, 60);
  const key = check.kind === 'meta' ? `meta ${check.key}` : check.key;
  return `${key} ${check.op === '==' ? '=' : check.op === '!=' ? '≠' : check.op} ${reference}`;
}
