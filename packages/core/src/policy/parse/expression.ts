import type { SyntaxNode } from '@lezer/common';
import { shorten } from '../../lib/text.ts';
import { checkText } from '../rules.ts';
import { decodeNumber, decodeString } from './literals.ts';
import { type MendedTree, parseMended } from './mend.ts';
import type { ProblemList, Span } from './problems.ts';
import { scan } from './scan.ts';

export interface KeywordArgument extends Span {
  readonly name: string;
  readonly nameSpan: Span;
  readonly value: Expression;
}

export interface CallExpression extends Span {
  readonly kind: 'call';
  /** `routing.score(...)` → `['routing', 'score']`; null where something other than a dotted name is called. */
  readonly path: readonly string[] | null;
  readonly calleeSpan: Span;
  readonly positional: readonly Expression[];
  readonly keywords: readonly KeywordArgument[];
}

export interface CompareExpression extends Span {
  readonly kind: 'compare';
  readonly left: Expression;
  readonly operator: string;
  readonly operatorSpan: Span;
  readonly right: Expression;
}

/** As much of Python's expressions as policies need; redundant parentheses are gone, everything else is `other`. */
export type Expression =
  | ({ readonly kind: 'text'; readonly value: string } & Span)
  | ({ readonly kind: 'number'; readonly value: number; readonly signed: boolean } & Span)
  | ({ readonly kind: 'boolean'; readonly value: boolean } & Span)
  | ({ readonly kind: 'none' } & Span)
  | CallExpression
  | CompareExpression
  | ({ readonly kind: 'map'; readonly entries: readonly { key: Expression; value: Expression }[] } & Span)
  | ({ readonly kind: 'list'; readonly items: readonly Expression[] } & Span)
  /** Has a problem that is reported already: nothing more is said about it. */
  | ({ readonly kind: 'broken' } & Span)
  /** Valid Python of another kind, named for a message. */
  | ({ readonly kind: 'other'; readonly what: string } & Span);

/** Reads a text as one Python expression; null where it has no structure, with the problems in the list. */
export function parseExpression(text: string, problems: ProblemList): Expression | null {
  const scanned = scan(text, problems);
  if (scanned === null) return null;
  const whole = { from: 0, to: text.length };
  if (scanned.masked.trim() === '') {
    problems.error(whole, 'TEXT_EMPTY', 'There is no expression here.');
    return null;
  }
  const mended = parseMended(scanned.masked, text, problems);
  if (mended === null) return null;
  const statement = mended.tree.topNode.firstChild;
  const root =
    statement?.name === 'ExpressionStatement' && statement.nextSibling === null ? statement.firstChild : null;
  if (root === null || root.from !== 0 || root.to !== scanned.masked.length + 2) {
    problems.error(whole, 'SYNTAX', 'This is not one expression.');
    return null;
  }
  return new TreeReader(text, mended, problems).read(root);
}

const OTHER_KINDS: Readonly<Record<string, string>> = {
  ArrayComprehensionExpression: 'a comprehension',
  AwaitExpression: 'an await expression',
  BinaryExpression: 'a calculation',
  ComprehensionExpression: 'a comprehension',
  ConditionalExpression: 'a conditional expression',
  DictionaryComprehensionExpression: 'a comprehension',
  Ellipsis: 'an ellipsis',
  LambdaExpression: 'a lambda',
  MemberExpression: 'an attribute or an index',
  NamedExpression: 'an assignment',
  SetComprehensionExpression: 'a comprehension',
  SetExpression: 'a set',
  TupleExpression: 'a tuple',
  UnaryExpression: 'a negation or calculation',
  YieldExpression: 'a yield expression',
};
const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=']);
/** The tree is of the text in brackets of our own. */
const SHIFT = 1;

class TreeReader {
  readonly #text: string;
  readonly #mended: MendedTree;
  readonly #problems: ProblemList;

  constructor(text: string, mended: MendedTree, problems: ProblemList) {
    this.#text = text;
    this.#mended = mended;
    this.#problems = problems;
  }

  read(start: SyntaxNode): Expression {
    const node = withoutBrackets(start);
    const span = spanOf(node);
    switch (node.name) {
      case 'String':
      case 'ContinuedString':
        return this.#readString(node);
      case 'Number':
        return this.#readNumber(node);
      case 'Boolean':
        return { kind: 'boolean', value: this.#textOf(node) === 'True', ...span };
      case 'None':
        return { kind: 'none', ...span };
      case 'UnaryExpression':
        return this.#readUnary(node);
      case 'BinaryExpression':
        return this.#readBinary(node);
      case 'CallExpression':
        return this.#readCall(node);
      case 'ArrayExpression':
        return this.#readList(node);
      case 'DictionaryExpression':
        return this.#readMap(node);
      case 'VariableName':
        return { kind: 'other', what: `the name ${shorten(this.#textOf(node))}`, ...span };
      default:
        return this.#other(node);
    }
  }

  #other(node: SyntaxNode): Expression {
    return { kind: 'other', what: OTHER_KINDS[node.name] ?? 'this', ...spanOf(node) };
  }

  #readString(node: SyntaxNode): Expression {
    const span = spanOf(node);
    const literals = node.name === 'String' ? [node] : childrenOf(node);
    const parts: string[] = [];
    for (const literal of literals) {
      const decoded = decodeString(this.#textOf(literal));
      const from = literal.from - SHIFT;
      if (decoded.kind === 'broken') {
        const at = { from: from + decoded.from, to: from + decoded.to };
        this.#problems.error(at, decoded.problem.code, decoded.problem.message);
        return { kind: 'broken', ...span };
      }
      if (decoded.kind !== 'text') {
        return { kind: 'other', what: decoded.kind === 'bytes' ? 'a bytes literal' : 'a formatted string', ...span };
      }
      parts.push(decoded.value);
    }
    const value = parts.join('');
    const broken = checkText(value);
    if (broken === null) return { kind: 'text', value, ...span };
    this.#problems.error(span, broken.code, broken.message);
    return { kind: 'broken', ...span };
  }

  #readNumber(node: SyntaxNode): Expression {
    const span = spanOf(node);
    if (this.#mended.broken.has(node.from)) return { kind: 'broken', ...span };
    const literal = this.#textOf(node);
    const value = decodeNumber(literal);
    if (value !== null && Number.isFinite(value)) return { kind: 'number', value, signed: false, ...span };
    if (value !== null)
      this.#problems.error(span, 'NUMBER_TOO_LARGE', 'This number is beyond a double (about 1.8e308).');
    else if (/^[0-9_.]*[jJ]$/.test(literal)) return { kind: 'other', what: 'a complex number', ...span };
    else this.#problems.error(span, 'NUMBER_INVALID', `${shorten(literal)} is not a number literal.`);
    return { kind: 'broken', ...span };
  }

  /** A sign directly before a number literal belongs to the number; everything else is a calculation. */
  #readUnary(node: SyntaxNode): Expression {
    const [operator, operand, ...more] = childrenOf(node);
    if (operator?.name !== 'ArithOp' || operand === undefined || more.length > 0) return this.#other(node);
    const inner = withoutBrackets(operand);
    if (inner.name !== 'Number') return this.#other(node);
    const number = this.read(inner);
    if (number.kind === 'broken') return { ...number, ...spanOf(node) };
    if (number.kind !== 'number') return this.#other(node);
    const value = this.#textOf(operator) === '-' && number.value !== 0 ? -number.value : number.value;
    return { kind: 'number', value, signed: true, ...spanOf(node) };
  }

  #readBinary(node: SyntaxNode): Expression {
    const [left, operator, right, ...more] = childrenOf(node);
    if (left === undefined || operator === undefined || right === undefined || more.length > 0) {
      return { kind: 'other', what: 'a calculation', ...spanOf(node) };
    }
    const text = this.#textOf(operator);
    if (operator.name !== 'CompareOp' || !COMPARISONS.has(text)) {
      return { kind: 'other', what: otherOperation(operator.name, text), ...spanOf(node) };
    }
    if (left.name === 'BinaryExpression' && left.getChild('CompareOp') !== null) {
      return { kind: 'other', what: 'a chain of comparisons', ...spanOf(node) };
    }
    return {
      kind: 'compare',
      left: this.#readOperand(left),
      operator: text,
      operatorSpan: spanOf(operator),
      right: this.#readOperand(right),
      ...spanOf(node),
    };
  }

  /** An operand is never an operation itself; not reading into one keeps a long chain from becoming a deep recursion. */
  #readOperand(node: SyntaxNode): Expression {
    const inner = withoutBrackets(node);
    return inner.name === 'BinaryExpression' ? this.#other(inner) : this.read(inner);
  }

  #readCall(node: SyntaxNode): Expression {
    const [callee, args, ...more] = childrenOf(node);
    if (callee === undefined || args?.name !== 'ArgList' || more.length > 0) return this.#other(node);
    const positional: Expression[] = [];
    const keywords: KeywordArgument[] = [];
    for (const item of itemsOf(args)) {
      const [first, second, third] = item.nodes;
      if (first === undefined) return this.#refuseEmptyItem(node, item.span);
      if (item.nodes.length === 1) {
        if (keywords.length > 0) {
          this.#problems.error(
            spanOf(first),
            'ARGUMENT_ORDER',
            'Arguments without a name stand before those with one.',
          );
        }
        positional.push(this.read(first));
      } else if (item.nodes.length === 3 && second?.name === 'AssignOp' && this.#textOf(second) === '=' && third) {
        const span = { from: first.from - SHIFT, to: third.to - SHIFT };
        if (first.name !== 'VariableName') {
          this.#problems.error(span, 'SYNTAX', 'Only a plain name can stand before "=".');
          continue;
        }
        keywords.push({ name: this.#textOf(first), nameSpan: spanOf(first), value: this.read(third), ...span });
      } else {
        positional.push({ kind: 'other', what: oddArgument(item.nodes), ...item.span });
      }
    }
    return {
      kind: 'call',
      path: this.#dottedName(callee),
      calleeSpan: spanOf(callee),
      positional,
      keywords,
      ...spanOf(node),
    };
  }

  #readList(node: SyntaxNode): Expression {
    const items: Expression[] = [];
    for (const item of itemsOf(node)) {
      const [first] = item.nodes;
      if (first === undefined) return this.#refuseEmptyItem(node, item.span);
      items.push(
        item.nodes.length === 1 ? this.read(first) : { kind: 'other', what: oddArgument(item.nodes), ...item.span },
      );
    }
    return { kind: 'list', items, ...spanOf(node) };
  }

  #readMap(node: SyntaxNode): Expression {
    const entries: { key: Expression; value: Expression }[] = [];
    for (const item of itemsOf(node)) {
      const [key, colon, value] = item.nodes;
      if (key === undefined) return this.#refuseEmptyItem(node, item.span);
      if (item.nodes.length === 3 && colon?.name === ':' && value !== undefined) {
        entries.push({ key: this.read(key), value: this.read(value) });
      } else {
        const odd = { kind: 'other', what: oddArgument(item.nodes), ...item.span } as const;
        entries.push({ key: odd, value: odd });
      }
    }
    return { kind: 'map', entries, ...spanOf(node) };
  }

  #refuseEmptyItem(node: SyntaxNode, span: Span): Expression {
    this.#problems.error(span, 'SYNTAX', 'Something is missing before this comma, or it is one too many.');
    return { kind: 'broken', ...spanOf(node) };
  }

  /** `a.b.c` as its names; null for anything else that can be called. */
  #dottedName(callee: SyntaxNode): string[] | null {
    const names: string[] = [];
    let node = withoutBrackets(callee);
    while (node.name === 'MemberExpression') {
      const [object, dot, property, ...more] = childrenOf(node);
      if (object === undefined || dot?.name !== '.' || property?.name !== 'PropertyName' || more.length > 0)
        return null;
      names.unshift(this.#textOf(property));
      if (names.length > 8) return null;
      node = withoutBrackets(object);
    }
    if (node.name !== 'VariableName') return null;
    names.unshift(this.#textOf(node));
    return names;
  }

  #textOf(node: SyntaxNode): string {
    return this.#text.slice(node.from - SHIFT, node.to - SHIFT);
  }
}

function spanOf(node: SyntaxNode): Span {
  return { from: node.from - SHIFT, to: node.to - SHIFT };
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** What stands inside redundant parentheses; the node itself where they hold anything but one expression. */
function withoutBrackets(start: SyntaxNode): SyntaxNode {
  let node = start;
  while (node.name === 'ParenthesizedExpression') {
    const [open, inner, close, ...more] = childrenOf(node);
    if (open?.name !== '(' || inner === undefined || close?.name !== ')' || more.length > 0) break;
    node = inner;
  }
  return node;
}

/** The items between a node's brackets, split at its commas; a trailing comma adds none, a missing item is empty. */
function itemsOf(node: SyntaxNode): { nodes: SyntaxNode[]; span: Span }[] {
  const inside = childrenOf(node).slice(1, -1);
  const items: { nodes: SyntaxNode[]; span: Span }[] = [];
  let nodes: SyntaxNode[] = [];
  let from = node.from + 1;
  const close = (to: number): void => {
    const start = nodes[0]?.from ?? from;
    items.push({ nodes, span: { from: start - SHIFT, to: (nodes.at(-1)?.to ?? to) - SHIFT } });
    nodes = [];
  };
  for (const child of inside) {
    if (child.name === ',') {
      close(child.from);
      from = child.to;
    } else nodes.push(child);
  }
  if (nodes.length > 0) close(node.to - 1);
  return items;
}

function oddArgument(nodes: readonly SyntaxNode[]): string {
  const names = nodes.map((node) => node.name);
  if (names[0] === '*' || names[0] === '**') return `an unpacking with ${names[0]}`;
  if (names.includes('for')) return 'a comprehension';
  if (names.includes('AssignOp')) return 'an assignment';
  return 'this';
}

function otherOperation(operator: string, text: string): string {
  if (operator === 'and' || operator === 'or') return `a combination with ${operator}`;
  if (operator === 'in' || operator === 'is' || operator === 'not') return `a test with ${text}`;
  return 'a calculation';
}
