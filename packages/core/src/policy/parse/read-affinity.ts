import { MAX_TERMS } from '../rules.ts';
import type { AffinitySpec, MatchTerm, RequireTerm } from '../spec.ts';
import type { CallExpression, Expression } from './expression.ts';
import type { ProblemList } from './problems.ts';
import { PartReader, calledName, describe } from './read-parts.ts';

const TERMS = 'a comparison of label(), label_for(), meta() or meta_for(), service(), optional() or when()';

/** Reads `require(...)` or a label map; null where it is neither, with the problems in the list. */
export function readAffinity(expression: Expression, problems: ProblemList): AffinitySpec | null {
  const reader = new AffinityReader(problems);
  return expression.kind === 'map' ? reader.readLabelMap(expression) : reader.readRequire(expression);
}

class AffinityReader extends PartReader {
  readLabelMap(map: Expression & { kind: 'map' }): AffinitySpec | null {
    if (map.entries.length === 0) {
      this.problems.warning(map, 'MAP_EMPTY', 'An empty label map requires nothing; leave the affinity out.');
    }
    const surplus = map.entries[MAX_TERMS];
    if (surplus !== undefined) {
      this.problems.error(surplus.key, 'TOO_MANY_TERMS', `A label map takes at most ${MAX_TERMS} labels.`);
    }
    const labels = new Map<string, string>();
    let good = true;
    for (const { key, value } of map.entries) {
      if (key.kind !== 'text') {
        this.refuse(key, 'MAP_KEY_INVALID', `A label map has texts in quotes as keys, not ${describe(key)}.`);
        good = false;
        continue;
      }
      if (labels.has(key.value)) {
        this.refuse(key, 'MAP_KEY_REPEATED', 'This label is given twice; leave one out.');
        good = false;
      }
      if (key.value === '') this.problems.warning(key, 'KEY_EMPTY', 'No worker can carry a label without a name.');
      if (value.kind === 'text') labels.set(key.value, value.value);
      else {
        const message = `Labels are texts: write the value in quotes, not ${describe(value)}.`;
        this.refuse(value, 'MAP_VALUE_INVALID', message);
        good = false;
      }
    }
    return good ? Object.fromEntries(labels) : null;
  }

  readRequire(expression: Expression): AffinitySpec | null {
    if (expression.kind !== 'call' || calledName(expression) !== 'require') {
      const hint = calledName(expression) === 'score' ? ' score(...) is a routing policy.' : '';
      const message = `An affinity is require(...) or a label map such as {"region": "eu"}, not ${describe(expression)}.${hint}`;
      return this.refuse(expression, 'NOT_AN_AFFINITY', message);
    }
    const named = this.allowKeywords(expression, []);
    if (expression.positional.length === 0) {
      return this.refuse(expression, 'TERMS_MISSING', `require() needs at least one term: ${TERMS}.`);
    }
    const surplus = expression.positional[MAX_TERMS];
    if (surplus !== undefined) {
      this.problems.error(surplus, 'TOO_MANY_TERMS', `require() takes at most ${MAX_TERMS} terms.`);
    }
    const terms: RequireTerm[] = [];
    for (const argument of expression.positional) {
      const term = this.#readTerm(argument);
      if (term !== null) terms.push(term);
    }
    return named && terms.length === expression.positional.length ? terms : null;
  }

  #readTerm(expression: Expression): RequireTerm | null {
    const name = calledName(expression);
    if (expression.kind === 'call' && name === 'optional') return this.#readOptional(expression);
    if (expression.kind === 'call' && name === 'when') return this.#readWhen(expression);
    return this.#readMatch(expression, TERMS);
  }

  #readOptional(call: CallExpression): RequireTerm | null {
    const named = this.allowKeywords(call, []);
    const [argument, ...more] = call.positional;
    if (argument === undefined || more.length > 0) {
      return this.refuse(call, 'ARGUMENTS', 'optional() takes exactly one comparison or service().');
    }
    const match = this.#readMatch(argument, 'a comparison of labels or metadata, or service(), in optional()');
    return named && match !== null ? { ...match, optional: true } : null;
  }

  #readWhen(call: CallExpression): RequireTerm | null {
    const named = this.allowKeywords(call, []);
    const [condition, inner, ...more] = call.positional;
    if (condition === undefined || inner === undefined || more.length > 0) {
      const message =
        'when() takes a condition and one comparison, e.g. when(input("gpu") == True, label("gpu") == "true").';
      return this.refuse(call, 'ARGUMENTS', message);
    }
    const found = this.readCondition(condition, 'require');
    const match = this.#readMatch(inner, 'a comparison of labels or metadata, or service(), in when()');
    return named && found !== null && match !== null ? { kind: 'when', if: found, then: match } : null;
  }

  #readMatch(expression: Expression, wanted: string): MatchTerm | null {
    if (expression.kind === 'compare') {
      const found = this.readComparison(expression, 'require');
      return found === null ? null : { kind: 'match', ...found };
    }
    const name = calledName(expression);
    if (expression.kind === 'call' && name === 'service') {
      const selector = this.readService(expression);
      return selector === null ? null : { kind: 'match', selector, op: '==', value: 'true' };
    }
    const isScoreTerm = ['prefer', 'least', 'most', 'sticky'].includes(name ?? '');
    const hint = isScoreTerm ? ` ${name}() is only valid in score().` : '';
    return this.refuse(expression, 'UNKNOWN_TERM', `Expected ${wanted}, not ${describe(expression)}.${hint}`);
  }
}
