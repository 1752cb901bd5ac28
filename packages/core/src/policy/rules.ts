import { hasLoneSurrogate } from '../lib/text.ts';
import { META_KEY_MAX, isKeyShape, isServiceName } from './values.ts';

/** Most terms of a `score(...)` or `require(...)`, and most entries of a label map (ruling 8). */
export const MAX_TERMS = 64;
/** Most UTF-8 bytes of a policy text, as typed and as formatted (ruling 8). */
export const MAX_TEXT_BYTES = 16_384;
/** Largest weight of a term (ruling 8). */
export const MAX_WEIGHT = 1e12;
/** What `resource(...)` can read. */
export const RESOURCE_FIELDS: readonly string[] = [
  'cpu_total',
  'cpu_available',
  'memory_total',
  'memory_available',
  'disk_total',
  'disk_free',
];

/** A rule that was broken: a stable code and a sentence that says what would be right. */
export interface BrokenRule {
  readonly code: string;
  readonly message: string;
}

/** Any text inside a spec: storable and sendable as JSON in UTF-8. */
export function checkText(text: string): BrokenRule | null {
  if (hasLoneSurrogate(text)) {
    return { code: 'TEXT_NOT_UNICODE', message: 'The text has half of a surrogate pair, which is no character.' };
  }
  if (text.includes('\0')) {
    return { code: 'TEXT_HAS_NUL', message: 'The text has a NUL character, which cannot be stored.' };
  }
  return null;
}

/** Key of `label(...)` or `metric(...)`: any non-empty text (ruling 8: shapes are checked where the key is written). */
export function checkPlainKey(kind: 'label' | 'metric', key: string): BrokenRule | null {
  if (key === '') return { code: 'KEY_EMPTY', message: `The key of ${kind}() is empty; name one.` };
  return checkText(key);
}

/** Key of `meta(...)`: 1–64 characters of the key shape. */
export function checkMetaKey(key: string): BrokenRule | null {
  if (key === '') return { code: 'KEY_EMPTY', message: 'The key of meta() is empty; name one.' };
  if (key.length > META_KEY_MAX || !isKeyShape(key)) {
    return {
      code: 'KEY_INVALID',
      message: `Invalid metadata key: use at most ${META_KEY_MAX} ASCII letters, digits, ".", "_" or "-", with a letter or digit at both ends.`,
    };
  }
  return null;
}

/** Field of `resource(...)`. */
export function checkResourceField(field: string): BrokenRule | null {
  if (RESOURCE_FIELDS.includes(field)) return null;
  return { code: 'RESOURCE_UNKNOWN', message: `Unknown resource field; use one of ${RESOURCE_FIELDS.join(', ')}.` };
}

/** Prefix of `label_for(...)` and `meta_for(...)`: key shape once its trailing ".", "_", "-" are gone. */
export function checkKeyPrefix(kind: 'label' | 'meta', prefix: string): BrokenRule | null {
  const call = `${kind}_for()`;
  if (!isKeyShape(withoutTrailingMarks(prefix))) {
    return {
      code: 'PREFIX_INVALID',
      message: `Invalid prefix of ${call}: start with an ASCII letter or digit, then letters, digits, ".", "_" or "-", e.g. "cache.".`,
    };
  }
  if (kind === 'meta' && prefix.length >= META_KEY_MAX) {
    return {
      code: 'PREFIX_TOO_LONG',
      message: `The prefix of ${call} has ${prefix.length} characters; at most ${META_KEY_MAX - 1} leave room for a key.`,
    };
  }
  return null;
}

/** Name given to `service(...)`. */
export function checkServiceName(name: string): BrokenRule | null {
  if (isServiceName(name)) return null;
  return {
    code: 'SERVICE_INVALID',
    message:
      'Invalid service name: use at most 32 lowercase letters, digits and single hyphens inside, e.g. "bert-base".',
  };
}

/** Path of `input(...)` or `routing_input(...)`: any non-empty text, read step by step at its dots. */
export function checkPath(path: string): BrokenRule | null {
  if (path === '') return { code: 'PATH_EMPTY', message: 'The path is empty; name a field, e.g. "customer.tier".' };
  return checkText(path);
}

/** Weight of a term: a finite number above 0, at most 1e12. */
export function checkWeight(weight: number): BrokenRule | null {
  if (!Number.isFinite(weight)) {
    return { code: 'WEIGHT_INVALID', message: 'The weight must be a finite number above 0.' };
  }
  if (weight <= 0)
    return { code: 'WEIGHT_NOT_POSITIVE', message: 'The weight must be above 0; leave the term out instead.' };
  if (weight > MAX_WEIGHT) return { code: 'WEIGHT_TOO_LARGE', message: 'The weight must be at most 1e12.' };
  return null;
}

function withoutTrailingMarks(prefix: string): string {
  let end = prefix.length;
  while (end > 0 && '._-'.includes(prefix.charAt(end - 1))) end -= 1;
  return prefix.slice(0, end);
}
