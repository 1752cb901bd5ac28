#!/usr/bin/env node
// Stands in for Prisma's schema engine, a binary that its CLI would download: the same JSON-RPC over stdio, answered by
// @prisma/schema-engine-wasm (the same engine, from npm) through the ordinary pg driver. The URL `pglite:` is an empty
// database in memory, and every shadow database is one, so that `prisma migrate diff` needs no server at all.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PGlite } from '@electric-sql/pglite';
import { bindMigrationAwareSqlAdapterFactory, ColumnTypeEnum, DriverAdapterError } from '@prisma/driver-adapter-utils';
import * as engineModule from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

const IN_MEMORY = 'pglite:';
const args = process.argv.slice(2);
const valuesOf = (flag) => args.flatMap((arg, i) => (arg === flag ? [args[i + 1]] : []));
const datasource = JSON.parse(valuesOf('--datasource')[0] ?? '{}');
const url = datasource.url ?? process.env.DATABASE_URL;

// ── The driver adapter. Prisma's own for pg cannot decode "char", splits scripts at `;` and confuses the shadow database.

const COLUMN_TYPES = {
  16: ColumnTypeEnum.Boolean,
  18: ColumnTypeEnum.Character,
  20: ColumnTypeEnum.Int64,
  21: ColumnTypeEnum.Int32,
  23: ColumnTypeEnum.Int32,
  26: ColumnTypeEnum.Int64,
  28: ColumnTypeEnum.Int64,
  114: ColumnTypeEnum.Json,
  700: ColumnTypeEnum.Float,
  701: ColumnTypeEnum.Double,
  1000: ColumnTypeEnum.BooleanArray,
  1002: ColumnTypeEnum.CharacterArray,
  1003: ColumnTypeEnum.TextArray,
  1005: ColumnTypeEnum.Int32Array,
  1007: ColumnTypeEnum.Int32Array,
  1009: ColumnTypeEnum.TextArray,
  1014: ColumnTypeEnum.TextArray,
  1015: ColumnTypeEnum.TextArray,
  1016: ColumnTypeEnum.Int64Array,
  1028: ColumnTypeEnum.Int64Array,
  1114: ColumnTypeEnum.DateTime,
  1184: ColumnTypeEnum.DateTime,
  1700: ColumnTypeEnum.Numeric,
  2950: ColumnTypeEnum.Uuid,
  3802: ColumnTypeEnum.Json,
};
const OID = { timestamp: 1114, timestamptz: 1184, int8: 20, oid: 26, numeric: 1700, int2Array: 1005, int4Array: 1007 };
/** Types that pg's own parsers read; the others stay text. */
const PARSED = [16, 21, 23, 1000, 1002, 1003, 1005, 1007, 1009, 1014, 1015, 1016, 1028];
const READ_AS_TEXT_ARRAY = new Set([1002, 1003, 1014]);
const TEXT_ARRAY = 1009;

const parsers = {
  getTypeParser: (oid, format) =>
    PARSED.includes(oid)
      ? pg.types.getTypeParser(READ_AS_TEXT_ARRAY.has(oid) ? TEXT_ARRAY : oid, format)
      : (text) => text,
};

function toColumn(value, oid) {
  if (value === null || value === undefined) return null;
  if (oid === OID.int2Array || oid === OID.int4Array) return toNumbers(value);
  if (oid === OID.timestamptz || oid === OID.timestamp) return toIso(value, oid);
  if (oid === OID.int8 || oid === OID.oid || oid === OID.numeric) return String(value);
  return value instanceof Date ? value.toISOString() : value;
}

function toNumbers(value) {
  if (Array.isArray(value)) return value;
  return String(value)
    .replace(/^\{|\}$/g, '')
    .split(',')
    .filter(Boolean)
    .map(Number);
}

function toIso(value, oid) {
  if (value instanceof Date) return value.toISOString();
  return new Date(String(value).replace(' ', 'T') + (oid === OID.timestamptz ? ':00' : 'Z')).toISOString();
}

class Session {
  provider = 'postgres';
  adapterName = 'schema-engine-wasm';

  constructor(raw) {
    this.raw = raw;
  }

  async queryRaw({ sql, args: values }) {
    const { fields, rows } = await withDriverErrors(() => this.raw.query(sql, values));
    return {
      columnNames: fields.map((field) => field.name),
      columnTypes: fields.map((field) => COLUMN_TYPES[field.dataTypeID] ?? ColumnTypeEnum.Text),
      rows: rows.map((row) => row.map((value, i) => toColumn(value, fields[i].dataTypeID))),
    };
  }

  async executeRaw({ sql, args: values }) {
    return (await withDriverErrors(() => this.raw.query(sql, values))).rowCount ?? 0;
  }

  async executeScript(script) {
    await withDriverErrors(() => this.raw.exec(script));
  }

  getConnectionInfo() {
    return { schemaName: 'public', supportsRelationJoins: true };
  }

  async startTransaction() {
    await this.raw.exec('BEGIN');
    const transaction = new Session(this.raw);
    transaction.options = { usePhantomQuery: false };
    transaction.commit = () => this.raw.exec('COMMIT');
    transaction.rollback = () => this.raw.exec('ROLLBACK');
    return transaction;
  }

  async dispose() {
    await this.raw.end();
  }
}

async function withDriverErrors(run) {
  try {
    return await run();
  } catch (error) {
    throw new DriverAdapterError({
      kind: 'postgres',
      code: error.code ?? 'N/A',
      severity: error.severity ?? 'N/A',
      message: error.message,
      detail: error.detail,
      column: error.column,
      hint: error.hint,
      originalCode: error.code,
      originalMessage: error.message,
    });
  }
}

const open = new Set();

async function connect() {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  open.add(client);
  return {
    query: (text, values) => client.query({ text, values, rowMode: 'array', types: parsers }),
    exec: (sql) => client.query(sql),
    end: () => {
      open.delete(client);
      return client.end();
    },
  };
}

async function inMemory() {
  const database = await PGlite.create();
  return {
    query: async (sql, values) => {
      const result = await database.query(sql, values, { rowMode: 'array' });
      return { ...result, rowCount: result.affectedRows };
    },
    exec: (sql) => database.exec(sql),
    end: () => database.close(),
  };
}

const factory = {
  provider: 'postgres',
  adapterName: 'schema-engine-wasm',
  connect: async () => new Session(await (url === IN_MEMORY ? inMemory() : connect())),
  connectToShadowDb: async () => new Session(await inMemory()),
};

// ── `schema-engine cli …`: Prisma asks whether a database is there, and to make or drop one.

async function onServer(run) {
  const server = new URL(url);
  const name = decodeURIComponent(server.pathname.slice(1));
  server.pathname = '/postgres';
  const client = new pg.Client({ connectionString: server.href });
  await client.connect();
  try {
    return await run(client, `"${name.replaceAll('"', '""')}"`);
  } finally {
    await client.end();
  }
}

async function canConnect() {
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
  } finally {
    await client.end().catch(() => undefined);
  }
}

const COMMANDS = {
  'can-connect-to-database': canConnect,
  'create-database': () => onServer((client, name) => client.query(`CREATE DATABASE ${name}`)),
  'drop-database': () => onServer((client, name) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)),
};
/** SQLSTATE → the code that Prisma's CLI knows. */
const CLI_CODES = { '3D000': 'P1003', '42P04': 'P1009' };

async function runCommand(name) {
  try {
    await COMMANDS[name]?.();
    process.exit(0);
  } catch (error) {
    const fields = { is_panic: false, error_code: CLI_CODES[error.code] ?? 'P1001', message: error.message };
    // Prisma skips the first line.
    console.error('{"level":"INFO","fields":{"message":"cli"}}');
    console.error(JSON.stringify({ level: 'ERROR', target: 'schema_engine::logger', fields }));
    process.exit(1);
  }
}

// ── JSON-RPC

async function loadEngine() {
  const require = createRequire(import.meta.url);
  const file = join(dirname(require.resolve('@prisma/schema-engine-wasm')), 'schema_engine_bg.wasm');
  const { instance } = await WebAssembly.instantiate(readFileSync(file), { './schema_engine_bg.js': engineModule });
  engineModule.__wbg_set_wasm(instance.exports);
  instance.exports.__wbindgen_start();
  globalThis.PRISMA_WASM_PANIC_REGISTRY ??= {
    set_message(message) {
      this.message = message;
    },
  };
  const datamodels = valuesOf('--datamodels').map((path) => [path, readFileSync(path, 'utf8')]);
  const log = (line) => process.env.DEBUG && console.error(line);
  return () =>
    engineModule.SchemaEngine.new(
      { datamodels: datamodels.length > 0 ? datamodels : undefined },
      log,
      bindMigrationAwareSqlAdapterFactory(factory),
    );
}

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
/** Requests of our own to the CLI, numbered beyond its own. */
let ownId = 1_000_000_000;

async function answer(newEngine, { id, method, params }) {
  if (!method) return;
  try {
    send({ id, result: await call(newEngine, method, params) });
  } catch (error) {
    if (process.env.DEBUG) console.error(error);
    const data = { is_panic: false, ...errorData(error) };
    send({ id, error: { code: 4466, message: 'An error happened. Check the data field for details.', data } });
  } finally {
    // Open connections would keep the advisory lock that the next call waits for.
    for (const client of open) await client.end().catch(() => undefined);
    open.clear();
  }
}

async function call(newEngine, method, params) {
  if (method === 'createDatabase') {
    await COMMANDS['create-database']();
    return { databaseName: new URL(url).pathname.slice(1) };
  }
  // An engine lends its shadow database once, and only after devDiagnostic: a new one for each call.
  const engine = await newEngine();
  if (method === 'evaluateDataLoss' || method === 'createMigration') {
    await engine.devDiagnostic({ migrationsList: params.migrationsList, filters: params.filters });
  }
  const result = await engine[method === 'getDatabaseVersion' ? 'version' : method](params);
  if (method === 'diff' && result.stdout != null) {
    send({ id: ownId++, method: 'print', params: { content: result.stdout.replace(/\n$/, '') } });
  }
  return result ?? {};
}

function errorData(error) {
  try {
    return JSON.parse(error.message);
  } catch {
    return { message: String(error?.message ?? error) };
  }
}

if (args.includes('--version')) {
  console.log(`schema-engine-wasm ${engineModule.version?.() ?? ''}`);
} else if (args.includes('cli')) {
  await runCommand(args.at(-1));
} else {
  const newEngine = await loadEngine();
  const input = createInterface({ input: process.stdin });
  let chain = Promise.resolve();
  input.on('line', (line) => {
    chain = chain.then(() => answer(newEngine, JSON.parse(line)));
  });
  input.on('close', () => void chain.then(() => process.exit(0)));
}
