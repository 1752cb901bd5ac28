import type { Prisma, PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { groupBy } from '../../lib/group-by.ts';
import { appendAudit, type Author } from '../audit/audit-log.ts';
import type { LoginMethod } from './session-writes.ts';

/** A browser session as it may be shown. */
export interface LoginSessionRow {
  /** UUID with dashes. */
  readonly id: string;
  readonly principalId: number;
  readonly principalName: string;
  readonly method: LoginMethod;
  readonly address: string | null;
  readonly userAgent: string | null;
  readonly createdAt: Date;
  readonly seenAt: Date;
  readonly expiresAt: Date;
}

const SELECT = {
  id: true,
  principalId: true,
  method: true,
  address: true,
  userAgent: true,
  createdAt: true,
  seenAt: true,
  expiresAt: true,
  principal: { select: { name: true } },
} satisfies Prisma.LoginSessionSelect;

/** Sessions as they are listed and ended; every end is one transaction with its audit entry. */
export class LoginSessionStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;
  readonly #idleMs: number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, newId: () => string, now: () => number, idleSeconds: number) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
    this.#idleMs = idleSeconds * 1_000;
  }

  async byId(id: string): Promise<LoginSessionRow | null> {
    const row = await this.#prisma.loginSession.findUnique({ where: { id }, select: SELECT });
    return row && this.#fromPrisma(row);
  }

  /** Those that hold, newest first. `principal`: a name. */
  async page(page: Page, principal: string | null): Promise<{ items: LoginSessionRow[]; more: boolean }> {
    const keysOf = (keys: readonly (string | number)[]): { at: Date; id: string } => ({
      at: new Date(Number(keys[0])),
      id: dashed(String(keys[1])),
    });
    const and = this.#conditions(principal);
    if (page.after) {
      const { at, id } = keysOf(page.after);
      and.push({ OR: [{ createdAt: { lt: at } }, { createdAt: at, id: { lt: id } }] });
    }
    if (page.before) {
      const { at, id } = keysOf(page.before);
      and.push({ OR: [{ createdAt: { gt: at } }, { createdAt: at, id: { gt: id } }] });
    }
    const order = page.backward ? 'asc' : 'desc';
    const rows = await this.#prisma.loginSession.findMany({
      where: { AND: and },
      orderBy: [{ createdAt: order }, { id: order }],
      take: page.limit + 1,
      select: SELECT,
    });
    return cutPage(
      rows.map((row) => this.#fromPrisma(row)),
      page,
    );
  }

  async count(principal: string | null): Promise<Count> {
    return boundedCount(
      await this.#prisma.loginSession.count({ where: { AND: this.#conditions(principal) }, take: 10_001 }),
    );
  }

  /** Those that hold of these principals, newest first. */
  async ofPrincipals(ids: readonly number[]): Promise<Map<number, LoginSessionRow[]>> {
    const rows = await this.#prisma.loginSession.findMany({
      where: { AND: [...this.#conditions(null), { principalId: { in: [...ids] } }] },
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      select: SELECT,
    });
    return groupBy(
      rows.map((row) => this.#fromPrisma(row)),
      ({ principalId }) => principalId,
    );
  }

  /** Answers whether there was one. */
  async end(row: LoginSessionRow, author: Author): Promise<boolean> {
    return this.#prisma.$transaction(async (tx) => {
      const { count } = await tx.loginSession.deleteMany({ where: { id: row.id } });
      if (count === 0) return false;
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: 'session.revoke',
        target: `session:${encodeId('se', row.id)}`,
        before: { principal: row.principalName, method: row.method },
        after: null,
      });
      return true;
    });
  }

  /** All of a principal. Answers how many there were. */
  async endAll(principalId: number, name: string, author: Author): Promise<number> {
    return this.#prisma.$transaction(async (tx) => {
      const { count } = await tx.loginSession.deleteMany({ where: { principalId } });
      if (count > 0) {
        await appendAudit(tx, rawId(this.#newId()), {
          author,
          action: 'session.revoke_all',
          target: `principal:${name}`,
          before: { sessions: count },
          after: { sessions: 0 },
        });
      }
      return count;
    });
  }

  #conditions(principal: string | null): Prisma.LoginSessionWhereInput[] {
    const now = this.#now();
    const and: Prisma.LoginSessionWhereInput[] = [
      { expiresAt: { gt: new Date(now) }, seenAt: { gt: new Date(now - this.#idleMs) } },
    ];
    if (principal !== null) and.push({ principal: { name: principal } });
    return and;
  }

  #fromPrisma({ principal, ...row }: Prisma.LoginSessionGetPayload<{ select: typeof SELECT }>): LoginSessionRow {
    const idleEnd = row.seenAt.getTime() + this.#idleMs;
    return {
      ...row,
      method: row.method as LoginMethod,
      principalName: principal.name,
      expiresAt: new Date(Math.min(row.expiresAt.getTime(), idleEnd)),
    };
  }
}

/** As the database takes a UUID. */
export function dashed(raw: string): string {
  return raw.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
