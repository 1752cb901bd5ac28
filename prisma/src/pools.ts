import { Client, type ClientConfig, Pool, types } from 'pg';

/**
 * What a statement may overtake. On PostgreSQL each has connections of its own; on the embedded database, which is one session, waiting
 * statements are taken in this order.
 */
export type Priority = 'hot' | 'request' | 'background';

const INT8 = 20;
const INT8_ARRAY = 1016;
const MAX_INT = BigInt(Number.MAX_SAFE_INTEGER);

/** int8 as numbers: Muster's counters and epochs stay below 2^53. A larger one is an error, not a rounded number. */
const numbers = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => {
    if (oid === INT8) return toNumber;
    const parse = types.getTypeParser(oid, format);
    return oid === INT8_ARRAY ? (text: string) => (parse(text) as string[]).map(toNumber) : parse;
  },
};

function toNumber(text: string): number {
  const value = BigInt(text);
  if (value > MAX_INT || value < -MAX_INT) throw new RangeError(`${text} does not fit a number`);
  return Number(value);
}

export interface Pools extends Readonly<Record<Priority, Pool>> {
  /** Registrations and administration: rare, and they may wait for a lock for longer than a read may take. */
  readonly administration: Pool;
}

export interface PoolOptions {
  config: ClientConfig;
  sizes: Record<Priority, number>;
  /** Longest statement of a request, in ms; null: none. */
  requestTimeoutMs: number | null;
  /** The same for administration, which then has connections of its own; null: it uses those of requests. */
  administrationTimeoutMs: number | null;
  onError: (error: Error) => void;
}

export function createPools(options: PoolOptions): Pools {
  const create = (priority: Priority, timeoutMs: number | null): Pool => {
    const timeout = timeoutMs === null ? {} : { statement_timeout: timeoutMs };
    const pool = new Pool({
      ...clientConfig(options.config, priority),
      ...timeout,
      ...(priority === 'request' ? planning(options.config) : {}),
      max: options.sizes[priority],
    });
    // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
    pool.on('error', options.onError);
    return pool;
  };
  const request = create('request', options.requestTimeoutMs);
  return {
    hot: create('hot', null),
    request,
    background: create('background', null),
    administration:
      options.administrationTimeoutMs === null ? request : create('request', options.administrationTimeoutMs),
  };
}

/** A connection of its own, e.g. for the leadership lease. */
export async function connectClient(
  config: ClientConfig,
  priority: Priority,
  onError: (error: Error) => void,
): Promise<Client> {
  const client = new Client(clientConfig(config, priority));
  client.on('error', onError);
  await client.connect();
  return client;
}

export async function endPools(pools: Pools): Promise<void> {
  await Promise.all([...new Set(Object.values(pools))].map((pool: Pool) => pool.end()));
}

/**
 * Requests read lists in the order of an index and stop at a limit. A bitmap scan reads all that fits before its first row, and where few pages are
 * marked as visible to all, the planner takes it for the cheaper way: no list may depend on when its table was vacuumed.
 */
function planning(config: ClientConfig): ClientConfig {
  return { options: [config.options, '-c enable_bitmapscan=off'].filter(Boolean).join(' ') };
}

function clientConfig(config: ClientConfig, priority: Priority): ClientConfig {
  return { ...config, application_name: `muster:${priority}`, types: numbers, keepAlive: true };
}
