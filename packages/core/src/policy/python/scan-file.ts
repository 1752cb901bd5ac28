import { shorten } from '../../lib/text.ts';
import type { ProblemList, Span } from '../parse/problems.ts';
import { stringEnd, stringStart } from './string-end.ts';

/** Deeper than any file that is written by hand; bounds the depth of the tree. */
const MAX_NESTING = 200;

const CONTINUATION = /\\(?:\r\n|\n|\r)/y;
const COMMENT = /#[^\r\n]*/y;
const NUMBER = /0[xXoObB][0-9A-Za-z_]*|(?:[0-9]|\.[0-9])(?:[eE][+-](?=[0-9])|[0-9A-Za-z_.])*/y;
const NAME = /[A-Za-z_\p{ID_Start}][A-Za-z0-9_\p{ID_Continue}]*/uy;
const CLOSING_OF: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const DOTTED_NAME =
  /^@[ \t]*[A-Za-z_\p{ID_Start}][A-Za-z0-9_\p{ID_Continue}]*[ \t]*(?:\.[ \t]*[A-Za-z_\p{ID_Start}][A-Za-z0-9_\p{ID_Continue}]*[ \t]*)*/u;

/** A decorator that is no dotted name, called or not, e.g. `@handlers[0].add`. */
export interface OddDecorator extends Span {
  /** Names that stand in it. */
  readonly names: readonly string[];
}

/**
 * A Python file with everything that carries no structure made uniform, at unchanged offsets: literals become plain ones of
 * the same length, comments and continuations spaces, odd decorators names. What was written is read from the original.
 */
export interface ScannedFile {
  readonly masked: string;
  readonly oddDecorators: readonly OddDecorator[];
}

/** null where quotes or brackets do not add up, so that there is no structure to read; the problem is then in the list. */
export function scanFile(text: string, problems: ProblemList): ScannedFile | null {
  return new FileScanner(text, problems).scan();
}

class FileScanner {
  readonly #text: string;
  readonly #problems: ProblemList;
  readonly #masked: string[] = [];
  readonly #open: { readonly close: string; readonly span: Span }[] = [];
  readonly #oddDecorators: OddDecorator[] = [];
  #at = 0;
  #lastQuote = '';
  /** Where the decorator at hand begins, in the text and in `#masked`; null outside of one. */
  #decorator: { readonly from: number; readonly part: number; readonly names: string[] } | null = null;
  #lineStart = true;
  /** Where a pattern (`case …:`) or a target (`as …`) at hand begins in `#masked`, and how deep that is. */
  #pattern: number | null = null;
  #target: { readonly part: number; readonly depth: number } | null = null;
  #inFor = false;
  #firstWord = '';
  /** The last character that is not blank. */
  #previous = '';

  constructor(text: string, problems: ProblemList) {
    this.#text = text;
    this.#problems = problems;
  }

  scan(): ScannedFile | null {
    const nul = this.#text.indexOf('\0');
    if (nul !== -1)
      return this.#refuse({ from: nul, to: nul + 1 }, 'CHARACTER_UNEXPECTED', 'A NUL cannot be in a Python file.');
    while (this.#at < this.#text.length) {
      if (!this.#take()) return null;
    }
    this.#endLine();
    const unclosed = this.#open.at(-1);
    if (unclosed === undefined) return { masked: this.#masked.join(''), oddDecorators: this.#oddDecorators };
    return this.#refuse(
      unclosed.span,
      'BRACKET_UNCLOSED',
      `This bracket is never closed; "${unclosed.close}" is missing.`,
    );
  }

  /** Masks what stands at the cursor; false, and a problem, where it cannot be. */
  #take(): boolean {
    const character = this.#text.charAt(this.#at);
    if (character === '\n' || character === '\r') return this.#takeLineEnd(character);
    if (character === ' ' || character === '\t' || character === '\f')
      return this.#put(1, character === '\f' ? ' ' : character);
    const blank = this.#next(CONTINUATION) ?? this.#next(COMMENT);
    if (blank !== null) return this.#put(blank.length, ' '.repeat(blank.length));
    if (character === '@' && this.#lineStart && this.#open.length === 0) {
      this.#decorator = { from: this.#at, part: this.#masked.length, names: [] };
    }
    const first = this.#lineStart;
    this.#lineStart = false;
    if (stringStart(this.#text, this.#at) !== null) return this.#takeString();
    this.#lastQuote = '';
    const number = this.#next(NUMBER);
    if (number !== null) return this.#put(number.length, '1'.repeat(number.length));
    const name = this.#next(NAME);
    if (name !== null) return this.#takeName(name, first);
    return this.#takeSign(character);
  }

  #takeLineEnd(character: string): boolean {
    if (this.#open.length > 0) return this.#put(1, ' ');
    this.#endLine();
    this.#lineStart = true;
    return this.#put(1, character);
  }

  #takeName(name: string, first: boolean): true {
    this.#decorator?.names.push(name);
    if (first) this.#firstWord = name;
    if (name === 'for' || name === 'in') this.#inFor = name === 'for';
    const rest = this.#text.slice(this.#at + name.length, this.#at + name.length + 200);
    // The parser knows `yield` only with a value.
    const bare = name === 'yield' && /^[ \t]*(?:\\\r?\n[ \t]*)*(?:[\r\n#)\]},;=]|$)/.test(rest);
    const target = { part: this.#masked.length + 1, depth: this.#open.length };
    this.#put(name.length, bare ? 'yielt' : name);
    if (name === 'case' && first && /^[ \t]*[^ \t.:=,;\r\n]/.test(rest)) this.#pattern = this.#masked.length;
    else if (name === 'as') this.#target = target;
    return true;
  }

  #takeString(): boolean {
    const end = stringEnd(this.#text, this.#at);
    if (end === null) {
      const line = this.#text.slice(this.#at).search(/[\r\n]/);
      const span = { from: this.#at, to: line === -1 ? this.#text.length : this.#at + line };
      this.#refuse(span, 'STRING_UNTERMINATED', 'This string is never closed; end it with the quote it starts with.');
      return false;
    }
    // Neighbours get different quotes, or two empty strings would read as the start of a triple-quoted one.
    const quote = this.#lastQuote === '"' ? "'" : '"';
    const length = end - this.#at;
    this.#put(length, `${quote}${'x'.repeat(length - 2)}${quote}`);
    this.#lastQuote = quote;
    return true;
  }

  #takeSign(character: string): boolean {
    if (',:)]};'.includes(character)) this.#endTarget();
    if (character === ':' && this.#open.length === 0) this.#endPattern();
    const span = { from: this.#at, to: this.#at + 1 };
    const close = Object.hasOwn(CLOSING_OF, character) ? CLOSING_OF[character] : undefined;
    if (close !== undefined) {
      if (this.#open.length >= MAX_NESTING) {
        this.#refuse(span, 'NESTED_TOO_DEEPLY', `More than ${MAX_NESTING} brackets inside each other.`);
        return false;
      }
      this.#open.push({ close, span });
    } else if (')]}'.includes(character)) {
      const due = this.#open.pop()?.close;
      if (due !== character) {
        const wanted = due === undefined ? 'nothing is open here' : `"${due}" is due here`;
        this.#refuse(span, 'BRACKET_UNMATCHED', `Unexpected "${character}": ${wanted}.`);
        return false;
      }
    } else if (character === ';' && this.#open.length === 0) this.#endLine();
    else if (!'+-*/%@&|^~<>=.,:;!'.includes(character)) {
      const shown = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
      this.#refuse(
        span,
        'CHARACTER_UNEXPECTED',
        `Unexpected ${JSON.stringify(shorten(shown))}; it is not part of Python.`,
      );
      return false;
    }
    return this.#put(1, this.#signForParser(character));
  }

  /** The parser knows no `*rest` among the names that a loop sets nor in an index, and no `/` among those of a lambda. */
  #signForParser(character: string): string {
    const separated = this.#previous === ',' || this.#previous === '[';
    if (character === '*' && (this.#inFor || (separated && this.#open.at(-1)?.close === ']'))) return ' ';
    return character === '/' && this.#previous === ',' ? 'x' : character;
  }

  /** Ends what `as` sets: the parser knows only plain names there. */
  #endTarget(): void {
    if (this.#target === null || this.#open.length > this.#target.depth) return;
    const { part, depth } = this.#target;
    this.#target = null;
    if (depth === 0 || this.#firstWord === 'from') this.#makeName(part);
    else {
      // In the brackets of a `with` the parser knows no `as` at all.
      const written = this.#masked.slice(part - 1).join('');
      this.#masked.splice(part - 1, this.#masked.length - part + 1, ' '.repeat(written.length));
    }
  }

  /** Ends a pattern of `match`: the parser knows only some of them. */
  #endPattern(): void {
    if (this.#pattern !== null) this.#makeName(this.#pattern);
    this.#pattern = null;
  }

  /** Makes one name of everything from a part on, blanks around it excepted. */
  #makeName(part: number): void {
    const written = this.#masked.slice(part).join('');
    const name = written.trim();
    if (/^[A-Za-z_0-9]*$/.test(name)) return;
    const from = written.indexOf(name);
    const made = (from === 0 ? ' ' : '').concat('x'.repeat(name.length)).slice(0, Math.max(1, name.length));
    this.#masked.splice(
      part,
      this.#masked.length - part,
      written.slice(0, from),
      made,
      written.slice(from + name.length),
    );
  }

  /** Ends a logical line: a decorator of an unusual form becomes a name, because the parser knows only dotted names. */
  #endLine(): void {
    this.#endTarget();
    this.#pattern = null;
    this.#inFor = false;
    this.#firstWord = '';
    const decorator = this.#decorator;
    this.#decorator = null;
    if (decorator === null) return;
    const written = this.#masked.slice(decorator.part).join('').trimEnd();
    const head = DOTTED_NAME.exec(written)?.[0] ?? '';
    const rest = written.slice(head.length);
    if (head !== '' && (rest === '' || (rest.startsWith('(') && closesAtEnd(rest)))) return;
    this.#oddDecorators.push({ from: decorator.from, to: decorator.from + written.length, names: decorator.names });
    const length = this.#at - decorator.from;
    this.#masked.splice(
      decorator.part,
      this.#masked.length - decorator.part,
      `@${'x'.repeat(Math.max(1, written.length - 1))}`.padEnd(length),
    );
  }

  #next(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0] ?? null;
  }

  #put(length: number, mask: string): true {
    this.#masked.push(mask);
    if (mask.trim() !== '') this.#previous = mask.trimEnd().slice(-1);
    this.#at += length;
    return true;
  }

  #refuse(span: Span, code: string, message: string): null {
    this.#problems.error(span, code, message);
    return null;
  }
}

/** Whether the bracket that a text starts with closes at its very end. Strings are masked, so that every bracket counts. */
function closesAtEnd(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i += 1) {
    const character = text.charAt(i);
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character) && --depth === 0) return i === text.length - 1;
  }
  return false;
}
