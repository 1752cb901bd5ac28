import { createHash, randomBytes } from 'node:crypto';

/** 256 bits of chance behind a prefix that says what it is, e.g. `mst_…`. Shown once; kept as `hashOf` it. */
export function newSecret(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/** SHA-256: enough for secrets that nobody can guess. Secrets are found by it, so no comparison of theirs can be timed. */
export function hashOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** What a list shows of a secret, so that its holder recognises it. */
export function visiblePrefix(secret: string): string {
  return secret.slice(0, 10);
}
