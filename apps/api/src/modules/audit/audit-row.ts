import type { JsonValue, SealedRecord } from '@muster/core';
import { rawId } from '../../dispatch/ids.ts';
import { encodeId } from '../../graphql/ids.ts';

/** An entry as it is stored. */
export interface AuditRow {
  /** Raw UUID v7. */
  id: string;
  at: Date;
  actor: string;
  action: string;
  target: string | null;
  /** null: from within the server, or written by a release that did not note it. */
  address: string | null;
  requestId: string | null;
  before: JsonValue;
  after: JsonValue;
  /** Its place in the chain; null: not sealed yet. */
  position: number | null;
  /** 64 hex digits. */
  hash: string | null;
}

export type StoredRow = Omit<AuditRow, 'before' | 'after'> & { data: JsonValue };

/** Of the table as `a`. */
export const COLUMNS = `a.id::text AS id, a.at, a.actor, a.action, a.target, a.address, a.request_id AS "requestId", a.data,
  a.position, encode(a.hash, 'hex') AS hash`;

export function fromStored(row: StoredRow): AuditRow {
  const { id, at, actor, action, target, address, requestId, data, position, hash } = row;
  return { id: rawId(id), at, actor, action, target, address, requestId, ...sides(data), position, hash };
}

/** Entries of releases that knew no two sides have what was written as the second one; where they knew the first, it is the first. */
function sides(data: JsonValue): Pick<AuditRow, 'before' | 'after'> {
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return { before: null, after: data };
  const { before = null, ...rest } = data;
  const names = Object.keys(rest);
  if (names.length === 0) return { before, after: null };
  return { before, after: names.length === 1 && rest['after'] !== undefined ? rest['after'] : rest };
}

/** As it is sealed and exported. */
export function recordOf({ id, at, ...row }: AuditRow): SealedRecord {
  return { id: encodeId('au', id), at: at.toISOString(), ...row };
}
