import type { Executor, Statement } from '../../dispatch/statements/executor.ts';

export type LoginMethod = 'LINK' | 'TOKEN' | 'PASSWORD' | 'OIDC';

/** Where somebody logged in from. */
export interface LoginOrigin {
  readonly address: string | null;
  readonly userAgent: string | null;
  /** The API token that was exchanged for it: the session may no more than the token, and ends with it. */
  readonly tokenId?: number | null;
}

/** Sessions of one principal; who has more loses the oldest. */
const MAX_SESSIONS = 100;

const START: Statement = {
  name: 'start_login_session',
  priority: 'read',
  text: `WITH old AS (
      SELECT s.id FROM login_session s WHERE s.principal_id = $2 ORDER BY s.created_at DESC OFFSET ${MAX_SESSIONS - 1}),
    gone AS (DELETE FROM login_session s USING old WHERE s.id = old.id)
    INSERT INTO login_session (hash, principal_id, method, address, user_agent, token_id, expires_at)
    SELECT $1, p.id, $3, $4, $5, $6, clock_timestamp() + make_interval(secs => $7) FROM principal p WHERE p.id = $2 AND p.disabled_at IS NULL
    RETURNING id::text AS id`,
};

/** Of requests that come together one gives the cookie its new value. */
const ROTATE: Statement = {
  name: 'rotate_login_session',
  priority: 'read',
  text: `UPDATE login_session SET hash = $2, previous_hash = hash, rotated_at = clock_timestamp(), seen_at = clock_timestamp()
    WHERE hash = $1 AND rotated_at <= clock_timestamp() - make_interval(secs => $3)
    RETURNING GREATEST(0, EXTRACT(epoch FROM expires_at - clock_timestamp()))::int AS seconds`,
};

const END: Statement = {
  name: 'end_login_session',
  priority: 'read',
  text: 'DELETE FROM login_session WHERE hash = $1 OR previous_hash = $1 RETURNING id::text AS id',
};

const TOUCH_SESSIONS: Statement = {
  name: 'touch_login_sessions',
  priority: 'background',
  text: `UPDATE login_session s SET seen_at = GREATEST(s.seen_at, g.at), address = g.address
    FROM unnest($1::uuid[], $2::timestamptz[], $3::text[]) AS g (id, at, address) WHERE s.id = g.id`,
};

const TOUCH_TOKENS: Statement = {
  name: 'touch_tokens',
  priority: 'background',
  text: `UPDATE token t SET last_used_at = GREATEST(t.last_used_at, g.at), address = g.address
    FROM unnest($1::int[], $2::timestamptz[], $3::text[]) AS g (id, at, address) WHERE t.id = g.id`,
};

const DELETE_ENDED: Statement = {
  name: 'delete_ended_login_sessions',
  priority: 'background',
  text: `DELETE FROM login_session WHERE expires_at <= clock_timestamp() OR seen_at <= clock_timestamp() - make_interval(secs => $1)`,
};

/** Answers the session's id; null: the principal is gone or disabled. */
export async function insertSession(
  db: Executor,
  hash: Uint8Array,
  principalId: number,
  method: LoginMethod,
  { address, userAgent, tokenId }: LoginOrigin,
  seconds: number,
): Promise<string | null> {
  const agent = userAgent === null ? null : userAgent.replaceAll('\0', '').slice(0, 300);
  const { rows } = await db.run<{ id: string }>(START, [
    hash,
    principalId,
    method,
    address,
    agent,
    tokenId ?? null,
    seconds,
  ]);
  return rows[0]?.id ?? null;
}

/** Gives the session another value, where that is due. Answers the seconds that it still has; null: it was done already, or is over. */
export async function rotateSession(
  db: Executor,
  before: Uint8Array,
  after: Uint8Array,
  everySeconds: number,
): Promise<number | null> {
  const { rows } = await db.run<{ seconds: number }>(ROTATE, [before, after, everySeconds]);
  return rows[0]?.seconds ?? null;
}

/** Ends the session of a cookie. Answers its id, or null. */
export async function deleteSession(db: Executor, hash: Uint8Array): Promise<string | null> {
  const { rows } = await db.run<{ id: string }>(END, [hash]);
  return rows[0]?.id ?? null;
}

export async function deleteEndedSessions(db: Executor, idleSeconds: number): Promise<void> {
  await db.run(DELETE_ENDED, [idleSeconds]);
}

/** When something was last used, and from where. */
export interface Use {
  readonly at: Date;
  readonly address: string | null;
}

export async function touch(
  db: Executor,
  tokens: ReadonlyMap<number, Use>,
  sessions: ReadonlyMap<string, Use>,
): Promise<void> {
  const columns = <K>(uses: ReadonlyMap<K, Use>): unknown[] => [
    [...uses.keys()],
    [...uses.values()].map(({ at }) => at),
    [...uses.values()].map(({ address }) => address),
  ];
  if (tokens.size > 0) await db.run(TOUCH_TOKENS, columns(tokens));
  if (sessions.size > 0) await db.run(TOUCH_SESSIONS, columns(sessions));
}
