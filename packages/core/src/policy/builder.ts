import { type Issue, MusterError } from '../lib/errors.ts';
import { checkSpec } from './check-spec.ts';
import type { StageSpecs } from './parse/parse.ts';
import { checkServiceName } from './rules.ts';
import type {
  AffinitySpec,
  ComparisonOperator,
  InputCondition,
  InputReference,
  MatchTerm,
  PlainScoreTerm,
  PolicySpec,
  PolicyStage,
  RequestsSpec,
  RequireTerm,
  ScoreTerm,
  Selector,
  StaticSelector,
  WorkerCondition,
} from './spec.ts';
import { SERVICE_PREFIX } from './values.ts';

/**
 * The policy language in TypeScript: `score(prefer(label('region').eq(input('region')), { weight: 10 }), least(load()))`
 * gives the same spec as the text. What is wrong is thrown as a MusterError POLICY_INVALID by `score`, `require` and
 * `resourceRequest`, all issues at once.
 */

/** What can stand on the other side of a comparison. */
export type Comparable = string | number | boolean | ValueReference;

/** `selector OP value`, for `prefer`, `require`, `optional` and, where the value is a constant, `when`. */
export class Comparison {
  readonly selector: Selector;
  readonly op: ComparisonOperator;
  readonly value: string | number | boolean | InputReference;

  constructor(selector: Selector, op: ComparisonOperator, value: Comparable) {
    this.selector = selector;
    this.op = op;
    this.value = value instanceof ValueReference ? value.reference : value;
  }
}

/** An input compared with a constant, for `when`. */
export class InputComparison {
  readonly condition: InputCondition;

  constructor(condition: InputCondition) {
    this.condition = condition;
  }
}

/** `input(...)` or `routingInput(...)`. */
export class ValueReference {
  readonly reference: InputReference;

  constructor(reference: InputReference) {
    this.reference = reference;
  }

  eq(value: string | number | boolean | null): InputComparison {
    return this.#compare('==', value);
  }

  ne(value: string | number | boolean | null): InputComparison {
    return this.#compare('!=', value);
  }

  #compare(op: '==' | '!=', value: string | number | boolean | null): InputComparison {
    const reference = this.reference;
    return new InputComparison(
      '$input' in reference
        ? { input: reference.$input, op, value }
        : { routing_input: reference.$routing_input, op, value },
    );
  }
}

/** Something read from a worker. `least` and `most` take those with a fixed key only. */
export class SelectorBuilder<Read extends Selector = Selector> {
  readonly selector: Read;

  constructor(selector: Read) {
    this.selector = selector;
  }

  eq(value: Comparable): Comparison {
    return new Comparison(this.selector, '==', value);
  }

  ne(value: Comparable): Comparison {
    return new Comparison(this.selector, '!=', value);
  }

  lt(value: Comparable): Comparison {
    return new Comparison(this.selector, '<', value);
  }

  le(value: Comparable): Comparison {
    return new Comparison(this.selector, '<=', value);
  }

  gt(value: Comparable): Comparison {
    return new Comparison(this.selector, '>', value);
  }

  ge(value: Comparable): Comparison {
    return new Comparison(this.selector, '>=', value);
  }
}

/** A finished term of `score`. */
export class ScoreTermBuilder {
  readonly term: ScoreTerm;

  constructor(term: ScoreTerm) {
    this.term = term;
  }
}

/** A finished term of `require`. */
export class RequireTermBuilder {
  readonly term: RequireTerm;

  constructor(term: RequireTerm) {
    this.term = term;
  }
}

/** Weight of a term: above 0, at most 1e12, 1 where it is left out. */
export interface TermOptions {
  weight?: number;
}

/** A value of the execution's input, by path: `input('customer.tier')`. */
export function input(path: string): ValueReference {
  return new ValueReference({ $input: path });
}

/** A value of the execution's routing input, which no worker ever sees. */
export function routingInput(path: string): ValueReference {
  return new ValueReference({ $routing_input: path });
}

export function label(key: string): SelectorBuilder<StaticSelector> {
  return new SelectorBuilder(`label:${key}`);
}

export function metric(key: string): SelectorBuilder<StaticSelector> {
  return new SelectorBuilder(`metric:${key}`);
}

export function meta(key: string): SelectorBuilder<StaticSelector> {
  return new SelectorBuilder(`meta:${key}`);
}

export function resource(field: string): SelectorBuilder<StaticSelector> {
  return new SelectorBuilder(`resource:${field}`);
}

/** Executions on the worker. */
export function load(): SelectorBuilder<StaticSelector> {
  return new SelectorBuilder('load');
}

/** Load ÷ capacity; a worker without a capacity has none. */
export function utilization(): SelectorBuilder<StaticSelector> {
  return new SelectorBuilder('utilization');
}

/** A label whose key an input completes: `labelFor('cache.', input('dataset'))`. */
export function labelFor(prefix: string, reference: ValueReference): SelectorBuilder {
  return new SelectorBuilder(dynamicSelector('label', prefix, reference, 'labelFor'));
}

/** Metadata whose key an input completes. */
export function metaFor(prefix: string, reference: ValueReference): SelectorBuilder {
  return new SelectorBuilder(dynamicSelector('meta', prefix, reference, 'metaFor'));
}

/** Holds where the worker was granted the service. */
export function service(name: string | ValueReference): Comparison {
  if (name instanceof ValueReference) {
    return new Comparison(dynamicSelector('label', SERVICE_PREFIX, name, 'service'), '==', 'true');
  }
  const broken = typeof name === 'string' ? checkServiceName(name) : SERVICE_ARGUMENT;
  if (broken !== null) throw invalid([{ path: 'service', ...broken }]);
  return new Comparison(`label:${SERVICE_PREFIX}${name}`, '==', 'true');
}

/** Gives its weight to workers for which the comparison holds. */
export function prefer(comparison: Comparison, options: TermOptions = {}): ScoreTermBuilder {
  const { selector, op, value } = expect(comparison, Comparison, 'prefer() takes a comparison or service().');
  return new ScoreTermBuilder({ kind: 'prefer', selector, op, value, weight: weightOf(options) });
}

/** Prefers the lowest value. */
export function least(selector: SelectorBuilder<StaticSelector>, options: TermOptions = {}): ScoreTermBuilder {
  return extreme('least', selector, options);
}

/** Prefers the highest value. */
export function most(selector: SelectorBuilder<StaticSelector>, options: TermOptions = {}): ScoreTermBuilder {
  return extreme('most', selector, options);
}

/** Prefers the hinted worker. */
export function sticky(options: TermOptions = {}): ScoreTermBuilder {
  return new ScoreTermBuilder({ kind: 'sticky', weight: weightOf(options) });
}

/** Applies a term only where the condition holds. */
export function when(condition: InputComparison | Comparison, term: ScoreTermBuilder): ScoreTermBuilder;
export function when(condition: InputComparison | Comparison, term: Comparison): RequireTermBuilder;
export function when(
  condition: InputComparison | Comparison,
  term: ScoreTermBuilder | Comparison,
): ScoreTermBuilder | RequireTermBuilder {
  const found = conditionOf(condition);
  if (term instanceof Comparison) return new RequireTermBuilder({ kind: 'when', if: found, then: matchOf(term) });
  const inner = expect(term, ScoreTermBuilder, 'when() takes a condition and a term.').term;
  if (!isPlain(inner)) throw invalid([{ path: 'when', code: 'UNKNOWN_TERM', message: 'when() cannot be nested.' }]);
  return new ScoreTermBuilder({ kind: 'when', if: found, then: inner });
}

/** A requirement that is waived where its input is absent. */
export function optional(comparison: Comparison): RequireTermBuilder {
  const match = matchOf(expect(comparison, Comparison, 'optional() takes a comparison or service().'));
  return new RequireTermBuilder({ ...match, optional: true });
}

/** The routing policy: ranks eligible workers. */
export function score(...terms: ScoreTermBuilder[]): PolicySpec {
  const message = 'score() accepts only prefer(), least(), most(), sticky() and when() around one of them.';
  return checked({ terms: terms.map((term) => expect(term, ScoreTermBuilder, message).term) }, 'ROUTING');
}

/** The affinity: filters workers. All terms must hold. */
export function require(...terms: (Comparison | RequireTermBuilder)[]): AffinitySpec {
  const message = 'require() accepts only comparisons of labels or metadata, service(), optional() and when().';
  const specs = terms.map((term) =>
    term instanceof Comparison ? matchOf(term) : expect(term, RequireTermBuilder, message).term,
  );
  return checked(specs, 'AFFINITY');
}

/** What the worker must have to offer: cores, bytes (or `8Gi`), GPUs, packages. */
export function resourceRequest(requests: RequestsSpec): RequestsSpec {
  return checked(requests, 'REQUESTS');
}

function extreme(
  kind: 'least' | 'most',
  builder: SelectorBuilder<StaticSelector>,
  options: TermOptions,
): ScoreTermBuilder {
  const { selector } = expect(builder, SelectorBuilder, `${kind}() takes a selector such as load().`);
  return new ScoreTermBuilder({ kind, selector, weight: weightOf(options) });
}

function matchOf(comparison: Comparison): MatchTerm {
  const { selector, op, value } = comparison;
  return { kind: 'match', selector, op, value };
}

function conditionOf(condition: InputComparison | Comparison): InputCondition | WorkerCondition {
  if (condition instanceof InputComparison) return condition.condition;
  const message = 'when() takes a comparison of input(), routingInput(), meta(), metric(), load() or utilization().';
  const { selector, op, value } = expect(condition, Comparison, message);
  if (typeof selector !== 'string') throw invalid([{ path: 'when', code: 'CONDITION_INVALID', message }]);
  if (typeof value === 'object') {
    throw invalid([{ path: 'when', code: 'CONDITION_INVALID', message: 'In when(), compare against a constant.' }]);
  }
  return { selector, op, value };
}

function isPlain(term: ScoreTerm): term is PlainScoreTerm {
  return term.kind !== 'when';
}

function dynamicSelector(kind: 'label' | 'meta', prefix: string, builder: ValueReference, call: string): Selector {
  const message = `${call}() is completed by input() or routingInput().`;
  const { reference } = expect(builder, ValueReference, message);
  return '$input' in reference
    ? { kind, prefix, input: reference.$input }
    : { kind, prefix, routing_input: reference.$routing_input };
}

/** Whatever stands there as the weight is checked with the whole. */
function weightOf(options: TermOptions): number {
  return options.weight ?? 1;
}

/** JavaScript callers can pass anything: the types alone do not hold. */
function expect<Wanted>(value: unknown, wanted: abstract new (...args: never[]) => Wanted, message: string): Wanted {
  if (value instanceof wanted) return value;
  throw invalid([{ path: '', code: 'ARGUMENTS', message }]);
}

function checked<Stage extends PolicyStage>(spec: unknown, stage: Stage): StageSpecs[Stage] {
  const result = checkSpec(spec, stage);
  if (result.ok) return result.spec;
  throw invalid(result.issues);
}

function invalid(issues: readonly Issue[]): MusterError {
  const text = issues.map((issue) => (issue.path === '' ? issue.message : `${issue.path}: ${issue.message}`)).join(' ');
  return new MusterError('POLICY_INVALID', text, { issues });
}

const SERVICE_ARGUMENT = { code: 'SERVICE_INVALID', message: 'service() takes a service name or input().' };
