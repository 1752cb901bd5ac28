import type { Prisma, PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { hashOf, visiblePrefix } from '../access/secrets.ts';
import { appendAudit, type Author } from '../audit/audit-log.ts';
import type { Bindings } from './join-token-input.ts';
import type { CredentialStatus, JoinTokenRow } from './join-token-row.ts';

export interface JoinTokenFilter {
  readonly status: CredentialStatus | null;
  /** The worker that it is bound to, or that it let in. */
  readonly worker: string | null;
}

const SELECT = {
  id: true,
  prefix: true,
  description: true,
  worker: true,
  role: true,
  labels: true,
  services: true,
  registers: true,
  createdBy: true,
  createdAt: true,
  expiresAt: true,
  usedAt: true,
  usedBy: true,
  revokedAt: true,
} satisfies Prisma.JoinTokenSelect;

/** Join tokens; every write is one transaction with its audit entry. */
export class JoinTokenStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, newId: () => string, now: () => number) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
  }

  async create(
    secret: string,
    content: Bindings & { description: string | null; ttlSeconds: number },
    author: Author,
  ): Promise<JoinTokenRow> {
    const { ttlSeconds, ...given } = content;
    return this.#prisma.$transaction(async (tx) => {
      const now = this.#now();
      const row = fromPrisma(
        await tx.joinToken.create({
          data: {
            ...bindingColumns(given),
            description: given.description,
            prefix: visiblePrefix(secret),
            hash: storedHash(secret),
            createdBy: author.name,
            createdAt: new Date(now),
            expiresAt: new Date(now + ttlSeconds * 1_000),
          },
          select: SELECT,
        }),
      );
      await this.#note(tx, author, 'join_token.create', row, null, {
        ...given,
        expiresAt: row.expiresAt.toISOString(),
      });
      return row;
    });
  }

  async byId(id: number): Promise<JoinTokenRow | null> {
    const row = await this.#prisma.joinToken.findUnique({ where: { id }, select: SELECT });
    return row && fromPrisma(row);
  }

  /** Newest first. */
  async page(page: Page, filter: JoinTokenFilter): Promise<{ items: JoinTokenRow[]; more: boolean }> {
    const and = this.#conditions(filter);
    if (page.after) and.push({ id: { lt: Number(page.after[0]) } });
    if (page.before) and.push({ id: { gt: Number(page.before[0]) } });
    const rows = await this.#prisma.joinToken.findMany({
      where: { AND: and },
      orderBy: { id: page.backward ? 'asc' : 'desc' },
      take: page.limit + 1,
      select: SELECT,
    });
    return cutPage(rows.map(fromPrisma), page);
  }

  async count(filter: JoinTokenFilter): Promise<Count> {
    return boundedCount(await this.#prisma.joinToken.count({ where: { AND: this.#conditions(filter) }, take: 10_001 }));
  }

  /** Twice is once. null: there is no such token. A used one stays used; what it let in has a credential of its own. */
  async revoke(id: number, author: Author): Promise<JoinTokenRow | null> {
    return this.#prisma.$transaction(async (tx) => {
      const [revoked] = await tx.joinToken.updateManyAndReturn({
        where: { id, revokedAt: null, usedAt: null },
        data: { revokedAt: new Date(this.#now()) },
        select: SELECT,
      });
      if (revoked === undefined) {
        const row = await tx.joinToken.findUnique({ where: { id }, select: SELECT });
        return row && fromPrisma(row);
      }
      const row = fromPrisma(revoked);
      await this.#note(tx, author, 'join_token.revoke', row, { revoked: false }, { revoked: true });
      return row;
    });
  }

  /** Forgets those that open nothing any more. Answers how many. */
  async purge(author: Author): Promise<number> {
    return this.#prisma.$transaction(async (tx) => {
      const { count } = await tx.joinToken.deleteMany({
        where: {
          OR: [{ usedAt: { not: null } }, { revokedAt: { not: null } }, { expiresAt: { lte: new Date(this.#now()) } }],
        },
      });
      if (count > 0) {
        await appendAudit(tx, rawId(this.#newId()), {
          author,
          action: 'join_token.purge',
          target: 'join_token:*',
          before: { tokens: count },
          after: null,
        });
      }
      return count;
    });
  }

  #conditions({ status, worker }: JoinTokenFilter): Prisma.JoinTokenWhereInput[] {
    const now = new Date(this.#now());
    const and: Prisma.JoinTokenWhereInput[] = [];
    if (worker !== null) and.push({ OR: [{ worker }, { usedBy: worker }] });
    if (status === 'USED') and.push({ usedAt: { not: null } });
    else if (status !== null) and.push({ usedAt: null });
    if (status === 'REVOKED') and.push({ revokedAt: { not: null } });
    if (status === 'EXPIRED') and.push({ revokedAt: null, expiresAt: { lte: now } });
    if (status === 'ACTIVE') and.push({ revokedAt: null, expiresAt: { gt: now } });
    return and;
  }

  async #note(
    tx: Prisma.TransactionClient,
    author: Author,
    action: string,
    row: JoinTokenRow,
    before: Parameters<typeof appendAudit>[2]['before'],
    after: Parameters<typeof appendAudit>[2]['after'],
  ): Promise<void> {
    const target = `join_token:${encodeId('jt', row.id)}`;
    await appendAudit(tx, rawId(this.#newId()), { author, action, target, before, after });
  }
}

/** What is kept of a secret. */
export function storedHash(secret: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(hashOf(secret));
}

/** Bindings as both tables hold them. */
export function bindingColumns({ worker, role, labels, services, registers }: Bindings) {
  return { worker, role, labels: { ...labels }, services: [...services], registers: [...registers] };
}

function fromPrisma(row: Prisma.JoinTokenGetPayload<{ select: typeof SELECT }>): JoinTokenRow {
  return { ...row, labels: row.labels as Record<string, string> };
}
