import type { Database } from '../database.ts';

/**
 * What the catalogue of a migrated database says, as text in SQL's words: everything that Prisma does not see (persistence, storage options, partitions,
 * collations, checks, triggers, functions) beside what it does. Independent of the day (daily partitions are left out) and of PostgreSQL's version.
 */
export async function describeSchema(database: Pick<Database, 'query'>): Promise<string> {
  const { rows } = await database.query<{ item: string }>(CATALOGUE);
  return `-- Written by "pnpm --filter @muster/db snapshot". Not run by anything: a test compares it with a migrated database.\n\n${rows.map((row) => row.item).join('\n')}\n`;
}

const CATALOGUE = `
WITH relation AS (
  SELECT c.oid, c.relname, c.relkind, c.relpersistence, c.reloptions, c.relispartition
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p', 'v') AND c.relname <> '_prisma_migrations' AND c.relname !~ '_[0-9]{8}$'
),
item(relation, rank, name, item) AS (
  SELECT relname, 0, '', E'\\n' || CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END
    || CASE relkind WHEN 'v' THEN 'VIEW ' ELSE 'TABLE ' END || relname
    || CASE WHEN relkind = 'p' THEN ' PARTITION BY ' || pg_get_partkeydef(oid) ELSE '' END
    || CASE WHEN relispartition THEN ' PARTITION OF ' || (SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid = relation.oid)
         || ' ' || pg_get_expr((SELECT relpartbound FROM pg_class p WHERE p.oid = relation.oid), oid) ELSE '' END
    || coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', '')
  FROM relation
UNION ALL
  SELECT r.relname, 1, lpad(a.attnum::text, 4, '0'), '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN a.attcollation <> 0 AND a.attcollation <> t.typcollation
         THEN ' COLLATE "' || (SELECT collname FROM pg_collation WHERE oid = a.attcollation) || '"' ELSE '' END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
    || CASE WHEN a.attidentity <> '' THEN ' IDENTITY' ELSE '' END
    || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
  FROM relation r
  JOIN pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_attrdef d ON d.adrelid = r.oid AND d.adnum = a.attnum
  WHERE NOT r.relispartition
UNION ALL
  SELECT r.relname, 2, c.conname, '  CONSTRAINT ' || c.conname || ' ' || pg_get_constraintdef(c.oid)
  FROM relation r JOIN pg_constraint c ON c.conrelid = r.oid WHERE c.contype <> 'n' AND NOT r.relispartition
UNION ALL
  SELECT r.relname, 3, i.relname, '  ' || pg_get_indexdef(x.indexrelid)
  FROM relation r JOIN pg_index x ON x.indrelid = r.oid JOIN pg_class i ON i.oid = x.indexrelid WHERE NOT r.relispartition
UNION ALL
  SELECT r.relname, 4, t.tgname, '  ' || pg_get_triggerdef(t.oid)
  FROM relation r JOIN pg_trigger t ON t.tgrelid = r.oid WHERE NOT t.tgisinternal
UNION ALL
  SELECT '~function', 5, p.proname, E'\\nFUNCTION ' || p.proname || '(' || pg_get_function_arguments(p.oid) || ') RETURNS ' || pg_get_function_result(p.oid)
    || coalesce(' SET ' || array_to_string(p.proconfig, ', '), '') || ' ' || md5(coalesce(nullif(p.prosrc, ''), pg_get_functiondef(p.oid)))
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public'
)
SELECT item FROM item ORDER BY relation COLLATE "C", rank, name COLLATE "C", item COLLATE "C"`;
