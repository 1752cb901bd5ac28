import { type JsonObject, type JsonValue, MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import { Batcher } from '../../dispatch/batcher.ts';
import type { UuidSource } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import {
  type KnownKey,
  readCreated,
  readIdempotencyKeys,
  type SubmitRow,
  submitExecutions,
} from '../../dispatch/statements/submit.ts';
import { encodeId } from '../../graphql/ids.ts';
import { type Idempotency, type SubmitItem, type SubmitOutcome, VariantGoneError } from './submission.ts';

/** A checked item, ready to be stored. */
export interface Submission extends Omit<SubmitItem, 'requiredWorker' | 'preferredWorker' | 'workflowRef'> {
  requiredWorker: string | null;
  preferredWorker: string | null;
  submittedBy: string;
  /** The input as JSON text; null: none. */
  inputText: string | null;
}

/** An execution that this process has just stored: the dispatcher need not read it. */
export interface FreshExecution {
  id: string;
  priority: number;
  versionId: number;
  queuedAt: Date;
  targetRoles: readonly string[];
  requiredWorker: string | null;
  preferredWorker: string | null;
  input: JsonValue | undefined;
  routingInput: JsonObject | null;
}

export interface SubmitterDeps {
  executor: Executor;
  bus: Bus;
  ids: UuidSource;
  parkTtlSeconds: number;
  queue: { accept(fresh: readonly FreshExecution[]): void };
}

interface Call {
  submission: Submission;
  row: SubmitRow;
}

/** Stores executions, many in one statement, and tells the dispatcher and the bus. */
export class Submitter {
  readonly #deps: SubmitterDeps;
  readonly #batcher: Batcher<Call, SubmitOutcome>;

  constructor(deps: SubmitterDeps) {
    this.#deps = deps;
    this.#batcher = new Batcher((calls) => this.#send(calls));
  }

  /** Rejects where the database refuses this very item. */
  submit(submission: Submission): Promise<SubmitOutcome> {
    return this.#batcher.add({ submission, row: this.#rowOf(submission) });
  }

  settled(): Promise<void> {
    return this.#batcher.settled();
  }

  #rowOf(submission: Submission): SubmitRow {
    const { idempotency, routingInput } = submission;
    return {
      id: this.#deps.ids.next(),
      versionId: submission.versionId,
      deploymentId: submission.deploymentId ?? null,
      variant: submission.variant ?? null,
      targetRoles: submission.targetRoles,
      sessionKey: submission.sessionKey ?? null,
      parentId: submission.parentId ?? null,
      retryOf: submission.retryOf ?? null,
      submittedBy: submission.submittedBy,
      priority: submission.priority,
      requiredWorker: submission.requiredWorker,
      preferredWorker: submission.preferredWorker,
      parkTtlSeconds: submission.parkTtlSeconds ?? null,
      input: submission.inputText,
      routingInput: routingInput === undefined ? null : JSON.stringify(routingInput),
      idempotency:
        idempotency === undefined
          ? null
          : { mutation: idempotency.mutation, key: idempotency.key, hmac: Buffer.from(idempotency.fingerprint) },
    };
  }

  /** The same key twice in one batch would fight over one row: the first of them speaks for all. */
  async #send(calls: readonly Call[]): Promise<SubmitOutcome[]> {
    const { bus, queue } = this.#deps;
    const firstByKey = new Map<string, Call>();
    for (const call of calls) {
      const key = keyOf(call);
      if (key !== null && !firstByKey.has(key)) firstByKey.set(key, call);
    }
    const speakers = calls.filter((call) => {
      const key = keyOf(call);
      return key === null || firstByKey.get(key) === call;
    });
    const inserted = await this.#insert(speakers.map((call) => call.row));
    this.#announce(queue, bus, speakers, inserted);

    const known = await this.#knownKeys(speakers.filter((call) => !inserted.has(call.row.id)));
    return calls.map((call) => {
      if (inserted.has(call.row.id)) return { id: call.row.id, replayed: false };
      const key = keyOf(call) ?? '';
      const first = firstByKey.get(key);
      const stored = known.get(key);
      if (first !== undefined && inserted.has(first.row.id)) {
        return sameRequest(call, first.row.idempotency?.hmac) ? { id: first.row.id, replayed: true } : keyReused();
      }
      if (stored === undefined && call.submission.deploymentId !== undefined)
        return { error: new VariantGoneError(call.submission.variant ?? '') };
      if (stored === undefined)
        return { error: new MusterError('UNAVAILABLE', 'The idempotency key could not be read.') };
      return replay(call, stored);
    });
  }

  /**
   * When they were made, by id. A connection that is lost right after the commit makes an error of what was stored, and so does its repetition: the
   * ids are ours, so what stands there under them is what was to be stored, all of it in one statement.
   */
  async #insert(rows: readonly SubmitRow[]): Promise<Map<string, Date>> {
    const { executor, parkTtlSeconds } = this.#deps;
    try {
      const inserted = await submitExecutions(executor, rows, parkTtlSeconds);
      return new Map(inserted.map((row) => [row.id, row.createdAt]));
    } catch (error) {
      const stored = await readCreated(
        executor,
        rows.map((row) => row.id),
      ).catch(() => new Map<string, Date>());
      if (stored.size === 0) throw error;
      return stored;
    }
  }

  #announce(
    queue: SubmitterDeps['queue'],
    bus: Bus,
    calls: readonly Call[],
    inserted: ReadonlyMap<string, Date>,
  ): void {
    const fresh: FreshExecution[] = [];
    for (const { row, submission } of calls) {
      const queuedAt = inserted.get(row.id);
      if (queuedAt === undefined) continue;
      fresh.push({
        id: row.id,
        priority: row.priority,
        versionId: row.versionId,
        queuedAt,
        targetRoles: row.targetRoles,
        requiredWorker: row.requiredWorker,
        preferredWorker: row.preferredWorker,
        input: submission.input ?? undefined,
        routingInput: submission.routingInput ?? null,
      });
    }
    if (fresh.length === 0) return;
    // Before the bus: what the dispatcher of this process holds already, the hint need not make it read.
    queue.accept(fresh);
    for (const { id } of fresh) bus.publish('execution', { id, revision: 1 });
  }

  async #knownKeys(calls: readonly Call[]): Promise<Map<string, KnownKey>> {
    if (calls.length === 0) return new Map();
    const keys = calls.flatMap(({ row }) =>
      row.idempotency === null
        ? []
        : [{ principal: row.submittedBy, mutation: row.idempotency.mutation, key: row.idempotency.key }],
    );
    const rows = await readIdempotencyKeys(this.#deps.executor, keys);
    return new Map(rows.map((row) => [keyText(row.principal, row.mutation, row.key), row]));
  }
}

function keyOf({ row }: Call): string | null {
  return row.idempotency === null ? null : keyText(row.submittedBy, row.idempotency.mutation, row.idempotency.key);
}

function keyText(principal: string, mutation: string, key: Idempotency['key']): string {
  return JSON.stringify([principal, mutation, key]);
}

function sameRequest(call: Call, hmac: Buffer | undefined): boolean {
  return hmac !== undefined && call.row.idempotency?.hmac.equals(hmac) === true;
}

function replay(call: Call, stored: KnownKey): SubmitOutcome {
  if (stored.executionId === null || !sameRequest(call, stored.hmac)) return keyReused();
  if (stored.exists) return { id: stored.executionId, replayed: true };
  const message = `accepted as ${encodeId('ex', stored.executionId)}, since deleted`;
  return { error: new MusterError('CONFLICT', message, { field: 'idempotencyKey' }) };
}

function keyReused(): SubmitOutcome {
  const message = 'This idempotency key was used with another input; a new request takes a new key.';
  return { error: new MusterError('CONFLICT', message, { field: 'idempotencyKey' }) };
}
