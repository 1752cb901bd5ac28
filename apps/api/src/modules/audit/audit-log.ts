import type { Prisma } from '@muster/db';
import { timeOfId } from '../../dispatch/ids.ts';
import type { Viewer } from '../viewer/viewer.ts';

/** Who changes something, and from where. */
export interface Author {
  /** Name of the principal. */
  readonly name: string;
  /** null: from within the server. */
  readonly address: string | null;
  readonly requestId: string | null;
}

/** Who changed what. Secrets, inputs of executions and routing input never stand in it. */
export interface AuditEntry {
  readonly author: Author;
  /** What was done, `<what>.<verb>`: `deployment.update`. */
  readonly action: string;
  /** What it was done to, `<kind>:<name>`: `worker:w-7`. */
  readonly target: string;
  /** null: it was not there. */
  readonly before: AuditValue;
  /** null: it is no more. */
  readonly after: AuditValue;
}

/** JSON that is only read. */
type AuditValue = null | boolean | number | string | readonly AuditValue[] | AuditObject;
interface AuditObject {
  readonly [member: string]: AuditValue;
}

export function authorOf(viewer: Pick<Viewer, 'name' | 'address'>, requestId: string | null): Author {
  return { name: viewer.name, address: viewer.address, requestId };
}

/** Appends an entry in the transaction of the change itself; `id` is a raw UUID v7 and its time is the entry's. */
export async function appendAudit(tx: Prisma.TransactionClient, id: string, entry: AuditEntry): Promise<void> {
  const { author, action, target, before, after } = entry;
  await tx.audit.create({
    data: {
      id,
      at: new Date(timeOfId(id)),
      actor: author.name,
      action,
      target,
      address: author.address,
      requestId: author.requestId,
      data: { before, after },
    },
    select: { id: true },
  });
}

/** The members that differ, before and after; null: nothing does. Members are compared as JSON text; absent ones are left out. */
export function changed(before: AuditObject, after: AuditObject): { before: AuditObject; after: AuditObject } | null {
  const differ = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
  );
  if (differ.length === 0) return null;
  const pick = (all: AuditObject): AuditObject =>
    Object.fromEntries(differ.flatMap((key) => (all[key] === undefined ? [] : [[key, all[key]]])));
  return { before: pick(before), after: pick(after) };
}
