import type { SyntaxNode } from '@lezer/common';

/** A node's children, in order. */
export function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

/** A name as Python compares it: `ｓcore` is `score`. */
export function nameAt(text: string, node: { readonly from: number; readonly to: number }): string {
  return text.slice(node.from, node.to).normalize('NFKC');
}

/** `a.b.c` as its names; null for every other expression. */
export function dottedNames(text: string, start: SyntaxNode): string[] | null {
  const names: string[] = [];
  let node = start;
  while (node.name === 'MemberExpression') {
    const [object, dot, property, ...more] = childrenOf(node);
    if (object === undefined || dot?.name !== '.' || property?.name !== 'PropertyName' || more.length > 0) return null;
    if (names.length > 16) return null;
    names.unshift(nameAt(text, property));
    node = object;
  }
  if (node.name !== 'VariableName') return null;
  return [nameAt(text, node), ...names];
}

/** Numbers of lines, from 1, by offset. */
export class LineNumbers {
  readonly #starts = [0];

  constructor(text: string) {
    for (const end of text.matchAll(/\r\n|\r|\n/g)) this.#starts.push(end.index + end[0].length);
  }

  at(offset: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  }
}
