import { MusterError } from '@muster/core';
import type { Prisma, PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { groupBy } from '../../lib/group-by.ts';
import { appendAudit, type Author } from '../audit/audit-log.ts';
import { hashOf, visiblePrefix } from './secrets.ts';

/** An API token as it may be shown. */
export interface ApiTokenRow {
  readonly id: number;
  readonly principalId: number;
  readonly principalName: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly revokedAt: Date | null;
}

export type ApiTokenStatus = 'ACTIVE' | 'EXPIRED' | 'REVOKED';

export interface ApiTokenFilter {
  /** Name of the principal. */
  readonly principal: string | null;
  readonly status: ApiTokenStatus | null;
}

export interface NewApiToken {
  readonly principalId: number;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

const SELECT = {
  id: true,
  principalId: true,
  name: true,
  prefix: true,
  scopes: true,
  createdBy: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
  revokedAt: true,
  principal: { select: { name: true } },
} satisfies Prisma.TokenSelect;

const MAX_TOKENS = 200;

/** API tokens; every write is one transaction with its audit entry. */
export class ApiTokenStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, newId: () => string, now: () => number) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
  }

  async byId(id: number): Promise<ApiTokenRow | null> {
    const row = await this.#prisma.token.findUnique({ where: { id }, select: SELECT });
    return row && fromPrisma(row);
  }

  /** Newest first. */
  async page(page: Page, filter: ApiTokenFilter): Promise<{ items: ApiTokenRow[]; more: boolean }> {
    const and = this.#conditions(filter);
    if (page.after) and.push({ id: { lt: Number(page.after[0]) } });
    if (page.before) and.push({ id: { gt: Number(page.before[0]) } });
    const rows = await this.#prisma.token.findMany({
      where: { AND: and },
      orderBy: { id: page.backward ? 'asc' : 'desc' },
      take: page.limit + 1,
      select: SELECT,
    });
    return cutPage(rows.map(fromPrisma), page);
  }

  async count(filter: ApiTokenFilter): Promise<Count> {
    return boundedCount(await this.#prisma.token.count({ where: { AND: this.#conditions(filter) }, take: 10_001 }));
  }

  /** Of these principals, newest first. Ended ones are kept up to the number that one principal may have, and then make room. */
  async ofPrincipals(ids: readonly number[]): Promise<Map<number, ApiTokenRow[]>> {
    const rows = await this.#prisma.token.findMany({
      where: { principalId: { in: [...ids] } },
      orderBy: { id: 'desc' },
      select: SELECT,
    });
    return groupBy(rows.map(fromPrisma), ({ principalId }) => principalId);
  }

  /** Errors: CONFLICT where the principal has too many that hold; NOT_FOUND where it has gone. */
  async create(secret: string, content: NewApiToken, author: Author): Promise<ApiTokenRow> {
    const { principalId, name, scopes, expiresAt } = content;
    return this.#prisma.$transaction(async (tx) => {
      const [owner] = await tx.$queryRaw<
        { id: number }[]
      >`SELECT id FROM principal WHERE id = ${principalId} FOR UPDATE`;
      if (owner === undefined)
        throw new MusterError('NOT_FOUND', 'There is no such principal any more.', { field: 'principal' });
      await makeRoom(tx, principalId, new Date(this.#now()));
      const row = fromPrisma(
        await tx.token.create({
          data: {
            principalId,
            name,
            scopes: [...scopes],
            expiresAt,
            prefix: visiblePrefix(secret),
            hash: new Uint8Array(hashOf(secret)),
            createdBy: author.name,
            createdAt: new Date(this.#now()),
          },
          select: SELECT,
        }),
      );
      const { principalName: principal, prefix } = row;
      const after = { principal, name, prefix, scopes, expiresAt: expiresAt?.toISOString() ?? null };
      await this.#note(tx, author, 'token.create', row.id, null, after);
      return row;
    });
  }

  /** Twice is once; the sessions that were opened with it end too. null: there is no such token. */
  async revoke(id: number, author: Author): Promise<ApiTokenRow | null> {
    return this.#prisma.$transaction(async (tx) => {
      const [revoked] = await tx.token.updateManyAndReturn({
        where: { id, revokedAt: null },
        data: { revokedAt: new Date(this.#now()) },
        select: { id: true },
      });
      const row = await tx.token.findUnique({ where: { id }, select: SELECT });
      if (revoked !== undefined) {
        await tx.loginSession.deleteMany({ where: { tokenId: id } });
        await this.#note(tx, author, 'token.revoke', id, { revoked: false }, { revoked: true });
      }
      return row && fromPrisma(row);
    });
  }

  #conditions({ principal, status }: ApiTokenFilter): Prisma.TokenWhereInput[] {
    const now = new Date(this.#now());
    const and: Prisma.TokenWhereInput[] = [];
    if (principal !== null) and.push({ principal: { name: principal } });
    if (status === 'REVOKED') and.push({ revokedAt: { not: null } });
    else if (status !== null) and.push({ revokedAt: null });
    if (status === 'EXPIRED') and.push({ expiresAt: { lte: now } });
    if (status === 'ACTIVE') and.push({ OR: [{ expiresAt: null }, { expiresAt: { gt: now } }] });
    return and;
  }

  async #note(
    tx: Prisma.TransactionClient,
    author: Author,
    action: string,
    id: number,
    before: Parameters<typeof appendAudit>[2]['before'],
    after: Parameters<typeof appendAudit>[2]['after'],
  ): Promise<void> {
    const target = `token:${encodeId('tk', id)}`;
    await appendAudit(tx, rawId(this.#newId()), { author, action, target, before, after });
  }
}

/** The oldest that has ended goes for a new one. Errors: CONFLICT where all of them hold. */
async function makeRoom(tx: Prisma.TransactionClient, principalId: number, now: Date): Promise<void> {
  if ((await tx.token.count({ where: { principalId } })) < MAX_TOKENS) return;
  const ended = await tx.token.findFirst({
    where: { principalId, OR: [{ revokedAt: { not: null } }, { expiresAt: { lte: now } }] },
    orderBy: { id: 'asc' },
    select: { id: true },
  });
  if (ended === null)
    throw new MusterError('CONFLICT', `One principal has at most ${MAX_TOKENS} tokens; revoke one first.`, {
      field: 'principal',
    });
  await tx.token.delete({ where: { id: ended.id }, select: { id: true } });
}

function fromPrisma({ principal, ...row }: Prisma.TokenGetPayload<{ select: typeof SELECT }>): ApiTokenRow {
  return { ...row, principalName: principal.name };
}
