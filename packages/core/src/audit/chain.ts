import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { JsonValue } from '../lib/json.ts';

/** An audit entry as it is sealed and exported. */
export interface AuditRecord {
  /** `au_` and 32 hex digits: a UUID v7. */
  readonly id: string;
  /** ISO 8601 in UTC with milliseconds: `2026-11-30T12:00:00.000Z`. */
  readonly at: string;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** What stands before the first entry. */
export const CHAIN_START = '0'.repeat(64);

/**
 * The hash that seals an entry: SHA-256, in hex, over the UTF-8 bytes of four lines — `muster-audit-1`, the hash before it (64 hex digits), its position in
 * decimal, and the entry by RFC 8785 — joined by one LF, without one at the end (docs/audit.md).
 */
export function sealHash(previous: string, position: number, record: AuditRecord): string {
  const text = `muster-audit-1\n${previous}\n${position}\n${canonicalRecord(record)}`;
  return bytesToHex(sha256(utf8ToBytes(text)));
}

/** The entry by the JSON Canonicalization Scheme: members sorted by UTF-16 code units, no spaces, numbers and texts as ECMAScript writes them. */
export function canonicalRecord({
  id,
  at,
  actor,
  action,
  target,
  address,
  requestId,
  before,
  after,
}: AuditRecord): string {
  return canonical({ id, at, actor, action, target, address, requestId, before, after });
}

function canonical(value: JsonValue): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`).join(',')}}`;
}
