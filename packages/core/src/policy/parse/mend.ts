import type { Tree } from '@lezer/common';
import { parser } from '@lezer/python';
import { shorten } from '../../lib/text.ts';
import type { ProblemList, Span } from './problems.ts';

/** A tree without errors. */
export interface MendedTree {
  /** Of the text in one more pair of brackets: inside brackets a line break is only a space. */
  readonly tree: Tree;
  /** Where, in the tree, a number stands for a part that could not be read. */
  readonly broken: ReadonlySet<number>;
}

/** Characters that may be parsed in all; bounds the time for a text with many errors. */
const BUDGET = 120_000;
const TOKEN = /[A-Za-z_\p{ID_Start}][A-Za-z0-9_\p{ID_Continue}]*|[0-9][0-9A-Za-z_.]*|[=!<>]=|[^]/uy;

/**
 * Parses a scanned text. Where an argument or an entry is no Python, the error is reported and a placeholder put in its
 * place, so that the rest can be read and all problems be named at once. null where that is not possible.
 */
export function parseMended(masked: string, text: string, problems: ProblemList): MendedTree | null {
  const broken = new Set<number>();
  let current = masked;
  let reported = -1;
  for (let parsed = 0; ; parsed += current.length + 1) {
    const tree = parser.parse(`(${current})`);
    const at = firstError(tree);
    if (at === null) return { tree, broken };
    if (at !== reported) report(at - 1, text, problems);
    reported = at;
    const mended = parsed > BUDGET ? null : withPlaceholder(current, at - 1, broken);
    if (mended === null) return null;
    current = mended;
  }
}

function firstError(tree: Tree): number | null {
  let at: number | null = null;
  tree.iterate({
    enter: (node) => {
      if (at === null && node.type.isError) at = node.from;
      return at === null;
    },
  });
  return at;
}

function report(from: number, text: string, problems: ProblemList): void {
  TOKEN.lastIndex = from;
  const token = TOKEN.exec(text)?.[0] ?? '';
  const span: Span = { from, to: from + token.length };
  if (token === '') problems.error(span, 'SYNTAX', 'Something is missing at the end.');
  else if (/^[\s,)\]}]/.test(token)) {
    problems.error(span, 'SYNTAX', `Something is missing before "${token}", or this is one too many.`);
  } else {
    const message = `Unexpected "${shorten(token)}"; a comma or an operator may be missing before it.`;
    problems.error(span, 'SYNTAX', message);
  }
}

/** The text with the item around an offset replaced by a number, or one comma less where the item is empty. */
function withPlaceholder(text: string, at: number, broken: Set<number>): string | null {
  const item = itemAround(text, at);
  if (item === null) return null;
  const content = text.slice(item.from, item.to);
  if (content.trim() === '') {
    return text.charAt(item.to) === ',' ? `${text.slice(0, item.to)} ${text.slice(item.to + 1)}` : null;
  }
  const name = item.inMap ? '' : (/^ *[A-Za-z_][A-Za-z0-9_]* *=(?!=)/.exec(content)?.[0] ?? '');
  const placeholder = item.inMap ? '1:1' : '1';
  const from = item.from + name.length;
  if (item.to - from < placeholder.length || broken.has(from + 1)) return null;
  // Offsets in the tree are one higher, by the bracket around the text.
  broken.add(from + 1);
  broken.add(from + placeholder.length);
  return `${text.slice(0, from)}${placeholder.padEnd(item.to - from)}${text.slice(item.to)}`;
}

/** What stands between the brackets or commas around an offset; null outside of all brackets. */
function itemAround(text: string, at: number): (Span & { readonly inMap: boolean }) | null {
  const open: { bracket: string; itemFrom: number }[] = [];
  for (let i = 0; i < at; i += 1) {
    const character = text.charAt(i);
    if ('([{'.includes(character)) open.push({ bracket: character, itemFrom: i + 1 });
    else if (')]}'.includes(character)) open.pop();
    else if (character === ',') {
      const inside = open.at(-1);
      if (inside !== undefined) inside.itemFrom = i + 1;
    }
  }
  const inside = open.at(-1);
  if (inside === undefined) return null;
  let depth = 0;
  let to = at;
  for (; to < text.length; to += 1) {
    const character = text.charAt(to);
    if (depth === 0 && ',)]}'.includes(character)) break;
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
  }
  return { from: inside.itemFrom, to, inMap: inside.bracket === '{' };
}
