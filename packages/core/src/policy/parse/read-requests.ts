import { MAX_PACKAGES, checkAmount, checkMemory, checkPackage } from '../requests-rules.ts';
import type { BrokenRule } from '../rules.ts';
import type { RequestsSpec } from '../spec.ts';
import type { CallExpression, Expression } from './expression.ts';
import type { ProblemList } from './problems.ts';
import { PartReader, describe } from './read-parts.ts';

const FIELDS = ['cpu', 'memory', 'disk', 'gpu', 'packages'] as const;
type Field = (typeof FIELDS)[number];

/** Reads `ResourceRequest(...)` or `ResourceRequest.with_cpu(...)` and its like; null where it is neither. */
export function readRequests(expression: Expression, problems: ProblemList): RequestsSpec | null {
  const reader = new RequestsReader(problems);
  return reader.readRequest(expression);
}

class RequestsReader extends PartReader {
  readRequest(expression: Expression): RequestsSpec | null {
    const path = expression.kind === 'call' ? expression.path : null;
    if (expression.kind !== 'call' || path?.[0] !== 'ResourceRequest' || path.length > 2) {
      const message = `Resource requests are ResourceRequest(cpu=…, memory=…, disk=…, gpu=…, packages=[…]), not ${describe(expression)}.`;
      return this.refuse(expression, 'NOT_REQUESTS', message);
    }
    return path[1] === undefined ? this.#readFields(expression) : this.#readShorthand(expression, path[1]);
  }

  #readFields(call: CallExpression): RequestsSpec | null {
    let good = this.allowKeywords(call, FIELDS);
    for (const argument of call.positional) {
      this.refuse(argument, 'ARGUMENTS', 'ResourceRequest() takes named arguments only, e.g. cpu=2.');
      good = false;
    }
    if (call.keywords.length === 0 && good) {
      const message = 'Nothing is requested; any worker whose resources are known will do.';
      this.problems.warning(call, 'REQUESTS_EMPTY', message);
    }
    const spec: RequestsSpec = {};
    for (const field of FIELDS) {
      const given = call.keywords.find((keyword) => keyword.name === field);
      if (given !== undefined && !this.#readField(spec, field, given.value)) good = false;
    }
    return good ? spec : null;
  }

  #readShorthand(call: CallExpression, method: string): RequestsSpec | null {
    const field = FIELDS.find((name) => method === `with_${name}`);
    if (field === undefined) {
      const known = FIELDS.map((name) => `with_${name}()`).join(', ');
      return this.refuse(call.calleeSpan, 'NOT_REQUESTS', `ResourceRequest has ${known}, but not this.`);
    }
    const named = this.allowKeywords(call, []);
    const [argument, ...more] = call.positional;
    if (argument === undefined || more.length > 0) {
      return this.refuse(call, 'ARGUMENTS', `with_${field}() takes exactly one value.`);
    }
    const spec: RequestsSpec = {};
    return this.#readField(spec, field, argument) && named ? spec : null;
  }

  #readField(spec: RequestsSpec, field: Field, expression: Expression): boolean {
    if (field === 'packages') {
      const packages = this.#readPackages(expression);
      if (packages !== null) spec.packages = packages;
      return packages !== null;
    }
    if (expression.kind === 'number' && expression.signed && expression.value > 0) {
      this.refuse(expression, 'AMOUNT_INVALID', `${field} is written without a sign.`);
      return false;
    }
    if (field === 'memory') {
      const isAmount = expression.kind === 'text' || expression.kind === 'number';
      if (!this.#keeps(expression, checkMemory(isAmount ? expression.value : null)) || !isAmount) return false;
      spec.memory = expression.value;
      return true;
    }
    const amount = expression.kind === 'number' ? expression.value : null;
    if (!this.#keeps(expression, checkAmount(field, amount)) || amount === null) return false;
    spec[field] = amount;
    return true;
  }

  #readPackages(expression: Expression): string[] | null {
    if (expression.kind !== 'list') {
      const message = `packages takes a list of texts such as ["numpy>=1.26"], not ${describe(expression)}.`;
      return this.refuse(expression, 'PACKAGES_INVALID', message);
    }
    const surplus = expression.items[MAX_PACKAGES];
    if (surplus !== undefined) {
      this.problems.error(surplus, 'TOO_MANY_PACKAGES', `packages takes at most ${MAX_PACKAGES} packages.`);
    }
    const packages: string[] = [];
    for (const item of expression.items) {
      const text = item.kind === 'text' ? item.value : null;
      if (this.#keeps(item, checkPackage(text)) && text !== null) packages.push(text);
    }
    return packages.length === expression.items.length ? packages : null;
  }

  #keeps(expression: Expression, broken: BrokenRule | null): boolean {
    if (broken !== null) this.refuse(expression, broken.code, broken.message);
    return broken === null;
  }
}
