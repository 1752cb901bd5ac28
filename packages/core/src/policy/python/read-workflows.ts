import type { SyntaxNode, Tree } from '@lezer/common';
import { parser } from '@lezer/python';
import { shorten, utf8Length } from '../../lib/text.ts';
import { checkName, MAX_SHORT_NAME } from '../../worker/names.ts';
import { type PolicyProblem, ProblemList, type Span } from '../parse/problems.ts';
import { ModuleNames, type Resolved } from './module-names.ts';
import { type OddDecorator, scanFile } from './scan-file.ts';
import { childrenOf, dottedNames, LineNumbers, nameAt } from './tree.ts';
import { isOurs, NO_OPTIONS, readOptions, redefined, type WorkflowOptions } from './workflow-options.ts';

/** A workflow as a Python file declares it; null: not said. */
export interface PythonWorkflow extends Omit<WorkflowOptions, 'name' | 'namespace'> {
  readonly namespace: string;
  readonly name: string;
  /** Of its decorator, from 1. */
  readonly line: number;
}

export type PythonFile =
  /** In the order of the file, at least one; `warnings` has what is legal, but odd. */
  | { readonly ok: true; readonly workflows: readonly PythonWorkflow[]; readonly warnings: readonly PolicyProblem[] }
  /** At least one of the problems is an error; nothing of the file is to be used. */
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

/** Most UTF-8 bytes of a file. */
const MAX_FILE_BYTES = 1_048_576;
/** What a comment in the first two lines says of the file's encoding. */
const ENCODING = /^(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)/;

/**
 * Reads the workflows that a Python file declares with `@workflow` or `@workflow.with_options(…)`, without running it.
 * Names are followed through the file's imports (`from flux.routing import score as s`, `import flux.routing as r`);
 * a bare name that nothing imports stands for itself. Whatever looks like a declaration and cannot be read, or is only
 * declared when other code runs, is a problem with its line and column, never left out. Never throws.
 */
export function readPythonWorkflows(text: string): PythonFile {
  // Offsets count from behind a byte order mark, like the columns of an editor.
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const problems = new ProblemList(source);
  const workflows = readSource(source, problems);
  if (problems.hasErrors) return { ok: false, problems: problems.inOrder() };
  return { ok: true, workflows, warnings: problems.inOrder() };
}

function readSource(text: string, problems: ProblemList): PythonWorkflow[] {
  const start = { from: 0, to: 0 };
  const size = utf8Length(text);
  if (size > MAX_FILE_BYTES) {
    problems.error(start, 'TEXT_TOO_LONG', `The file has ${size} bytes; at most ${MAX_FILE_BYTES} are allowed.`);
    return [];
  }
  const encoding = ENCODING.exec(text);
  if (encoding?.[1] !== undefined && !/^utf[-_]?8/i.test(encoding[1])) {
    const message = `Only files in UTF-8 are read, not in ${shorten(encoding[1])}.`;
    problems.error({ from: encoding[0].length - encoding[1].length, to: encoding[0].length }, 'ENCODING', message);
    return [];
  }
  const scanned = scanFile(text, problems);
  if (scanned === null) return [];
  const tree = parser.parse(scanned.masked);
  if (!isPython(tree, text, problems)) return [];
  const found = new WorkflowReader(text, new ModuleNames(text, tree), problems).read(tree, scanned.oddDecorators);
  if (found.length === 0 && !problems.hasErrors) {
    const message = 'The file declares no workflow: put @workflow or @workflow.with_options(…) on a function.';
    problems.error(start, 'WORKFLOWS_MISSING', message);
  }
  return found;
}

function isPython(tree: Tree, text: string, problems: ProblemList): boolean {
  let at: number | null = null;
  tree.iterate({
    enter: (node) => {
      if (at === null && node.type.isError) at = node.from;
      return at === null;
    },
  });
  if (at === null) return true;
  const token = /^(?:[A-Za-z0-9_\p{ID_Continue}]+|[^\r\n]|\r?\n|)/u.exec(text.slice(at))?.[0] ?? '';
  const what = /^[\r\n]*$/.test(token) ? 'The line ends too early' : `Unexpected ${JSON.stringify(shorten(token))}`;
  problems.error({ from: at, to: at + token.length }, 'SYNTAX', `${what}: this is not valid Python.`);
  return false;
}

/** How a name relates to `workflow`. */
type Role = 'bare' | 'options' | 'other' | 'none';

class WorkflowReader {
  readonly #text: string;
  readonly #names: ModuleNames;
  readonly #problems: ProblemList;
  readonly #lineNumbers: LineNumbers;
  readonly #found: PythonWorkflow[] = [];
  /** Line of each workflow, by namespace and name. */
  readonly #lines = new Map<string, number>();

  constructor(text: string, names: ModuleNames, problems: ProblemList) {
    this.#text = text;
    this.#names = names;
    this.#problems = problems;
    this.#lineNumbers = new LineNumbers(text);
  }

  read(tree: Tree, oddDecorators: readonly OddDecorator[]): PythonWorkflow[] {
    for (const decorator of oddDecorators) this.#refuseOddDecorator(decorator);
    tree.iterate({
      enter: ({ node }) => {
        if (node.name === 'DecoratedStatement') this.#readDecorated(node);
        else if (node.name === 'CallExpression') this.#refuseCall(node);
        else if (node.name === 'AssignStatement') this.#refuseAlias(node);
      },
    });
    return this.#found;
  }

  #readDecorated(statement: SyntaxNode): void {
    const declaring = statement.getChildren('Decorator').filter((decorator) => this.#declares(decorator));
    const [decorator, second] = declaring;
    if (decorator === undefined) return;
    if (second !== undefined) {
      this.#error(second, 'WORKFLOW_TWICE', 'This function is declared as a workflow twice; leave one decorator out.');
      return;
    }
    const place = enclosing(statement);
    if (place !== null) {
      const message = `A workflow is declared at the top level of its file; this one is ${place}, so that it is not known without running the file whether it is declared.`;
      this.#error(decorator, 'WORKFLOW_NESTED', message);
      return;
    }
    const definition = statement.getChild('FunctionDefinition');
    const name = definition?.getChild('VariableName');
    if (definition === null || name === null || name === undefined) {
      this.#error(decorator, 'WORKFLOW_NOT_FUNCTION', 'Only a function can be a workflow.');
      return;
    }
    const args = decorator.getChild('ArgList');
    const errors = this.#problems.errorCount;
    const options = args === null ? NO_OPTIONS : readOptions(this.#text, args, this.#names, this.#problems);
    // What has problems may have another name than it seems.
    if (this.#problems.errorCount === errors) this.#add(decorator, name, options);
  }

  #add(decorator: SyntaxNode, function_: SyntaxNode, options: WorkflowOptions): void {
    const name = options.name ?? nameAt(this.#text, function_);
    if (options.name === null) {
      for (const { code, message } of checkName(name, 'name', 'a workflow name', MAX_SHORT_NAME)) {
        this.#error(function_, code, `${message}; give it another one with name="…".`);
      }
    }
    const namespace = options.namespace ?? 'default';
    const line = this.#lineNumbers.at(decorator.from);
    const earlier = this.#lines.get(`${namespace}/${name}`);
    if (earlier === undefined) this.#lines.set(`${namespace}/${name}`, line);
    else {
      const message = `${namespace}/${name} is declared on line ${earlier} already; give one of them another name.`;
      this.#error(decorator, 'WORKFLOW_DUPLICATE', message);
    }
    this.#found.push({ ...options, namespace, name, line });
  }

  /** Whether a decorator declares a workflow; reports the forms that nobody knows. */
  #declares(decorator: SyntaxNode): boolean {
    const path = decorator.getChildren('VariableName').map((node) => nameAt(this.#text, node));
    const resolved = this.#names.resolve(path, decorator.from);
    const role = roleOf(resolved);
    if (role === 'none') return this.#refuseUnknown(decorator, path, resolved);
    const called = decorator.getChild('ArgList') !== null;
    if (role === 'options' && called) return true;
    if (role === 'bare' && !called) return true;
    const message = 'A workflow is declared by @workflow or by @workflow.with_options(…), not like this.';
    this.#error(decorator, 'WORKFLOW_FORM', message);
    return false;
  }

  #refuseUnknown(decorator: SyntaxNode, path: readonly string[], resolved: Resolved): false {
    if (resolved.kind === 'unknown' && path[0] === 'workflow' && (path.length === 1 || path[1] === 'with_options')) {
      this.#error(decorator, 'NAME_REDEFINED', redefined(this.#text, resolved));
    } else if (path.at(-1) === 'with_options' && path.at(-2) === 'workflow') {
      const message = `It is not known what ${shorten(path.slice(0, -2).join('.'))} is; import workflow from flux.`;
      this.#error(decorator, 'WORKFLOW_FORM', message);
    }
    return false;
  }

  #refuseOddDecorator(decorator: OddDecorator): void {
    if (
      !decorator.names.some((name) => ['bare', 'options'].includes(roleOf(this.#names.resolve([name], decorator.from))))
    )
      return;
    const message =
      'A workflow is declared by @workflow or by @workflow.with_options(…), not by a calculation with it.';
    this.#problems.error(decorator, 'WORKFLOW_FORM', message);
  }

  /** `workflow.with_options(…)(f)` and `workflow(f)` would declare a workflow when they run. */
  #refuseCall(call: SyntaxNode): void {
    const callee = call.firstChild;
    const path = callee === null ? null : dottedNames(this.#text, callee);
    if (path === null) return;
    const resolved = this.#names.resolve(path, call.from);
    const role = roleOf(resolved);
    const ours = resolved.kind === 'known' && isOurs(resolved.path);
    if (role !== 'options' && !(role === 'bare' && ours)) return;
    const message = 'A workflow that is declared by a call cannot be read; put the decorator on its function.';
    this.#error(call, 'WORKFLOW_FORM', message);
  }

  /** `w = workflow` would give the decorator another name. */
  #refuseAlias(statement: SyntaxNode): void {
    const value = statement.lastChild;
    const path = value === null ? null : dottedNames(this.#text, value);
    if (path === null || value === null) return;
    const resolved = this.#names.resolve(path, statement.from);
    if (resolved.kind !== 'known' || !isOurs(resolved.path) || !['bare', 'options'].includes(roleOf(resolved))) return;
    const message = 'The decorator gets another name here; give it one by import, e.g. from flux import workflow as w.';
    this.#error(value, 'WORKFLOW_FORM', message);
  }

  #error(at: Span, code: string, message: string): void {
    const written = this.#text.slice(at.from, at.to).trimEnd();
    this.#problems.error({ from: at.from, to: at.from + written.length }, code, message);
  }
}

/** Whether a name is `workflow`, its `with_options`, or something of it that does not exist. */
function roleOf(resolved: Resolved): Role {
  if (resolved.kind === 'unknown') return 'none';
  const ours = isOurs(resolved.path);
  const names = ours ? resolved.path : resolved.tail;
  const at = ours ? names.lastIndexOf('workflow') : names[0] === 'workflow' ? 0 : -1;
  if (at === -1) return 'none';
  const rest = names.slice(at + 1);
  if (rest.length === 0) return 'bare';
  if (rest.length === 1 && rest[0] === 'with_options') return 'options';
  return ours ? 'other' : 'none';
}

/** What a statement stands in; null at the top level of its file. */
function enclosing(statement: SyntaxNode): string | null {
  for (let node = statement.parent; node !== null && node.name !== 'Script'; node = node.parent) {
    if (node.name === 'FunctionDefinition') return 'inside a function';
    if (node.name === 'ClassDefinition') return 'inside a class';
    if (node.name !== 'Body' && childrenOf(node).length > 0) return 'inside another statement';
  }
  return null;
}
