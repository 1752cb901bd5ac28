import type { Expression } from './expression.ts';

/** The expression with the path of every call, at any depth, replaced by what `rename` makes of it. */
export function renameCalls(
  expression: Expression,
  rename: (path: readonly string[]) => readonly string[],
): Expression {
  const within = (part: Expression): Expression => renameCalls(part, rename);
  switch (expression.kind) {
    case 'call':
      return {
        ...expression,
        path: expression.path === null ? null : rename(expression.path),
        positional: expression.positional.map(within),
        keywords: expression.keywords.map((keyword) => ({ ...keyword, value: within(keyword.value) })),
      };
    case 'compare':
      return { ...expression, left: within(expression.left), right: within(expression.right) };
    case 'map':
      return {
        ...expression,
        entries: expression.entries.map(({ key, value }) => ({ key: within(key), value: within(value) })),
      };
    case 'list':
      return { ...expression, items: expression.items.map(within) };
    default:
      return expression;
  }
}
