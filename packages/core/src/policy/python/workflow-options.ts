import type { SyntaxNode } from '@lezer/common';
import type { Issue } from '../../lib/errors.ts';
import { shorten } from '../../lib/text.ts';
import { checkName, MAX_SHORT_NAME } from '../../worker/names.ts';
import { type Expression, parseExpression } from '../parse/expression.ts';
import { parsePolicyPart } from '../parse/parse.ts';
import { ProblemList, type Span } from '../parse/problems.ts';
import { describe } from '../parse/read-parts.ts';
import { renameCalls } from '../parse/rename-calls.ts';
import type { AffinitySpec, PolicySpec, PolicyStage, RequestsSpec } from '../spec.ts';
import type { ModuleNames } from './module-names.ts';
import { childrenOf, nameAt } from './tree.ts';

/** What `@workflow.with_options(…)` says; null: not said. */
export interface WorkflowOptions {
  readonly name: string | null;
  readonly namespace: string | null;
  readonly description: string | null;
  readonly routing: PolicySpec | null;
  readonly affinity: AffinitySpec | null;
  readonly requests: RequestsSpec | null;
  readonly runner: string | null;
  readonly maxAttempts: number | null;
  readonly timeoutSeconds: number | null;
}

export const NO_OPTIONS: WorkflowOptions = {
  name: null,
  namespace: null,
  description: null,
  routing: null,
  affinity: null,
  requests: null,
  runner: null,
  maxAttempts: null,
  timeoutSeconds: null,
};

const OPTIONS = [
  'name',
  'namespace',
  'description',
  'routing',
  'affinity',
  'requests',
  'runner',
  'max_attempts',
  'timeout_seconds',
];
/** Longest description, in UTF-16 units. */
const MAX_DESCRIPTION = 4_096;

/** Modules whose names are the vocabulary of policies. */
const ROUTING_MODULES = new Set(['routing', 'flux.routing', 'muster.routing']);

/** Reads the arguments of `workflow.with_options(…)`. What cannot be read goes to the problems, never away. */
export function readOptions(
  text: string,
  args: SyntaxNode,
  names: ModuleNames,
  problems: ProblemList,
): WorkflowOptions {
  return new OptionsReader(text, names, problems).read(args);
}

class OptionsReader {
  readonly #text: string;
  readonly #names: ModuleNames;
  readonly #problems: ProblemList;

  constructor(text: string, names: ModuleNames, problems: ProblemList) {
    this.#text = text;
    this.#names = names;
    this.#problems = problems;
  }

  read(args: SyntaxNode): WorkflowOptions {
    const values = this.#valuesOf(args);
    return {
      name: this.#readName(values.get('name'), 'name', 'a workflow name'),
      namespace: this.#readName(values.get('namespace'), 'namespace', 'a namespace'),
      description: this.#readDescription(values.get('description')),
      routing: this.#readPolicy(values.get('routing'), 'ROUTING'),
      affinity: this.#readPolicy(values.get('affinity'), 'AFFINITY'),
      requests: this.#readPolicy(values.get('requests'), 'REQUESTS'),
      runner: this.#readName(values.get('runner'), 'runner', 'a runner', 128),
      maxAttempts: this.#readWhole(values.get('max_attempts'), 'max_attempts', 1, 100),
      timeoutSeconds: this.#readWhole(values.get('timeout_seconds'), 'timeout_seconds', 1, 2_592_000),
    };
  }

  /** Where the value of each named argument stands. */
  #valuesOf(args: SyntaxNode): Map<string, Span> {
    const values = new Map<string, Span>();
    let item: SyntaxNode[] = [];
    for (const node of childrenOf(args).slice(1)) {
      const last = node.nextSibling === null;
      if (node.name !== ',' && !last) {
        if (node.name !== 'Comment') item.push(node);
        continue;
      }
      if (item.length > 0) this.#readArgument(item, values);
      item = [];
    }
    return values;
  }

  #readArgument(item: readonly SyntaxNode[], values: Map<string, Span>): void {
    const [key, sign, first] = item;
    const last = item.at(-1);
    if (key === undefined || last === undefined) return;
    const span = { from: key.from, to: last.to };
    if (sign?.name !== 'AssignOp' || key.name !== 'VariableName' || first === undefined || item.length > 3) {
      const unpacked = key.name === '*' || key.name === '**' || this.#text.slice(key.from, key.from + 1) === '*';
      const message = unpacked
        ? 'What is unpacked here can only be known by running the file; write the options out.'
        : 'with_options() takes named arguments only, e.g. name="train".';
      this.#problems.error(span, 'OPTION_NOT_NAMED', message);
      return;
    }
    const name = nameAt(this.#text, key);
    if (!OPTIONS.includes(name)) {
      const message = `Muster has no workflow option ${shorten(name)}; it has ${OPTIONS.join(', ')}.`;
      this.#problems.error({ from: key.from, to: key.to }, 'OPTION_UNKNOWN', message);
    } else if (values.has(name)) {
      this.#problems.error(span, 'OPTION_REPEATED', `${name}= is given twice; leave one out.`);
    } else values.set(name, { from: first.from, to: last.to });
  }

  #readName(at: Span | undefined, option: string, what: string, most: number = MAX_SHORT_NAME): string | null {
    const text = this.#readText(at, option);
    if (text === null || at === undefined) return text;
    return this.#keeps(at, checkName(text, option, what, most)) ? text : null;
  }

  #readDescription(at: Span | undefined): string | null {
    const text = this.#readText(at, 'description');
    if (text === null || at === undefined || text.length <= MAX_DESCRIPTION) return text;
    this.#problems.error(at, 'TEXT_TOO_LONG', `A description has at most ${MAX_DESCRIPTION} characters.`);
    return null;
  }

  #readText(at: Span | undefined, option: string): string | null {
    const value = at === undefined ? null : this.#readValue(at);
    if (value === null || at === undefined || value.kind === 'none' || value.kind === 'broken') return null;
    if (value.kind === 'text') return value.value;
    return this.#refuse(at, value, `${option}= is a text in quotes`);
  }

  #readWhole(at: Span | undefined, option: string, low: number, high: number): number | null {
    const value = at === undefined ? null : this.#readValue(at);
    if (value === null || at === undefined || value.kind === 'none' || value.kind === 'broken') return null;
    if (value.kind !== 'number') return this.#refuse(at, value, `${option}= is a whole number from ${low} to ${high}`);
    if (Number.isInteger(value.value) && value.value >= low && value.value <= high) return value.value;
    this.#problems.error(at, 'OPTION_OUT_OF_RANGE', `${option}= is a whole number from ${low} to ${high}.`);
    return null;
  }

  #readPolicy<Stage extends PolicyStage>(at: Span | undefined, stage: Stage) {
    if (at === undefined || this.#text.slice(at.from, at.to) === 'None') return null;
    return parsePolicyPart(this.#text, at, stage, this.#problems, (expression) => {
      this.#refuseUnknownNames(expression, at.from);
      return renameCalls(expression, (path) => this.#vocabulary(path, at.from));
    });
  }

  /** The value as an expression; null, and the problem, where it is none. */
  #readValue(at: Span): Expression | null {
    const own = new ProblemList(this.#text.slice(at.from, at.to));
    const value = parseExpression(this.#text.slice(at.from, at.to), own);
    this.#problems.addPart(own, at.from);
    return value;
  }

  /** What a called name is in the policy language: without its alias, and with the prefix that the language knows. */
  #vocabulary(path: readonly string[], offset: number): readonly string[] {
    const resolved = this.#names.resolve(path, offset);
    if (resolved.kind === 'unknown') return path;
    const { path: whole, tail } = resolved;
    const request = isOurs(whole) ? whole.indexOf('ResourceRequest') : -1;
    if (request !== -1) return whole.slice(request);
    if (tail.length === 1 || tail[0] === 'ResourceRequest') return tail;
    const known = [whole, tail].some((names) => ROUTING_MODULES.has(names.slice(0, -1).join('.')));
    return known ? ['routing', ...tail.slice(-1)] : whole;
  }

  /** Says of every called name that the file sets itself that it cannot be known. */
  #refuseUnknownNames(expression: Expression, offset: number): void {
    const seen = new Set<string>();
    const visit = (part: Expression): void => {
      if (part.kind === 'call' && part.path !== null) {
        const resolved = this.#names.resolve(part.path, offset);
        if (resolved.kind === 'unknown' && !seen.has(resolved.name)) {
          seen.add(resolved.name);
          const at = { from: part.calleeSpan.from + offset, to: part.calleeSpan.to + offset };
          this.#problems.error(at, 'NAME_REDEFINED', redefined(this.#text, resolved));
        }
      }
      for (const inner of partsOf(part)) visit(inner);
    };
    visit(expression);
  }

  #keeps(at: Span, issues: readonly Issue[]): boolean {
    for (const { code, message } of issues) this.#problems.error(at, code, `${message}.`);
    return issues.length === 0;
  }

  #refuse(at: Span, value: Expression, wanted: string): null {
    const message = `${wanted}, not ${describe(value)}; it has to be written out, because the file is not run.`;
    this.#problems.error(at, 'OPTION_NOT_LITERAL', message);
    return null;
  }
}

/** Whether a path begins in the package that the vocabulary comes from. */
export function isOurs(path: readonly string[]): boolean {
  return path[0] === 'flux' || path[0] === 'muster';
}

/** Why a name that the file sets itself cannot be read. */
export function redefined(text: string, { name, setAt }: { readonly name: string; readonly setAt: Span }): string {
  const line = text.slice(0, setAt.from).split(/\r\n|\r|\n/).length;
  return `${shorten(name)} is set on line ${line} of this file, so that it is not known what it is without running it.`;
}

function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.kind) {
    case 'call':
      return [...expression.positional, ...expression.keywords.map((keyword) => keyword.value)];
    case 'compare':
      return [expression.left, expression.right];
    case 'map':
      return expression.entries.flatMap(({ key, value }) => [key, value]);
    case 'list':
      return expression.items;
    default:
      return [];
  }
}
