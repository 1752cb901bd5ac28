import type { JsonValue } from '../lib/json.ts';
import type { DecisionCell } from '../decision/decision.ts';
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
} from './spec-reading.ts';
import { policyNamesRoutingInput, termNamesRoutingInput } from './references.ts';
import type { ComparisonOperator } from './spec.ts';
import {
  isComparisonOperator,
  isRecord,
  isScalar,
  own,
  readNumber,
  scoreCompare,
  valueText,
  type WorkerValue,
} from './values.ts';

type Body =
  | {
      readonly kind: 'prefer';
      readonly key: string | DynamicKey;
      readonly op: unknown;
      readonly value: JsonValue | Reference;
    }
  | { readonly kind: 'least' | 'most'; readonly key: string }
  | { readonly kind: 'sticky' };

/** One term of a stored policy, taken apart once. */
export interface CompiledScoreTerm {
  readonly weight: number;
  readonly condition: CompiledCondition | null;
  readonly body: Body | null;
  /** What is wrong with the shape of the term; seen whatever the execution. */
  readonly malformed: string | null;
  /** What is wrong with its body; seen only where the term's condition lets evaluation reach it. */
  readonly bodyMalformed: string | null;
  /** Reads routing input somewhere. */
  readonly routing: boolean;
}

export interface CompiledPolicy {
  readonly terms: readonly CompiledScoreTerm[];
  /** The policy as a whole cannot be read. */
  readonly malformed: string | null;
  readonly routing: boolean;
}

/** Weights above this are refused at registration (ruling 8) and read as malformed in a stored policy. */
export const WEIGHT_MAX = 1e12;
/** Reference texts longer than this equal no worker's value: labels and metadata are far shorter. */
const REFERENCE_MAX = 1024;
const WORKER_CONDITIONS = /^(?:load$|utilization$|(?:meta|metric):)/;

/** null where there is no policy. Never throws: what is malformed is marked and degrades the decision (ruling 10). */
export function compilePolicy(spec: unknown): CompiledPolicy | null {
  if (spec === undefined || spec === null) return null;
  const routing = policyNamesRoutingInput(spec);
  const terms = isRecord(spec) ? own(spec, 'terms') : undefined;
  if (!Array.isArray(terms)) return { terms: [], malformed: 'the policy has no list of terms', routing };
  if (terms.length === 0) return { terms: [], malformed: 'the policy has no terms', routing };
  return { terms: terms.map(compileScoreTerm), malformed: null, routing };
}

function compileScoreTerm(term: unknown): CompiledScoreTerm {
  const routing = termNamesRoutingInput(term);
  const broken = (malformed: string): CompiledScoreTerm => ({
    weight: 1,
    condition: null,
    body: null,
    malformed,
    bodyMalformed: null,
    routing,
  });
  if (!isRecord(term)) return broken('is not an object');
  if (own(term, 'kind') !== 'when') {
    const { weight, body, problem } = compileBody(term);
    return { weight, condition: null, body, malformed: problem, bodyMalformed: null, routing };
  }
  const then = own(term, 'then');
  if (!isRecord(then)) return broken('has a condition around no term');
  const condition = readCondition(own(term, 'if'), WORKER_CONDITIONS);
  if (condition === null) return broken('has a malformed condition');
  const { weight, body, problem } = compileBody(then);
  return { weight, condition, body, malformed: null, bodyMalformed: problem, routing };
}

function compileBody(term: Record<string, unknown>): { weight: number; body: Body | null; problem: string | null } {
  const given = own(term, 'weight');
  const weight = given === undefined ? 1 : readNumber(given);
  if (weight === null || weight <= 0 || weight > WEIGHT_MAX)
    return { weight: 1, body: null, problem: 'has no usable weight' };
  const selector = own(term, 'selector');
  const kind = own(term, 'kind');
  switch (kind) {
    case 'sticky':
      return { weight, body: { kind }, problem: null };
    case 'least':
    case 'most':
      if (typeof selector !== 'string') return { weight, body: null, problem: 'has no selector' };
      return { weight, body: { kind, key: selector }, problem: null };
    case 'prefer': {
      const key = typeof selector === 'string' ? selector : isRecord(selector) ? readDynamicKey(selector) : null;
      if (key === null) return { weight, body: null, problem: 'has no selector' };
      const op = own(term, 'op');
      const value = own(term, 'value') ?? null;
      const reference = isRecord(value) ? readReference(value, true) : 'none';
      const body: Body = {
        kind,
        key,
        op,
        value: typeof reference === 'string' ? (isScalar(value) ? value : null) : reference,
      };
      const wrongOp = typeof key === 'string' && !isComparisonOperator(op);
      return { weight, body, problem: wrongOp ? 'has no comparison operator' : null };
    }
    case 'when':
      return { weight, body: null, problem: 'has a condition inside a condition' };
    default:
      return { weight, body: null, problem: 'is of an unknown kind' };
  }
}

/** Whether a decision may or may not see this term as malformed, depending on the execution's routing value or the eligible workers. */
export function mayTurnMalformed(term: CompiledScoreTerm): boolean {
  const dynamicOp =
    term.body?.kind === 'prefer' && typeof term.body.key !== 'string' && !isComparisonOperator(term.body.op);
  return term.bodyMalformed !== null || dynamicOp;
}

/** A condition on the worker's own state, asked of each candidate. */
export interface Gate {
  readonly selector: string;
  readonly op: ComparisonOperator;
  readonly value: string | number | boolean;
}

/**
 * A term with one execution and its eligible workers filled in: plain JSON, and all it takes to compute the cell of any
 * candidate. Stored with decisions, so it never holds anything of a term that reads routing input.
 */
export type TermContext =
  | { readonly mode: 'off'; readonly gate: Gate | null; readonly note: string }
  | {
      readonly mode: 'prefer';
      readonly gate: Gate | null;
      readonly key: string;
      readonly op: ComparisonOperator;
      readonly reference: string | number | boolean;
      readonly note: string | null;
    }
  | {
      readonly mode: 'least' | 'most';
      readonly gate: Gate | null;
      readonly key: string;
      readonly low: number;
      readonly high: number;
      readonly note: string | null;
    }
  | { readonly mode: 'sticky'; readonly gate: Gate | null; readonly hint: string; readonly note: null };

export type ResolvedTerm =
  | { readonly state: 'off'; readonly note: string }
  | { readonly state: 'malformed'; readonly problem: string }
  | {
      readonly state: 'prefer';
      readonly key: string;
      readonly op: ComparisonOperator;
      readonly reference: string | number | boolean;
    }
  | { readonly state: 'least' | 'most'; readonly key: string }
  | { readonly state: 'sticky'; readonly hint: string };

/** Whether the term's input condition lets it take part; the note says why not. Worker-state conditions are not asked here. */
export function inputGate(term: CompiledScoreTerm, source: ReferenceSource): string | null {
  if (term.condition?.on !== 'input') return null;
  const holds = inputConditionHolds(term.condition, source);
  if (holds === true) return null;
  const path = referenceText(term.condition.reference);
  return holds === 'absent'
    ? `${path} is absent`
    : `${path} ${term.condition.op} ${constantText(term.condition.value)} does not hold`;
}

/** Fills in the execution. Called only where evaluation reaches the body. */
export function resolveTerm(term: CompiledScoreTerm, source: ReferenceSource, hint: string | null): ResolvedTerm {
  const { body } = term;
  if (term.bodyMalformed !== null || body === null)
    return { state: 'malformed', problem: term.bodyMalformed ?? 'is malformed' };
  if (body.kind === 'sticky') {
    return hint === null ? { state: 'off', note: 'there is no preferred worker' } : { state: 'sticky', hint };
  }
  if (body.kind !== 'prefer') return { state: body.kind, key: body.key };
  let key: string;
  if (typeof body.key === 'string') key = body.key;
  else {
    const resolved = resolveKey(body.key, source);
    const path = referenceText(body.key.reference);
    if (resolved === 'unresolved') return { state: 'off', note: `${path} is absent` };
    if (resolved === 'invalid') return { state: 'off', note: `${path} gives a key that no worker can have` };
    key = `${body.key.kind}:${resolved.key}`;
  }
  if (!isComparisonOperator(body.op)) return { state: 'malformed', problem: 'has no comparison operator' };
  let reference: JsonValue | undefined;
  let wanted = 'the value';
  if (isReference(body.value)) {
    reference = resolve(body.value, source);
    wanted = referenceText(body.value);
    if (reference === undefined) return { state: 'off', note: `${wanted} is absent` };
  } else reference = body.value;
  if (!isScalar(reference)) return { state: 'off', note: `${wanted} is no text, number or boolean` };
  if (typeof reference === 'string' && reference.length > REFERENCE_MAX) {
    return { state: 'off', note: `${wanted} is longer than any value of a worker` };
  }
  return { state: 'prefer', key, op: body.op, reference };
}

function isReference(value: JsonValue | Reference): value is Reference {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function referenceText(reference: Reference): string {
  return `${reference.routing ? 'routing_input' : 'input'}("${reference.name}")`;
}

export function constantText(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(shorten(value, 80))
    : shorten(isScalar(value) ? valueText(value) : 'null', 80);
}

/** Share of the weight for a value between the lowest and the highest known one (0.5 where all are equal), 0 to 1. */
export function normalise(value: number, low: number, high: number, least: boolean): number {
  if (high === low) return 0.5;
  const range = high - low;
  // Halved where the difference of two finite doubles is not finite (ruling 7).
  const share = Number.isFinite(range) ? (value - low) / range : (value / 2 - low / 2) / (high / 2 - low / 2);
  return least ? 1 - share : share;
}

/**
 * Makes the cells of one term, candidate by candidate; the only place that says what a term is worth. `value` is what the
 * term's key reads, `gateValue` what the selector of its gate reads; undefined where the candidate has none.
 */
export type CellMaker = (
  name: string,
  metricsAgeMs: number | null,
  value: WorkerValue,
  gateValue: WorkerValue,
) => DecisionCell;

export function cellMaker(context: TermContext, weight: number): CellMaker {
  const make = openCellMaker(context, weight);
  const { gate } = context;
  if (gate === null) return make;
  const aged = isMetric(gate.selector);
  return (name, metricsAgeMs, value, gateValue) => {
    if (scoreCompare(gateValue, gate.op, gate.value)) return make(name, metricsAgeMs, value, gateValue);
    const valueAgeMs = aged && gateValue !== undefined ? metricsAgeMs : null;
    return { state: 'GATED', value: gateValue ?? null, valueAgeMs, normalised: null, weighted: 0 };
  };
}

function openCellMaker(context: TermContext, weight: number): CellMaker {
  if (context.mode === 'off') return () => INACTIVE;
  if (context.mode === 'sticky') {
    const hit: DecisionCell = { state: 'SCORED', value: true, valueAgeMs: null, normalised: 1, weighted: weight };
    return (name) => (name === context.hint ? hit : STICKY_MISS);
  }
  const aged = isMetric(context.key);
  const least = context.mode === 'least';
  // Candidates that read the same value share a cell: among the best there are few different ones.
  let last = MISSING;
  return (_, metricsAgeMs, value) => {
    if (value === undefined) return MISSING;
    const valueAgeMs = aged ? metricsAgeMs : null;
    if (last.value === value && last.valueAgeMs === valueAgeMs) return last;
    let share: number;
    if (context.mode === 'prefer') share = scoreCompare(value, context.op, context.reference) ? 1 : 0;
    else {
      const number = readNumber(value);
      if (number === null) return { state: 'MISSING', value, valueAgeMs, normalised: null, weighted: 0 };
      share = normalise(number, context.low, context.high, least);
    }
    last = { state: 'SCORED', value, valueAgeMs, normalised: share, weighted: share * weight };
    return last;
  };
}

function isMetric(selector: string): boolean {
  return selector.startsWith('metric:');
}

const INACTIVE: DecisionCell = { state: 'INACTIVE', value: null, valueAgeMs: null, normalised: null, weighted: 0 };
const MISSING: DecisionCell = { state: 'MISSING', value: null, valueAgeMs: null, normalised: null, weighted: 0 };
const STICKY_MISS: DecisionCell = { state: 'SCORED', value: false, valueAgeMs: null, normalised: 0, weighted: 0 };
export const WITHHELD: DecisionCell = {
  state: 'WITHHELD',
  value: null,
  valueAgeMs: null,
  normalised: null,
  weighted: null,
};
