import { shorten } from '../../lib/text.ts';
import {
  type BrokenRule,
  checkKeyPrefix,
  checkMetaKey,
  checkPath,
  checkPlainKey,
  checkResourceField,
  checkServiceName,
} from '../rules.ts';
import type {
  ComparisonOperator,
  ComparisonValue,
  Condition,
  DynamicSelector,
  InputReference,
  Selector,
  StaticSelector,
} from '../spec.ts';
import { SERVICE_PREFIX } from '../values.ts';
import type { CallExpression, CompareExpression, Expression } from './expression.ts';
import type { ProblemList, Span } from './problems.ts';

/** Where a comparison stands; the two stages do not allow the same ones. */
export type ReadingStage = 'score' | 'require';

const OPERATORS: Readonly<Record<string, { operator: ComparisonOperator; turned: ComparisonOperator }>> = {
  '==': { operator: '==', turned: '==' },
  '!=': { operator: '!=', turned: '!=' },
  '<': { operator: '<', turned: '>' },
  '<=': { operator: '<=', turned: '>=' },
  '>': { operator: '>', turned: '<' },
  '>=': { operator: '>=', turned: '<=' },
};
const KEYED_SELECTORS = new Set(['label', 'metric', 'meta', 'resource']);
const DYNAMIC_SELECTORS = new Set(['label_for', 'meta_for']);
const COUNTED_SELECTORS = new Set(['load', 'utilization']);
const REFERENCES = new Set(['input', 'routing_input']);

/** Name of the called function, `routing.` and `flux.routing.` left out; null for every other receiver. */
export function calledName(expression: Expression): string | null {
  if (expression.kind !== 'call' || expression.path === null) return null;
  const receiver = expression.path.slice(0, -1).join('.');
  if (receiver !== '' && receiver !== 'routing' && receiver !== 'flux.routing') return null;
  return expression.path.at(-1) ?? null;
}

/** What an expression is, for a message. */
export function describe(expression: Expression): string {
  switch (expression.kind) {
    case 'text':
      return 'a text';
    case 'number':
      return 'a number';
    case 'boolean':
      return expression.value ? 'True' : 'False';
    case 'none':
      return 'None';
    case 'call':
      return expression.path === null ? 'a call' : `${shorten(expression.path.join('.'))}()`;
    case 'compare':
      return 'a comparison';
    case 'map':
      return 'a map';
    case 'list':
      return 'a list';
    case 'broken':
      return 'this';
    case 'other':
      return expression.what;
  }
}

/** Reads what terms of both stages are made of. Every method returns null where it has reported a problem. */
export class PartReader {
  readonly problems: ProblemList;

  constructor(problems: ProblemList) {
    this.problems = problems;
  }

  /** Reports a problem and gives null; says nothing about a part that has its problem already. */
  refuse(expression: Expression | Span, code: string, message: string): null {
    if (!('kind' in expression) || expression.kind !== 'broken') this.problems.error(expression, code, message);
    return null;
  }

  /** Reports a broken rule, if it is one. */
  holds(span: Span, broken: BrokenRule | null): boolean {
    if (broken !== null) this.problems.error(span, broken.code, broken.message);
    return broken === null;
  }

  /** The one place for keyword arguments that a call does not have. */
  allowKeywords(call: CallExpression, allowed: readonly string[]): boolean {
    const seen = new Set<string>();
    let good = true;
    for (const keyword of call.keywords) {
      if (!allowed.includes(keyword.name)) {
        const known = allowed.length === 0 ? 'takes no named arguments' : `takes only ${allowed.join(', ')}`;
        const message = `${shorten(keyword.name)}= is unknown: ${describe(call)} ${known}.`;
        this.problems.error(keyword.nameSpan, 'KEYWORD_UNKNOWN', message);
        good = false;
      } else if (seen.has(keyword.name)) {
        this.problems.error(keyword, 'KEYWORD_REPEATED', `${keyword.name}= is given twice; leave one out.`);
        good = false;
      }
      seen.add(keyword.name);
    }
    return good;
  }

  /** A call's single text argument. */
  readTextArgument(call: CallExpression, wanted: string): { value: string; span: Span } | null {
    const named = this.allowKeywords(call, []);
    const [argument, ...more] = call.positional;
    if (argument === undefined || more.length > 0) {
      return this.refuse(call, 'ARGUMENTS', `${describe(call)} takes exactly one text: ${wanted}.`);
    }
    if (argument.kind !== 'text') {
      const message = `${describe(call)} takes a text in quotes (${wanted}), not ${describe(argument)}.`;
      return this.refuse(argument, 'ARGUMENT_NOT_TEXT', message);
    }
    return named ? { value: argument.value, span: argument } : null;
  }

  isReference(expression: Expression): expression is CallExpression {
    return REFERENCES.has(calledName(expression) ?? '');
  }

  isSelector(expression: Expression): expression is CallExpression {
    const name = calledName(expression) ?? '';
    return KEYED_SELECTORS.has(name) || DYNAMIC_SELECTORS.has(name) || COUNTED_SELECTORS.has(name);
  }

  /** `input("a.b")` or `routing_input("a.b")`. */
  readReference(call: CallExpression): { channel: 'input' | 'routing_input'; path: string } | null {
    const argument = this.readTextArgument(call, 'the path of a field');
    if (argument === null || !this.holds(argument.span, checkPath(argument.value))) return null;
    return { channel: calledName(call) === 'routing_input' ? 'routing_input' : 'input', path: argument.value };
  }

  readSelector(call: CallExpression): Selector | null {
    const name = calledName(call) ?? '';
    return DYNAMIC_SELECTORS.has(name) ? this.#readDynamicSelector(call, name) : this.#readStaticSelector(call, name);
  }

  /** The selector of `least` and `most`: no dynamic keys. */
  readRankedSelector(expression: Expression, term: string): StaticSelector | null {
    if (!this.isSelector(expression)) {
      const wanted = `${term}() takes a selector such as load() or metric("queue_depth")`;
      return this.refuse(expression, 'SELECTOR_MISSING', `${wanted}, not ${describe(expression)}.`);
    }
    const name = calledName(expression) ?? '';
    if (DYNAMIC_SELECTORS.has(name)) {
      const message = `${term}() cannot rank by dynamic keys; use label(), meta(), metric(), resource(), load() or utilization().`;
      return this.refuse(expression, 'SELECTOR_DYNAMIC', message);
    }
    return this.#readStaticSelector(expression, name);
  }

  /** `service("name")` or `service(input("path"))`: the selector that stands for it. */
  readService(call: CallExpression): Selector | null {
    const named = this.allowKeywords(call, []);
    const [argument, ...more] = call.positional;
    if (argument === undefined || more.length > 0) {
      return this.refuse(call, 'ARGUMENTS', 'service() takes exactly one service name or input().');
    }
    if (this.isReference(argument)) {
      const reference = this.readReference(argument);
      return reference === null || !named ? null : dynamicSelector('label', SERVICE_PREFIX, reference);
    }
    if (argument.kind !== 'text') {
      const message = `service() takes a service name in quotes or input(), not ${describe(argument)}.`;
      return this.refuse(argument, 'SERVICE_INVALID', message);
    }
    const good = this.holds(argument, checkServiceName(argument.value));
    return good && named ? `label:${SERVICE_PREFIX}${argument.value}` : null;
  }

  /** `selector OP value`, turned round where the value stands first. */
  readComparison(
    compare: CompareExpression,
    stage: ReadingStage,
  ): { selector: Selector; op: ComparisonOperator; value: ComparisonValue } | null {
    const { left, right } = compare;
    const turned = !this.isSelector(left);
    const [selectorSide, valueSide] = turned ? [right, left] : [left, right];
    if (!this.isSelector(selectorSide)) return this.#refuseWithoutSelector(compare, stage);
    const name = calledName(selectorSide) ?? '';
    let good = true;
    if (stage === 'require' && !/^(?:label|meta)(?:_for)?$/.test(name)) {
      const message = `require() compares labels or metadata (label, label_for, meta, meta_for), not ${name}().`;
      this.refuse(selectorSide, 'SELECTOR_NOT_ALLOWED', message);
      good = false;
    }
    const op = this.#readOperator(compare, turned);
    if (stage === 'require' && name.startsWith('label') && op !== null && op !== '==' && op !== '!=') {
      const message =
        'In require(), labels compare with == and != only, because a label is a text; meta() can be ordered.';
      this.refuse(compare.operatorSpan, 'OPERATOR_NOT_ALLOWED', message);
      good = false;
    }
    const selector = this.readSelector(selectorSide);
    const value = this.#readValue(valueSide);
    return good && selector !== null && op !== null && value !== null ? { selector, op, value } : null;
  }

  /** The condition of `when(...)`. */
  readCondition(expression: Expression, stage: ReadingStage): Condition | null {
    const allowed = stage === 'score' ? 'meta(), metric(), load() or utilization()' : 'meta() or metric()';
    const wanted = `input(), routing_input(), ${allowed} with a constant`;
    if (expression.kind !== 'compare') {
      const message = `when() takes a comparison of ${wanted}, not ${describe(expression)}.`;
      return this.refuse(expression, 'CONDITION_INVALID', message);
    }
    const turned = !this.isReference(expression.left) && !this.isSelector(expression.left);
    const [subject, other] = turned ? [expression.right, expression.left] : [expression.left, expression.right];
    const op = this.#readOperator(expression, turned);
    if (this.isReference(subject)) return this.#readInputCondition(subject, op, other, expression.operatorSpan);
    const name = calledName(subject) ?? '';
    const names = stage === 'score' ? ['meta', 'metric', 'load', 'utilization'] : ['meta', 'metric'];
    if (!this.isSelector(subject) || !names.includes(name)) {
      const scoreOnly = COUNTED_SELECTORS.has(name);
      const why = scoreOnly ? `, and ${name}() holds back score terms only` : '';
      return this.refuse(subject, 'CONDITION_INVALID', `This is not valid when(): compare ${wanted}${why}.`);
    }
    const selector = this.#readStaticSelector(subject, name);
    const value = this.#readConstant(other, false);
    if (selector === null || op === null || value === null || value.constant === null) return null;
    return { selector, op, value: value.constant };
  }

  #readInputCondition(
    subject: CallExpression,
    op: ComparisonOperator | null,
    other: Expression,
    operatorSpan: Span,
  ): Condition | null {
    const reference = this.readReference(subject);
    const value = this.#readConstant(other, true);
    if (op !== null && op !== '==' && op !== '!=') {
      const message = `${calledName(subject) ?? 'input'}() in when() compares with == and != only.`;
      return this.refuse(operatorSpan, 'OPERATOR_NOT_ALLOWED', message);
    }
    if (reference === null || op === null || value === null) return null;
    return reference.channel === 'input'
      ? { input: reference.path, op, value: value.constant }
      : { routing_input: reference.path, op, value: value.constant };
  }

  #readStaticSelector(call: CallExpression, name: string): StaticSelector | null {
    if (COUNTED_SELECTORS.has(name)) {
      const named = this.allowKeywords(call, []);
      if (call.positional.length > 0) return this.refuse(call, 'ARGUMENTS', `${name}() takes no arguments.`);
      return named ? name : null;
    }
    const argument = this.readTextArgument(call, name === 'resource' ? 'the name of a field' : 'the key');
    if (argument === null) return null;
    const { value, span } = argument;
    const broken =
      name === 'meta'
        ? checkMetaKey(value)
        : name === 'resource'
          ? checkResourceField(value)
          : checkPlainKey(name === 'metric' ? 'metric' : 'label', value);
    return this.holds(span, broken) ? `${name}:${value}` : null;
  }

  #readDynamicSelector(call: CallExpression, name: string): DynamicSelector | null {
    const kind = name === 'meta_for' ? 'meta' : 'label';
    const named = this.allowKeywords(call, []);
    const [prefix, reference, ...more] = call.positional;
    if (prefix === undefined || reference === undefined || more.length > 0) {
      const message = `${name}() takes a prefix and an input, e.g. ${name}("cache.", input("dataset")).`;
      return this.refuse(call, 'ARGUMENTS', message);
    }
    let good = named;
    if (prefix.kind !== 'text') {
      this.refuse(prefix, 'ARGUMENT_NOT_TEXT', `The prefix of ${name}() is a text in quotes, not ${describe(prefix)}.`);
      good = false;
    } else if (!this.holds(prefix, checkKeyPrefix(kind, prefix.value))) good = false;
    if (!this.isReference(reference)) {
      const message = `The key of ${name}() is completed by input() or routing_input(), not by ${describe(reference)}.`;
      return this.refuse(reference, 'REFERENCE_MISSING', message);
    }
    const found = this.readReference(reference);
    return found !== null && good && prefix.kind === 'text' ? dynamicSelector(kind, prefix.value, found) : null;
  }

  #readOperator(compare: CompareExpression, turned: boolean): ComparisonOperator | null {
    const known = Object.hasOwn(OPERATORS, compare.operator) ? OPERATORS[compare.operator] : undefined;
    if (known === undefined) {
      return this.refuse(compare.operatorSpan, 'OPERATOR_UNKNOWN', 'Compare with ==, !=, <, <=, > or >=.');
    }
    return turned ? known.turned : known.operator;
  }

  #readValue(expression: Expression): ComparisonValue | null {
    if (this.isReference(expression)) {
      const reference = this.readReference(expression);
      return reference === null ? null : inputReference(reference);
    }
    if (this.isSelector(expression)) {
      const message =
        'Two selectors cannot be compared with each other; compare with a constant, input() or routing_input().';
      return this.refuse(expression, 'VALUE_INVALID', message);
    }
    if (expression.kind === 'text' || expression.kind === 'number' || expression.kind === 'boolean') {
      return expression.value;
    }
    const message = `Compare with a text, a number, True, False, input() or routing_input(), not with ${describe(expression)}.`;
    return this.refuse(expression, 'VALUE_INVALID', message);
  }

  #readConstant(expression: Expression, noneAllowed: boolean): { constant: string | number | boolean | null } | null {
    if (expression.kind === 'text' || expression.kind === 'number' || expression.kind === 'boolean') {
      return { constant: expression.value };
    }
    if (expression.kind === 'none' && noneAllowed) return { constant: null };
    const constants = noneAllowed ? 'a text, a number, True, False or None' : 'a text, a number, True or False';
    const message = `In when(), compare against a constant (${constants}), not ${describe(expression)}.`;
    return this.refuse(expression, 'CONDITION_INVALID', message);
  }

  #refuseWithoutSelector(compare: CompareExpression, stage: ReadingStage): null {
    if (compare.left.kind === 'broken' || compare.right.kind === 'broken') return null;
    const selectors =
      stage === 'score'
        ? 'label(), metric(), meta(), resource(), load(), utilization(), label_for() or meta_for()'
        : 'label(), label_for(), meta() or meta_for()';
    const service = [compare.left, compare.right].some((side) => calledName(side) === 'service');
    const hint = service ? ' service() stands alone, without a comparison.' : '';
    return this.refuse(compare, 'SELECTOR_MISSING', `One side must be a selector: ${selectors}.${hint}`);
  }
}

function inputReference(reference: { channel: 'input' | 'routing_input'; path: string }): InputReference {
  return reference.channel === 'input' ? { $input: reference.path } : { $routing_input: reference.path };
}

function dynamicSelector(
  kind: 'label' | 'meta',
  prefix: string,
  reference: { channel: 'input' | 'routing_input'; path: string },
): DynamicSelector {
  return reference.channel === 'input'
    ? { kind, prefix, input: reference.path }
    : { kind, prefix, routing_input: reference.path };
}
