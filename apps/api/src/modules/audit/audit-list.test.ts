import { type PlanNode, type TestDatabase, testDatabase } from '@muster/db/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExecutor, type Executor, type Statement } from '../../dispatch/statements/executor.ts';
import type { Page } from '../../graphql/connection.ts';
import { type AuditFilter, AuditStore, MAX_WALK } from './audit-store.ts';

/** Lists of the audit over 30,000 entries: what they show, and what they read for it. */
let database: TestDatabase;
let all: { id: string; actor: string; action: string; target: string | null; at: number }[];
const ROWS = 30_000;
const START = Date.UTC(2026, 10, 1);
const at = (n: number): Date => new Date(START + n * 1_000);

beforeAll(async () => {
  database = await testDatabase();
  // The rare ones are among the oldest, where a walk of the primary key would come last.
  await database.query(
    `INSERT INTO audit (id, at, actor, action, target, data)
     SELECT (lpad(to_hex(${START}::bigint + g * 1000), 12, '0') || '70008000' || lpad(to_hex(g), 12, '0'))::uuid,
       to_timestamp((${START}::bigint + g * 1000) / 1000.0),
       CASE WHEN g BETWEEN 100 AND 102 THEN 'rare' ELSE 'actor-' || g % 3 END,
       CASE WHEN g BETWEEN 200 AND 202 THEN 'rare.thing' ELSE (ARRAY['deployment.update', 'deployment.create', 'worker.cordon', 'schedule.pause'])[1 + g % 4] END,
       CASE WHEN g % 7 = 0 THEN NULL WHEN g BETWEEN 300 AND 302 THEN 'worker:rare' ELSE 'worker:w-' || g % 5 END,
       '{"before": null, "after": {"a": 1}}'
     FROM generate_series(1, ${ROWS}) g`,
  );
  await database.query('VACUUM (ANALYZE) audit');
  const { rows } = await database.query<{ id: string; actor: string; action: string; target: string | null; at: Date }>(
    `SELECT replace(id::text, '-', '') AS id, actor, action, target, at FROM audit ORDER BY id DESC`,
  );
  all = rows.map((row) => ({ ...row, at: row.at.getTime() }));
}, 300_000);
afterAll(() => database.drop());

const filters: [string, AuditFilter][] = [
  ['nothing', {}],
  ['an actor of many', { actor: 'actor-1' }],
  ['a rare actor', { actor: 'rare' }],
  ['an actor that is not there', { actor: 'nobody' }],
  ['an action', { action: 'worker.cordon' }],
  ['what an action begins with', { action: 'deployment.' }],
  ['a rare action', { action: 'rare' }],
  ['an action that is not there', { action: 'zzz' }],
  ['a target of many', { target: 'worker:w-3' }],
  ['a rare target', { target: 'worker:rare' }],
  ['a time', { after: at(1_000), before: at(1_100) }],
  ['a time of a target', { target: 'worker:w-3', after: at(15_000), before: at(15_500) }],
];
const walked: [string, AuditFilter][] = [
  ['an actor and an action', { actor: 'actor-1', action: 'deployment.' }],
  ['all three', { actor: 'actor-1', action: 'worker.cordon', target: 'worker:w-3' }],
  ['two that exclude each other', { actor: 'rare', action: 'worker.', target: 'worker:w-1' }],
  ['an actor that did nothing to a target of many', { actor: 'rare', target: 'worker:w-4' }],
];

function expected({ actor, action, target, after, before }: AuditFilter): string[] {
  return all
    .filter(
      (row) =>
        (actor === undefined || row.actor === actor) &&
        (action === undefined || row.action.startsWith(action)) &&
        (target === undefined || row.target === target) &&
        (after === undefined || row.at >= after.getTime()) &&
        (before === undefined || row.at < before.getTime()),
    )
    .map(({ id }) => id);
}

const FIRST: Page = { limit: 20, backward: false, after: null, before: null };

/** Everything that the statements of `work` read of the table, by EXPLAIN ANALYZE. */
async function readings(work: (executor: Executor) => Promise<unknown>): Promise<{ rows: number; scans: Set<string> }> {
  const sent: [Statement, readonly unknown[]][] = [];
  const executor = createExecutor(database);
  await work({
    run: (statement, values) => {
      sent.push([statement, values]);
      return executor.run(statement, values);
    },
  });
  let read = 0;
  const scans = new Set<string>();
  for (const [{ text }, values] of sent) {
    const { rows } = await database.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`,
      values,
    );
    const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
    const visit = (node: PlanNode): void => {
      if (node['Relation Name'] === 'audit' && node['Node Type'] !== 'Bitmap Heap Scan') {
        const each = number(node['Actual Rows']) + number(node['Rows Removed by Filter']);
        read += each * number(node['Actual Loops']);
        if (each > 0) scans.add(node['Index Name'] ?? node['Node Type']);
      }
      for (const child of node.Plans ?? []) visit(child);
    };
    for (const row of rows) visit(row['QUERY PLAN'][0].Plan);
  }
  return { rows: read, scans };
}

describe('a list of the audit', () => {
  it.each([...filters, ...walked])(
    'of %s shows what fits, newest first, page by page, both ways',
    async (_name, filter) => {
      const store = new AuditStore(createExecutor(database));
      const wanted = expected(filter);
      const newest: string[] = [];
      for (let page = FIRST, rounds = 0; newest.length < 60 && rounds < 9; rounds += 1) {
        const { items, more, cursor } = await store.page(filter, page);
        newest.push(...items.map(({ id }) => id));
        if (!more) break;
        page = { ...FIRST, after: [cursor ?? (items.at(-1)?.id as string)] };
      }
      expect(newest).toEqual(wanted.slice(0, newest.length));
      expect(newest.length).toBeGreaterThanOrEqual(Math.min(60, wanted.length));
      const oldest: string[] = [];
      for (let page: Page = { ...FIRST, backward: true }, rounds = 0; oldest.length < 60 && rounds < 9; rounds += 1) {
        const { items, more, cursor } = await store.page(filter, page);
        oldest.unshift(...items.map(({ id }) => id));
        if (!more) break;
        page = { ...page, before: [cursor ?? (items[0]?.id as string)] };
      }
      expect(oldest).toEqual(wanted.slice(wanted.length - oldest.length));
      expect(oldest.length).toBeGreaterThanOrEqual(Math.min(60, wanted.length));
    },
  );

  it.each([...filters, ...walked])('of %s is exported whole, oldest first', async (_name, filter) => {
    const store = new AuditStore(createExecutor(database));
    const found: string[] = [];
    for (let after: string | null = null; ; ) {
      const { rows, end } = await store.following(filter, after, 5_000);
      found.push(...rows.map(({ id }) => id));
      if (end === null) break;
      after = end;
    }
    expect(found).toEqual(expected(filter).toReversed());
  });

  it.each([...filters, ...walked])('of %s is counted, exactly or saying that it is not', async (_name, filter) => {
    const { count, exact } = await new AuditStore(createExecutor(database)).count(filter);
    const right = expected(filter).length;
    if (exact) expect(count).toBe(right);
    else expect(count).toBeLessThanOrEqual(right);
    if (right <= 3 && Object.keys(filter).length === 1) expect(exact).toBe(true);
  });

  it.each(filters)('of %s reads what it shows and little more, by an index', async (_name, filter) => {
    const pages: Page[] = [FIRST, { ...FIRST, backward: true }, { ...FIRST, after: [all[15_000]?.id as string] }];
    for (const page of pages) {
      const { rows, scans } = await readings((executor) => new AuditStore(executor).page(filter, page));
      // Each row is found in its index and read by its key; a prefix has as many branches as there are actions.
      expect(rows).toBeLessThanOrEqual(21 * 2 + 21 * 2 + 20);
      expect([...scans].filter((scan) => !scan.startsWith('audit_'))).toEqual([]);
    }
  });

  it.each(walked)('of %s reads no more than a walk', async (_name, filter) => {
    for (const backward of [false, true]) {
      const { rows, scans } = await readings((executor) =>
        new AuditStore(executor).page(filter, { ...FIRST, backward }),
      );
      expect(rows).toBeLessThanOrEqual(2 * MAX_WALK + 100);
      expect([...scans].filter((scan) => !scan.startsWith('audit_'))).toEqual([]);
    }
  });

  it('ends a page before it grows too large, and goes on after it', async () => {
    const big = JSON.stringify({ before: null, after: 'x'.repeat(3_000_000) });
    for (let i = 0; i < 7; i += 1) {
      await database.query(
        `INSERT INTO audit (id, at, actor, action, target, data) VALUES ($1, now(), 'big', 'big.thing', 'big:one', $2)`,
        [database.uuidv7(), big],
      );
    }
    for (const filter of [{ target: 'big:one' }, { target: 'big:one', actor: 'big' }]) {
      const store = new AuditStore(createExecutor(database));
      const sizes: number[] = [];
      for (let after: string | null = null; ; ) {
        const { items, more, cursor } = await store.page(filter, { ...FIRST, after: after === null ? null : [after] });
        sizes.push(items.length);
        if (!more) break;
        after = cursor ?? (items.at(-1)?.id as string);
      }
      expect(sizes).toEqual([3, 3, 1]);
    }
  });
});
