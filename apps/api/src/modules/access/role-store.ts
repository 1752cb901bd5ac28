import { Prisma, type PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import { appendAudit, type Author, changed } from '../audit/audit-log.ts';

/** A role that was made here, or a built-in one. */
export interface AccessRoleRow {
  readonly name: string;
  readonly description: string | null;
  readonly permissions: readonly string[];
  readonly builtIn: boolean;
  readonly revision: number;
  readonly updatedAt: Date;
  readonly updatedBy: string | null;
}

export interface RoleContent {
  readonly description: string | null;
  readonly permissions: readonly string[];
}

const SELECT = {
  name: true,
  description: true,
  permissions: true,
  revision: true,
  updatedAt: true,
  updatedBy: true,
} satisfies Prisma.RoleSelect;

export const MAX_ROLES = 200;

/** Roles that are made here; the built-in ones stand in the code. Every write is one transaction with its audit entry. */
export class RoleStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, newId: () => string, now: () => number) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
  }

  /** By name. */
  async all(): Promise<AccessRoleRow[]> {
    const rows = await this.#prisma.role.findMany({ select: SELECT, orderBy: { name: 'asc' } });
    return rows.map(fromPrisma);
  }

  async byNames(names: readonly string[]): Promise<Map<string, AccessRoleRow>> {
    const rows = await this.#prisma.role.findMany({ where: { name: { in: [...names] } }, select: SELECT });
    return new Map(rows.map((row) => [row.name, fromPrisma(row)]));
  }

  /** How many principals have each of these roles. */
  async principalCounts(names: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.#prisma.$queryRaw<{ name: string; n: number }[]>`
      SELECT g.name, count(*)::int AS n FROM principal p, unnest(p.roles) AS g (name)
      WHERE g.name = ANY(${[...names]}) GROUP BY g.name`;
    return new Map(rows.map(({ name, n }) => [name, n]));
  }

  /** null: the name is in use; `full`: there are too many. */
  async create(name: string, content: RoleContent, author: Author): Promise<AccessRoleRow | null | 'full'> {
    try {
      return await this.#prisma.$transaction(async (tx) => {
        if ((await tx.role.count()) >= MAX_ROLES) return 'full';
        const row = await tx.role.create({
          data: { name, ...columns(content), updatedBy: author.name, updatedAt: new Date(this.#now()) },
          select: SELECT,
        });
        await this.#note(tx, author, 'role.create', name, null, { ...content });
        return fromPrisma(row);
      });
    } catch (error) {
      if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return null;
      throw error;
    }
  }

  /** null: another revision, or there is no such role. */
  async update(
    before: AccessRoleRow,
    expectedRevision: number,
    content: RoleContent,
    author: Author,
  ): Promise<AccessRoleRow | null> {
    const { name } = before;
    return this.#prisma.$transaction(async (tx) => {
      const [row] = await tx.role.updateManyAndReturn({
        where: { name, revision: expectedRevision },
        data: {
          ...columns(content),
          updatedBy: author.name,
          updatedAt: new Date(this.#now()),
          revision: { increment: 1 },
        },
        select: SELECT,
      });
      if (row === undefined) return null;
      const note = changed(
        { description: before.description, permissions: before.permissions },
        { description: content.description, permissions: content.permissions },
      );
      if (note !== null) await this.#note(tx, author, 'role.update', name, note.before, note.after);
      return fromPrisma(row);
    });
  }

  /** How many principals have it, where that keeps it from being deleted; 0: it is gone. */
  async delete(row: AccessRoleRow, author: Author): Promise<number> {
    return this.#prisma.$transaction(async (tx) => {
      // Who gives the role to somebody now waits for this row, or this for him.
      await tx.$queryRaw`SELECT FROM role WHERE name = ${row.name} FOR UPDATE`;
      const holders = await tx.principal.count({ where: { roles: { has: row.name } } });
      if (holders > 0) return holders;
      const { count } = await tx.role.deleteMany({ where: { name: row.name } });
      if (count > 0) {
        const { description, permissions } = row;
        await this.#note(tx, author, 'role.delete', row.name, { description, permissions }, null);
      }
      return 0;
    });
  }

  async #note(
    tx: Prisma.TransactionClient,
    author: Author,
    action: string,
    name: string,
    before: Parameters<typeof appendAudit>[2]['before'],
    after: Parameters<typeof appendAudit>[2]['after'],
  ): Promise<void> {
    await appendAudit(tx, rawId(this.#newId()), { author, action, target: `role:${name}`, before, after });
  }
}

function columns({ description, permissions }: RoleContent): { description: string | null; permissions: string[] } {
  return { description, permissions: [...permissions] };
}

function fromPrisma(row: Prisma.RoleGetPayload<{ select: typeof SELECT }>): AccessRoleRow {
  return { ...row, builtIn: false, updatedBy: row.updatedBy || null };
}
