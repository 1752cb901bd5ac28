import { BUILT_IN_ROLES, intersectPermissions } from '@muster/core';
import DataLoader from 'dataloader';
import type { Executor, Statement } from '../../dispatch/statements/executor.ts';
import type { CredentialRef, Viewer } from '../viewer/viewer.ts';
import type { ResolvedCredential } from './token-kind.ts';

/** A principal that may enter, and what its roles let it do. */
export interface KnownPrincipal {
  readonly id: number;
  readonly name: string;
  readonly kind: 'person' | 'service';
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

interface PrincipalColumns {
  principalId: number;
  name: string;
  kind: string;
  roles: string[];
  /** Of the roles that are made here; the built-in ones stand in the code. */
  granted: string[];
}

interface CredentialColumns extends PrincipalColumns {
  key: string;
  id: number;
  scopes: string[];
  expiresAt: Date | null;
}

interface SessionColumns extends PrincipalColumns {
  key: string;
  id: string;
  tokenId: number | null;
  scopes: string[] | null;
  expiresAt: Date;
  seenAt: Date;
  rotatedAt: Date;
}

/** A session as a cookie names it. */
export interface ResolvedSession extends ResolvedCredential {
  /** Whether its value should change at the next answer that can carry a cookie. */
  readonly rotatedAt: number;
}

const PRINCIPAL = `p.id AS "principalId", p.name, p.kind, p.roles, ARRAY(
  SELECT DISTINCT g.permission FROM role r, unnest(r.permissions) AS g (permission) WHERE r.name = ANY(p.roles) ORDER BY 1) AS granted`;

const TOKENS: Statement = {
  name: 'tokens_by_hash',
  priority: 'read',
  text: `SELECT encode(t.hash, 'hex') AS key, t.id, t.scopes, t.expires_at AS "expiresAt", ${PRINCIPAL}
    FROM unnest($1::bytea[]) AS g (hash) JOIN token t ON t.hash = g.hash JOIN principal p ON p.id = t.principal_id
    WHERE t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp()) AND p.disabled_at IS NULL`,
};

const INSTALLATION: Statement = {
  name: 'installation_tokens_by_hash',
  priority: 'read',
  text: `SELECT encode(i.hash, 'hex') AS key, 0 AS id, '{}'::text[] AS scopes, NULL::timestamptz AS "expiresAt", ${PRINCIPAL}
    FROM unnest($1::bytea[]) AS g (hash) JOIN installation_token i ON i.hash = g.hash JOIN principal p ON p.name = 'admin'
    WHERE i.revoked_at IS NULL AND (i.everywhere OR i.hash = $2) AND p.disabled_at IS NULL`,
};

const SESSION = `s.id::text AS id, s.token_id AS "tokenId", t.scopes, s.expires_at AS "expiresAt", s.seen_at AS "seenAt",
    s.rotated_at AS "rotatedAt", ${PRINCIPAL}`;
const SESSION_TABLES = 'JOIN principal p ON p.id = s.principal_id LEFT JOIN token t ON t.id = s.token_id';
/** $2: seconds that a session may be idle. */
const SESSION_HOLDS = `s.expires_at > clock_timestamp() AND s.seen_at > clock_timestamp() - make_interval(secs => $2) AND p.disabled_at IS NULL
    AND (s.token_id IS NULL OR (t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock_timestamp())))`;

/** $3: seconds for which the value before the present one is good. */
const SESSIONS: Statement = {
  name: 'sessions_by_hash',
  priority: 'read',
  text: `SELECT encode(g.hash, 'hex') AS key, ${SESSION}
      FROM unnest($1::bytea[]) AS g (hash) JOIN login_session s ON s.hash = g.hash ${SESSION_TABLES} WHERE ${SESSION_HOLDS}
    UNION ALL SELECT encode(g.hash, 'hex'), ${SESSION}
      FROM unnest($1::bytea[]) AS g (hash) JOIN login_session s ON s.previous_hash = g.hash ${SESSION_TABLES}
      WHERE s.previous_hash IS NOT NULL AND s.rotated_at > clock_timestamp() - make_interval(secs => $3) AND ${SESSION_HOLDS}`,
};

const SESSIONS_BY_ID: Statement = {
  name: 'sessions_by_id',
  priority: 'read',
  text: `SELECT s.id::text AS key, ${SESSION} FROM unnest($1::uuid[]) AS g (id) JOIN login_session s ON s.id = g.id ${SESSION_TABLES}
    WHERE ${SESSION_HOLDS}`,
};

const PRINCIPALS: Statement = {
  name: 'principals_by_name',
  priority: 'read',
  text: `SELECT p.name AS key, ${PRINCIPAL} FROM unnest($1::text[]) AS g (name) JOIN principal p ON p.name = g.name WHERE p.disabled_at IS NULL`,
};

/** How long the value of a cookie that was replaced is good for requests that were under way. */
const ROTATION_OVERLAP_SECONDS = 60;

/** Reads credentials; what is asked for in the same moment is one statement. */
export class CredentialReads {
  readonly #db: Executor;
  readonly #idleSeconds: number;
  readonly #tokens: DataLoader<string, CredentialColumns | null>;
  readonly #installation: DataLoader<string, CredentialColumns | null>;
  readonly #sessions: DataLoader<string, SessionColumns | null>;
  readonly #sessionsById: DataLoader<string, SessionColumns | null>;

  /** `ownToken`: hash of the installation's token as this process is configured. */
  constructor(db: Executor, ownToken: Uint8Array, idleSeconds: number) {
    this.#db = db;
    this.#idleSeconds = idleSeconds;
    this.#tokens = this.#loader((keys) => [TOKENS, [bytes(keys)]]);
    this.#installation = this.#loader((keys) => [INSTALLATION, [bytes(keys), ownToken]]);
    this.#sessions = this.#loader((keys) => [SESSIONS, [bytes(keys), idleSeconds, ROTATION_OVERLAP_SECONDS]]);
    this.#sessionsById = this.#loader((keys) => [SESSIONS_BY_ID, [keys, idleSeconds]]);
  }

  /** An API token, by its hash in hex. */
  async token(hash: string): Promise<ResolvedCredential | null> {
    const row = await this.#tokens.load(hash);
    return row && resolved(row, { kind: 'token', id: row.id });
  }

  /** The token of the installation, by its hash in hex. */
  async installation(hash: string): Promise<ResolvedCredential | null> {
    const row = await this.#installation.load(hash);
    return row && resolved(row, { kind: 'installation' });
  }

  /** A browser session, by the hash of its cookie in hex. */
  async session(hash: string): Promise<ResolvedSession | null> {
    return this.#resolvedSession(await this.#sessions.load(hash));
  }

  /** null: no such principal, or it is disabled. */
  async principal(name: string): Promise<KnownPrincipal | null> {
    const { rows } = await this.#db.run<PrincipalColumns>(PRINCIPALS, [[name]]);
    return rows[0] === undefined ? null : principalOf(rows[0]);
  }

  #resolvedSession(row: SessionColumns | null): ResolvedSession | null {
    if (row === null) return null;
    const { id, tokenId, scopes, seenAt, rotatedAt } = row;
    return {
      ...resolved({ ...row, scopes: scopes ?? [] }, { kind: 'session', id }),
      tokenId,
      idle: { seenAt: seenAt.getTime(), ms: this.#idleSeconds * 1_000 },
      rotatedAt: rotatedAt.getTime(),
      again: async () => this.#resolvedSession(await this.#sessionsById.load(id)),
    };
  }

  #loader<R extends { key: string }>(
    statement: (keys: readonly string[]) => [Statement, unknown[]],
  ): DataLoader<string, R | null> {
    return new DataLoader<string, R | null>(
      async (keys) => {
        const { rows } = await this.#db.run<R>(...statement(keys));
        const found = new Map(rows.map((row) => [row.key, row]));
        return keys.map((key) => found.get(key) ?? null);
      },
      { cache: false, maxBatchSize: 500 },
    );
  }
}

/** Everything that these roles let somebody do; `granted` is of those that are not built in. */
export function permissionsOf(roles: readonly string[], granted: readonly string[]): string[] {
  const builtIn = roles.flatMap((role) => (isBuiltIn(role) ? BUILT_IN_ROLES[role] : []));
  return [...new Set([...builtIn, ...granted])];
}

export function isBuiltIn(role: string): role is keyof typeof BUILT_IN_ROLES {
  return Object.hasOwn(BUILT_IN_ROLES, role);
}

function principalOf(row: PrincipalColumns): KnownPrincipal {
  return {
    id: row.principalId,
    name: row.name,
    kind: row.kind === 'USER' ? 'person' : 'service',
    roles: row.roles,
    permissions: permissionsOf(row.roles, row.granted),
  };
}

function resolved(
  row: PrincipalColumns & { scopes: string[]; expiresAt: Date | null },
  credential: CredentialRef,
): ResolvedCredential {
  const { id: principalId, name, kind, roles, permissions } = principalOf(row);
  const viewer: Viewer = {
    name,
    kind,
    roles,
    permissions: row.scopes.length === 0 ? permissions : intersectPermissions(permissions, row.scopes),
    credential,
    worker: null,
    execution: null,
    address: null,
  };
  return { viewer, expiresAt: row.expiresAt?.getTime() ?? null, principalId };
}

function bytes(keys: readonly string[]): Buffer[] {
  return keys.map((key) => Buffer.from(key, 'hex'));
}
