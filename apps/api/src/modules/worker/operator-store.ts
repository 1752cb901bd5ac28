import { type MetadataValue, MusterError, type WorkerAvailability } from '@muster/core';
import type { Prisma, PrismaClient } from '@muster/db';
import { rawId } from '../../dispatch/ids.ts';
import { appendAudit, type Author, changed } from '../audit/audit-log.ts';
import type { WorkerCredentialStore } from '../join-token/worker-credential-store.ts';

const VERBS: Readonly<Record<WorkerAvailability, string>> = {
  ACTIVE: 'activate',
  CORDONED: 'cordon',
  DRAINING: 'drain',
};

/** What operators write about workers: availability, metadata, removal. Each change and its audit entry are one transaction. */
export class OperatorStore {
  readonly #prisma: PrismaClient;
  readonly #newId: () => string;
  readonly #now: () => number;
  readonly #credentials: Pick<WorkerCredentialStore, 'endWith'>;

  /** `newId` makes UUID v7; `now` is ms by the database's clock. */
  constructor(
    prisma: PrismaClient,
    newId: () => string,
    now: () => number,
    credentials: Pick<WorkerCredentialStore, 'endWith'>,
  ) {
    this.#credentials = credentials;
    this.#prisma = prisma;
    this.#newId = newId;
    this.#now = now;
  }

  /** Puts what `change` makes of the present metadata in its place; what `change` throws is thrown, and nothing is written. */
  async changeMetadata(
    workerId: number,
    author: Author,
    change: (current: ReadonlyMap<string, MetadataValue>) => ReadonlyMap<string, MetadataValue>,
  ): Promise<void> {
    await this.#prisma.$transaction(async (tx) => {
      // The worker's row is the lock: two operators write one after the other.
      const worker = await this.#touch(tx, workerId, {});
      const rows = await tx.workerMetadata.findMany({ where: { workerId }, select: { key: true, value: true } });
      const before = new Map(rows.map(({ key, value }) => [key, value as MetadataValue]));
      const after = change(before);
      const gone = [...before.keys()].filter((key) => !after.has(key));
      const written = [...after].filter(([key, value]) => before.get(key) !== value);
      await tx.workerMetadata.deleteMany({
        where: { workerId, key: { in: [...gone, ...written.map(([key]) => key)] } },
      });
      await tx.workerMetadata.createMany({
        data: written.map(([key, value]) => ({ workerId, key, value, by: author.name })),
      });
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: 'worker.metadata',
        target: `worker:${worker.name}`,
        // Every write is noted (ruling 27), also one that changes nothing.
        ...(changed(Object.fromEntries(before), Object.fromEntries(after)) ?? { before: {}, after: {} }),
      });
    });
  }

  async setAvailability(workerId: number, availability: WorkerAvailability, author: Author): Promise<void> {
    await this.#prisma.$transaction(async (tx) => {
      const before = await tx.worker.findFirst({ where: { id: workerId }, select: { availability: true } });
      const worker = await this.#touch(tx, workerId, {
        availability,
        availabilityBy: author.name,
        availabilityAt: new Date(this.#now()),
      });
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: `worker.${VERBS[availability]}`,
        target: `worker:${worker.name}`,
        before: { availability: before?.availability ?? null },
        after: { availability },
      });
    });
  }

  /**
   * Takes the worker off the list; its row stays, so that executions and decisions can still name it. Answers the ids of its credentials,
   * which end with it.
   */
  async remove(workerId: number, author: Author): Promise<number[]> {
    return this.#prisma.$transaction(async (tx) => {
      const now = new Date(this.#now());
      const worker = await this.#touch(tx, workerId, { removedAt: now, disconnectedAt: now });
      const rows = await tx.workerMetadata.findMany({ where: { workerId }, select: { key: true, value: true } });
      const kept = Object.fromEntries(rows.map(({ key, value }) => [key, value as MetadataValue]));
      await tx.workerMetadata.deleteMany({ where: { workerId } });
      await appendAudit(tx, rawId(this.#newId()), {
        author,
        action: 'worker.remove',
        target: `worker:${worker.name}`,
        before: { role: worker.role, availability: worker.availability, metadata: kept },
        after: null,
      });
      return this.#credentials.endWith(tx, worker.name, author.name);
    });
  }

  /** Errors: NOT_FOUND where the worker has been removed. */
  async #touch(
    tx: Prisma.TransactionClient,
    workerId: number,
    data: Prisma.WorkerUpdateInput,
  ): Promise<{ name: string; role: string; availability: string }> {
    const [worker] = await tx.worker.updateManyAndReturn({
      where: { id: workerId, removedAt: null },
      data: { ...data, revision: { increment: 1 } },
      select: { name: true, role: true, availability: true },
    });
    if (worker === undefined) throw new MusterError('NOT_FOUND', 'There is no such worker.', { field: 'worker' });
    return worker;
  }
}
