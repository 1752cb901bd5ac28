import type { JsonValue } from '@muster/core';
import type { Prisma } from '@muster/db';
import { timeOfId } from '../../dispatch/ids.ts';

/** Who changed what. Secrets and routing input never stand in it. */
export interface AuditEntry {
  /** Name of the principal. */
  actor: string;
  /** What was done, e.g. `deployment.update`. */
  action: string;
  /** What it was done to, as a global id or a name with its kind, e.g. `worker:w-7`. */
  target: string;
  /** Before and after. */
  data: JsonValue;
  requestId?: string;
}

/** Appends an entry in the transaction of the change itself; `id` is a raw UUID v7 and its time is the entry's. */
export async function appendAudit(tx: Prisma.TransactionClient, id: string, entry: AuditEntry): Promise<void> {
  await tx.audit.create({
    data: {
      id,
      at: new Date(timeOfId(id)),
      actor: entry.actor,
      action: entry.action,
      target: entry.target,
      requestId: entry.requestId ?? null,
      data: entry.data as Prisma.InputJsonValue,
    },
    select: { id: true },
  });
}
