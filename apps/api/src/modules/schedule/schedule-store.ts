import { type JsonObject, type JsonValue, MusterError } from '@muster/core';
import { Prisma, type PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import { type ScheduleStart, START_SCHEDULE, startScheduleValues } from '../../dispatch/statements/schedule-fire.ts';
import { IDEMPOTENCY_DAYS } from '../../dispatch/statements/submit.ts';
import type { Page } from '../../graphql/connection.ts';
import { encodeId } from '../../graphql/ids.ts';
import { boundedCount, type Count, cutPage } from '../../graphql/page-rows.ts';
import { appendAudit, type Author, changed } from '../audit/audit-log.ts';
import type { ReadableNames } from '../viewer/readable.ts';
import type { ScheduleRow } from './schedule-row.ts';

/** What a user decides about a schedule; absent: stays as it is. */
export type ScheduleContent = Partial<
  Pick<
    ScheduleRow,
    | 'name'
    | 'description'
    | 'kind'
    | 'cron'
    | 'timeZone'
    | 'intervalSeconds'
    | 'anchorAt'
    | 'onceAt'
    | 'workflow'
    | 'versionId'
    | 'deployment'
    | 'sessionKey'
    | 'overlap'
    | 'catchUpLimit'
    | 'priority'
    | 'parkTtlSeconds'
    | 'nextAt'
    | 'queuedAt'
    | 'paused'
    | 'pausedBy'
    | 'pausedAt'
  >
> & {
  /** null: none. */
  input?: JsonValue;
  /** Checked; null: none any more. Never in a row that is read. */
  routingInput?: JsonObject | null;
};

/** A write, with the audit entry that goes with it. */
export interface ScheduleWrite {
  content: ScheduleContent;
  author: Author;
  action: 'schedule.create' | 'schedule.update' | 'schedule.pause' | 'schedule.resume';
}

export interface KeyRow {
  principal: string;
  mutation: string;
  key: string;
  hmac: Uint8Array;
}

/** One run by hand. */
export interface ManualRun extends ScheduleStart {
  schedule: Pick<ScheduleRow, 'id' | 'name' | 'revision'>;
  author: Author;
}

/** What a spent key of a run by hand led to. */
export interface UsedRunKey {
  hmac: Uint8Array;
  scheduleId: number;
  /** Raw id. */
  executionId: string;
  /** The execution is still there. */
  exists: boolean;
}

export interface ScheduleFilter {
  search: string | null;
  paused: boolean | null;
  failing: boolean | null;
  workflow: string | null;
  deployment: string | null;
}

/** All inputs of one answer together. */
const MAX_INPUT_BYTES = 33_554_432;

const SELECT = {
  id: true,
  name: true,
  description: true,
  kind: true,
  cron: true,
  timeZone: true,
  intervalS: true,
  anchorAt: true,
  onceAt: true,
  workflow: true,
  versionId: true,
  deployment: true,
  sessionKey: true,
  overlap: true,
  catchUpLimit: true,
  priority: true,
  parkTtlS: true,
  paused: true,
  pausedBy: true,
  pausedAt: true,
  nextAt: true,
  queuedAt: true,
  lastAt: true,
  lastResult: true,
  lastResultAt: true,
  lastExecutionId: true,
  lastError: true,
  lastErrorAt: true,
  startedCount: true,
  skippedCount: true,
  missedCount: true,
  failedCount: true,
  revision: true,
  createdBy: true,
  createdAt: true,
  updatedBy: true,
  updatedAt: true,
} satisfies Prisma.ScheduleSelect;

/** Schedules as users write and read them; their runs are the leader's statements. Every write is one transaction with its audit entry. */
export class ScheduleStore {
  readonly #prisma: PrismaClient;
  readonly #db: Executor;
  readonly #newId: () => string;
  readonly #now: () => number;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(prisma: PrismaClient, db: Executor, newId: () => string, now: () => number) {
    this.#prisma = prisma;
    this.#db = db;
    this.#newId = newId;
    this.#now = now;
  }

  async byName(name: string): Promise<ScheduleRow | null> {
    const row = await this.#prisma.schedule.findUnique({ where: { name }, select: SELECT });
    return row && fromPrisma(row);
  }

  async byIds(ids: readonly number[]): Promise<Map<number, ScheduleRow>> {
    const rows = await this.#prisma.schedule.findMany({ where: { id: { in: [...ids] } }, select: SELECT });
    return new Map(rows.map((row) => [row.id, fromPrisma(row)]));
  }

  /** By name. */
  async page(
    page: Page,
    filter: ScheduleFilter,
    readable: ReadableNames,
  ): Promise<{ items: ScheduleRow[]; more: boolean }> {
    const and = [...conditions(filter), among(readable)];
    if (page.after) and.push({ name: { gt: String(page.after[0]) } });
    if (page.before) and.push({ name: { lt: String(page.before[0]) } });
    const rows = await this.#prisma.schedule.findMany({
      where: { AND: and },
      orderBy: { name: page.backward ? 'desc' : 'asc' },
      take: page.limit + 1,
      select: SELECT,
    });
    return cutPage(rows.map(fromPrisma), page);
  }

  async count(filter: ScheduleFilter, readable: ReadableNames): Promise<Count> {
    const where = { AND: [...conditions(filter), among(readable)] };
    return boundedCount(await this.#prisma.schedule.count({ where, take: 10_001 }));
  }

  /** Inputs by schedule; undefined where all of them together are too large for one answer. */
  async inputs(ids: readonly number[]): Promise<Map<number, JsonValue | undefined>> {
    const { rows } = await this.#db.run<{ id: number; kept: boolean; input: JsonValue }>(
      {
        name: 'schedule_inputs',
        priority: 'read',
        text: `WITH sized AS (
            SELECT s.id, sum(coalesce(octet_length(s.input::text), 0)) OVER (ORDER BY s.id) <= $2 AS kept
            FROM schedule s WHERE s.id = ANY($1::int[]))
          SELECT z.id, z.kept, CASE WHEN z.kept THEN s.input END AS input FROM sized z JOIN schedule s ON s.id = z.id`,
      },
      [ids, MAX_INPUT_BYTES],
    );
    return new Map(rows.map(({ id, kept, input }) => [id, kept ? input : undefined]));
  }

  /** Which schedules started these executions (raw ids), and for which of their runs; null: by hand. */
  async ofExecutions(ids: readonly string[]): Promise<Map<string, { scheduleId: number; run: Date | null }>> {
    const { rows } = await this.#db.run<{ id: string; scheduleId: number; run: Date | null }>(
      {
        name: 'schedules_of_executions',
        priority: 'read',
        text: `SELECT x.id::text AS id, x.schedule_id AS "scheduleId", x.schedule_run AS run
          FROM unnest($1::uuid[]) AS g (id) JOIN execution x ON x.id = g.id WHERE x.schedule_id IS NOT NULL`,
      },
      [ids],
    );
    return new Map(rows.map(({ id, ...row }) => [rawId(id), row]));
  }

  /** `key-used`: the idempotency key was spent before. Errors: CONFLICT where the name is taken. */
  async create(write: ScheduleWrite, key: KeyRow | null): Promise<ScheduleRow | 'key-used'> {
    const { content, author } = write;
    const { name = '' } = content;
    try {
      return await this.#prisma.$transaction(async (tx) => {
        const data = { ...columns(content), name, createdBy: author.name, updatedBy: author.name };
        const row = fromPrisma(await tx.schedule.create({ data, select: SELECT }));
        if (content.routingInput != null) await putRouting(tx, row.id, content.routingInput);
        await this.#note(tx, null, row, write);
        if (key && !(await spendKey(tx, key, { id: row.id, name }))) throw new KeyUsed();
        return row;
      });
    } catch (error) {
      if (error instanceof KeyUsed) return 'key-used';
      throw nameTaken(error, name, 'name');
    }
  }

  /** null: the revision is not the expected one any more, or the schedule is gone. Errors: CONFLICT where the new name is taken. */
  async update(before: ScheduleRow, expectedRevision: number, write: ScheduleWrite): Promise<ScheduleRow | null> {
    const { id } = before;
    const { content, author, action } = write;
    const authored = action === 'schedule.update' ? { updatedBy: author.name } : {};
    try {
      return await this.#prisma.$transaction(async (tx) => {
        const [updated] = await tx.schedule.updateManyAndReturn({
          where: { id, revision: expectedRevision },
          data: {
            ...columns(content),
            ...authored,
            revision: { increment: 1 },
            updatedAt: new Date(this.#now()),
          },
          select: SELECT,
        });
        if (!updated) return null;
        if (content.routingInput === null) await tx.$executeRaw`DELETE FROM schedule_routing WHERE schedule_id = ${id}`;
        else if (content.routingInput !== undefined) await putRouting(tx, id, content.routingInput);
        const row = fromPrisma(updated);
        await this.#note(tx, before, row, write);
        return row;
      });
    } catch (error) {
      throw nameTaken(error, content.name ?? '', 'newName');
    }
  }

  /** Whether it was deleted; false as for `update`. Its executions go on. */
  async delete(row: ScheduleRow, expectedRevision: number, author: Author): Promise<boolean> {
    return this.#prisma.$transaction(async (tx) => {
      const { count } = await tx.schedule.deleteMany({ where: { id: row.id, revision: expectedRevision } });
      if (count === 0) return false;
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: 'schedule.delete',
        target: `schedule:${row.name}`,
        before: audited(row),
        after: null,
      });
      return true;
    });
  }

  /**
   * Starts one by hand: the execution, the schedule's figures, the key and the audit entry, or nothing of it. `changed`: the schedule does not stand as
   * it was read; `key-used`: the idempotency key was spent before.
   */
  async run(run: ManualRun, key: KeyRow | null): Promise<'started' | 'changed' | 'key-used'> {
    const { schedule, executionId, author } = run;
    try {
      return await this.#prisma.$transaction(async (tx) => {
        if (key && !(await spendRunKey(tx, key, schedule.id, executionId))) throw new KeyUsed();
        const moved = await tx.$queryRawUnsafe<object[]>(
          START_SCHEDULE.text,
          ...startScheduleValues({ ...run, by: author.name }),
        );
        if (moved.length === 0) throw new Changed();
        await appendAudit(tx, rawId(this.#newId()), {
          author,
          action: 'schedule.run',
          target: `schedule:${schedule.name}`,
          before: null,
          after: { execution: encodeId('ex', executionId) },
        });
        return 'started' as const;
      });
    } catch (error) {
      if (error instanceof KeyUsed) return 'key-used';
      if (error instanceof Changed) return 'changed';
      throw error;
    }
  }

  /** null: the key was not spent, or has outlived its time. */
  async usedRunKey({ principal, mutation, key }: KeyRow): Promise<UsedRunKey | null> {
    const rows = await this.#prisma.$queryRaw<
      { hmac: Uint8Array; answer: { id: number }; executionId: string; exists: boolean }[]
    >`
      SELECT k.hmac, k.answer, k.execution_id::text AS "executionId", x.id IS NOT NULL AS "exists"
      FROM idempotency k LEFT JOIN execution x ON x.id = k.execution_id
      WHERE k.principal = ${principal} AND k.mutation = ${mutation} AND k.key = ${key}
        AND k.at >= clock_timestamp() - make_interval(days => ${IDEMPOTENCY_DAYS}::int)`;
    const [row] = rows;
    return row
      ? { hmac: row.hmac, scheduleId: row.answer.id, executionId: rawId(row.executionId), exists: row.exists }
      : null;
  }

  /** What a spent key led to. */
  async usedKey({ principal, mutation, key }: KeyRow): Promise<{ hmac: Uint8Array; answer: { id: number } } | null> {
    const rows = await this.#prisma.$queryRaw<{ hmac: Uint8Array; answer: { id: number } }[]>`
      SELECT hmac, answer FROM idempotency WHERE principal = ${principal} AND mutation = ${mutation} AND key = ${key}`;
    return rows[0] ?? null;
  }

  async #note(
    tx: Prisma.TransactionClient,
    before: ScheduleRow | null,
    row: ScheduleRow,
    { action, author, content }: ScheduleWrite,
  ): Promise<void> {
    // Of inputs the fact alone, and of routing input nothing.
    const after = { ...audited(row), ...(content.input !== undefined && { input: content.input !== null }) };
    await appendAudit(tx, rawId(this.#newId()), {
      author,
      action,
      target: `schedule:${before?.name ?? row.name}`,
      ...((before && changed(audited(before), after)) ?? { before: null, after }),
    });
  }
}

/** What users decide about a schedule. */
function audited(row: ScheduleRow): JsonObject {
  const { name, description, kind, cron, timeZone, intervalSeconds, workflow, versionId, deployment, sessionKey } = row;
  const { overlap, catchUpLimit, priority, parkTtlSeconds, paused, revision } = row;
  const target = { workflow, versionId: versionId === null ? null : encodeId('wv', versionId), deployment, sessionKey };
  const times = { anchorAt: row.anchorAt?.toISOString() ?? null, onceAt: row.onceAt?.toISOString() ?? null };
  const plan = { kind, cron, timeZone, intervalSeconds, ...times };
  return { name, description, ...plan, ...target, overlap, catchUpLimit, priority, parkTtlSeconds, paused, revision };
}

class KeyUsed extends Error {}
class Changed extends Error {}

function nameTaken(error: unknown, name: string, field: string): unknown {
  if (!(error instanceof Prisma.PrismaClientKnownRequestError) || error.code !== 'P2002') return error;
  return new MusterError('CONFLICT', `There is a schedule ${name} already.`, { field, cause: error });
}

/** Tables that Prisma has no model of. */
async function putRouting(tx: Prisma.TransactionClient, scheduleId: number, value: JsonObject): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO schedule_routing (schedule_id, value) VALUES (${scheduleId}, ${JSON.stringify(value)}::json)
    ON CONFLICT (schedule_id) DO UPDATE SET value = excluded.value`;
}

async function spendKey(
  tx: Prisma.TransactionClient,
  { principal, mutation, key, hmac }: KeyRow,
  answer: unknown,
): Promise<boolean> {
  const spent = await tx.$executeRaw`
    INSERT INTO idempotency (principal, mutation, key, hmac, answer)
    VALUES (${principal}, ${mutation}, ${key}, ${hmac}, ${JSON.stringify(answer)}::json) ON CONFLICT DO NOTHING`;
  return spent === 1;
}

/** As `submit` does it: a key that has outlived its time is taken over. */
async function spendRunKey(
  tx: Prisma.TransactionClient,
  { principal, mutation, key, hmac }: KeyRow,
  scheduleId: number,
  executionId: string,
): Promise<boolean> {
  const spent = await tx.$executeRaw`
    INSERT INTO idempotency AS known (principal, mutation, key, hmac, execution_id, answer, at)
    VALUES (${principal}, ${mutation}, ${key}, ${hmac}, ${executionId}::uuid, ${JSON.stringify({ id: scheduleId })}::json, clock_timestamp())
    ON CONFLICT (principal, mutation, key) DO UPDATE
      SET hmac = excluded.hmac, execution_id = excluded.execution_id, answer = excluded.answer, at = excluded.at
      WHERE known.at < clock_timestamp() - make_interval(days => ${IDEMPOTENCY_DAYS}::int)`;
  return spent === 1;
}

function among(readable: ReadableNames): Prisma.ScheduleWhereInput {
  return readable === 'all' ? {} : { name: { in: [...readable] } };
}

function conditions({ search, paused, failing, workflow, deployment }: ScheduleFilter): Prisma.ScheduleWhereInput[] {
  const and: Prisma.ScheduleWhereInput[] = [];
  if (search !== null) {
    // Prisma hands `%`, `_` and backslashes to LIKE as they are.
    const part = { contains: search.replace(/[\\%_]/g, '\\$&'), mode: 'insensitive' } as const;
    and.push({ OR: [{ name: part }, { description: part }, { workflow: part }, { deployment: part }] });
  }
  if (paused !== null) and.push({ paused });
  if (failing !== null) and.push(failing ? { lastErrorAt: { not: null } } : { lastErrorAt: null });
  if (workflow !== null) and.push({ workflow });
  if (deployment !== null) and.push({ deployment });
  return and;
}

type Columns = Omit<Prisma.ScheduleUncheckedUpdateManyInput, 'name'> & { name?: string };

function columns({ intervalSeconds, parkTtlSeconds, input, routingInput, ...same }: ScheduleContent) {
  void routingInput;
  return {
    ...same,
    ...(intervalSeconds === undefined ? {} : { intervalS: intervalSeconds }),
    ...(parkTtlSeconds === undefined ? {} : { parkTtlS: parkTtlSeconds }),
    ...(input === undefined ? {} : { input: input ?? Prisma.DbNull }),
  } satisfies Columns;
}

/** Words of the columns were checked when they were written. */
function fromPrisma(row: Prisma.ScheduleGetPayload<{ select: typeof SELECT }>): ScheduleRow {
  const { intervalS, parkTtlS, lastExecutionId, lastError, ...same } = row;
  return {
    ...same,
    kind: row.kind as ScheduleRow['kind'],
    overlap: row.overlap as ScheduleRow['overlap'],
    lastResult: row.lastResult as ScheduleRow['lastResult'],
    intervalSeconds: intervalS,
    parkTtlSeconds: parkTtlS,
    lastExecutionId: lastExecutionId === null ? null : rawId(lastExecutionId),
    lastError: lastError as ScheduleRow['lastError'],
  };
}
