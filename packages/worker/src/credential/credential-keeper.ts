import {
  ClientError,
  createClient,
  reconnectDelay,
  ViewerNameDocument,
  WorkerJoinDocument,
  WorkerRenewCredentialDocument,
} from '@muster/client';
import type { Log } from '../log.ts';
import { type KeptCredential, prepareFile, readCredential, writeCredential } from './credential-file.ts';

export interface CredentialKeeperOptions {
  readonly server: string;
  readonly worker: string;
  readonly role: string;
  /** Good for one join; undefined: there must be a file. */
  readonly joinToken: string | undefined;
  /** Where the credential is kept from one start to the next. */
  readonly file: string;
  readonly log: Log;
  /** There is a new one: whoever is connected should connect again. */
  readonly onRenewed: () => void;
}

/** Longer waits than this are waited for in parts: a timer knows no more than 24 days. */
const LONGEST_WAIT_MS = 43_200_000;
const SHORTEST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;

/** Keeps the worker's credential: exchanges the join token for it, keeps it in a file, and renews it half-way through its life. */
export class CredentialKeeper {
  readonly #options: CredentialKeeperOptions;
  #kept: KeptCredential | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wake: (() => void) | undefined;
  #closed = false;

  constructor(options: CredentialKeeperOptions) {
    this.#options = options;
  }

  /** The credential as it is now; undefined before `open`. */
  get token(): string | undefined {
    return this.#kept?.credential;
  }

  /**
   * Finds the credential, or joins. Waits for a server that is away. Throws ClientError where the server takes neither what is kept nor
   * the join token, and Error where the file cannot be used.
   */
  async open(): Promise<void> {
    const { server, worker, file, joinToken, log } = this.#options;
    const kept = await readCredential(file, server, worker);
    if (kept !== undefined && (await this.#isGood(kept))) this.#kept = kept;
    else if (joinToken !== undefined) this.#kept = await this.#join(joinToken);
    else throw new ClientError('UNAUTHENTICATED', `The credential in ${file} is over: start with a new join token.`);
    if (kept === undefined) log('info', `${worker} has joined; its credential is kept in ${file}.`);
    this.#schedule();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wake?.();
  }

  async #isGood({ credential }: KeptCredential): Promise<boolean> {
    const { server } = this.#options;
    try {
      await this.#patiently(() => createClient({ url: server, token: credential }).request(ViewerNameDocument, {}));
      return true;
    } catch (error) {
      if (error instanceof ClientError && error.code === 'UNAUTHENTICATED') return false;
      throw error;
    }
  }

  async #join(secret: string): Promise<KeptCredential> {
    const { server, worker, role, file } = this.#options;
    // The token is good for one join: what comes back must find its place.
    await prepareFile(file);
    const input = { secret, name: worker, role };
    const { workerJoin } = await this.#patiently(() =>
      createClient({ url: server }).request(WorkerJoinDocument, { input }),
    );
    return await this.#keep(workerJoin);
  }

  async #keep(given: { credential: string; expiresAt: string; renewAfterSeconds: number }): Promise<KeptCredential> {
    const { server, worker, file } = this.#options;
    const { credential, expiresAt, renewAfterSeconds } = given;
    const kept = { server, worker, credential, expiresAt, renewAt: Date.now() + renewAfterSeconds * 1_000 };
    await writeCredential(file, kept);
    return kept;
  }

  #schedule(afterMs = Math.max(0, (this.#kept?.renewAt ?? 0) - Date.now())): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    const waitMs = Math.min(afterMs, LONGEST_WAIT_MS);
    this.#timer = setTimeout(() => {
      if (waitMs < afterMs) this.#schedule();
      else void this.#renew();
    }, waitMs);
    this.#timer.unref();
  }

  async #renew(): Promise<void> {
    const { server, log, onRenewed } = this.#options;
    const { token } = this;
    if (token === undefined) return;
    try {
      const { workerRenewCredential } = await createClient({ url: server, token }).request(
        WorkerRenewCredentialDocument,
        {},
      );
      if (this.#closed) return;
      this.#kept = await this.#keep(workerRenewCredential);
      this.#schedule();
      onRenewed();
    } catch (error) {
      // Refused for good: the server ends the connection as well.
      if (error instanceof ClientError && (error.code === 'UNAUTHENTICATED' || error.code === 'FORBIDDEN')) return;
      log('warn', `The credential could not be renewed; it is tried again: ${String(error)}`);
      const leftMs = Date.parse(this.#kept?.expiresAt ?? '') - Date.now();
      this.#schedule(Math.min(LONGEST_RETRY_MS, Math.max(SHORTEST_RETRY_MS, leftMs / 20)));
    }
  }

  // Nothing is lost by asking again: a join whose answer was lost has spent its token, and says so.
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        return await ask();
      } catch (error) {
        const passing = error instanceof ClientError && (error.code === 'UNAVAILABLE' || error.code === 'RATE_LIMITED');
        if (!passing || this.#closed) throw error;
        if (failures === 0) this.#options.log('warn', `${error.message} It is tried again.`);
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          this.#timer = setTimeout(resolve, reconnectDelay(failures, Math.random));
        });
      }
    }
  }
}
