import type { BrokenRule } from '../rules.ts';

export type DecodedString =
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'bytes' | 'format' }
  | { readonly kind: 'broken'; readonly problem: BrokenRule; readonly from: number; readonly to: number };

const DECIMAL_INTEGER = /^(?:[1-9](?:_?[0-9])*|0+(?:_?0)*)$/;
const PREFIXED_INTEGER = /^0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)$/;
const DIGITS = '[0-9](?:_?[0-9])*';
const FLOAT = new RegExp(
  `^(?:(?:(?:${DIGITS})?\\.${DIGITS}|${DIGITS}\\.)(?:[eE][+-]?${DIGITS})?|${DIGITS}[eE][+-]?${DIGITS})$`,
);

/**
 * Value of a number literal in Python's spelling: `5`, `1_000`, `0xff`, `0o17`, `0b1`, `5.`, `.5`, `1e3`. A literal beyond
 * a double gives Infinity, anything that is not a real number literal null.
 */
export function decodeNumber(literal: string): number | null {
  if (DECIMAL_INTEGER.test(literal) || PREFIXED_INTEGER.test(literal) || FLOAT.test(literal)) {
    return Number(literal.replaceAll('_', ''));
  }
  return null;
}

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\',
  "'": "'",
  '"': '"',
  a: '\u0007',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\n': '',
};
const HEX_ESCAPES: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * Value of one string literal in Python's spelling, quotes and prefix included. Offsets of a broken escape count from the
 * start of the literal.
 */
export function decodeString(literal: string): DecodedString {
  const prefix = (/^[A-Za-z]*/.exec(literal)?.[0] ?? '').toLowerCase();
  if (prefix.includes('f') || prefix.includes('t')) return { kind: 'format' };
  if (prefix.includes('b')) return { kind: 'bytes' };
  const quotes = /^("""|'''|"|')/.exec(literal.slice(prefix.length))?.[0].length ?? 1;
  const start = prefix.length + quotes;
  const body = literal.slice(start, literal.length - quotes);
  if (prefix === 'r') return { kind: 'text', value: withUnixLines(body) };
  return decodeEscapes(body, start);
}

function withUnixLines(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

function decodeEscapes(body: string, start: number): DecodedString {
  const parts: string[] = [];
  let plainFrom = 0;
  let at = body.indexOf('\\');
  while (at !== -1) {
    parts.push(withUnixLines(body.slice(plainFrom, at)));
    const escape = decodeEscape(body, at);
    if ('problem' in escape) {
      return { kind: 'broken', problem: escape.problem, from: start + at, to: start + escape.end };
    }
    parts.push(escape.value);
    plainFrom = escape.end;
    at = body.indexOf('\\', plainFrom);
  }
  parts.push(withUnixLines(body.slice(plainFrom)));
  return { kind: 'text', value: parts.join('') };
}

type Escape = { readonly value: string; readonly end: number } | { readonly problem: BrokenRule; readonly end: number };

function decodeEscape(body: string, at: number): Escape {
  if (body.startsWith('\r\n', at + 1)) return { value: '', end: at + 3 };
  const mark = body.charAt(at + 1) === '\r' ? '\n' : body.charAt(at + 1);
  const simple = Object.hasOwn(SIMPLE_ESCAPES, mark) ? SIMPLE_ESCAPES[mark] : undefined;
  if (simple !== undefined) return { value: simple, end: at + 2 };
  const octal = /^[0-7]{1,3}/.exec(body.slice(at + 1, at + 4))?.[0];
  if (octal !== undefined)
    return { value: String.fromCodePoint(Number.parseInt(octal, 8)), end: at + 1 + octal.length };
  const digits = Object.hasOwn(HEX_ESCAPES, mark) ? HEX_ESCAPES[mark] : undefined;
  if (digits !== undefined) return decodeHexEscape(body, at, digits);
  if (mark === 'N') {
    const message = 'Characters by name are not supported; write the character itself, or \\u and four hex digits.';
    return { problem: { code: 'STRING_ESCAPE', message }, end: at + 2 };
  }
  // Any other escape stands for itself, backslash included.
  return { value: `\\${mark}`, end: at + 1 + mark.length };
}

function decodeHexEscape(body: string, at: number, digits: number): Escape {
  const found = /^[0-9a-fA-F]*/.exec(body.slice(at + 2, at + 2 + digits))?.[0] ?? '';
  const end = at + 2 + found.length;
  if (found.length < digits) {
    const message = `This escape needs ${digits} hex digits; write two backslashes for a backslash.`;
    return { problem: { code: 'STRING_ESCAPE', message }, end };
  }
  const codePoint = Number.parseInt(found, 16);
  if (codePoint > 0x10ffff) {
    return {
      problem: { code: 'STRING_ESCAPE', message: 'There is no such character; the last one is \\U0010ffff.' },
      end,
    };
  }
  return { value: String.fromCodePoint(codePoint), end };
}
