import type { AffinitySpec, JsonObject, JsonValue, PolicySpec, RequestsSpec } from '@muster/core';
import { Prisma, type PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Page } from '../../graphql/connection.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { appendAudit, type Author, changed } from '../audit/audit-log.ts';
import type { ReadableWorkflows } from '../viewer/readable.ts';

export interface WorkflowRow {
  id: number;
  namespace: string;
  name: string;
  /** `namespace/name` */
  ref: string;
  description: string | null;
  createdAt: Date;
}

/** Immutable. Specs are as stored and not to be trusted: core checks what it reads. */
export interface VersionRow {
  id: number;
  workflowId: number;
  workflowRef: string;
  number: number;
  routing: unknown;
  affinity: unknown;
  requests: unknown;
  runner: string | null;
  maxAttempts: number;
  timeoutSeconds: number | null;
  createdAt: Date;
  createdBy: string;
}

/** What a registration says, checked and compiled. */
export interface NewVersion {
  namespace: string;
  name: string;
  description: string | null;
  routing: PolicySpec | null;
  routingText: string | null;
  affinity: AffinitySpec | null;
  affinityText: string | null;
  requests: RequestsSpec | null;
  runner: string | null;
  maxAttempts: number;
  timeoutSeconds: number | null;
  fingerprint: Uint8Array;
}

const VERSION = {
  id: true,
  workflowId: true,
  number: true,
  routing: true,
  affinity: true,
  requests: true,
  runner: true,
  maxAttempts: true,
  timeoutS: true,
  createdAt: true,
  createdBy: true,
  workflow: { select: { namespace: true, name: true } },
} satisfies Prisma.WorkflowVersionSelect;
/** What only the audit reads of a version. */
const TEXTS = { routingText: true, affinityText: true } satisfies Prisma.WorkflowVersionSelect;
const WORKFLOW = {
  id: true,
  namespace: true,
  name: true,
  description: true,
  createdAt: true,
} satisfies Prisma.WorkflowSelect;

const MAX_CACHED = 10_000;
const LATEST_MS = 1_000;

/** Workflows and their versions. Versions are immutable and cached; which one is the newest is remembered for a second at most. */
export class WorkflowStore {
  readonly #prisma: PrismaClient;
  readonly #db: Executor;
  readonly #newId: () => string;
  readonly #now: () => number;
  readonly #versions = new Map<number, VersionRow>();
  readonly #latest = new Map<string, { versionId: number; until: number }>();

  /** `newId` makes UUID v7; `now` is monotonic, ms. */
  constructor(deps: { prisma: PrismaClient; executor: Executor; newId: () => string; now: () => number }) {
    this.#prisma = deps.prisma;
    this.#db = deps.executor;
    this.#newId = deps.newId;
    this.#now = deps.now;
  }

  /** Another version may be the newest now. */
  forgetLatest(): void {
    this.#latest.clear();
  }

  async versionById(id: number): Promise<VersionRow | null> {
    return this.#versions.get(id) ?? (await this.versionsByIds([id])).get(id) ?? null;
  }

  /** Unknown ids are left out. */
  async versionsByIds(ids: readonly number[]): Promise<Map<number, VersionRow>> {
    const found = new Map<number, VersionRow>();
    const missing: number[] = [];
    for (const id of new Set(ids)) {
      const known = this.#versions.get(id);
      if (known) found.set(id, known);
      else missing.push(id);
    }
    if (missing.length > 0) {
      const rows = await this.#prisma.workflowVersion.findMany({ where: { id: { in: missing } }, select: VERSION });
      for (const row of rows) found.set(row.id, this.#remember(row));
    }
    return found;
  }

  /** Whether the newest version of the workflow says the same. */
  async isNewest({ namespace, name, fingerprint }: NewVersion): Promise<boolean> {
    const newest = await this.#prisma.workflowVersion.findFirst({
      where: { workflow: { namespace, name } },
      orderBy: { number: 'desc' },
      select: { fingerprint: true },
    });
    return newest !== null && Buffer.from(newest.fingerprint).equals(fingerprint);
  }

  /** The newest version of `namespace/name`, or null where there is no such workflow. */
  async latestByRef(ref: string): Promise<VersionRow | null> {
    const known = this.#latest.get(ref);
    if (known && known.until > this.#now()) return this.versionById(known.versionId);
    const row = await this.#prisma.workflowVersion.findFirst({
      where: { workflow: splitRef(ref) },
      orderBy: { number: 'desc' },
      select: VERSION,
    });
    if (!row) return null;
    if (this.#latest.size >= MAX_CACHED) this.#latest.clear();
    this.#latest.set(ref, { versionId: row.id, until: this.#now() + LATEST_MS });
    return this.#remember(row);
  }

  async versionByNumber(workflowId: number, number: number): Promise<VersionRow | null> {
    const row = await this.#prisma.workflowVersion.findUnique({
      where: { workflowId_number: { workflowId, number } },
      select: VERSION,
    });
    return row && this.#remember(row);
  }

  async byIds(ids: readonly number[]): Promise<Map<number, WorkflowRow>> {
    const rows = await this.#prisma.workflow.findMany({ where: { id: { in: [...ids] } }, select: WORKFLOW });
    return new Map(rows.map((row) => [row.id, withRef(row)]));
  }

  async byRefs(refs: readonly string[]): Promise<Map<string, WorkflowRow>> {
    const rows = await this.#prisma.workflow.findMany({ where: { OR: refs.map(splitRef) }, select: WORKFLOW });
    return new Map(rows.map((row) => [`${row.namespace}/${row.name}`, withRef(row)]));
  }

  /** The newest version of each workflow. Raw SQL finds their ids: Prisma would read every version to keep one. */
  async latestByWorkflows(workflowIds: readonly number[]): Promise<Map<number, VersionRow>> {
    const { rows } = await this.#db.run<{ id: number }>(
      {
        name: 'workflow-latest-by-ids',
        priority: 'read',
        text: `SELECT v.id FROM unnest($1::int[]) AS g (id)
          CROSS JOIN LATERAL (SELECT id FROM workflow_version WHERE workflow_id = g.id ORDER BY number DESC LIMIT 1) v`,
      },
      [workflowIds],
    );
    const versions = await this.versionsByIds(rows.map((row) => row.id));
    return new Map([...versions.values()].map((row) => [row.workflowId, row]));
  }

  /** Ids of all versions of the workflows that a filter names, newest first. */
  async versionIds(filter: {
    ref?: string | undefined;
    namespace?: string | undefined;
    readable: ReadableWorkflows;
  }): Promise<number[]> {
    const and: Prisma.WorkflowWhereInput[] = [fitting(filter.readable)];
    if (filter.ref !== undefined) and.push(splitRef(filter.ref));
    if (filter.namespace !== undefined) and.push({ namespace: filter.namespace });
    const rows = await this.#prisma.workflowVersion.findMany({
      where: { workflow: { AND: and } },
      orderBy: { id: 'desc' },
      take: 20_000,
      select: { id: true },
    });
    return rows.map((row) => row.id);
  }

  /** By namespace and name; `search` is part of either, in any case. */
  async page(
    page: Page,
    search: string | null,
    readable: ReadableWorkflows,
  ): Promise<{ items: WorkflowRow[]; more: boolean }> {
    const and: Prisma.WorkflowWhereInput[] = [matching(search), fitting(readable)];
    if (page.after) and.push(beyond(String(page.after[0]), String(page.after[1]), 'gt'));
    if (page.before) and.push(beyond(String(page.before[0]), String(page.before[1]), 'lt'));
    const direction = page.backward ? 'desc' : 'asc';
    const rows = await this.#prisma.workflow.findMany({
      where: { AND: and },
      orderBy: [{ namespace: direction }, { name: direction }],
      take: page.limit + 1,
      select: WORKFLOW,
    });
    return cutPage(rows.map(withRef), page);
  }

  async count(search: string | null, readable: ReadableWorkflows): Promise<Count> {
    const where = { AND: [matching(search), fitting(readable)] };
    return boundedCount(await this.#prisma.workflow.count({ where, take: 10_001 }));
  }

  /** Newest first. */
  async versionPage(workflowId: number, page: Page): Promise<{ items: VersionRow[]; more: boolean }> {
    const after = page.after?.[0];
    const rows = await this.#prisma.workflowVersion.findMany({
      where: { workflowId, ...(after === undefined ? {} : { number: { lt: Number(after) } }) },
      orderBy: { number: 'desc' },
      take: page.limit + 1,
      select: VERSION,
    });
    return cutPage(
      rows.map((row) => this.#remember(row)),
      page,
    );
  }

  async versionCount(workflowId: number): Promise<Count> {
    return boundedCount(await this.#prisma.workflowVersion.count({ where: { workflowId }, take: 10_001 }));
  }

  /**
   * Adds a version unless the newest one has the same fingerprint, and puts the description in place, where there is one; with its audit entry, or not
   * at all.
   */
  async register(version: NewVersion, author: Author): Promise<{ version: VersionRow; created: boolean }> {
    const registered = await this.#prisma.$transaction(async (tx) => {
      const { namespace, name, description } = version;
      // The insert does nothing or makes the row; the update then locks it, so that two registrations come one after the other.
      await tx.workflow.createMany({
        data: { namespace, name, description, createdBy: author.name },
        skipDuplicates: true,
      });
      const workflow = await tx.workflow.update({
        where: { namespace_name: { namespace, name } },
        data: { name },
        select: { id: true, description: true },
      });
      const described = description !== null && description !== workflow.description;
      if (described)
        await tx.workflow.update({ where: { id: workflow.id }, data: { description }, select: { id: true } });
      const newest = await tx.workflowVersion.findFirst({
        where: { workflowId: workflow.id },
        orderBy: { number: 'desc' },
        select: { ...VERSION, ...TEXTS, fingerprint: true },
      });
      const same = newest && Buffer.from(newest.fingerprint).equals(version.fingerprint) ? newest : null;
      const row =
        same ??
        (await tx.workflowVersion.create({
          data: {
            workflowId: workflow.id,
            number: (newest?.number ?? 0) + 1,
            fingerprint: new Uint8Array(version.fingerprint),
            routing: toJson(version.routing),
            routingText: version.routingText,
            affinity: toJson(version.affinity),
            affinityText: version.affinityText,
            requests: toJson(version.requests),
            runner: version.runner,
            maxAttempts: version.maxAttempts,
            timeoutS: version.timeoutSeconds,
            createdBy: author.name,
          },
          select: { ...VERSION, ...TEXTS },
        }));
      const before = newest && audited(newest, workflow.description);
      const after = audited(row, description ?? workflow.description);
      const change = before === null ? { before, after } : changed(before, after);
      if (change) {
        await appendAudit(tx, rawId(this.#newId()), {
          author,
          action: same ? 'workflow.describe' : 'workflow.register',
          target: `workflow:${namespace}/${name}`,
          ...change,
        });
      }
      return { row, created: same === null };
    });
    this.forgetLatest();
    return { version: this.#remember(registered.row), created: registered.created };
  }

  #remember(row: Prisma.WorkflowVersionGetPayload<{ select: typeof VERSION }>): VersionRow {
    const {
      workflow,
      timeoutS,
      id,
      workflowId,
      number,
      routing,
      affinity,
      requests,
      runner,
      maxAttempts,
      createdAt,
      createdBy,
    } = row;
    const version: VersionRow = {
      id,
      workflowId,
      workflowRef: `${workflow.namespace}/${workflow.name}`,
      number,
      routing,
      affinity,
      requests,
      runner,
      maxAttempts,
      timeoutSeconds: timeoutS,
      createdAt,
      createdBy,
    };
    if (this.#versions.size >= MAX_CACHED) this.#versions.delete(this.#versions.keys().next().value as number);
    this.#versions.set(id, version);
    return version;
  }
}

function audited(
  row: Prisma.WorkflowVersionGetPayload<{ select: typeof VERSION & typeof TEXTS }>,
  description: string | null,
): JsonObject {
  return {
    version: row.number,
    description,
    routing: row.routingText,
    affinity: row.affinityText,
    requests: row.requests as JsonValue,
    runner: row.runner,
    maxAttempts: row.maxAttempts,
    timeoutSeconds: row.timeoutS,
  };
}

function splitRef(ref: string): { namespace: string; name: string } {
  const cut = Math.max(0, ref.indexOf('/'));
  return { namespace: ref.slice(0, cut), name: ref.slice(cut + 1) };
}

function withRef<T extends { namespace: string; name: string }>(row: T): T & { ref: string } {
  return { ...row, ref: `${row.namespace}/${row.name}` };
}

function matching(search: string | null): Prisma.WorkflowWhereInput {
  if (search === null) return {};
  const cut = search.indexOf('/');
  if (cut >= 0) {
    const namespace = { endsWith: literally(search.slice(0, cut)), mode: 'insensitive' } as const;
    return { namespace, name: { startsWith: literally(search.slice(cut + 1)), mode: 'insensitive' } };
  }
  const contains = { contains: literally(search), mode: 'insensitive' } as const;
  return { OR: [{ namespace: contains }, { name: contains }] };
}

function fitting(readable: ReadableWorkflows): Prisma.WorkflowWhereInput {
  if (readable === 'all') return {};
  // Beside other conditions an empty OR would hold for everything.
  if (readable.length === 0) return { id: { in: [] } };
  return {
    OR: readable.map(({ namespace, name }) => ({
      ...(namespace === null ? {} : { namespace }),
      ...(name === null ? {} : { name }),
    })),
  };
}

/** Prisma hands `%`, `_` and backslashes to LIKE as they are. */
function literally(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

function beyond(namespace: string, name: string, side: 'gt' | 'lt'): Prisma.WorkflowWhereInput {
  return { OR: [{ namespace: { [side]: namespace } }, { namespace, name: { [side]: name } }] };
}

function toJson(spec: PolicySpec | AffinitySpec | RequestsSpec | null): Prisma.InputJsonValue | typeof Prisma.DbNull {
  return spec === null ? Prisma.DbNull : spec;
}
