const STRING_START = /(?:[rRuUbBfFtT]|[rR][bBfFtT]|[bBfFtT][rR])?("""|'''|"|')/y;

/** A name or number, whole, so that its end is not taken for a prefix; or a comment. */
const WORD = /[A-Za-z0-9_\p{ID_Continue}]+|#[^\r\n]*/uy;

/** A string literal's start at an offset: its quotes, and whether it has `{…}` parts; null where none starts there. */
export function stringStart(text: string, at: number): { length: number; quotes: string; formatted: boolean } | null {
  STRING_START.lastIndex = at;
  const found = STRING_START.exec(text);
  const quotes = found?.[1];
  if (found === null || quotes === undefined) return null;
  return { length: found[0].length, quotes, formatted: /[fFtT]/.test(found[0]) };
}

/**
 * Offset behind a string literal that starts at `at`; null where it is never closed. Formatted strings may hold strings
 * with the same quotes inside their braces (as since Python 3.12).
 */
export function stringEnd(text: string, at: number): number | null {
  const start = stringStart(text, at);
  if (start === null) return null;
  const from = at + start.length;
  return start.formatted ? formattedEnd(text, from, start.quotes) : plainEnd(text, from, start.quotes);
}

function plainEnd(text: string, from: number, quotes: string): number | null {
  let at = from;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === '\\') at += text.startsWith('\r\n', at + 1) ? 3 : 2;
    else if (text.startsWith(quotes, at)) return at + quotes.length;
    else if (quotes.length === 1 && (character === '\n' || character === '\r')) return null;
    else at += 1;
  }
  return null;
}

/** What is open inside a formatted string: the texts between braces, the expressions in braces, brackets in those. */
type Open = { readonly kind: 'text'; readonly quotes: string; readonly format: boolean } | { readonly kind: 'bracket' };

/** Without recursion: strings in braces in strings may be nested as deep as the file is long. */
function formattedEnd(text: string, from: number, quotes: string): number | null {
  const open: Open[] = [{ kind: 'text', quotes, format: false }];
  let at = from;
  while (at < text.length) {
    const inside = open.at(-1);
    if (inside === undefined) return at;
    at = inside.kind === 'text' ? inText(text, at, inside, open) : inBraces(text, at, open);
    if (at === -1) return null;
  }
  return open.length === 0 ? at : null;
}

/** One step through the text of a formatted string; -1 where it is never closed. */
function inText(text: string, at: number, inside: Open & { kind: 'text' }, open: Open[]): number {
  const character = text.charAt(at);
  if (inside.format && character === '}') {
    // The end of a format, and of the braces that it stands in.
    open.splice(-2);
    return at + 1;
  }
  if (!inside.format && text.startsWith(inside.quotes, at)) {
    open.pop();
    return at + inside.quotes.length;
  }
  if (character === '\\') return at + (text.startsWith('\r\n', at + 1) ? 3 : text.charAt(at + 1) === '{' ? 1 : 2);
  if (character === '{') {
    if (!inside.format && text.charAt(at + 1) === '{') return at + 2;
    open.push({ kind: 'bracket' });
    return at + 1;
  }
  return !inside.format && inside.quotes.length === 1 && (character === '\n' || character === '\r') ? -1 : at + 1;
}

/** One step through the expression in a formatted string's braces; -1 where a string in it is never closed. */
function inBraces(text: string, at: number, open: Open[]): number {
  const start = stringStart(text, at);
  if (start !== null) {
    if (!start.formatted) return plainEnd(text, at + start.length, start.quotes) ?? -1;
    open.push({ kind: 'text', quotes: start.quotes, format: false });
    return at + start.length;
  }
  WORD.lastIndex = at;
  const word = WORD.exec(text)?.[0];
  if (word !== undefined) return at + word.length;
  const character = text.charAt(at);
  if ('([{'.includes(character)) open.push({ kind: 'bracket' });
  else if (')]}'.includes(character)) open.pop();
  else if (character === ':' && open.at(-2)?.kind === 'text') open.push({ kind: 'text', quotes: '', format: true });
  return at + 1;
}
