const MAX_JSON_BYTES = 1_048_576;
const MAX_JSON_DEPTH = 64;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What keeps a parsed value from being stored: a clause without any of the value, and whether it is its size. */
export interface JsonProblem {
  readonly rule: string;
  readonly tooLarge: boolean;
}

/**
 * What the database or a worker could not take of a value, or null. Strings are counted as their JSON text; NUL is fine, lone surrogates are
 * not (they are no Unicode text and would come back changed).
 */
export function jsonProblem(value: unknown): JsonProblem | null {
  let text: string | undefined;
  const rule = deepProblem(value, 0);
  if (rule !== null) return { rule, tooLarge: false };
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) return { rule: 'must be a JSON value', tooLarge: false };
  if (text.length <= MAX_JSON_BYTES && Buffer.byteLength(text) <= MAX_JSON_BYTES) return null;
  return { rule: 'must be at most 1 MiB as JSON', tooLarge: true };
}

function deepProblem(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? 'must not contain a lone surrogate' : null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'must not contain a number beyond a double';
  if (value === null || typeof value !== 'object') return null;
  if (depth >= MAX_JSON_DEPTH) return `must have at most ${MAX_JSON_DEPTH} levels`;
  const keys = Array.isArray(value) ? [] : Object.keys(value);
  if (keys.some((key) => LONE_SURROGATE.test(key))) return 'must not contain a lone surrogate';
  for (const item of Object.values(value)) {
    const problem = deepProblem(item, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}
