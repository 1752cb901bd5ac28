import type { Executor } from '../../dispatch/statements/executor.ts';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { type AuditRow, COLUMNS, fromStored, type StoredRow } from './audit-row.ts';

/** What a list of entries is narrowed to; all are ANDed. */
export interface AuditFilter {
  actor?: string | undefined;
  /** What actions begin with: `deployment.`, `worker.cordon`. */
  action?: string | undefined;
  target?: string | undefined;
  /** From this moment on. */
  after?: Date | undefined;
  /** Until before this moment. */
  before?: Date | undefined;
}

/** `cursor`: so many rows were walked without filling the page; it says how far. */
export interface AuditPage {
  items: AuditRow[];
  more: boolean;
  cursor: string | null;
}

/** Rows that one request walks at most. */
export const MAX_WALK = 20_000;
/** First a short walk, which is enough where the filter hits often, then longer ones. */
const WALKS = [500, 4_000, MAX_WALK - 4_500];
/** Before and after that one answer may hold together. */
const MAX_BYTES = 8 * 1_048_576;
/** Actions that are looked up each by itself; more of them are filtered. */
const MAX_ACTIONS = 100;

const CEILING = "coalesce($1::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')";
const FLOOR = "coalesce($2::uuid, '00000000-0000-0000-0000-000000000000')";

/** A range of the index (column, id), so that the planner cannot take the primary key and walk it all for what is rare. */
function pickBy(column: 'actor' | 'action' | 'target', value: string): string {
  return `SELECT a.id FROM audit a WHERE a.${column} IS NOT NULL AND (a.${column}, a.id) < (${value}, ${CEILING})
    AND (a.${column}, a.id) > (${value}, ${FLOOR}) ORDER BY a.${column} DIR, a.id DIR LIMIT $3`;
}

interface Driver {
  /** Selects ids; `$1` newest bound, `$2` oldest bound (exclusive), `$3` how many, `$4` its values. `DIR` is the order. */
  text: string;
  values: readonly string[];
  covers: keyof AuditFilter | null;
}

/** A hit, or a row without one (`id` null), with how far the walk went. */
type Walked = StoredRow & { walked: number; hits: number; end: string | null };

const NOTHING = { walked: 0, hits: 0, end: null };

/** The actions that are there and begin so, by leaping along their index. */
const ACTIONS = `WITH RECURSIVE leap (action) AS (
    (SELECT a.action FROM audit a WHERE a.action >= $1 ORDER BY a.action LIMIT 1)
    UNION ALL
    SELECT (SELECT a.action FROM audit a WHERE a.action > leap.action ORDER BY a.action LIMIT 1)
    FROM leap WHERE starts_with(leap.action, $1))
  SELECT action FROM leap WHERE starts_with(action, $1) LIMIT ${MAX_ACTIONS + 1}`;

/** Reads the audit by keyset: at most 20,000 rows and 8 MiB a request. Ids are raw. */
export class AuditStore {
  readonly #db: Executor;

  constructor(db: Executor) {
    this.#db = db;
  }

  async byIds(ids: readonly string[]): Promise<Map<string, AuditRow>> {
    const text = `SELECT ${COLUMNS} FROM audit a WHERE a.id = ANY($1::uuid[])`;
    const { rows } = await this.#db.run<StoredRow>({ name: 'audit-by-ids', priority: 'read', text }, [ids]);
    return new Map(rows.map((row) => [rawId(row.id), fromStored(row)]));
  }

  /** Newest first. */
  async page(filter: AuditFilter, page: Page): Promise<AuditPage> {
    const bounds = boundsOf(filter);
    const newest = page.after === null ? bounds.newest : least(bounds.newest, String(page.after[0]));
    const oldest = page.before === null ? bounds.oldest : greatest(bounds.oldest, String(page.before[0]));
    const found = await this.#walk(filter, newest, oldest, page.backward ? 'ASC' : 'DESC', page.limit + 1);
    const cut = cutPage(found.rows, page);
    return { items: cut.items, more: cut.more || found.end !== null, cursor: cut.more ? null : found.end };
  }

  /** Oldest first, after a raw id. `end`: where to go on; null: there are no more. */
  async following(
    filter: AuditFilter,
    after: string | null,
    limit: number,
  ): Promise<{ rows: AuditRow[]; end: string | null }> {
    const { newest, oldest } = boundsOf(filter);
    const { rows, end } = await this.#walk(
      filter,
      newest,
      after === null ? oldest : greatest(oldest, after),
      'ASC',
      limit,
    );
    return { rows, end: end ?? (rows.length < limit ? null : (rows.at(-1)?.id ?? null)) };
  }

  /** At most 10,000 are counted; where more than one index would be needed, among the newest 20,000 of one. */
  async count(filter: AuditFilter): Promise<Count> {
    const driver = await this.#driver(filter);
    if (driver === null) return { count: 0, exact: true };
    const residual = residualOf(filter, driver, 5);
    const { newest, oldest } = boundsOf(filter);
    const text = `WITH walked AS MATERIALIZED (${driver.text.replaceAll('DIR', 'DESC')})
      SELECT (SELECT count(*)::int FROM walked) AS walked, count(*)::int AS n
      FROM walked w ${residual === null ? '' : `JOIN audit a ON a.id = w.id WHERE ${residual.text}`}`;
    const limit = residual === null ? 10_001 : MAX_WALK;
    const values = [newest, oldest, limit, driver.values, ...(residual?.values ?? [])];
    const { rows } = await this.#db.run<{ walked: number; n: number }>({ name: '', priority: 'read', text }, values);
    const { walked, n } = rows[0] ?? { walked: 0, n: 0 };
    const count = boundedCount(n);
    return residual !== null && walked >= MAX_WALK ? { ...count, exact: false } : count;
  }

  /** `end`: the walk gave up there before it had found so many; null: it found them, or there are no more. */
  async #walk(
    filter: AuditFilter,
    newest: string | null,
    oldest: string | null,
    direction: 'ASC' | 'DESC',
    wanted: number,
  ): Promise<{ rows: AuditRow[]; end: string | null }> {
    const driver = await this.#driver(filter);
    if (driver === null) return { rows: [], end: null };
    const residual = residualOf(filter, driver, 7);
    const text = walkText(driver, residual?.text ?? 'true', direction);
    const rows: AuditRow[] = [];
    let from = direction === 'ASC' ? oldest : newest;
    for (const walk of residual === null ? [wanted] : WALKS) {
      const bounds = direction === 'ASC' ? [newest, from] : [from, oldest];
      const values = [...bounds, walk, driver.values, wanted - rows.length, MAX_BYTES, ...(residual?.values ?? [])];
      const answer = await this.#db.run<Walked>({ name: '', priority: 'read', text }, values);
      const { walked, hits, end } = answer.rows[0] ?? NOTHING;
      const got = answer.rows.filter((row) => row.id !== null).map(fromStored);
      rows.push(...got);
      // What is too large for one answer begins the next one.
      if (got.length < hits) return { rows, end: rows.at(-1)?.id ?? null };
      if (rows.length >= wanted || walked < walk || end === null) return { rows, end: null };
      from = rawId(end);
    }
    return { rows, end: from };
  }

  /** Picks the index that leaves the fewest rows. null: there is no such action. */
  async #driver({ target, actor, action }: AuditFilter): Promise<Driver | null> {
    if (target !== undefined) return { text: pickBy('target', '($4::text[])[1]'), values: [target], covers: 'target' };
    if (action !== undefined) {
      const statement = { name: 'audit-actions', priority: 'read' as const, text: ACTIONS };
      const { rows } = await this.#db.run<{ action: string }>(statement, [action]);
      if (rows.length === 0) return null;
      if (rows.length <= MAX_ACTIONS) {
        const branches = rows.map((_row, index) => `(${pickBy('action', `($4::text[])[${index + 1}]`)})`);
        const text = `SELECT id FROM (${branches.join(' UNION ALL ')}) AS b ORDER BY id DIR LIMIT $3`;
        return { text, values: rows.map((row) => row.action), covers: 'action' };
      }
    }
    if (actor !== undefined) return { text: pickBy('actor', '($4::text[])[1]'), values: [actor], covers: 'actor' };
    const text = `SELECT a.id FROM audit a WHERE $4::text[] IS NOT NULL AND a.id < ${CEILING} AND a.id > ${FLOOR} ORDER BY a.id DIR LIMIT $3`;
    return { text, values: [], covers: null };
  }
}

/** `$1` to `$4` as in `Driver`, `$5` how many hits, `$6` their bytes together; the values of the condition from `$7`. */
function walkText(driver: Driver, condition: string, direction: 'ASC' | 'DESC'): string {
  const back = direction === 'ASC' ? 'DESC' : 'ASC';
  return `WITH walked AS MATERIALIZED (${driver.text.replaceAll('DIR', direction)}), hits AS (
      SELECT ${COLUMNS}, sum(coalesce(octet_length(a.data::text), 0)) OVER (ORDER BY a.id ${direction}) - coalesce(octet_length(a.data::text), 0) AS bytes
      FROM walked w CROSS JOIN LATERAL (SELECT * FROM audit e WHERE e.id = w.id OFFSET 0) a
      WHERE ${condition} ORDER BY a.id ${direction} LIMIT $5
    )
    SELECT s.*, h.* FROM (
      SELECT count(*)::int AS walked, (SELECT id::text FROM walked ORDER BY id ${back} LIMIT 1) AS "end", (SELECT count(*)::int FROM hits) AS hits FROM walked
    ) s LEFT JOIN hits h ON h.bytes < $6 ORDER BY h.id ${direction}`;
}

/** The newest and oldest raw id of a time, exclusive. */
function boundsOf({ after, before }: AuditFilter): { newest: string | null; oldest: string | null } {
  return { newest: before === undefined ? null : firstId(before), oldest: after === undefined ? null : firstId(after) };
}

/** No id of that millisecond or a later one is smaller: ids are UUID v7 and begin with their time. */
function firstId(time: Date): string {
  const ms = Math.min(Math.max(0, time.getTime()), 0xffff_ffff_ffff);
  return ms.toString(16).padStart(12, '0').padEnd(32, '0');
}

function least(a: string | null, b: string): string {
  return a !== null && a < b ? a : b;
}

function greatest(a: string | null, b: string): string {
  return a !== null && a > b ? a : b;
}

/** The conditions that a driver leaves, over `a`; parameters from `$first`. null: nothing is left. */
function residualOf(filter: AuditFilter, driver: Driver, first: number): { text: string; values: string[] } | null {
  const left = (['actor', 'action', 'target'] as const).flatMap((key) => {
    const value = filter[key];
    return value === undefined || driver.covers === key ? [] : [{ key, value }];
  });
  if (left.length === 0) return null;
  const conditions = left.map(({ key }, i) =>
    key === 'action' ? `starts_with(a.action, $${first + i})` : `a.${key} = $${first + i}`,
  );
  return { text: conditions.join(' AND '), values: left.map(({ value }) => value) };
}
