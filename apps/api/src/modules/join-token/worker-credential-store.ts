import { MusterError } from '@muster/core';
import type { Prisma, PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { visiblePrefix } from '../access/secrets.ts';
import { appendAudit, type Author } from '../audit/audit-log.ts';
import { bindingColumns, storedHash } from './join-token-store.ts';
import type { CredentialStatus, WorkerCredentialRow } from './join-token-row.ts';

export interface WorkerCredentialFilter {
  readonly worker: string | null;
  readonly status: CredentialStatus | null;
}

/** A worker that wants in; null: as the join token says. */
export interface JoinRequest {
  readonly joinToken: string;
  readonly name: string | null;
  readonly role: string | null;
  readonly address: string | null;
  readonly requestId: string;
}

const DAY_MS = 86_400_000;
/** Longer than any join token lives: those made before a revocation must be told from those made after it. */
const KEPT_MS = 35 * DAY_MS;
/** What a credential is good for after it was renewed; at most a quarter of its life. */
const OVERLAP_MS = 3_600_000;
/** A worker renews once in half a life; what has so many that are good does something else. */
const MAX_GOOD = 8;

const SELECT = {
  id: true,
  prefix: true,
  worker: true,
  role: true,
  labels: true,
  services: true,
  registers: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
  replacedAt: true,
  revokedAt: true,
} satisfies Prisma.WorkerCredentialSelect;

export interface WorkerCredentialStoreOptions {
  readonly prisma: PrismaClient;
  /** Makes UUID v7. */
  readonly newId: () => string;
  /** ms by the database's clock. */
  readonly now: () => number;
  readonly lifetimeMs: number;
}

/** The credentials of workers; every write is one transaction with its audit entry. Those of one worker are written one after the other. */
export class WorkerCredentialStore {
  readonly #o: WorkerCredentialStoreOptions;

  constructor(options: WorkerCredentialStoreOptions) {
    this.#o = options;
  }

  /**
   * Spends a join token and makes the worker's credential, both or neither. `ended`: ids of credentials of the same worker that are over
   * with it. Errors: UNAUTHENTICATED where the token opens nothing, whatever the reason: also where it is older than a revocation of the name; BAD_INPUT where nothing says what it is called;
   * FORBIDDEN where the token is bound to another name or role; CONFLICT where it is bound to no name, and this one is taken.
   */
  async join(request: JoinRequest, secret: string): Promise<{ row: WorkerCredentialRow; ended: number[] }> {
    return this.#o.prisma.$transaction(async (tx) => {
      const now = this.#o.now();
      // Whoever comes second waits for this row, and then finds it spent. What is thrown below gives it back.
      const [token] = await tx.joinToken.updateManyAndReturn({
        where: { hash: storedHash(request.joinToken), usedAt: null, revokedAt: null, expiresAt: { gt: new Date(now) } },
        data: { usedAt: new Date(now), usedBy: request.name ?? '' },
      });
      if (token === undefined) throw notValid();
      const worker = boundTo(token.worker, request.name, 'name', 'worker');
      const role = boundTo(token.role, request.role, 'role', 'role');
      await lockName(tx, worker);
      await refuseOlderThanRevocation(tx, worker, token.createdAt);
      if (token.worker === null) await refuseTaken(tx, worker, new Date(now));
      const ended = await this.#end(tx, worker, `worker:${worker}`);
      if (request.name === null) await tx.joinToken.update({ where: { id: token.id }, data: { usedBy: worker } });
      const row = fromPrisma(
        await tx.workerCredential.create({
          data: {
            ...bindingColumns({ ...token, labels: token.labels as Record<string, string> }),
            worker,
            role,
            joinTokenId: token.id,
            prefix: visiblePrefix(secret),
            hash: storedHash(secret),
            createdAt: new Date(now),
            expiresAt: new Date(now + this.#o.lifetimeMs),
          },
          select: SELECT,
        }),
      );
      const author = { name: `worker:${worker}`, address: request.address, requestId: request.requestId };
      const { labels, services, registers } = row;
      await this.#note(
        tx,
        author,
        'join_token.use',
        worker,
        ended.length === 0 ? null : { credentials: ended.length },
        {
          joinToken: encodeId('jt', token.id),
          credential: encodeId('wc', row.id),
          ...{ role, labels: { ...labels }, services: [...services], registers: [...registers] },
        },
      );
      return { row, ended };
    });
  }

  /**
   * A new credential in place of this one, which stays good for a short time: the answer may be lost on its way. `overlap`: those whose
   * end has come closer. Errors: UNAUTHENTICATED where it is over; RATE_LIMITED.
   */
  async renew(id: number, secret: string, author: Author): Promise<{ row: WorkerCredentialRow; overlap: number[] }> {
    const found = await this.byId(id);
    if (found === null) throw over();
    return this.#o.prisma.$transaction(async (tx) => {
      const { worker } = found;
      await lockName(tx, worker);
      const now = this.#o.now();
      const good = await tx.workerCredential.findMany({
        where: { worker, revokedAt: null, expiresAt: { gt: new Date(now) } },
        select: { ...SELECT, joinTokenId: true },
      });
      const own = good.find((one) => one.id === id);
      if (own === undefined) throw over();
      if (good.length >= MAX_GOOD) throw new MusterError('RATE_LIMITED', 'This credential is renewed too often.');
      const end = now + Math.min(OVERLAP_MS, this.#o.lifetimeMs / 4);
      const overlap = good.filter((one) => one.expiresAt.getTime() > end).map((one) => one.id);
      await tx.workerCredential.updateMany({ where: { id: { in: overlap } }, data: { expiresAt: new Date(end) } });
      await tx.workerCredential.updateMany({
        where: { worker, revokedAt: null, replacedAt: null },
        data: { replacedAt: new Date(now) },
      });
      await tx.workerCredential.deleteMany({ where: { worker, expiresAt: { lt: new Date(now - KEPT_MS) } } });
      const row = fromPrisma(
        await tx.workerCredential.create({
          data: {
            ...bindingColumns(fromPrisma(own)),
            worker,
            role: own.role,
            joinTokenId: own.joinTokenId,
            prefix: visiblePrefix(secret),
            hash: storedHash(secret),
            createdAt: new Date(now),
            expiresAt: new Date(now + this.#o.lifetimeMs),
          },
          select: SELECT,
        }),
      );
      const before = { credential: encodeId('wc', id) };
      await this.#note(tx, author, 'worker_credential.renew', worker, before, { credential: encodeId('wc', row.id) });
      return { row, overlap };
    });
  }

  /** Ends all of the worker whose credential this is. null: there is no such credential. `ended`: the ids of those that were good. */
  async revoke(id: number, author: Author): Promise<{ row: WorkerCredentialRow; ended: number[] } | null> {
    const found = await this.byId(id);
    if (found === null) return null;
    return this.#o.prisma.$transaction(async (tx) => {
      await lockName(tx, found.worker);
      const ended = await this.#end(tx, found.worker, author.name);
      if (ended.length > 0) {
        const before = { credentials: ended.map((one) => encodeId('wc', one)) };
        await this.#note(tx, author, 'worker_credential.revoke', found.worker, before, null);
      }
      const row = await tx.workerCredential.findUniqueOrThrow({ where: { id }, select: SELECT });
      return { row: fromPrisma(row), ended };
    });
  }

  /** Ends all of a worker that is removed, in the transaction of that. Answers their ids. */
  async endWith(tx: Prisma.TransactionClient, worker: string, by: string): Promise<number[]> {
    await lockName(tx, worker);
    return this.#end(tx, worker, by);
  }

  async byId(id: number): Promise<WorkerCredentialRow | null> {
    const row = await this.#o.prisma.workerCredential.findUnique({ where: { id }, select: SELECT });
    return row && fromPrisma(row);
  }

  /** Good or not: the caller looks at its status. */
  async bySecret(secret: string): Promise<WorkerCredentialRow | null> {
    const row = await this.#o.prisma.workerCredential.findUnique({
      where: { hash: storedHash(secret) },
      select: SELECT,
    });
    return row && fromPrisma(row);
  }

  /** Notes that it was used, at most once a minute. */
  async used(id: number): Promise<void> {
    const now = this.#o.now();
    await this.#o.prisma.workerCredential.updateMany({
      where: { id, OR: [{ lastUsedAt: null }, { lastUsedAt: { lt: new Date(now - 60_000) } }] },
      data: { lastUsedAt: new Date(now) },
    });
  }

  /** Newest first. */
  async page(page: Page, filter: WorkerCredentialFilter): Promise<{ items: WorkerCredentialRow[]; more: boolean }> {
    const and = this.#conditions(filter);
    if (page.after) and.push({ id: { lt: Number(page.after[0]) } });
    if (page.before) and.push({ id: { gt: Number(page.before[0]) } });
    const rows = await this.#o.prisma.workerCredential.findMany({
      where: { AND: and },
      orderBy: { id: page.backward ? 'asc' : 'desc' },
      take: page.limit + 1,
      select: SELECT,
    });
    return cutPage(rows.map(fromPrisma), page);
  }

  async count(filter: WorkerCredentialFilter): Promise<Count> {
    const where = { AND: this.#conditions(filter) };
    return boundedCount(await this.#o.prisma.workerCredential.count({ where, take: 10_001 }));
  }

  #conditions({ worker, status }: WorkerCredentialFilter): Prisma.WorkerCredentialWhereInput[] {
    const now = new Date(this.#o.now());
    const and: Prisma.WorkerCredentialWhereInput[] = worker === null ? [] : [{ worker }];
    if (status === 'REVOKED') and.push({ revokedAt: { not: null } });
    if (status === 'EXPIRED') and.push({ revokedAt: null, expiresAt: { lte: now } });
    if (status === 'ACTIVE') and.push({ revokedAt: null, expiresAt: { gt: now } });
    if (status === 'USED') and.push({ id: { in: [] } });
    return and;
  }

  async #end(tx: Prisma.TransactionClient, worker: string, by: string): Promise<number[]> {
    const now = new Date(this.#o.now());
    const rows = await tx.workerCredential.updateManyAndReturn({
      where: { worker, revokedAt: null },
      data: { revokedAt: now, revokedBy: by },
      select: { id: true },
    });
    return rows.map((row) => row.id);
  }

  async #note(
    tx: Prisma.TransactionClient,
    author: Author,
    action: string,
    worker: string,
    before: Parameters<typeof appendAudit>[2]['before'],
    after: Parameters<typeof appendAudit>[2]['after'],
  ): Promise<void> {
    await appendAudit(tx, rawId(this.#o.newId()), { author, action, target: `worker:${worker}`, before, after });
  }
}

/** All writes to the credentials of one name wait for each other: a ban and a join cannot pass by each other. */
async function lockName(tx: Prisma.TransactionClient, worker: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended('worker-credential:' || ${worker}, 0))`;
}

function boundTo(bound: string | null, wanted: string | null, field: 'name' | 'role', what: string): string {
  if (bound !== null && wanted !== null && bound !== wanted)
    throw new MusterError('FORBIDDEN', `This join token is for another ${what}.`, { field });
  const value = bound ?? wanted;
  if (value === null)
    throw new MusterError('BAD_INPUT', `This join token is bound to no ${what}: say which.`, { field });
  return value;
}

/** A name that was banned is not to be had again by a join token from before. Says no more than of any other that is not valid. */
async function refuseOlderThanRevocation(tx: Prisma.TransactionClient, worker: string, madeAt: Date): Promise<void> {
  const revoked = await tx.workerCredential.findFirst({
    where: { worker, revokedAt: { gte: madeAt } },
    select: { id: true },
  });
  if (revoked !== null) throw notValid();
}

/** One answer for all that a join token may lack: whoever tries some learns nothing from it. */
function notValid(): MusterError {
  return new MusterError('UNAUTHENTICATED', 'This join token is not valid: unknown, used, revoked or expired.', {
    field: 'secret',
  });
}

/** Errors: CONFLICT where a worker of this name is listed, or could come back. */
async function refuseTaken(tx: Prisma.TransactionClient, name: string, now: Date): Promise<void> {
  const listed = await tx.worker.findFirst({ where: { name, removedAt: null }, select: { id: true } });
  const good = await tx.workerCredential.findFirst({
    where: { worker: name, revokedAt: null, expiresAt: { gt: now } },
    select: { id: true },
  });
  if (listed === null && good === null) return;
  const message = 'There is a worker of this name: only a join token that is bound to the name takes its place.';
  throw new MusterError('CONFLICT', message, { field: 'name' });
}

function over(): MusterError {
  return new MusterError('UNAUTHENTICATED', 'This credential is over; the worker has to join again.');
}

function fromPrisma(row: Prisma.WorkerCredentialGetPayload<{ select: typeof SELECT }>): WorkerCredentialRow {
  return { ...row, labels: row.labels as Record<string, string> };
}
