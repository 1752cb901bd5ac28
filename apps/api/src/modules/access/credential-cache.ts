import type { Log } from '../../log.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { ResolvedCredential } from './token-kind.ts';

/** What was read is good for so long. */
const FRESH_MS = 10_000;
/** Where the database cannot be asked, what was read is good for so long: a short outage must not send the whole fleet away. */
const UNASKED_MS = 60_000;
const SWEEP_MS = 500;
const MAX_HELD = 20_000;
const MAX_READS = 3;

type Load = () => Promise<ResolvedCredential | null>;

/** A credential as it was last read. Whoever is known by it keeps it alive. */
export class Credential {
  readonly key: string;
  readonly load: Load;
  known: ResolvedCredential;
  /** ms, monotonic; -Infinity: something about it has changed since. */
  readAt: number;
  /** ms by the database's clock. */
  usedAt = 0;
  /** When its use was last noted for the database, ms by its clock. */
  notedAt = 0;
  ended = false;
  refreshing = false;
  readonly listeners = new Set<() => void>();
  /** The viewer as it was last given out, with its address. */
  given: Viewer;

  constructor(key: string, load: Load, known: ResolvedCredential, readAt: number) {
    this.key = key;
    this.load = load;
    this.known = known;
    this.given = known.viewer;
    this.readAt = readAt;
  }

  /** ms by the database's clock; null: never. */
  expiresAt(): number | null {
    const { expiresAt, idle } = this.known;
    if (idle === undefined) return expiresAt;
    return Math.min(expiresAt ?? Number.POSITIVE_INFINITY, Math.max(idle.seenAt, this.usedAt) + idle.ms);
  }
}

export interface CredentialCacheDeps {
  /** ms by the database's clock. */
  now(): number;
  /** ms that only rise. */
  monotonic(): number;
  log: Log;
}

/**
 * Who is known by which credential, from memory: bounded, and at most 10 s old. What somebody waits on (`onEnd`) is read again when news come or when it
 * is too old, and its end is told.
 */
export class CredentialCache {
  readonly #deps: CredentialCacheDeps;
  /** Least recently used first. */
  readonly #held = new Map<string, Credential>();
  readonly #loading = new Map<string, Promise<Credential | null>>();
  readonly #pinned = new Set<Credential>();
  readonly #byViewer = new WeakMap<Viewer, Credential>();
  #news = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: CredentialCacheDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#held.clear();
    this.#pinned.clear();
  }

  /** The credential of this key, read where it is not known or not fresh. Errors: the database's. */
  async get(key: string, load: Load, cached = true): Promise<Credential | null> {
    const held = this.#held.get(key);
    if (cached && held && !held.ended && this.#deps.monotonic() - held.readAt < FRESH_MS) {
      this.#hold(held);
      return this.#alive(held);
    }
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = this.#load(key, load).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    try {
      return await loading;
    } catch (error) {
      if (!cached || !held || held.ended || this.#deps.monotonic() - held.readAt > UNASKED_MS) throw error;
      return this.#alive(held);
    }
  }

  /** The viewer of a credential, asking from there. */
  viewerOf(credential: Credential, address: string | null): Viewer {
    const { viewer } = credential.known;
    const { given } = credential;
    if (
      given.address === address &&
      this.#byViewer.get(given) === credential &&
      given.permissions === viewer.permissions
    )
      return given;
    credential.given = { ...viewer, address };
    this.#byViewer.set(credential.given, credential);
    return credential.given;
  }

  /** The same viewer with what it may do now; null: its credential has ended. */
  current(viewer: Viewer): Viewer | null {
    const credential = this.#byViewer.get(viewer);
    if (credential === undefined) return viewer;
    return this.#alive(credential) && this.viewerOf(credential, viewer.address);
  }

  credentialOf(viewer: Viewer): Credential | null {
    return this.#byViewer.get(viewer) ?? null;
  }

  /** Calls `listener` once, when the viewer's credential has ended. Answers the end of it. */
  onEnd(viewer: Viewer, listener: () => void): () => void {
    const credential = this.#byViewer.get(viewer);
    if (credential === undefined) return () => undefined;
    if (this.#alive(credential) === null) {
      queueMicrotask(listener);
      return () => undefined;
    }
    const own = (): void => listener();
    credential.listeners.add(own);
    this.#pinned.add(credential);
    return () => {
      credential.listeners.delete(own);
      if (credential.listeners.size === 0) this.#pinned.delete(credential);
    };
  }

  /** Something has changed about these: they are read again before they are used again, and now where somebody waits on them. */
  forget(matches: (known: ResolvedCredential) => boolean): void {
    this.#news += 1;
    for (const credential of new Set([...this.#held.values(), ...this.#pinned])) {
      if (!matches(credential.known)) continue;
      credential.readAt = Number.NEGATIVE_INFINITY;
      if (this.#pinned.has(credential)) void this.#refresh(credential);
      else this.#held.delete(credential.key);
    }
  }

  /** These have ended. */
  end(matches: (known: ResolvedCredential) => boolean): void {
    this.#news += 1;
    for (const credential of new Set([...this.#held.values(), ...this.#pinned]))
      if (matches(credential.known)) this.#end(credential);
  }

  /** Looks after what somebody waits on: what has expired ends, what is too old is read again. */
  sweep(): void {
    const now = this.#deps.now();
    const fresh = this.#deps.monotonic() - FRESH_MS;
    for (const credential of this.#pinned) {
      const expiresAt = credential.expiresAt();
      if ((expiresAt !== null && expiresAt <= now) || credential.readAt <= fresh) void this.#refresh(credential);
    }
  }

  async #load(key: string, load: Load): Promise<Credential | null> {
    const { known, readAt } = await this.#read(load);
    const held = this.#held.get(key);
    if (known === null) {
      this.#held.delete(key);
      return null;
    }
    const credential = held && !held.ended ? held : new Credential(key, load, known, readAt);
    credential.known = known;
    credential.readAt = readAt;
    this.#hold(credential);
    return this.#alive(credential);
  }

  /** Reads once more where news came meanwhile: they may be about this. */
  async #read(load: Load): Promise<{ known: ResolvedCredential | null; readAt: number }> {
    for (let reads = 1; ; reads += 1) {
      const news = this.#news;
      const readAt = this.#deps.monotonic();
      const known = await load();
      if (news === this.#news) return { known, readAt };
      if (reads === MAX_READS) return { known, readAt: Number.NEGATIVE_INFINITY };
    }
  }

  async #refresh(credential: Credential): Promise<void> {
    if (credential.refreshing || credential.ended) return;
    credential.refreshing = true;
    try {
      const { known, readAt } = await this.#read(credential.known.again ?? credential.load);
      if (known === null) return this.#end(credential);
      credential.known = known;
      credential.readAt = readAt;
      if (this.#alive(credential) === null) this.#end(credential);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'a credential could not be read again');
    } finally {
      credential.refreshing = false;
    }
  }

  #alive(credential: Credential): Credential | null {
    if (credential.ended) return null;
    const expiresAt = credential.expiresAt();
    return expiresAt !== null && expiresAt <= this.#deps.now() ? null : credential;
  }

  #end(credential: Credential): void {
    if (credential.ended) return;
    credential.ended = true;
    this.#pinned.delete(credential);
    if (this.#held.get(credential.key) === credential) this.#held.delete(credential.key);
    for (const listener of credential.listeners) listener();
    credential.listeners.clear();
  }

  #hold(credential: Credential): void {
    this.#held.delete(credential.key);
    this.#held.set(credential.key, credential);
    if (this.#held.size > MAX_HELD) this.#held.delete(this.#held.keys().next().value as string);
  }
}
