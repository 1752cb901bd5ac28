import { sha256 } from '@noble/hashes/sha2.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import type { Issue } from '../lib/errors.ts';
import { hasLoneSurrogate, utf8Length } from '../lib/text.ts';

/** Bytes of UTF-8: what an index of the database can hold with room to spare. */
export const MAX_SESSION_KEY_BYTES = 1024;

/** The issues of a session key: it must be text that UTF-8 can carry, without NUL (which separates the parts of the hash). */
export function checkSessionKey(key: string, path: string): Issue[] {
  const issues: Issue[] = [];
  if (key === '') {
    issues.push({
      path,
      code: 'SESSION_KEY_EMPTY',
      message: 'a session key is not empty; leave it out to draw afresh',
    });
  }
  if (key.includes('\u0000') || hasLoneSurrogate(key)) {
    const message = 'a session key has no NUL character and no half of a surrogate pair';
    issues.push({ path, code: 'SESSION_KEY_ILLEGAL', message });
  }
  if (utf8Length(key) > MAX_SESSION_KEY_BYTES) {
    const message = `a session key has at most ${MAX_SESSION_KEY_BYTES} bytes as UTF-8`;
    issues.push({ path, code: 'SESSION_KEY_TOO_LONG', message });
  }
  return issues;
}

/**
 * The number in (0, 1] that a session has for a variant: the first 53 bits of SHA-256 over `slug NUL label NUL key`, plus a half, over 2^53.
 * Frozen: changing it moves every session of every deployment.
 */
export function sessionUnit(slug: string, label: string, key: string): number {
  const digest = sha256(utf8ToBytes(`${slug}\u0000${label}\u0000${key}`));
  const view = new DataView(digest.buffer, digest.byteOffset);
  const first53 = view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11);
  return (first53 + 0.5) / 2 ** 53;
}

/** Weighted rendezvous hashing: the variant with the smallest score has the session. `weight` is above 0. */
export function sessionScore(slug: string, label: string, key: string, weight: number): number {
  return -Math.log(sessionUnit(slug, label, key)) / weight;
}
