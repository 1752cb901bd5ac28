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

/** Executions that are on no worker and have not ended: PENDING, RESUMING and PAUSED. */
export interface WaitingWork {
  /** At most 1,001: beyond 1,000 nobody counts. */
  count: number;
  /** The first of them, raw. */
  ids: string[];
  /** Labels of their variants. */
  variants: string[];
}

/** A write that was taken back because work waits for what it removes. */
export class WorkWaits extends Error {
  readonly work: WaitingWork;

  constructor(work: WaitingWork) {
    super('work waits for what is removed');
    this.work = work;
  }
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

  /**
   * null: the revision is not the expected one any more, or the deployment is gone. Variants that vanish must have no work that waits, unless `force`. Errors:
   * `WorkWaits`.
   */
  async update(
    slug: string,
    expectedRevision: number,
    content: Content,
    author: Authorship,
    action: 'deployment.update' | 'deployment.rollback',
    force: boolean,
  ): Promise<DeploymentRow | null> {
    return this.#prisma.$transaction(async (tx) => {
      const found = await tx.deployment.findUnique({ where: { slug, revision: expectedRevision }, select: SELECT });
      if (!found) return null;
      const before = fromPrisma(found);
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
      const kept = new Set(variants.map(({ label }) => label));
      const removed = before.variants.map(({ label }) => label).filter((label) => !kept.has(label));
      const left = removed.length === 0 ? 0 : await leaveBehind(tx, row.id, removed, force);
      await this.#note(tx, before, row, author, action, left);
      return row;
    });
  }

  /** Whether it was deleted; false as for `update`. Executions keep its number. Errors: `WorkWaits`, unless `force`. */
  async delete(slug: string, expectedRevision: number, author: Authorship, force: boolean): Promise<boolean> {
    return this.#prisma.$transaction(async (tx) => {
      const where = { slug, revision: expectedRevision };
      const before = await tx.deployment.findUnique({ where, select: SELECT });
      const { count } = await tx.deployment.deleteMany({ where });
      if (!before || count === 0) return false;
      const left = await leaveBehind(tx, before.id, null, force);
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: 'deployment.delete',
        target: `deployment:${slug}`,
        before: audited(fromPrisma(before)),
        after: left > 0 ? { left } : null,
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
    left = 0,
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
    const after = { ...audited(row), comment: author.comment, ...(left > 0 && { left }) };
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

const NAMED_IDS = 5;
/** More is told as “more than 1,000”. */
export const MAX_COUNTED_WORK = 1_000;

export const WAITING_OF_DEPLOYMENT = `SELECT x.id::text AS id, x.variant FROM execution x
WHERE x.deployment_id = $1 AND NOT x.live AND x.finished_state IS NULL ORDER BY x.deployment_id, x.variant, x.id LIMIT ${MAX_COUNTED_WORK + 1}`;

export const WAITING_OF_VARIANTS = `SELECT w.id, g.variant FROM unnest($2::text[]) AS g (variant) CROSS JOIN LATERAL (
  SELECT x.id::text AS id FROM execution x
  WHERE x.deployment_id = $1 AND x.variant = g.variant AND NOT x.live AND x.finished_state IS NULL
  ORDER BY x.deployment_id, x.variant, x.id LIMIT ${MAX_COUNTED_WORK + 1}
) w LIMIT ${MAX_COUNTED_WORK + 1}`;

/** How much work waits for what this very transaction has removed, and so locked; null: all variants. Errors: `WorkWaits`, unless `force`. */
async function leaveBehind(
  tx: Prisma.TransactionClient,
  deploymentId: number,
  variants: readonly string[] | null,
  force: boolean,
): Promise<number> {
  const rows = await tx.$queryRawUnsafe<{ id: string; variant: string }[]>(
    variants === null ? WAITING_OF_DEPLOYMENT : WAITING_OF_VARIANTS,
    deploymentId,
    ...(variants === null ? [] : [variants]),
  );
  if (rows.length > 0 && !force) {
    const ids = rows.slice(0, NAMED_IDS).map(({ id }) => rawId(id));
    throw new WorkWaits({ count: rows.length, ids, variants: [...new Set(rows.map(({ variant }) => variant))] });
  }
  return rows.length;
}

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
