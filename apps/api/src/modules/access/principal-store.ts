import { MusterError } from '@muster/core';
import { Prisma, type PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { appendAudit, type AuditEntry, type Author, changed } from '../audit/audit-log.ts';

export type PrincipalKind = 'USER' | 'SERVICE';

export interface PrincipalRow {
  readonly id: number;
  readonly name: string;
  readonly kind: PrincipalKind;
  readonly roles: readonly string[];
  readonly disabledAt: Date | null;
  readonly hasPassword: boolean;
  readonly oidcIssuer: string | null;
  readonly oidcSubject: string | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly revision: number;
}

export interface PrincipalFilter {
  readonly search: string | null;
  readonly kind: PrincipalKind | null;
  readonly role: string | null;
  readonly disabled: boolean | null;
}

export interface NewPrincipal {
  readonly name: string;
  readonly kind: PrincipalKind;
  readonly roles: readonly string[];
  readonly passwordHash: string | null;
}

const SELECT = {
  id: true,
  name: true,
  kind: true,
  roles: true,
  disabledAt: true,
  passwordHash: true,
  oidcIssuer: true,
  oidcSubject: true,
  createdBy: true,
  createdAt: true,
  revision: true,
} satisfies Prisma.PrincipalSelect;

const ADMIN = 'admin';

/** People and service accounts. Every write is one transaction with its audit entry. */
export class PrincipalStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, newId: () => string, now: () => number) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
  }

  async byName(name: string): Promise<PrincipalRow | null> {
    const row = await this.#prisma.principal.findUnique({ where: { name }, select: SELECT });
    return row && fromPrisma(row);
  }

  async byIds(ids: readonly number[]): Promise<Map<number, PrincipalRow>> {
    const rows = await this.#prisma.principal.findMany({ where: { id: { in: [...ids] } }, select: SELECT });
    return new Map(rows.map((row) => [row.id, fromPrisma(row)]));
  }

  /** The argon2id hash and whether the principal may enter; null: there is no such principal. */
  async passwordOf(name: string): Promise<{ hash: string | null; disabled: boolean } | null> {
    const row = await this.#prisma.principal.findUnique({
      where: { name },
      select: { passwordHash: true, disabledAt: true },
    });
    return row && { hash: row.passwordHash, disabled: row.disabledAt !== null };
  }

  /** By name. */
  async page(page: Page, filter: PrincipalFilter): Promise<{ items: PrincipalRow[]; more: boolean }> {
    const and = conditions(filter);
    if (page.after) and.push({ name: { gt: String(page.after[0]) } });
    if (page.before) and.push({ name: { lt: String(page.before[0]) } });
    const rows = await this.#prisma.principal.findMany({
      where: { AND: and },
      orderBy: { name: page.backward ? 'desc' : 'asc' },
      take: page.limit + 1,
      select: SELECT,
    });
    return cutPage(rows.map(fromPrisma), page);
  }

  async count(filter: PrincipalFilter): Promise<Count> {
    return boundedCount(await this.#prisma.principal.count({ where: { AND: conditions(filter) }, take: 10_001 }));
  }

  /** Errors: CONFLICT for a name in use, in whatever case; BAD_INPUT where a role has gone meanwhile. */
  async create({ name, kind, roles, passwordHash }: NewPrincipal, author: Author): Promise<PrincipalRow> {
    try {
      return await this.#prisma.$transaction(async (tx) => {
        await lockRoles(tx, roles);
        const taken = await tx.principal.findFirst({ where: { name: { equals: name, mode: 'insensitive' } } });
        if (taken !== null) throw nameInUse();
        const row = await tx.principal.create({
          data: {
            name,
            kind,
            roles: [...roles],
            passwordHash,
            createdBy: author.name,
            createdAt: new Date(this.#now()),
          },
          select: SELECT,
        });
        const after = { kind, roles, password: passwordHash !== null };
        await this.#note(tx, { author, action: 'principal.create', target: target(name), before: null, after });
        return fromPrisma(row);
      });
    } catch (error) {
      if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') throw nameInUse();
      throw error;
    }
  }

  /** Disabling ends its sessions. null: another revision, or it is gone. Errors: CONFLICT where nobody would be an administrator any more. */
  async update(
    before: PrincipalRow,
    expectedRevision: number,
    { roles, disabled }: { roles: readonly string[]; disabled: boolean },
    author: Author,
  ): Promise<PrincipalRow | null> {
    return this.#prisma.$transaction(async (tx) => {
      await lockRoles(tx, roles);
      if (isAdmin(before) && (disabled || !roles.includes(ADMIN))) await keepAnAdmin(tx, before.id);
      const disabledAt = disabled ? (before.disabledAt ?? new Date(this.#now())) : null;
      const [row] = await tx.principal.updateManyAndReturn({
        where: { id: before.id, revision: expectedRevision },
        data: { roles: [...roles], disabledAt, revision: { increment: 1 } },
        select: SELECT,
      });
      if (row === undefined) return null;
      if (disabled) await tx.loginSession.deleteMany({ where: { principalId: before.id } });
      const note = changed({ roles: before.roles, disabled: before.disabledAt !== null }, { roles, disabled });
      if (note !== null)
        await this.#note(tx, { author, action: 'principal.update', target: target(before.name), ...note });
      return fromPrisma(row);
    });
  }

  /** With its tokens and sessions. Errors: CONFLICT as for `update`. */
  async delete(row: PrincipalRow, author: Author): Promise<void> {
    await this.#prisma.$transaction(async (tx) => {
      if (isAdmin(row)) await keepAnAdmin(tx, row.id);
      const { count } = await tx.principal.deleteMany({ where: { id: row.id } });
      if (count === 0) return;
      const before = { kind: row.kind, roles: row.roles, disabled: row.disabledAt !== null };
      await this.#note(tx, { author, action: 'principal.delete', target: target(row.name), before, after: null });
    });
  }

  /** Ends its sessions, but for one (`keep`, a raw id). Answers whether it is still there. */
  async setPassword(row: PrincipalRow, hash: string, keep: string | null, author: Author): Promise<boolean> {
    return this.#prisma.$transaction(async (tx) => {
      const { count } = await tx.principal.updateMany({
        where: { id: row.id },
        data: { passwordHash: hash, revision: { increment: 1 } },
      });
      if (count === 0) return false;
      await tx.loginSession.deleteMany({
        where: { principalId: row.id, ...(keep === null ? {} : { id: { not: keep } }) },
      });
      await this.#note(tx, {
        author,
        action: 'principal.password',
        target: target(row.name),
        before: { password: row.hasPassword },
        after: { password: true, passwordChanged: true },
      });
      return true;
    });
  }

  async #note(tx: Prisma.TransactionClient, entry: AuditEntry): Promise<void> {
    await appendAudit(tx, rawId(this.#newId()), entry);
  }
}

/** Whoever deletes one of these roles waits. Errors: BAD_INPUT where one has gone. */
async function lockRoles(tx: Prisma.TransactionClient, roles: readonly string[]): Promise<void> {
  await tx.$queryRaw`SELECT FROM role WHERE name = ANY(${[...roles]}) ORDER BY name FOR SHARE`;
}

/** Two who take it from each other wait for one another. Errors: CONFLICT. */
async function keepAnAdmin(tx: Prisma.TransactionClient, but: number): Promise<void> {
  const admins = await tx.$queryRaw<{ id: number }[]>`
    SELECT id FROM principal WHERE 'admin' = ANY(roles) AND disabled_at IS NULL ORDER BY id FOR UPDATE`;
  if (admins.some(({ id }) => id !== but)) return;
  throw new MusterError('CONFLICT', 'Nobody else is an administrator: make somebody one first.', { field: 'name' });
}

function isAdmin({ roles, disabledAt }: PrincipalRow): boolean {
  return disabledAt === null && roles.includes(ADMIN);
}

function conditions({ search, kind, role, disabled }: PrincipalFilter): Prisma.PrincipalWhereInput[] {
  const and: Prisma.PrincipalWhereInput[] = [{ kind: { in: ['USER', 'SERVICE'] } }];
  if (search !== null && search !== '') and.push({ name: { contains: search, mode: 'insensitive' } });
  if (kind !== null) and.push({ kind });
  if (role !== null) and.push({ roles: { has: role } });
  if (disabled !== null) and.push({ disabledAt: disabled ? { not: null } : null });
  return and;
}

function nameInUse(): MusterError {
  return new MusterError('CONFLICT', 'There is a principal of this name already.', { field: 'name' });
}

function target(name: string): string {
  return `principal:${name}`;
}

function fromPrisma({ passwordHash, ...row }: Prisma.PrincipalGetPayload<{ select: typeof SELECT }>): PrincipalRow {
  return { ...row, kind: row.kind as PrincipalKind, hasPassword: passwordHash !== null };
}
