import { shorten } from '../../lib/text.ts';
import type { ProblemList, Span } from './problems.ts';

/**
 * Deepest nesting of brackets, and most tokens between two commas. Far beyond any policy; they bound the depth of the tree,
 * so that neither the parser nor a walk over its tree can become slow or run out of stack.
 */
const MAX_NESTING = 30;
const MAX_ITEM_TOKENS = 40;
/** Twice as many as 64 terms of the longest kind have. */
const MAX_TOKENS = 6_000;

/**
 * The text with everything that carries no structure made uniform, at unchanged offsets: literals become plain ones of the
 * same length, comments, line breaks and continuations become spaces. What a literal says is read from the original.
 */
export interface ScannedText {
  readonly masked: string;
}

interface OpenBracket {
  readonly close: string;
  readonly span: Span;
  /** Tokens since the bracket or the last comma in it. */
  tokens: number;
}

const BLANK = /[ \t\f\r\n]+/y;
const CONTINUATION = /\\(?:\r\n|\n|\r)/y;
const COMMENT = /#[^\r\n]*/y;
const STRING_START = /(?:[rR]|[uU]|[bB][rR]?|[rR][bB]|[fFtT][rR]?|[rR][fFtT])?("""|'''|"|')/y;
const NUMBER = /0[xXoObB][0-9A-Za-z_]*|(?:[0-9]|\.[0-9])(?:[eE][+-](?=[0-9])|[0-9A-Za-z_.])*/y;
const NAME = /[A-Za-z_\p{ID_Start}][A-Za-z0-9_\p{ID_Continue}]*/uy;
const OPERATOR = /\*\*|\/\/|->|:=|\.\.\.|[=!<>]=|<<|>>|[-+*/%@&|^~<>=.,:]/y;
const CLOSING_OF: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/**
 * Splits a text into Python's tokens and masks what carries no structure. null where the brackets, quotes or characters do
 * not add up, or where it is nested too deeply, so that there is no structure to read; the problem is then in the list.
 */
export function scan(text: string, problems: ProblemList): ScannedText | null {
  return new Scanner(text, problems).scan();
}

class Scanner {
  readonly #text: string;
  readonly #problems: ProblemList;
  readonly #masked: string[] = [];
  /** The first stands for the whole text. */
  readonly #open: [OpenBracket, ...OpenBracket[]] = [{ close: '', span: { from: 0, to: 0 }, tokens: 0 }];
  #at = 0;
  #tokens = 0;
  #lastQuote = '';

  constructor(text: string, problems: ProblemList) {
    this.#text = text;
    this.#problems = problems;
  }

  scan(): ScannedText | null {
    const nul = this.#text.indexOf('\0');
    if (nul !== -1) return this.#refuse({ from: nul, to: nul + 1 }, 'CHARACTER_UNEXPECTED', unexpectedCharacter('\0'));
    while (this.#at < this.#text.length) {
      if (this.#takeBlank()) continue;
      const from = this.#at;
      const token = this.#takeToken();
      if (token === null || !this.#count(token, from)) return null;
    }
    const unclosed = this.#open.at(-1);
    if (unclosed === undefined || unclosed.close === '') return { masked: this.#masked.join('') };
    const message = `This bracket is never closed; "${unclosed.close}" is missing.`;
    return this.#refuse(unclosed.span, 'BRACKET_UNCLOSED', message);
  }

  #takeBlank(): boolean {
    const blank = this.#next(BLANK) ?? this.#next(CONTINUATION) ?? this.#next(COMMENT);
    if (blank !== null) this.#put(blank.length, ' '.repeat(blank.length));
    return blank !== null;
  }

  /** Masks the token at hand and gives its kind, or null and a problem. */
  #takeToken(): 'comma' | 'bracket' | 'other' | null {
    const opening = this.#next(STRING_START);
    if (opening !== null) return this.#takeString(opening);
    this.#lastQuote = '';
    const number = this.#next(NUMBER);
    const plain = number ?? this.#next(NAME) ?? this.#next(OPERATOR);
    if (plain === null) return this.#takeBracket();
    this.#put(plain.length, number === null ? plain : '1'.repeat(plain.length));
    return plain === ',' ? 'comma' : 'other';
  }

  #takeString(opening: string): 'other' | null {
    const end = endOfString(this.#text, this.#at, opening);
    if (end === null) {
      const span = { from: this.#at, to: endOfLine(this.#text, this.#at) };
      const message = 'This string is never closed; end it with the quote it starts with.';
      return this.#refuse(span, 'STRING_UNTERMINATED', message);
    }
    // Neighbours get different quotes, or two empty strings would read as the start of a triple-quoted one.
    const quote = this.#lastQuote === '"' ? "'" : '"';
    const length = end - this.#at;
    this.#put(length, `${quote}${'x'.repeat(length - 2)}${quote}`);
    this.#lastQuote = quote;
    return 'other';
  }

  #takeBracket(): 'bracket' | null {
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    const span = { from: this.#at, to: this.#at + character.length };
    const close = Object.hasOwn(CLOSING_OF, character) ? CLOSING_OF[character] : undefined;
    if (close !== undefined) {
      if (this.#open.length > MAX_NESTING) {
        const message = `More than ${MAX_NESTING} brackets inside each other; no policy needs that.`;
        return this.#refuse(span, 'NESTED_TOO_DEEPLY', message);
      }
      // The bracket itself counts where it stands, not inside.
      this.#countOne();
      this.#open.push({ close, span, tokens: 0 });
    } else {
      const due = this.#open.at(-1)?.close ?? '';
      if (!')]}'.includes(character)) return this.#refuse(span, 'CHARACTER_UNEXPECTED', unexpectedCharacter(character));
      if (due !== character) {
        const wanted = due === '' ? 'nothing is open here' : `"${due}" is due here`;
        return this.#refuse(span, 'BRACKET_UNMATCHED', `Unexpected "${character}": ${wanted}.`);
      }
      this.#open.pop();
    }
    this.#put(1, character);
    return 'bracket';
  }

  /** Counts the token; false, and a problem, where the item it belongs to has too many. */
  #count(token: 'comma' | 'bracket' | 'other', from: number): boolean {
    const inside = this.#open.at(-1) ?? this.#open[0];
    if (token === 'comma') inside.tokens = 0;
    else if (token === 'other') this.#countOne();
    this.#tokens += 1;
    if (this.#tokens > MAX_TOKENS) {
      this.#refuse(
        { from, to: this.#at },
        'TOO_MANY_TOKENS',
        `More than ${MAX_TOKENS} words and signs; no policy needs that.`,
      );
      return false;
    }
    if (inside.tokens <= MAX_ITEM_TOKENS) return true;
    const message = 'Too many operations in one place; no policy needs that.';
    this.#refuse({ from, to: this.#at }, 'NESTED_TOO_DEEPLY', message);
    return false;
  }

  #countOne(): void {
    const inside = this.#open.at(-1) ?? this.#open[0];
    inside.tokens += 1;
  }

  #next(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? null;
  }

  #put(length: number, mask: string): void {
    this.#masked.push(mask);
    this.#at += length;
  }

  #refuse(span: Span, code: string, message: string): null {
    this.#problems.error(span, code, message);
    return null;
  }
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
