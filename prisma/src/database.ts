import { PrismaPg } from '@prisma/adapter-pg';
import type { Client, ClientConfig, Pool, QueryResultRow } from 'pg';
import { type Clock, startClock } from './clock.ts';
import { startEmbedded } from './embedded.ts';
import { PrismaClient } from './generated/client.ts';
import { connectClient, createPools, endPools, type Pools, type Priority } from './pools.ts';
import { uuidV7Source } from './uuid-v7.ts';

export interface QueryOptions {
  /** Prepared under this name where the database takes named statements; one name, one text. */
  name?: string;
  /** Default: request. */
  priority?: Priority;
}

export interface Rows<R> {
  rows: R[];
  /** Rows read or changed. */
  rowCount: number;
}

/** Runs one statement that commits by itself. Never LISTEN, SET or BEGIN on the embedded database: it is one session for all. */
export type Query = <R extends QueryResultRow>(
  text: string,
  values?: readonly unknown[],
  options?: QueryOptions,
) => Promise<Rows<R>>;

export interface DedicatedConnection {
  query: Query;
  close(): Promise<void>;
}

export interface Database {
  readonly kind: 'embedded' | 'postgres';
  /** Whether hot statements are prepared by name. */
  readonly prepare: boolean;
  /** Connections of the hot path. int8 columns are numbers. */
  readonly pool: Pool;
  /** Registrations and administration, on connections of their own. */
  readonly prisma: PrismaClient;
  query: Query;
  /** One connection of the hot path that nobody else uses. */
  dedicated(): Promise<DedicatedConnection>;
  /** A session of its own past any pooler (DATABASE_DIRECT_URL), for LISTEN and migrations. The caller ends it. */
  direct(): Promise<Client>;
  /** Milliseconds since 1970 by the database's clock; monotonic but for its correction each minute. */
  now(): number;
  /** A UUID v7 of the database's time, or of `at` (ms); ascending within the process. */
  uuidv7(at?: number): string;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Where sessions that a pooler would break go; default: the URL itself. */
  directUrl?: string;
  /** false: no named statements, for poolers without protocol-level prepare. Never used on the embedded database. */
  prepare?: boolean;
  /** Connections per priority on PostgreSQL; default 8 hot, 8 request (and as many for administration), 2 background. */
  poolSizes?: Partial<Record<Priority, number>>;
  /** Longest read of a request on PostgreSQL, null: none; default 1,000. Administration has 5,000. The embedded database knows no such limits. */
  requestTimeoutMs?: number | null;
  /** The file of the embedded database's thread; default: beside this module. */
  workerFile?: string;
  /** A connection that broke while idle. Default: ignored, the next statement says so. */
  onError?: (error: Error) => void;
  /** The embedded database has died: nothing works from now on. Default: the process gets an uncaught exception. */
  onFailure?: (error: Error) => void;
}

/** A PostgreSQL URL, or the data directory of an embedded database. */
export type DatabaseTarget = string | { dataDir: string };

const EMBEDDED_SIZES = { hot: 4, request: 8, background: 1 };
const REQUEST_MS = 1_000;
const ADMINISTRATION_MS = 5_000;
const POSTGRES_SIZES = { hot: 8, request: 8, background: 2 };

/**
 * Opens the database; does not migrate it.
 *
 * @throws Error with one clear sentence where the data directory is in use or the database cannot be reached.
 */
export async function openDatabase(target: DatabaseTarget, options: OpenOptions = {}): Promise<Database> {
  const onError = options.onError ?? (() => undefined);
  if (typeof target === 'string') {
    const config = { connectionString: target };
    return connect(
      'postgres',
      config,
      { connectionString: options.directUrl ?? target },
      options,
      async () => undefined,
    );
  }
  const server = await startEmbedded(target.dataDir, {
    onFailure: options.onFailure ?? throwLater,
    ...(options.workerFile === undefined ? {} : { workerFile: options.workerFile }),
  });
  const config = { host: server.host, port: 5432, user: 'postgres', database: 'postgres', password: '', ssl: false };
  return connect('embedded', config, config, { ...options, onError }, server.stop);
}

async function connect(
  kind: Database['kind'],
  config: ClientConfig,
  directConfig: ClientConfig,
  options: OpenOptions,
  stop: () => Promise<void>,
): Promise<Database> {
  const embedded = kind === 'embedded';
  const onError = options.onError ?? (() => undefined);
  const requestTimeoutMs = options.requestTimeoutMs === undefined ? REQUEST_MS : options.requestTimeoutMs;
  const pools = createPools({
    config,
    sizes: embedded ? EMBEDDED_SIZES : { ...POSTGRES_SIZES, ...options.poolSizes },
    requestTimeoutMs: embedded ? null : requestTimeoutMs,
    administrationTimeoutMs:
      embedded || requestTimeoutMs === null ? null : Math.max(ADMINISTRATION_MS, requestTimeoutMs),
    onError,
  });
  let clock: Clock;
  try {
    clock = await startClock(pools.hot);
  } catch (error) {
    await endPools(pools);
    await stop();
    throw error;
  }
  const prepare = !embedded && (options.prepare ?? true);
  let prisma: PrismaClient | undefined;
  return {
    kind,
    prepare,
    pool: pools.hot,
    get prisma() {
      prisma ??= new PrismaClient({
        adapter: new PrismaPg(pools.administration),
        errorFormat: 'minimal',
        // Registrations of a whole fleet queue up behind one row; each statement has its own limit.
        transactionOptions: { maxWait: 10_000, timeout: 20_000 },
      });
      return prisma;
    },
    query: queryOn(pools, prepare),
    dedicated: async () => {
      const client = await connectClient(config, 'hot', onError);
      return {
        query: queryOn({ hot: client, request: client, background: client }, prepare),
        close: () => client.end(),
      };
    },
    direct: () => connectClient(directConfig, 'request', onError),
    now: clock.now,
    uuidv7: uuidV7Source(clock.now),
    close: async () => {
      clock.stop();
      await prisma?.$disconnect();
      await endPools(pools);
      await stop();
    },
  };
}

function queryOn(on: Pools | Record<Priority, Client>, prepare: boolean): Query {
  return async <R extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    options: QueryOptions = {},
  ) => {
    const named = prepare && options.name !== undefined ? { name: options.name } : {};
    const result = await on[options.priority ?? 'request'].query<R>({ ...named, text, values: [...values] });
    return { rows: result.rows, rowCount: result.rowCount ?? 0 };
  };
}

function throwLater(error: Error): void {
  setImmediate(() => {
    throw error;
  });
}
