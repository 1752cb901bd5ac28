import { shorten } from '../../lib/text.ts';
import type { ProblemList, Span } from './problems.ts';

/**
 * Deepest nesting of brackets that is read. Deeper than any policy by far, and shallow enough that nothing that walks the
 * tree by recursion can run out of stack.
 */
export const MAX_NESTING = 60;

/**
 * The text with everything that carries no structure made uniform, at unchanged offsets: literals become plain ones of the
 * same length, comments, line breaks and continuations become spaces. What a literal says is read from the original.
 */
export interface ScannedText {
  readonly masked: string;
}

const NEWLINE_OR_SPACE = /[ \t\f\r\n]+/y;
const CONTINUATION = /\\(?:\r\n|\n|\r)/y;
const COMMENT = /#[^\r\n]*/y;
const STRING_START = /(?:[rR]|[uU]|[bB][rR]?|[rR][bB]|[fFtT][rR]?|[rR][fFtT])?("""|'''|"|')/y;
const NUMBER = /0[xXoObB][0-9A-Za-z_]*|(?:[0-9]|\.[0-9])(?:[eE][+-](?=[0-9])|[0-9A-Za-z_.])*/y;
const NAME = /[A-Za-z_\p{ID_Start}][A-Za-z0-9_\p{ID_Continue}]*/uy;
const OPERATOR = /\*\*|\/\/|->|:=|\.\.\.|[=!<>]=|<<|>>|[-+*/%@&|^~<>=.,:]/y;
const OPENING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Splits a text into Python's tokens and masks what carries no structure. null where the brackets, quotes or characters do
 * not add up, so that there is no structure to read; the problems are then in the list.
 */
export function scan(text: string, problems: ProblemList): ScannedText | null {
  const masked: string[] = [];
  const open: { close: string; span: Span }[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? null;
  };
  while (at < text.length) {
    const blank = take(NEWLINE_OR_SPACE) ?? take(CONTINUATION) ?? take(COMMENT);
    if (blank !== null) {
      masked.push(' '.repeat(blank.length));
      at += blank.length;
      continue;
    }
    const opening = take(STRING_START);
    if (opening !== null) {
      const end = endOfString(text, at, opening);
      if (end === null) {
        const span = { from: at, to: endOfLine(text, at) };
        problems.error(
          span,
          'STRING_UNTERMINATED',
          'This string is never closed; end it with the quote it starts with.',
        );
        return null;
      }
      masked.push(maskedString(end - at));
      at = end;
      continue;
    }
    const number = take(NUMBER);
    if (number !== null) {
      masked.push('1'.repeat(number.length));
      at += number.length;
      continue;
    }
    const plain = take(NAME) ?? take(OPERATOR);
    if (plain !== null) {
      masked.push(plain);
      at += plain.length;
      continue;
    }
    if (!takeBracket(text, at, open, problems)) return null;
    masked.push(text.charAt(at));
    at += 1;
  }
  const unclosed = open.at(-1);
  if (unclosed !== undefined) {
    problems.error(unclosed.span, 'BRACKET_UNCLOSED', `This bracket is never closed; "${unclosed.close}" is missing.`);
    return null;
  }
  return { masked: masked.join('') };
}

/** Puts the bracket at this offset on the stack, or takes its partner off; false, and a problem, where neither can be. */
function takeBracket(text: string, at: number, open: { close: string; span: Span }[], problems: ProblemList): boolean {
  const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
  const span = { from: at, to: at + character.length };
  const close = Object.hasOwn(OPENING, character) ? OPENING[character] : undefined;
  if (close !== undefined) {
    open.push({ close, span });
    if (open.length <= MAX_NESTING) return true;
    problems.error(
      span,
      'NESTED_TOO_DEEPLY',
      `More than ${MAX_NESTING} brackets inside each other; no policy needs that.`,
    );
    return false;
  }
  if (character === ')' || character === ']' || character === '}') {
    const partner = open.pop();
    if (partner?.close === character) return true;
    const wanted = partner === undefined ? 'nothing is open here' : `"${partner.close}" is due here`;
    problems.error(span, 'BRACKET_UNMATCHED', `Unexpected "${character}": ${wanted}.`);
    return false;
  }
  problems.error(span, 'CHARACTER_UNEXPECTED', unexpectedCharacter(character));
  return false;
}

function unexpectedCharacter(character: string): string {
  if (/[“”„‟‘’‚‛«»`]/.test(character)) return `Unexpected ${character}: texts stand in plain quotes, "…" or '…'.`;
  if (character === '!') return 'Unexpected "!": only "!=" is an operator.';
  if (character === ';') return 'Unexpected ";": a policy is one expression.';
  const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const shown = /[\p{L}\p{N}\p{P}\p{S}]/u.test(character) ? `"${shorten(character)}"` : `character U+${code}`;
  return `Unexpected ${shown}; it is not part of the policy language.`;
}

/** Offset behind the closing quote, null where there is none (single quotes end at the line's end). */
function endOfString(text: string, from: number, opening: string): number | null {
  const quotes = /["']+$/.exec(opening)?.[0] ?? '"';
  let at = from + opening.length;
  while (at < text.length) {
    if (text.startsWith(quotes, at)) return at + quotes.length;
    const character = text.charAt(at);
    if (character === '\\') at += text.startsWith('\r\n', at + 1) ? 3 : 2;
    else if (quotes.length === 1 && (character === '\n' || character === '\r')) return null;
    else at += 1;
  }
  return null;
}

function endOfLine(text: string, from: number): number {
  const length = text.slice(from).search(/[\r\n]/);
  return length === -1 ? text.length : from + length;
}

function maskedString(length: number): string {
  return `"${'x'.repeat(length - 2)}"`;
}
