import type { Issue } from '../lib/errors.ts';
import { shorten } from '../lib/text.ts';

/** Workers and roles. */
export const MAX_NAME = 128;
/** Namespaces, workflow names, slugs, metadata keys. */
export const MAX_SHORT_NAME = 64;
export const MAX_LABEL_KEY = 128;

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;
const SLUG = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** Letters, digits, `.`, `_`, `-`; begins and ends with a letter or digit; at most `limit` characters. */
export function isName(text: string, limit: number): boolean {
  return text.length <= limit && NAME.test(text);
}

/** A deployment's slug: lower case letters, digits and `-`, at most 64. */
export function isSlug(text: string): boolean {
  return text.length <= MAX_SHORT_NAME && SLUG.test(text);
}

/** The issues of a name that must have the usual shape; `what` says whose name it is, e.g. `a role`. */
export function checkName(text: string, path: string, what: string, limit: number): Issue[] {
  if (isName(text, limit)) return [];
  const message =
    text.length > limit
      ? `${what} has at most ${limit} characters, this one has ${text.length}`
      : `${what} is made of letters, digits, ".", "_" and "-" and begins and ends with a letter or digit, not ${quote(text)}`;
  return [{ path, code: text.length > limit ? 'NAME_TOO_LONG' : 'NAME_SHAPE', message }];
}

/** The issues of a deployment's slug. */
export function checkSlug(text: string, path: string): Issue[] {
  if (isSlug(text)) return [];
  const message = `a slug is made of lower case letters, digits and "-", begins and ends with a letter or digit and has at most ${MAX_SHORT_NAME} characters, not ${quote(text)}`;
  return [{ path, code: 'SLUG_SHAPE', message }];
}

/** Splits `namespace/name`; a bare `name` is in the namespace `default`. Null where it is neither. */
export function parseWorkflowRef(ref: string): { namespace: string; name: string } | null {
  const parts = ref.split('/');
  const [namespace, name] = parts.length === 1 ? ['default', parts[0] ?? ''] : [parts[0] ?? '', parts[1] ?? ''];
  const legal = parts.length <= 2 && isName(namespace, MAX_SHORT_NAME) && isName(name, MAX_SHORT_NAME);
  return legal ? { namespace, name } : null;
}

/** A text as it stands in a message: quoted, escaped and shortened. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
