import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isNetwork } from './http/client-address.ts';
import type { RateSettings } from './http/rate-limits.ts';
import { OIDC_VARIABLES, oidcProblems, readOidc } from './oidc-config.ts';
import type { OidcSettings } from './modules/login/oidc/oidc-settings.ts';

/** Everything that the surroundings decide, read once at start. Durations carry their unit in the name. */
export interface Config {
  readonly port: number;
  readonly host: string;
  /** null: the embedded database in `dataDir`. */
  readonly databaseUrl: string | null;
  /** For LISTEN and migrations where `databaseUrl` leads through a pooler. */
  readonly databaseDirectUrl: string | null;
  readonly natsUrl: string | null;
  readonly dataDir: string;
  /** null: the token kept in `dataDir`, made at the first start. */
  readonly adminToken: string | null;
  /** Role that this process announces itself as. */
  readonly role: string;
  readonly workerName: string;
  /** 0: an execution that nobody can take waits for ever. */
  readonly parkTtlSeconds: number;
  readonly heartbeatSeconds: number;
  readonly staleSeconds: number;
  readonly offlineSeconds: number;
  readonly claimSeconds: number;
  /** How long a worker has to answer a cancel before the execution ends without it. */
  readonly cancelSeconds: number;
  /** Life of a worker's credential; workers renew it half-way. */
  readonly workerCredentialSeconds: number;
  /** How long a browser session lives at most. */
  readonly sessionSeconds: number;
  /** How long a browser session lives unused. */
  readonly sessionIdleSeconds: number;
  /** How often the value of a session's cookie changes. */
  readonly sessionRotateSeconds: number;
  readonly logLevel: LogLevel;
  /** Ended executions are kept up to both bounds; null: no such bound. */
  readonly retention: { readonly executions: number | null; readonly days: number | null };
  /** Named statements; off for poolers without protocol-level prepare. */
  readonly prepare: boolean;
  readonly embeddedWorker: boolean;
  /** false: a replica that never dispatches. */
  readonly mayLead: boolean;
  /** Origin under which people reach this server through a proxy, e.g. `https://muster.example.org`. */
  readonly publicUrl: string | null;
  /** Addresses and networks of the proxies whose `X-Forwarded-*` headers count. */
  readonly trustedProxies: readonly string[];
  readonly rates: RateSettings;
  /** The identity provider; null: none. */
  readonly oidc: OidcSettings | null;
  /** Where the built admin app lies; null: look for it. */
  readonly adminDir: string | null;
  /** Where the SQL migrations lie; null: look for them. */
  readonly migrationsDir: string | null;
}

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent';

/** The environment or the flags are wrong; `problems` has every one of them, each a sentence. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`The configuration is wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/;

const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,12}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);
const name = z
  .string()
  .max(128, 'must have at most 128 characters')
  .regex(NAME, 'must be letters, digits, ".", "_" or "-", and begin and end with a letter or digit');
const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be a URL that begins with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );

const environment = z.object({
  PORT: whole(0, 65_535).default(4000),
  HOST: z.string().default('127.0.0.1'),
  DATABASE_URL: url('postgres:', 'postgresql:').optional(),
  DATABASE_DIRECT_URL: url('postgres:', 'postgresql:').optional(),
  NATS_URL: url('nats:', 'tls:').optional(),
  MUSTER_DATA_DIR: z.string().default('./.muster'),
  MUSTER_ADMIN_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .optional(),
  SERVICE_ROLE: name.default('api'),
  MUSTER_WORKER_NAME: name.optional(),
  MUSTER_PARK_TTL_SECONDS: whole(0, 31_536_000).default(0),
  MUSTER_HEARTBEAT_SECONDS: whole(1, 30).default(10),
  MUSTER_STALE_SECONDS: whole(1, 86_400).default(30),
  MUSTER_OFFLINE_SECONDS: whole(1, 86_400).default(60),
  MUSTER_CLAIM_SECONDS: whole(1, 3_600).default(5),
  MUSTER_CANCEL_SECONDS: whole(1, 3_600).default(30),
  MUSTER_WORKER_CREDENTIAL_SECONDS: whole(4, 31_536_000).default(604_800),
  MUSTER_SESSION_SECONDS: whole(300, 31_536_000).default(2_592_000),
  MUSTER_SESSION_IDLE_SECONDS: whole(300, 31_536_000).default(43_200),
  MUSTER_SESSION_ROTATE_SECONDS: whole(300, 31_536_000).default(86_400),
  MUSTER_RETENTION_EXECUTIONS: whole(0, 999_999_999).optional(),
  MUSTER_RETENTION_DAYS: whole(0, 36_500).optional(),
  MUSTER_PREPARE: z.enum(['0', '1'], 'must be 0 or 1').default('1'),
  MUSTER_PUBLIC_URL: url('http:', 'https:').optional(),
  MUSTER_TRUSTED_PROXIES: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((part) => part !== ''))
    .refine((parts) => parts.every(isNetwork), 'must be addresses or networks (10.0.0.0/8), separated by commas')
    .default([]),
  ...OIDC_VARIABLES,
  MUSTER_RATE_REQUESTS: whole(0, 999_999_999).default(120_000),
  MUSTER_RATE_STRANGERS: whole(0, 999_999_999).default(6_000),
  MUSTER_RATE_PRICE: whole(0, 999_999_999).default(18_000_000),
  LOG_LEVEL: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be fatal, error, warn, info, debug, trace or silent',
    )
    .default('info'),
});

/** Flags and tests: what is given here wins over the environment. */
export type ConfigOverrides = Partial<{ -readonly [K in keyof Config]: Config[K] }>;

/**
 * Reads the environment; empty variables count as absent. Throws ConfigError with every problem at once.
 * Values of variables are never part of a problem: some are secrets.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>, overrides: ConfigOverrides = {}): Config {
  const given = Object.fromEntries(
    Object.keys(environment.shape).flatMap((key) => (env[key] ? [[key, env[key]]] : [])),
  );
  const parsed = environment.safeParse(given);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`));
  }
  const e = parsed.data;
  const port = overrides.port ?? e.PORT;
  const databaseUrl = overrides.databaseUrl !== undefined ? overrides.databaseUrl : (e.DATABASE_URL ?? null);
  const role = overrides.role ?? e.SERVICE_ROLE;
  const embedded = databaseUrl === null;
  const config: Config = {
    port,
    host: e.HOST,
    databaseUrl,
    databaseDirectUrl: e.DATABASE_DIRECT_URL ?? databaseUrl,
    natsUrl: e.NATS_URL ?? null,
    adminToken: e.MUSTER_ADMIN_TOKEN ?? null,
    role,
    workerName: e.MUSTER_WORKER_NAME ?? defaultWorkerName(role, embedded ? null : port),
    parkTtlSeconds: e.MUSTER_PARK_TTL_SECONDS,
    heartbeatSeconds: e.MUSTER_HEARTBEAT_SECONDS,
    staleSeconds: e.MUSTER_STALE_SECONDS,
    offlineSeconds: e.MUSTER_OFFLINE_SECONDS,
    claimSeconds: e.MUSTER_CLAIM_SECONDS,
    cancelSeconds: e.MUSTER_CANCEL_SECONDS,
    workerCredentialSeconds: e.MUSTER_WORKER_CREDENTIAL_SECONDS,
    sessionSeconds: e.MUSTER_SESSION_SECONDS,
    sessionIdleSeconds: e.MUSTER_SESSION_IDLE_SECONDS,
    sessionRotateSeconds: e.MUSTER_SESSION_ROTATE_SECONDS,
    logLevel: e.LOG_LEVEL,
    retention: {
      executions: bound(e.MUSTER_RETENTION_EXECUTIONS, embedded ? 100_000 : null),
      days: bound(e.MUSTER_RETENTION_DAYS, embedded ? 7 : null),
    },
    prepare: e.MUSTER_PREPARE === '1',
    embeddedWorker: true,
    mayLead: true,
    publicUrl: e.MUSTER_PUBLIC_URL ? new URL(e.MUSTER_PUBLIC_URL).origin : null,
    trustedProxies: e.MUSTER_TRUSTED_PROXIES,
    rates: {
      requests: e.MUSTER_RATE_REQUESTS,
      strangers: e.MUSTER_RATE_STRANGERS,
      price: e.MUSTER_RATE_PRICE,
    },
    oidc: readOidc(e),
    adminDir: null,
    migrationsDir: null,
    ...overrides,
    dataDir: resolve(overrides.dataDir ?? e.MUSTER_DATA_DIR),
  };
  const problems: string[] = oidcProblems(e, config);
  if (config.natsUrl !== null) {
    problems.push('NATS_URL is reserved and not served yet: unset it; replicas talk through PostgreSQL.');
  }
  if (config.offlineSeconds < config.staleSeconds) {
    problems.push(
      'MUSTER_OFFLINE_SECONDS must not be less than MUSTER_STALE_SECONDS: a worker is stale before it is offline.',
    );
  }
  if (config.staleSeconds < config.heartbeatSeconds) {
    problems.push(
      'MUSTER_STALE_SECONDS must not be less than MUSTER_HEARTBEAT_SECONDS, or every worker is stale between two heartbeats.',
    );
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

/** 0 means "no bound" and absent means the default. */
function bound(given: number | undefined, fallback: number | null): number | null {
  return given === undefined ? fallback : given === 0 ? null : given;
}

/** Stable over restarts; in a cluster several replicas may share a host, so the port takes part. */
function defaultWorkerName(role: string, port: number | null): string {
  const host =
    hostname()
      .replace(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[^A-Za-z0-9]+|[^A-Za-z0-9]+$/g, '') || 'host';
  return `${role}-${host}${port === null ? '' : `-${port}`}`.slice(0, 128).replace(/[^A-Za-z0-9]+$/, '');
}
