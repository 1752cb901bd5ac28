import { MAX_TERMS, checkWeight } from '../rules.ts';
import type { PlainScoreTerm, PolicySpec, ScoreTerm } from '../spec.ts';
import type { CallExpression, Expression } from './expression.ts';
import type { ProblemList } from './problems.ts';
import { PartReader, calledName, describe } from './read-parts.ts';

const TERMS = 'prefer(), least(), most(), sticky() or when()';

/** Reads `score(...)`; null where it is not one, with the problems in the list. */
export function readScore(expression: Expression, problems: ProblemList): PolicySpec | null {
  const reader = new ScoreReader(problems);
  return reader.readPolicy(expression);
}

class ScoreReader extends PartReader {
  readPolicy(expression: Expression): PolicySpec | null {
    if (expression.kind !== 'call' || calledName(expression) !== 'score') {
      const hint = calledName(expression) === 'require' ? ' require(...) belongs to the affinity.' : '';
      const message = `A routing policy is score(...) with ${TERMS} inside, not ${describe(expression)}.${hint}`;
      return this.refuse(expression, 'NOT_A_POLICY', message);
    }
    const named = this.allowKeywords(expression, []);
    if (expression.positional.length === 0) {
      return this.refuse(expression, 'TERMS_MISSING', `score() needs at least one term: ${TERMS}.`);
    }
    const surplus = expression.positional[MAX_TERMS];
    if (surplus !== undefined) {
      this.problems.error(surplus, 'TOO_MANY_TERMS', `score() takes at most ${MAX_TERMS} terms.`);
    }
    const terms: ScoreTerm[] = [];
    for (const argument of expression.positional) {
      const term = this.#readTerm(argument);
      if (term !== null) terms.push(term);
    }
    return named && terms.length === expression.positional.length ? { terms } : null;
  }

  #readTerm(expression: Expression): ScoreTerm | null {
    if (expression.kind !== 'call' || calledName(expression) !== 'when') return this.#readPlainTerm(expression, TERMS);
    const named = this.allowKeywords(expression, []);
    const [condition, inner, ...more] = expression.positional;
    if (condition === undefined || inner === undefined || more.length > 0) {
      const message = 'when() takes a condition and one term, e.g. when(load() < 5, sticky()).';
      return this.refuse(expression, 'ARGUMENTS', message);
    }
    const found = this.readCondition(condition, 'score');
    const term = this.#readPlainTerm(inner, 'prefer(), least(), most() or sticky()');
    return named && found !== null && term !== null ? { kind: 'when', if: found, then: term } : null;
  }

  #readPlainTerm(expression: Expression, wanted: string): PlainScoreTerm | null {
    const name = calledName(expression);
    if (expression.kind === 'call') {
      if (name === 'prefer') return this.#readPrefer(expression);
      if (name === 'least' || name === 'most') return this.#readExtreme(expression, name);
      if (name === 'sticky') return this.#readSticky(expression);
    }
    const asCondition = expression.kind === 'compare' || name === 'service';
    const hint = asCondition ? ' Wrap it: prefer(…).' : name === 'when' ? ' when() cannot be nested.' : '';
    return this.refuse(expression, 'UNKNOWN_TERM', `Expected ${wanted}, not ${describe(expression)}.${hint}`);
  }

  #readPrefer(call: CallExpression): PlainScoreTerm | null {
    const weight = this.#readWeight(call);
    const [argument, ...more] = call.positional;
    if (argument === undefined || more.length > 0) {
      const message = 'prefer() takes one comparison or service(), and weight=.';
      return this.refuse(call, 'ARGUMENTS', message);
    }
    if (argument.kind === 'compare') {
      const found = this.readComparison(argument, 'score');
      return found === null || weight === null ? null : { kind: 'prefer', ...found, weight };
    }
    if (argument.kind === 'call' && calledName(argument) === 'service') {
      const selector = this.readService(argument);
      return selector === null || weight === null
        ? null
        : { kind: 'prefer', selector, op: '==', value: 'true', weight };
    }
    const message = `prefer() takes a comparison such as label("region") == "eu", or service(), not ${describe(argument)}.`;
    return this.refuse(argument, 'COMPARISON_MISSING', message);
  }

  #readExtreme(call: CallExpression, kind: 'least' | 'most'): PlainScoreTerm | null {
    const weight = this.#readWeight(call);
    const [argument, ...more] = call.positional;
    if (argument === undefined || more.length > 0) {
      return this.refuse(call, 'ARGUMENTS', `${kind}() takes one selector, and weight=.`);
    }
    const selector = this.readRankedSelector(argument, kind);
    return selector === null || weight === null ? null : { kind, selector, weight };
  }

  #readSticky(call: CallExpression): PlainScoreTerm | null {
    const weight = this.#readWeight(call);
    if (call.positional.length > 0) {
      return this.refuse(call, 'ARGUMENTS', 'sticky() takes only weight=.');
    }
    return weight === null ? null : { kind: 'sticky', weight };
  }

  /** The weight as written, 1 where none is; null where it is not a plain number above 0. */
  #readWeight(call: CallExpression): number | null {
    const named = this.allowKeywords(call, ['weight']);
    const given = call.keywords.find((keyword) => keyword.name === 'weight');
    if (given === undefined) return named ? 1 : null;
    const { value } = given;
    if (value.kind !== 'number') {
      const message = `The weight must be a number literal above 0, not ${describe(value)}.`;
      return this.refuse(value, 'WEIGHT_INVALID', message);
    }
    if (value.signed && value.value > 0) {
      return this.refuse(value, 'WEIGHT_INVALID', 'The weight is written without a sign.');
    }
    return this.holds(value, checkWeight(value.value)) && named ? value.value : null;
  }
}
