import type { JsonValue } from '../lib/json.ts';

/** Why a text is not strict JSON. Never carries any of the text. */
export type JsonFault = 'SYNTAX' | 'TOO_DEEP' | 'DUPLICATE_KEY' | 'NUMBER_TOO_LARGE';

export type StrictJson =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly fault: JsonFault };

const MAX_DEPTH = 64;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\]|\\[^])*"/y;
const LITERALS: readonly (readonly [string, JsonValue])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
];

/**
 * Reads a text as JSON (RFC 8259) and, beyond that, refuses a key that stands twice in one object, numbers beyond a double
 * and nesting above 64. `JSON.parse` would keep the last of two keys and read `1e999` as Infinity.
 */
export function parseStrictJson(text: string): StrictJson {
  const reader = new StrictReader(text);
  try {
    const value = reader.value(0);
    reader.end();
    return { ok: true, value };
  } catch (error) {
    if (error instanceof Fault) return { ok: false, fault: error.fault };
    throw error;
  }
}

class Fault extends Error {
  readonly fault: JsonFault;

  constructor(fault: JsonFault) {
    super(fault);
    this.fault = fault;
  }
}

class StrictReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new Fault('TOO_DEEP');
    this.#take(SPACE);
    const first = this.#text.charAt(this.#at);
    if (first === '{') return this.#object(depth);
    if (first === '[') return this.#array(depth);
    if (first === '"') return this.#string();
    for (const [spelling, value] of LITERALS) {
      if (!this.#text.startsWith(spelling, this.#at)) continue;
      this.#at += spelling.length;
      return value;
    }
    const number = Number(this.#take(NUMBER) ?? Number.NaN);
    if (Number.isNaN(number)) throw new Fault('SYNTAX');
    if (!Number.isFinite(number)) throw new Fault('NUMBER_TOO_LARGE');
    return number;
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) throw new Fault('SYNTAX');
  }

  #object(depth: number): JsonValue {
    const entries = new Map<string, JsonValue>();
    this.#at += 1;
    if (this.#skips('}')) return {};
    do {
      this.#take(SPACE);
      const key = this.#string();
      if (entries.has(key)) throw new Fault('DUPLICATE_KEY');
      if (!this.#skips(':')) throw new Fault('SYNTAX');
      entries.set(key, this.value(depth + 1));
    } while (this.#skips(','));
    if (!this.#skips('}')) throw new Fault('SYNTAX');
    return Object.fromEntries(entries);
  }

  #array(depth: number): JsonValue {
    const items: JsonValue[] = [];
    this.#at += 1;
    if (this.#skips(']')) return items;
    do items.push(this.value(depth + 1));
    while (this.#skips(','));
    if (!this.#skips(']')) throw new Fault('SYNTAX');
    return items;
  }

  #string(): string {
    const literal = this.#take(STRING);
    if (literal === null) throw new Fault('SYNTAX');
    try {
      const text: unknown = JSON.parse(literal);
      return String(text);
    } catch {
      throw new Fault('SYNTAX');
    }
  }

  /** Takes one character, with spaces before it, if it is next. */
  #skips(character: string): boolean {
    this.#take(SPACE);
    if (this.#text.charAt(this.#at) !== character) return false;
    this.#at += 1;
    return true;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? null;
    if (found !== null) this.#at += found.length;
    return found;
  }
}
