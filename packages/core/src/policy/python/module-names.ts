import type { SyntaxNode, Tree } from '@lezer/common';
import type { Span } from '../parse/problems.ts';
import { childrenOf, nameAt } from './tree.ts';

/** What a name of a file stands for. */
type Binding =
  /** `path`: what was imported, e.g. `flux.routing.score`; `member`: by `from … import`, so that its last part is the name. */
  | ({ readonly kind: 'import'; readonly path: readonly string[]; readonly member: boolean } & Span)
  /** Made by the file itself. */
  | ({ readonly kind: 'own' } & Span);

/** What a dotted name stands for. */
export type Resolved =
  /**
   * `path`: from the package on, as far as the imports say so; `tail`: from what was imported by `from … import` on, under
   * its own name, and all of the path otherwise.
   */
  | { readonly kind: 'known'; readonly path: readonly string[]; readonly tail: readonly string[] }
  /** The first name is set by the file itself, or twice: it cannot be known without running it. */
  | { readonly kind: 'unknown'; readonly name: string; readonly setAt: Span };

const OTHER_SCOPES = new Set([
  'LambdaExpression',
  'ArrayComprehensionExpression',
  'ComprehensionExpression',
  'DictionaryComprehensionExpression',
  'SetComprehensionExpression',
]);

/** The names that a file sets at its top level, by import or otherwise, wherever in it. */
export class ModuleNames {
  readonly #text: string;
  readonly #bindings = new Map<string, Binding[]>();

  constructor(text: string, tree: Tree) {
    this.#text = text;
    tree.iterate({
      enter: ({ node }) => {
        if (OTHER_SCOPES.has(node.name)) return false;
        this.#readNode(node);
        return node.name !== 'FunctionDefinition' && node.name !== 'ClassDefinition';
      },
    });
  }

  /**
   * What a dotted name stands for where it stands at `offset`: what the file sets further down is not yet set there. A name
   * that nothing sets stands for itself.
   */
  resolve(path: readonly string[], offset: number): Resolved {
    const [first = '', ...rest] = path.map((name) => name.normalize('NFKC'));
    const bindings = (this.#bindings.get(first) ?? []).filter((binding) => binding.from < offset);
    const own = bindings.find((binding) => binding.kind === 'own');
    if (own !== undefined) return { kind: 'unknown', name: first, setAt: own };
    const imports = bindings.filter((binding) => binding.kind === 'import');
    const [found] = imports;
    if (found === undefined) return { kind: 'known', path: [first, ...rest], tail: [first, ...rest] };
    const other = imports.find((one) => one.path.at(-1) !== found.path.at(-1) || one.member !== found.member);
    if (other !== undefined) return { kind: 'unknown', name: first, setAt: other };
    const whole = [...found.path, ...rest];
    return { kind: 'known', path: whole, tail: found.member ? [...found.path.slice(-1), ...rest] : whole };
  }

  #bind(name: string, binding: Binding): void {
    const bindings = this.#bindings.get(name);
    if (bindings === undefined) this.#bindings.set(name, [binding]);
    else bindings.push(binding);
  }

  #readNode(node: SyntaxNode): void {
    switch (node.name) {
      case 'ImportStatement':
        return this.#readImport(node);
      case 'FunctionDefinition':
      case 'ClassDefinition':
      case 'NamedExpression':
        return this.#own(node.getChild('VariableName'));
      case 'AssignStatement':
        return this.#readTargets(node, 'AssignOp');
      case 'UpdateStatement':
        return this.#readTargets(node, 'UpdateOp');
      case 'ForStatement':
        return this.#readTargets(node, 'in');
      case 'DeleteStatement':
        return this.#readTargets(node, null);
      case 'WithStatement':
      case 'TryStatement':
        return this.#readAliases(node);
    }
  }

  #own(node: SyntaxNode | null): void {
    if (node !== null) this.#bind(nameAt(this.#text, node), { kind: 'own', from: node.from, to: node.to });
  }

  /** The names before the last of a node's children of that name; before its end where there is none to look for. */
  #readTargets(node: SyntaxNode, until: string | null): void {
    const children = childrenOf(node);
    const last = until === null ? children.length : children.findLastIndex((child) => child.name === until);
    for (const child of children.slice(0, Math.max(0, last))) this.#readTarget(child);
  }

  #readTarget(node: SyntaxNode): void {
    if (node.name === 'VariableName') this.#own(node);
    else if (['TupleExpression', 'ArrayExpression', 'ParenthesizedExpression'].includes(node.name)) {
      for (const child of childrenOf(node)) this.#readTarget(child);
    }
  }

  #readAliases(node: SyntaxNode): void {
    const children = childrenOf(node);
    for (const [index, child] of children.entries()) {
      const next = children[index + 1];
      if (child.name === 'as' && next?.name === 'VariableName') this.#own(next);
    }
  }

  #readImport(node: SyntaxNode): void {
    const children = childrenOf(node);
    const from = children[0]?.name === 'from';
    const start = from ? children.findIndex((child) => child.name === 'import') : 0;
    const module = from ? this.#modulePath(children.slice(1, start)) : [];
    let item: SyntaxNode[] = [];
    for (const child of [...children.slice(start + 1), null]) {
      if (child !== null && child.name !== ',') {
        if (child.name !== '(' && child.name !== ')') item.push(child);
        continue;
      }
      this.#readImported(module, item, from);
      item = [];
    }
  }

  /** One `a.b as c` of an import. */
  #readImported(module: readonly string[], item: readonly SyntaxNode[], member: boolean): void {
    const as = item.findIndex((node) => node.name === 'as');
    const path = this.#modulePath(as === -1 ? item : item.slice(0, as));
    const first = path[0];
    const last = item.at(-1);
    if (first === undefined || last?.name !== 'VariableName') return;
    const span = { from: last.from, to: last.to };
    if (as !== -1) {
      this.#bind(nameAt(this.#text, last), { kind: 'import', path: [...module, ...path], member, ...span });
    } else {
      this.#bind(first, { kind: 'import', path: member ? [...module, ...path] : [first], member, ...span });
    }
  }

  /** Names of a module; the dots before a relative one are its first name. */
  #modulePath(nodes: readonly SyntaxNode[]): string[] {
    const dots = nodes.findIndex((node) => node.name !== '.' && node.name !== '...');
    const names = nodes.filter((node) => node.name === 'VariableName').map((node) => nameAt(this.#text, node));
    return dots === 0 ? names : ['.', ...names];
  }
}
