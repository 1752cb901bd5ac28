import { createHash, createHmac } from 'node:crypto';

/** JSON text that does not depend on the order of keys; `undefined` members are left out. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (value instanceof Date) return JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(',')}}`;
}

/** SHA-256 of the canonical JSON. */
export function fingerprint(value: unknown): Buffer {
  return createHash('sha256').update(canonicalJson(value)).digest();
}

/** Keyed, so that what it covers cannot be found by trying values. */
export function keyedFingerprint(key: Uint8Array, value: unknown): Buffer {
  return createHmac('sha256', key).update(canonicalJson(value)).digest();
}
