import type { Issue } from '../lib/errors.ts';
import {
  type BrokenRule,
  MAX_TERMS,
  checkKeyPrefix,
  checkMetaKey,
  checkPath,
  checkPlainKey,
  checkResourceField,
  checkText,
  checkWeight,
} from './rules.ts';
import type {
  ComparisonOperator,
  ComparisonValue,
  Condition,
  DynamicSelector,
  MatchTerm,
  PlainScoreTerm,
  RequireTerm,
  ScoreTerm,
  Selector,
} from './spec.ts';
import { isComparisonOperator, isRecord, own } from './values.ts';

const MAX_ISSUES = 100;

/** Checks the parts of a compiled policy or affinity. Every method gives the checked part, or null where it has added an issue. */
export class TermChecker {
  readonly issues: Issue[] = [];
  readonly #stage: 'score' | 'require';

  constructor(stage: 'score' | 'require') {
    this.#stage = stage;
  }

  add(path: string, code: string, message: string): null {
    if (this.issues.length < MAX_ISSUES) this.issues.push({ path, code, message });
    return null;
  }

  list<Term>(value: unknown, path: string, read: (term: unknown, path: string) => Term | null): Term[] | null {
    if (!Array.isArray(value) || value.length === 0) {
      return this.add(path, 'TERMS_MISSING', 'A list of at least one term is needed.');
    }
    if (value.length > MAX_TERMS) this.add(path, 'TOO_MANY_TERMS', `At most ${MAX_TERMS} terms are allowed.`);
    const terms: Term[] = [];
    for (const [index, item] of value.slice(0, MAX_TERMS).entries()) {
      const term = read(item, join(path, String(index)));
      if (term !== null) terms.push(term);
    }
    return terms.length === value.length ? terms : null;
  }

  scoreTerm(value: unknown, path: string): ScoreTerm | null {
    const when = this.#when(value, path);
    if (when === undefined) return this.#plainScoreTerm(value, path);
    if (when === null) return null;
    const condition = this.#condition(when.condition, join(path, 'if'));
    const then = this.#plainScoreTerm(when.inner, join(path, 'then'));
    return condition === null || then === null ? null : { kind: 'when', if: condition, then };
  }

  #plainScoreTerm(value: unknown, path: string): PlainScoreTerm | null {
    const kind = isRecord(value) ? own(value, 'kind') : undefined;
    if (kind === 'sticky') {
      const record = this.record(value, path, '', ['kind', 'weight']);
      const weight = record === null ? null : this.#weight(own(record, 'weight'), join(path, 'weight'));
      return weight === null ? null : { kind, weight };
    }
    if (kind === 'least' || kind === 'most') {
      const record = this.record(value, path, '', ['kind', 'selector', 'weight']);
      if (record === null) return null;
      const selector = this.#selector(own(record, 'selector'), join(path, 'selector'));
      const weight = this.#weight(own(record, 'weight'), join(path, 'weight'));
      if (selector === null || weight === null) return null;
      if (typeof selector === 'string') return { kind, selector, weight };
      return this.add(join(path, 'selector'), 'SELECTOR_DYNAMIC', `${kind} cannot rank by dynamic keys.`);
    }
    if (kind === 'prefer') {
      const record = this.record(value, path, '', ['kind', 'selector', 'op', 'value', 'weight']);
      if (record === null) return null;
      const comparison = this.#comparison(record, path);
      const weight = this.#weight(own(record, 'weight'), join(path, 'weight'));
      return comparison === null || weight === null ? null : { kind, ...comparison, weight };
    }
    return this.add(path, 'UNKNOWN_TERM', 'A score term has kind prefer, least, most, sticky or (not nested) when.');
  }

  requireTerm(value: unknown, path: string): RequireTerm | null {
    const when = this.#when(value, path);
    if (when === undefined) return this.#matchTerm(value, path, ['kind', 'selector', 'op', 'value', 'optional']);
    if (when === null) return null;
    const condition = this.#condition(when.condition, join(path, 'if'));
    const then = this.#matchTerm(when.inner, join(path, 'then'), ['kind', 'selector', 'op', 'value']);
    return condition === null || then === null ? null : { kind: 'when', if: condition, then };
  }

  #matchTerm(value: unknown, path: string, fields: readonly string[]): MatchTerm | null {
    if (!isRecord(value) || own(value, 'kind') !== 'match') {
      return this.add(path, 'UNKNOWN_TERM', 'A require term has kind match or (not nested) when.');
    }
    const record = this.record(value, path, '', fields);
    if (record === null) return null;
    const optional = own(record, 'optional');
    if (optional !== undefined && optional !== true) {
      this.add(join(path, 'optional'), 'OPTIONAL_INVALID', 'optional is true or left out.');
    }
    const comparison = this.#comparison(record, path);
    if (comparison === null) return null;
    return optional === true ? { kind: 'match', ...comparison, optional } : { kind: 'match', ...comparison };
  }

  /** The two parts of a `when`; undefined where the value is none. */
  #when(value: unknown, path: string): { condition: unknown; inner: unknown } | null | undefined {
    if (!isRecord(value) || own(value, 'kind') !== 'when') return undefined;
    const record = this.record(value, path, '', ['kind', 'if', 'then']);
    return record === null ? null : { condition: own(record, 'if'), inner: own(record, 'then') };
  }

  #comparison(
    record: Record<string, unknown>,
    path: string,
  ): { selector: Selector; op: ComparisonOperator; value: ComparisonValue } | null {
    const selector = this.#selector(own(record, 'selector'), join(path, 'selector'));
    const op = this.#operator(own(record, 'op'), join(path, 'op'));
    const value = this.#value(own(record, 'value'), join(path, 'value'));
    if (selector === null || op === null || value === null) return null;
    if (this.#stage === 'require') {
      const kind = typeof selector === 'string' ? selector.split(':', 1)[0] : selector.kind;
      if (kind !== 'label' && kind !== 'meta') {
        return this.add(join(path, 'selector'), 'SELECTOR_NOT_ALLOWED', 'require compares labels or metadata.');
      }
      if (kind === 'label' && op !== '==' && op !== '!=') {
        return this.add(join(path, 'op'), 'OPERATOR_NOT_ALLOWED', 'In require, labels compare with == and != only.');
      }
    }
    return { selector, op, value };
  }

  #condition(value: unknown, path: string): Condition | null {
    if (isRecord(value) && Object.hasOwn(value, 'selector')) return this.#workerCondition(value, path);
    const channel = isRecord(value) && Object.hasOwn(value, 'routing_input') ? 'routing_input' : 'input';
    const record = this.record(value, path, 'A condition is an object', [channel, 'op', 'value']);
    if (record === null) return null;
    const reference = this.#path(own(record, channel), join(path, channel));
    const op = this.#operator(own(record, 'op'), join(path, 'op'));
    const constant = own(record, 'value');
    const compared = constant === null ? { value: null } : this.#constant(constant, join(path, 'value'));
    if (op !== null && op !== '==' && op !== '!=') {
      return this.add(join(path, 'op'), 'OPERATOR_NOT_ALLOWED', 'An input in when compares with == and != only.');
    }
    if (reference === null || op === null || compared === null) return null;
    return channel === 'input'
      ? { input: reference, op, value: compared.value }
      : { routing_input: reference, op, value: compared.value };
  }

  #workerCondition(value: unknown, path: string): Condition | null {
    const record = this.record(value, path, '', ['selector', 'op', 'value']);
    if (record === null) return null;
    const selector = this.#selector(own(record, 'selector'), join(path, 'selector'));
    const op = this.#operator(own(record, 'op'), join(path, 'op'));
    const constant = this.#constant(own(record, 'value'), join(path, 'value'));
    if (selector === null || op === null || constant === null) return null;
    const allowed = this.#stage === 'score' ? /^(?:meta:|metric:|load$|utilization$)/ : /^(?:meta:|metric:)/;
    if (typeof selector === 'string' && allowed.test(selector)) return { selector, op, value: constant.value };
    const names = this.#stage === 'score' ? 'meta, metric, load or utilization' : 'meta or metric';
    return this.add(join(path, 'selector'), 'CONDITION_INVALID', `A condition on worker state reads ${names}.`);
  }

  #selector(value: unknown, path: string): Selector | null {
    if (value === 'load' || value === 'utilization') return value;
    if (isRecord(value)) return this.#dynamicSelector(value, path);
    const colon = typeof value === 'string' ? value.indexOf(':') : -1;
    if (typeof value !== 'string' || colon === -1) return this.add(path, 'SELECTOR_MISSING', SELECTOR_FORMS);
    const kind = value.slice(0, colon);
    const key = value.slice(colon + 1);
    let broken: BrokenRule | null = { code: 'SELECTOR_MISSING', message: SELECTOR_FORMS };
    if (kind === 'label' || kind === 'metric') broken = checkPlainKey(kind, key);
    else if (kind === 'meta') broken = checkMetaKey(key);
    else if (kind === 'resource') broken = checkResourceField(key);
    return this.keeps(path, broken) ? value : null;
  }

  #dynamicSelector(value: Record<string, unknown>, path: string): DynamicSelector | null {
    const channel = Object.hasOwn(value, 'routing_input') ? 'routing_input' : 'input';
    const record = this.record(value, path, '', ['kind', 'prefix', channel]);
    if (record === null) return null;
    const kind = own(record, 'kind');
    const prefix = own(record, 'prefix');
    const reference = this.#path(own(record, channel), join(path, channel));
    if ((kind !== 'label' && kind !== 'meta') || typeof prefix !== 'string') {
      return this.add(path, 'SELECTOR_MISSING', 'A dynamic key has kind label or meta, and a prefix.');
    }
    if (!this.keeps(join(path, 'prefix'), checkKeyPrefix(kind, prefix)) || reference === null) return null;
    return channel === 'input' ? { kind, prefix, input: reference } : { kind, prefix, routing_input: reference };
  }

  #value(value: unknown, path: string): ComparisonValue | null {
    if (!isRecord(value)) return this.#constant(value, path)?.value ?? null;
    const channel = Object.hasOwn(value, '$routing_input') ? '$routing_input' : '$input';
    const record = this.record(value, path, '', [channel]);
    const reference = record === null ? null : this.#path(own(record, channel), join(path, channel));
    if (reference === null) return null;
    return channel === '$input' ? { $input: reference } : { $routing_input: reference };
  }

  #constant(value: unknown, path: string): { value: string | number | boolean } | null {
    if (typeof value === 'boolean') return { value };
    if (typeof value === 'string') return this.keeps(path, checkText(value)) ? { value } : null;
    if (typeof value === 'number' && Number.isFinite(value)) return { value: withoutSignedZero(value) };
    return this.add(path, 'VALUE_INVALID', 'Compare with a text, a finite number, true or false.');
  }

  #operator(value: unknown, path: string): ComparisonOperator | null {
    if (isComparisonOperator(value)) return value;
    return this.add(path, 'OPERATOR_UNKNOWN', 'Compare with ==, !=, <, <=, > or >=.');
  }

  #path(value: unknown, path: string): string | null {
    if (typeof value !== 'string') return this.add(path, 'PATH_EMPTY', 'A path is a text that names a field.');
    return this.keeps(path, checkPath(value)) ? value : null;
  }

  #weight(value: unknown, path: string): number | null {
    if (typeof value !== 'number') return this.add(path, 'WEIGHT_INVALID', 'The weight must be a number above 0.');
    return this.keeps(path, checkWeight(value)) ? value : null;
  }

  /** An object with no other fields than these. */
  record(value: unknown, path: string, what: string, fields: readonly string[]): Record<string, unknown> | null {
    if (!isRecord(value))
      return this.add(path, 'NOT_AN_OBJECT', `${what || 'This is an object'}: ${fields.join(', ')}.`);
    for (const key of Object.keys(value)) {
      if (!fields.includes(key)) {
        this.add(join(path, key), 'FIELD_UNKNOWN', `This field is unknown; known are ${fields.join(', ')}.`);
      }
    }
    return value;
  }

  keeps(path: string, broken: BrokenRule | null): boolean {
    if (broken !== null) this.add(path, broken.code, broken.message);
    return broken === null;
  }
}

const SELECTOR_FORMS =
  'A selector is label:<key>, metric:<key>, meta:<key>, resource:<field>, load, utilization, or a dynamic key.';

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

/** JSON has no negative zero. */
export function withoutSignedZero(value: number): number {
  return value === 0 ? 0 : value;
}
