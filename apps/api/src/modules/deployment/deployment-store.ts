import { type JsonObject, MusterError, type Variant } from '@muster/core';
import { Prisma, type PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Page } from '../../graphql/connection.ts';
import { appendAudit, type Author, changed } from '../audit/audit-log.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';

export interface DeploymentRow {
  id: number;
  slug: string;
  module: string | null;
  description: string | null;
  variants: Variant[];
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  updatedBy: string;
}

export interface DeploymentRevisionRow {
  revision: number;
  variants: Variant[];
  module: string | null;
  description: string | null;
  comment: string | null;
  author: string;
  at: Date;
}

/** Who writes, for the history and the audit. */
export interface Authorship extends Author {
  readonly comment: string | null;
}

export interface IdempotencyRow {
  principal: string;
  mutation: string;
  key: string;
  hmac: Uint8Array;
}

type Content = Pick<DeploymentRow, 'module' | 'description' | 'variants'>;

const SELECT = {
  id: true,
  slug: true,
  module: true,
  description: true,
  variants: true,
  revision: true,
  createdAt: true,
  updatedAt: true,
  updatedBy: true,
} satisfies Prisma.DeploymentSelect;
const REVISION = {
  revision: true,
  variants: true,
  module: true,
  description: true,
  comment: true,
  author: true,
  at: true,
} satisfies Prisma.DeploymentRevisionSelect;

/** Deployments and their history. Every write is one transaction: the row, its revision and the audit entry, or nothing. */
export class DeploymentStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, newId: () => string, now: () => number) {
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
  }

  async all(): Promise<DeploymentRow[]> {
    return (await this.#prisma.deployment.findMany({ select: SELECT })).map(fromPrisma);
  }

  async byId(id: number): Promise<DeploymentRow | null> {
    const row = await this.#prisma.deployment.findUnique({ where: { id }, select: SELECT });
    return row && fromPrisma(row);
  }

  /** Revision by id, to find what has changed. */
  async revisions(): Promise<Map<number, number>> {
    const rows = await this.#prisma.deployment.findMany({ select: { id: true, revision: true } });
    return new Map(rows.map((row) => [row.id, row.revision]));
  }

  /** `key-used`: the idempotency key was spent before. Errors: CONFLICT where the slug is taken. */
  async create(
    slug: string,
    content: Content,
    author: Authorship,
    idempotency: IdempotencyRow | null,
  ): Promise<DeploymentRow | 'key-used'> {
    try {
      return await this.#prisma.$transaction(async (tx) => {
        const { variants, ...texts } = content;
        const data = { slug, ...texts, variants: toJson(variants), updatedBy: author.name };
        const row = fromPrisma(await tx.deployment.create({ data, select: SELECT }));
        await this.#note(tx, null, row, author, 'deployment.create');
        if (idempotency && !(await spendKey(tx, idempotency, { id: row.id, slug }))) throw new KeyUsed();
        return row;
      });
    } catch (error) {
      if (error instanceof KeyUsed) return 'key-used';
      if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') throw error;
      throw new MusterError('CONFLICT', `There is a deployment ${slug} already.`, { field: 'slug', cause: error });
    }
  }

  /** null: the revision is not the expected one any more, or the deployment is gone. */
  async update(
    slug: string,
    expectedRevision: number,
    content: Content,
    author: Authorship,
    action: 'deployment.update' | 'deployment.rollback',
  ): Promise<DeploymentRow | null> {
    return this.#prisma.$transaction(async (tx) => {
      const before = await tx.deployment.findUnique({ where: { slug, revision: expectedRevision }, select: SELECT });
      if (!before) return null;
      const { variants, ...texts } = content;
      const [updated] = await tx.deployment.updateManyAndReturn({
        where: { slug, revision: expectedRevision },
        data: {
          ...texts,
          variants: toJson(variants),
          revision: { increment: 1 },
          updatedAt: new Date(this.#now()),
          updatedBy: author.name,
        },
        select: SELECT,
      });
      if (!updated) return null;
      const row = fromPrisma(updated);
      await this.#note(tx, fromPrisma(before), row, author, action);
      return row;
    });
  }

  /** Whether it was deleted; false as for `update`. Executions keep its number. */
  async delete(slug: string, expectedRevision: number, author: Authorship): Promise<boolean> {
    return this.#prisma.$transaction(async (tx) => {
      const before = await tx.deployment.findUnique({ where: { slug, revision: expectedRevision }, select: SELECT });
      const { count } = await tx.deployment.deleteMany({ where: { slug, revision: expectedRevision } });
      if (!before || count === 0) return false;
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: 'deployment.delete',
        target: `deployment:${slug}`,
        before: audited(fromPrisma(before)),
        after: null,
      });
      return true;
    });
  }

  /** What a spent key led to. */
  async usedKey({
    principal,
    mutation,
    key,
  }: IdempotencyRow): Promise<{ hmac: Uint8Array; answer: { id: number; slug: string } | null } | null> {
    const rows = await this.#prisma.$queryRaw<{ hmac: Uint8Array; answer: { id: number; slug: string } | null }[]>`
      SELECT hmac, answer FROM idempotency WHERE principal = ${principal} AND mutation = ${mutation} AND key = ${key}`;
    return rows[0] ?? null;
  }

  async revision(deploymentId: number, revision: number): Promise<DeploymentRevisionRow | null> {
    const row = await this.#prisma.deploymentRevision.findUnique({
      where: { deploymentId_revision: { deploymentId, revision } },
      select: REVISION,
    });
    return row && fromPrisma(row);
  }

  /** Newest first. */
  async history(deploymentId: number, page: Page): Promise<{ items: DeploymentRevisionRow[]; more: boolean }> {
    const after = page.after?.[0];
    const rows = await this.#prisma.deploymentRevision.findMany({
      where: { deploymentId, ...(after === undefined ? {} : { revision: { lt: Number(after) } }) },
      orderBy: { revision: 'desc' },
      take: page.limit + 1,
      select: REVISION,
    });
    return cutPage(rows.map(fromPrisma), page);
  }

  async historyCount(deploymentId: number): Promise<Count> {
    return boundedCount(await this.#prisma.deploymentRevision.count({ where: { deploymentId }, take: 10_001 }));
  }

  async #note(
    tx: Prisma.TransactionClient,
    before: DeploymentRow | null,
    row: DeploymentRow,
    author: Authorship,
    action: string,
  ): Promise<void> {
    await tx.deploymentRevision.create({
      data: {
        deploymentId: row.id,
        revision: row.revision,
        variants: toJson(row.variants),
        module: row.module,
        description: row.description,
        comment: author.comment,
        author: author.name,
      },
      select: { revision: true },
    });
    const after = { ...audited(row), comment: author.comment };
    await appendAudit(tx, rawId(this.#newId()), {
      author,
      action,
      target: `deployment:${row.slug}`,
      ...((before && changed({ ...audited(before), comment: null }, after)) ?? { before: null, after }),
    });
  }
}

function audited({ revision, module, description, variants }: DeploymentRow): JsonObject {
  return { revision, module, description, variants: toJson(variants) };
}

class KeyUsed extends Error {}

/** The table of idempotency keys is the hot path's, so Prisma has no model of it. */
async function spendKey(
  tx: Prisma.TransactionClient,
  { principal, mutation, key, hmac }: IdempotencyRow,
  answer: unknown,
): Promise<boolean> {
  const spent = await tx.$executeRaw`
    INSERT INTO idempotency (principal, mutation, key, hmac, answer)
    VALUES (${principal}, ${mutation}, ${key}, ${hmac}, ${JSON.stringify(answer)}::json) ON CONFLICT DO NOTHING`;
  return spent === 1;
}

function toJson(
  variants: readonly Variant[],
): { [key: string]: string | number | string[] | null | { [key: string]: string } }[] {
  return variants.map(({ label, flowId, versionId, weight, targetRoles, labels }) => ({
    label,
    flowId,
    versionId,
    weight,
    targetRoles: [...targetRoles],
    labels: { ...labels },
  }));
}

/** Variants were checked when they were written. */
function fromPrisma<T extends { variants: Prisma.JsonValue }>(row: T): Omit<T, 'variants'> & { variants: Variant[] } {
  return { ...row, variants: row.variants as unknown as Variant[] };
}
