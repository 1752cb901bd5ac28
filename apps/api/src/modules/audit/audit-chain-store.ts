import { type ChainHead, sealHash } from '@muster/core';
import type { Executor } from '../../dispatch/statements/executor.ts';
import { FENCE, type LeaderSession, LeadershipLostError } from '../../dispatch/statements/fence.ts';
import { type AuditRow, COLUMNS, fromStored, recordOf, type StoredRow } from './audit-row.ts';

/** Entries of one batch. */
export const SEAL_BATCH = 200;
const PAGE = 200;
const FIRST_ID = '0'.repeat(32);
const MAX_BYTES = 8 * 1_048_576;

/** At most so many entries and 8 MiB, at least one; `$1` where they begin. */
function bounded(condition: string, order: string): string {
  return `SELECT r.* FROM (
      SELECT ${COLUMNS}, sum(coalesce(octet_length(a.data::text), 0)) OVER (ORDER BY ${order}) - coalesce(octet_length(a.data::text), 0) AS bytes
      FROM (SELECT * FROM audit a WHERE ${condition} ORDER BY ${order} LIMIT $2) a
    ) r WHERE r.bytes < ${MAX_BYTES} ORDER BY ${order.replace('a.', 'r.')}`;
}

const UNSEALED = bounded('a.position IS NULL AND a.id > $1::uuid', 'a.id');
const SEALED = bounded('a.position > $1::bigint', 'a.position');

const HEAD = `SELECT position, encode(hash, 'hex') AS hash FROM audit_head`;

/**
 * Seals a batch, or nothing of it (leader): the head goes from where it was read to the end of the batch, and every entry of it gets its place. Entries that are
 * being written meanwhile are not waited for: they come in a later batch.
 */
const SEAL = `WITH ${FENCE}, item AS (
  SELECT * FROM unnest($5::uuid[], $6::bigint[], $7::text[]) AS i (id, position, hash)
), held AS (
  SELECT a.id FROM fence f, item i JOIN audit a ON a.id = i.id WHERE a.position IS NULL FOR UPDATE OF a
), moved AS (
  UPDATE audit_head h SET position = $3::bigint + cardinality($5::uuid[]), hash = decode(($7::text[])[cardinality($7::text[])], 'hex'), sealed_at = f.now
  FROM fence f WHERE h.one AND h.position = $3::bigint AND h.hash = decode($4, 'hex') AND (SELECT count(*) FROM held) = cardinality($5::uuid[])
  RETURNING h.position
), sealed AS (
  UPDATE audit a SET position = i.position, hash = decode(i.hash, 'hex') FROM moved m, item i WHERE a.id = i.id
)
SELECT m.position FROM fence LEFT JOIN moved m ON true`;

/** The chain of the audit (docs/audit.md): reads it in its order, and seals what has no place in it yet. */
export class AuditChainStore {
  readonly #db: Executor;

  constructor(db: Executor) {
    this.#db = db;
  }

  async head(): Promise<ChainHead> {
    const { rows } = await this.#db.run<ChainHead>({ name: 'audit-head', priority: 'background', text: HEAD }, []);
    if (rows[0] === undefined) throw new Error('the head of the audit chain is gone');
    return rows[0];
  }

  /** The whole chain in its order, and then what is not sealed yet; a page at a time, read when it is asked for. */
  async *walk(): AsyncGenerator<AuditRow[], void, void> {
    for (let after = 0; ; ) {
      const rows = await this.sealed(after, PAGE);
      if (rows.length === 0) break;
      yield rows;
      after = rows.at(-1)?.position ?? after;
    }
    for (let after = FIRST_ID; ; ) {
      const rows = await this.unsealed(after, PAGE);
      if (rows.length === 0) return;
      yield rows;
      after = rows.at(-1)?.id ?? after;
    }
  }

  /** In the order of positions, after one of them. */
  async sealed(after: number, limit: number): Promise<AuditRow[]> {
    const statement = { name: 'audit-sealed', priority: 'background' as const, text: SEALED };
    return (await this.#db.run<StoredRow>(statement, [after, limit])).rows.map(fromStored);
  }

  /** By id, after a raw id. */
  async unsealed(after: string, limit: number): Promise<AuditRow[]> {
    const statement = { name: 'audit-unsealed', priority: 'background' as const, text: UNSEALED };
    return (await this.#db.run<StoredRow>(statement, [after, limit])).rows.map(fromStored);
  }

  /**
   * Seals the oldest entries that are not, at most 200; answers how many. 0 also where another batch was faster.
   * Throws `LeadershipLostError`.
   */
  async seal(session: LeaderSession): Promise<number> {
    const entries = await this.unsealed(FIRST_ID, SEAL_BATCH);
    if (entries.length === 0) return 0;
    const head = await this.head();
    let { hash } = head;
    const hashes = entries.map((entry, i) => (hash = sealHash(hash, head.position + i + 1, recordOf(entry))));
    const { rows } = await this.#db.run<{ position: number | null }>(
      { name: 'audit-seal', priority: 'background', text: SEAL },
      [
        session.epoch,
        session.holder,
        head.position,
        head.hash,
        entries.map((entry) => entry.id),
        entries.map((_entry, i) => head.position + i + 1),
        hashes,
      ],
    );
    if (rows.length === 0) throw new LeadershipLostError();
    return rows[0]?.position == null ? 0 : entries.length;
  }
}
