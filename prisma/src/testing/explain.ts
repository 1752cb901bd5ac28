import type { Client } from 'pg';
import type { Database } from '../database.ts';

export interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  Plans?: PlanNode[];
  [detail: string]: unknown;
}

export interface Plan {
  /** Every node, outermost first. */
  readonly nodes: readonly PlanNode[];
  /** As EXPLAIN writes it, for the message of a failed test. */
  readonly text: string;
  /** The nodes that read this table (or a partition of it). */
  on(table: string): PlanNode[];
}

/**
 * The plan that a prepared statement gets once PostgreSQL has stopped looking at its values: what the hot path runs with. `values` only carry the
 * types. On a connection of its own, which is destroyed, because the setting must not reach anybody else; PostgreSQL only.
 */
export async function explainGeneric(
  database: Pick<Database, 'direct'>,
  text: string,
  values: readonly unknown[],
): Promise<Plan> {
  return withConnection(database, async (client) => {
    await client.query('SET plan_cache_mode = force_generic_plan');
    await client.query(`PREPARE examined AS ${text}`);
    const list = values.map((value) => client.escapeLiteral(toLiteral(value))).join(', ');
    const statement = `EXECUTE examined${values.length > 0 ? `(${list})` : ''}`;
    return readPlan(client, statement);
  });
}

/** The plan of a statement for these very values, as an unnamed statement gets it. */
export async function explain(
  database: Pick<Database, 'direct'>,
  text: string,
  values: readonly unknown[],
): Promise<Plan> {
  return withConnection(database, async (client) => {
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`EXPLAIN (FORMAT JSON) ${text}`, [
      ...values,
    ]);
    return toPlan(rows[0]?.['QUERY PLAN'][0].Plan, JSON.stringify(rows[0]?.['QUERY PLAN'], null, 1));
  });
}

async function readPlan(client: Client, statement: string): Promise<Plan> {
  const json = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`EXPLAIN (FORMAT JSON) ${statement}`);
  const lines = await client.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${statement}`);
  return toPlan(json.rows[0]?.['QUERY PLAN'][0].Plan, lines.rows.map((row) => row['QUERY PLAN']).join('\n'));
}

function toPlan(root: PlanNode | undefined, text: string): Plan {
  const nodes: PlanNode[] = [];
  const visit = (node: PlanNode): void => {
    nodes.push(node);
    for (const child of node.Plans ?? []) visit(child);
  };
  if (root !== undefined) visit(root);
  const isOn = (node: PlanNode, table: string): boolean =>
    node['Relation Name'] === table || /^(.*)_(\d{8}|default)$/.exec(node['Relation Name'] ?? '')?.[1] === table;
  return { nodes, text, on: (table) => nodes.filter((node) => isOn(node, table)) };
}

/** As the driver would send it: arrays in braces, JSON as JSON. */
function toLiteral(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toElement).join(',')}}`;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) return toLiteral(value);
  return `"${toLiteral(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

async function withConnection<T>(database: Pick<Database, 'direct'>, run: (client: Client) => Promise<T>): Promise<T> {
  const client = await database.direct();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
