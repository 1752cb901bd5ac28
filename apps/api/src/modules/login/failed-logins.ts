import type { PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Log } from '../../log.ts';
import { appendAudit } from '../audit/audit-log.ts';
import type { LoginMethod } from '../access/session-writes.ts';

export interface FailedLogin {
  readonly method: LoginMethod;
  /** As it was typed; null: there was none to type. */
  readonly name: string | null;
  readonly address: string | null;
  readonly requestId: string;
  /** Why, where that is no secret. */
  readonly reason?: string;
}

const EVERY_MS = 15_000;
/** What is told apart between two writes; the rest is one entry. */
const MAX_APART = 20;

/**
 * Notes failed logins in the audit: the first at once, then at most twenty-one entries in fifteen seconds, each with how many it stands for, so that a
 * guesser cannot flood the table. A name that nobody has is not kept: it may be a password that was typed into the wrong field.
 */
export class FailedLogins {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #log: Log;
  #waiting = new Map<string, FailedLogin & { attempts: number }>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(prisma: PrismaClient, newId: () => string, log: Log) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#log = log;
  }

  /** Never waits and never fails. */
  note(failed: FailedLogin): void {
    const { method, name, address, reason = '' } = failed;
    const own = JSON.stringify([method, name, address, reason]);
    const key = this.#waiting.has(own) || this.#waiting.size < MAX_APART ? own : 'others';
    const known = this.#waiting.get(key);
    if (known) known.attempts += 1;
    else if (key === own) this.#waiting.set(key, { ...failed, attempts: 1 });
    else this.#waiting.set(key, { ...failed, name: null, address: null, attempts: 1 });
    if (this.#timer === null && !this.#closed) this.#write();
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#flush();
    await this.#writing;
  }

  #write(): void {
    this.#flush();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#waiting.size > 0) this.#write();
    }, EVERY_MS).unref();
  }

  #flush(): void {
    const entries = [...this.#waiting.values()];
    this.#waiting = new Map();
    if (entries.length === 0) return;
    this.#writing = this.#writing
      .then(() => this.#append(entries))
      .catch((error: unknown) => this.#log.warn({ err: error }, 'failed logins could not be noted in the audit'));
  }

  async #append(entries: readonly (FailedLogin & { attempts: number })[]): Promise<void> {
    const names = entries.flatMap(({ name }) =>
      name === null || !name.isWellFormed() || name.includes('\0') ? [] : [name],
    );
    await this.#prisma.$transaction(async (tx) => {
      const rows = await tx.principal.findMany({ where: { name: { in: names } }, select: { name: true } });
      const known = new Set(rows.map(({ name }) => name));
      for (const { method, name, address, requestId, reason, attempts } of entries) {
        const who = name !== null && known.has(name) ? name : null;
        await appendAudit(tx, rawId(this.#newId()), {
          author: { name: 'nobody', address, requestId },
          action: 'login.failed',
          target: who === null ? 'principal:' : `principal:${who}`,
          before: null,
          after: { method, attempts, ...(reason === undefined ? {} : { reason }) },
        });
      }
    });
  }
}
