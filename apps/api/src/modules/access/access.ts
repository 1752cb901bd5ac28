import type { Bus, BusMessages } from '../../bus/bus.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Log } from '../../log.ts';
import { administrator, type CredentialRef, type Viewer } from '../viewer/viewer.ts';
import { type Credential, CredentialCache } from './credential-cache.ts';
import { CredentialReads, type KnownPrincipal, type ResolvedSession } from './credential-reads.ts';
import { LoginCodes } from './login-codes.ts';
import { hashOf, newSecret } from './secrets.ts';
import {
  deleteEndedSessions,
  deleteSession,
  insertSession,
  type LoginMethod,
  type LoginOrigin,
  rotateSession,
  touch,
  type Use,
} from './session-writes.ts';
import type { ResolvedCredential, TokenKind } from './token-kind.ts';

const FLUSH_MS = 5_000;
/** The use of one credential is written at most so often. */
const USE_EVERY_MS = 60_000;
const CLEAN_EVERY_MS = 3_600_000;
const PRINCIPAL_FRESH_MS = 10_000;
const MAX_PRINCIPALS = 1_000;
const MAX_TOKEN = 512;

export const API_TOKEN_PREFIX = 'mst_';

/** The value of a session cookie. */
export interface NewSession {
  readonly cookie: string;
  readonly maxAgeSeconds: number;
}

export interface AccessDeps {
  db: Executor;
  bus: Bus;
  log: Log;
  /** ms by the database's clock. */
  now(): number;
  /** ms that only rise. */
  monotonic(): number;
  /** The token of the installation, as this process is configured. */
  adminToken: string;
  settings: { sessionSeconds: number; sessionIdleSeconds: number; sessionRotateSeconds: number };
}

/** Who is known by which token or cookie, and what he may do now. The one place that says so, for every transport. */
export class Access {
  readonly #deps: AccessDeps;
  readonly #reads: CredentialReads;
  readonly #noteEveryMs: number;
  readonly #cache: CredentialCache;
  readonly #codes: LoginCodes;
  readonly #kinds: TokenKind[] = [];
  readonly #stops: (() => void)[] = [];
  readonly #principals = new Map<string, { at: number; principal: KnownPrincipal | null }>();
  #usedTokens = new Map<number, Use>();
  #usedSessions = new Map<string, Use>();
  #timer: NodeJS.Timeout | null = null;
  #flushing: Promise<void> = Promise.resolve();
  #nextClean = 0;
  /** For what runs inside this process; made anew at each start, and never leaves it. */
  readonly localToken = newSecret('msl_');

  constructor(deps: AccessDeps) {
    this.#deps = deps;
    this.#noteEveryMs = Math.min(USE_EVERY_MS, (deps.settings.sessionIdleSeconds * 1_000) / 4);
    this.#reads = new CredentialReads(deps.db, hashOf(deps.adminToken), deps.settings.sessionIdleSeconds);
    this.#cache = new CredentialCache(deps);
    this.#codes = new LoginCodes(deps.monotonic);
    this.register({ prefix: API_TOKEN_PREFIX, cached: true, resolve: (token) => this.#reads.token(hex(token)) });
    this.register({
      prefix: 'msl_',
      cached: true,
      resolve: (token) => Promise.resolve(hex(token) === hex(this.localToken) ? LOCAL : null),
    });
  }

  /** Makes another kind of token known. */
  register(kind: TokenKind): void {
    this.#kinds.push(kind);
  }

  start(): void {
    const { bus, log } = this.#deps;
    this.#stops.push(
      bus.subscribe('access', (message) => {
        this.#principals.clear();
        this.#cache.forget((known) => concerns(message, known));
      }),
      bus.subscribe('resync', () => {
        this.#principals.clear();
        this.#cache.forget(() => true);
      }),
    );
    this.#cache.start();
    this.#timer = setInterval(() => {
      this.#flushing = this.#flushing
        .then(() => this.flush())
        .catch((error: unknown) => log.warn({ err: error }, 'the use of credentials could not be written'));
    }, FLUSH_MS).unref();
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#cache.close();
    await this.#flushing;
    await this.flush();
  }

  /** Who holds this token. null: nobody, or not any more. */
  async viewerOfToken(token: string, address: string | null): Promise<Viewer | null> {
    if (token.length > MAX_TOKEN) return null;
    const kind = this.#kinds.find(({ prefix }) => token.startsWith(prefix));
    const hash = hex(token);
    const load = kind ? () => kind.resolve(token) : () => this.#reads.installation(hash);
    return this.#known(await this.#cache.get(hash, load, kind?.cached ?? true), address);
  }

  /** Who holds the session of this cookie. null: it has ended, or there is none. */
  async viewerOfSession(cookie: string, address: string | null): Promise<Viewer | null> {
    if (cookie.length > MAX_TOKEN) return null;
    const hash = hex(cookie);
    return this.#known(await this.#cache.get(`cookie ${hash}`, () => this.#reads.session(hash)), address);
  }

  /** The same viewer with what it may do now, from memory; null: its credential has ended. */
  current(viewer: Viewer): Viewer | null {
    return this.#cache.current(viewer);
  }

  /** Calls `listener` once when the viewer's credential has ended, within a second and at every replica. Answers the end of it. */
  onEnd(viewer: Viewer, listener: () => void): () => void {
    return this.#cache.onEnd(viewer, listener);
  }

  /** Ends what is known by this credential at this process, now; the others learn it from the bus topic `access`. */
  end(ref: CredentialRef): void {
    this.#cache.end(({ viewer: { credential } }) => sameRef(credential, ref));
  }

  /** A principal that may enter, at most 10 s old; null: there is none of this name, or it is disabled. */
  async principal(name: string): Promise<KnownPrincipal | null> {
    const now = this.#deps.monotonic();
    const held = this.#principals.get(name);
    if (held && now - held.at < PRINCIPAL_FRESH_MS) return held.principal;
    const principal = await this.#reads.principal(name);
    this.#principals.delete(name);
    this.#principals.set(name, { at: now, principal });
    if (this.#principals.size > MAX_PRINCIPALS) this.#principals.delete(this.#principals.keys().next().value as string);
    return principal;
  }

  /** A session with a value of its own, whatever the browser had before. null: the principal is gone or disabled. */
  async startSession(principalId: number, method: LoginMethod, origin: LoginOrigin): Promise<NewSession | null> {
    const cookie = newSecret('');
    const maxAgeSeconds = this.#deps.settings.sessionSeconds;
    const id = await insertSession(this.#deps.db, hashOf(cookie), principalId, method, origin, maxAgeSeconds);
    return id === null ? null : { cookie, maxAgeSeconds };
  }

  /** Ends the session of a cookie everywhere. */
  async endSession(cookie: string): Promise<void> {
    const id = await deleteSession(this.#deps.db, hashOf(cookie));
    if (id !== null) this.#deps.bus.publish('access', { sessionId: id });
  }

  /** The value that a cookie is to have from now on, where it is time for another one; null: it stays. */
  async rotateSession(cookie: string): Promise<NewSession | null> {
    const { db, settings, now } = this.#deps;
    const hash = hashOf(cookie);
    const held = await this.#cache.get(`cookie ${hash.toString('hex')}`, () =>
      this.#reads.session(hash.toString('hex')),
    );
    const due = held !== null && (held.known as ResolvedSession).rotatedAt + settings.sessionRotateSeconds * 1_000;
    if (due === false || now() < due) return null;
    const next = newSecret('');
    const seconds = await rotateSession(db, hash, hashOf(next), settings.sessionRotateSeconds);
    return seconds === null ? null : { cookie: next, maxAgeSeconds: seconds };
  }

  /** A code that logs one browser in as the administrator, once, within 15 minutes. */
  makeLoginCode(): string {
    return this.#codes.make();
  }

  /** Spends the code of a link. null: it was spent, is too old, or the administrator is disabled. */
  async redeemLoginCode(code: string, origin: LoginOrigin): Promise<NewSession | null> {
    if (!this.#codes.spend(code)) return null;
    const admin = await this.#reads.principal('admin');
    return admin && this.startSession(admin.id, 'LINK', origin);
  }

  /** A session for whoever holds a token of a person or a service account. null: nobody's, or a worker's or an execution's. */
  async redeemToken(token: string, origin: LoginOrigin): Promise<NewSession | null> {
    const viewer = await this.viewerOfToken(token, origin.address);
    const credential = viewer && this.#cache.credentialOf(viewer);
    const principalId = credential?.known.principalId ?? null;
    if (viewer === null || principalId === null || (viewer.kind !== 'person' && viewer.kind !== 'service')) return null;
    const tokenId = viewer.credential.kind === 'token' ? viewer.credential.id : null;
    return this.startSession(principalId, 'TOKEN', { ...origin, tokenId });
  }

  /** Writes what was used since the last time; now and then removes sessions that are over. */
  async flush(): Promise<void> {
    const { db, monotonic, settings } = this.#deps;
    const tokens = this.#usedTokens;
    const sessions = this.#usedSessions;
    this.#usedTokens = new Map();
    this.#usedSessions = new Map();
    await touch(db, tokens, sessions);
    if (monotonic() < this.#nextClean) return;
    this.#nextClean = monotonic() + CLEAN_EVERY_MS;
    await deleteEndedSessions(db, settings.sessionIdleSeconds);
  }

  #known(credential: Credential | null, address: string | null): Viewer | null {
    if (credential === null) return null;
    const now = this.#deps.now();
    const ref = credential.known.viewer.credential;
    credential.usedAt = now;
    if (now - credential.notedAt >= this.#noteEveryMs) {
      credential.notedAt = now;
      const use = { at: new Date(now), address };
      if (ref.kind === 'token') this.#usedTokens.set(ref.id, use);
      if (ref.kind === 'session') this.#usedSessions.set(ref.id, use);
    }
    return this.#cache.viewerOf(credential, address);
  }
}

const LOCAL: ResolvedCredential = { viewer: administrator, expiresAt: null, principalId: null };

function hex(secret: string): string {
  return hashOf(secret).toString('hex');
}

function sameRef(a: CredentialRef, b: CredentialRef): boolean {
  return a.kind === b.kind && ('id' in a ? a.id : null) === ('id' in b ? b.id : null);
}

/** Whether a change may be about this credential. A message that names nothing is about all. */
function concerns(message: BusMessages['access'], { viewer, principalId, tokenId }: ResolvedCredential): boolean {
  const { credential } = viewer;
  if (Object.keys(message).length === 0) return true;
  return (
    (message.principalId !== undefined && message.principalId === principalId) ||
    (message.role !== undefined && (viewer.roles.includes(message.role) || credential.kind === 'execution')) ||
    (message.tokenId !== undefined &&
      (message.tokenId === tokenId || (credential.kind === 'token' && credential.id === message.tokenId))) ||
    (message.sessionId !== undefined && credential.kind === 'session' && credential.id === message.sessionId) ||
    (message.workerCredentialId !== undefined &&
      credential.kind === 'worker' &&
      credential.id === message.workerCredentialId) ||
    (message.executionId !== undefined && credential.kind === 'execution' && credential.id === message.executionId)
  );
}
