import { decideTraced, type TracedDecision } from '@muster/core';
import type { Bus } from '../bus/bus.ts';
import type { Clock } from '../clock.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Log } from '../log.ts';
import { announceWoken } from './announce.ts';
import { DecisionEncoder, type MadeDecision } from '../modules/decision/decision-codec.ts';
import type { OpenAssignments } from './assignments.ts';
import { MAX_BATCH } from './batcher.ts';
import type { DispatchFigures } from './figures.ts';
import type { UuidSource } from './ids.ts';
import type { PendingEntry, PendingWork } from './pending.ts';
import type { PlanCache } from './plan-cache.ts';
import { requestOf } from './queue-loader.ts';
import { type AssignItem, assignExecutions } from './statements/assign.ts';
import type { DecisionWrite, FrameWrite } from './statements/decision-rows.ts';
import type { Executor } from './statements/executor.ts';
import { failExecutions } from './statements/fail.ts';
import { type LeaderSession, LeadershipLostError } from './statements/fence.ts';
import { parkExecutions } from './statements/park.ts';
import { wokenBy } from './statements/wake.ts';

/** Shapes that are looked at in vain before the event loop gets a turn. */
const MAX_VAIN = 64;
/** What failed for reasons that nobody foresaw is left alone for so long. */
const CONTAINED_MS = 5_000;

export interface CycleDeps {
  executor: Executor;
  bus: Bus;
  fleet: Fleet;
  plans: PlanCache;
  pending: PendingWork;
  open: OpenAssignments;
  figures: DispatchFigures;
  ids: UuidSource;
  clock: Clock;
  /** ms by the database's clock. */
  now(): number;
  log: Log;
  parkTtlSeconds: number;
  /** Rows that are not as expected: read them again. */
  reread(ids: readonly string[]): void;
}

interface Made extends MadeDecision {
  entry: PendingEntry;
}

interface Assigned extends Made {
  workerId: number;
  workerName: string;
  instance: string;
}

interface Batch {
  assigned: Assigned[];
  failed: Made[];
}

/**
 * Decides and writes. Deciding is synchronous, in batches of at most 200; while a batch is being written the next one is decided. One bad
 * execution, policy or worker is contained: it is put aside alone.
 */
export class DispatchCycle {
  readonly #deps: CycleDeps;
  readonly #encoder: DecisionEncoder;
  /** Decided and not yet written: id → generation, worker. */
  readonly #inFlight = new Map<string, { generation: number; workerId: number | null }>();
  #writing: Promise<void> = Promise.resolve();

  constructor(deps: CycleDeps) {
    this.#deps = deps;
    this.#encoder = new DecisionEncoder(deps.ids, (name) => deps.fleet.get(name)?.id);
  }

  isInFlight(id: string): boolean {
    return this.#inFlight.has(id);
  }

  /** Loads that the tables do not show yet: to be put back after a rebuild of the live map. */
  reapplyLoads(): void {
    for (const [id, { generation, workerId }] of this.#inFlight) {
      if (workerId !== null) this.#deps.fleet.setLive(id, workerId, generation + 1);
    }
  }

  /** Works until nothing is ready any more, or the session is over. */
  async run(session: () => LeaderSession | null): Promise<void> {
    for (;;) {
      const current = session();
      if (current === null) break;
      const { batch, vain } = this.#decideBatch();
      const size = batch.assigned.length + batch.failed.length;
      if (size === 0 && vain < MAX_VAIN) break;
      await this.#writing;
      if (size > 0) this.#writing = this.#write(current, batch);
      // Heartbeats and requests get their turn, also where thousands of shapes are looked at in vain.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.#writing;
  }

  /**
   * Says on the rows of set-aside shapes why they wait, at most one statement's worth. `patient`: also where there is only no capacity, and where
   * a row says another reason already, for shapes that have waited since before `since` (ms by the database's clock). Returns how many.
   */
  async mark(session: LeaderSession, patient: boolean, since: number): Promise<number> {
    const { pending, now } = this.#deps;
    const made: Made[] = [];
    for (const shape of [...pending.unmarkedShapes()]) {
      if (made.length >= MAX_BATCH) break;
      const settled = shape.aside !== null && shape.aside.since <= since;
      const due = [...shape.toMark].filter((entry) =>
        patient ? settled : shape.aside?.saturated === false && entry.parkedReason === null,
      );
      const first = due[0];
      if (first === undefined) continue;
      const decision = this.#decide(first);
      if (decision === null || decision.traced.outcome !== 'PARKED') {
        pending.reconsider((one) => one === shape);
        continue;
      }
      const at = now();
      for (const entry of due.slice(0, MAX_BATCH - made.length)) {
        made.push({ ...decision, entry, waitMs: Math.max(0, at - entry.queuedAt) });
      }
    }
    if (made.length > 0) await this.#writeEach(session, made, (current, batch) => this.#park(current, batch));
    return made.length;
  }

  clear(): void {
    for (const [id, { generation, workerId }] of this.#inFlight) {
      if (workerId !== null) this.#deps.fleet.clearLive(id, generation + 1);
    }
    this.#inFlight.clear();
  }

  #decideBatch(): { batch: Batch; vain: number } {
    const { pending, fleet, now } = this.#deps;
    const batch: Batch = { assigned: [], failed: [] };
    let vain = 0;
    while (batch.assigned.length + batch.failed.length < MAX_BATCH && vain < MAX_VAIN) {
      const at = now();
      const next = pending.take(at);
      if (next === null) break;
      const { entry } = next;
      const decision = this.#decide(entry);
      if (decision === null) {
        pending.delay(entry, at + CONTAINED_MS);
        vain += 1;
        continue;
      }
      const made: Made = { ...decision, entry, waitMs: Math.max(0, at - entry.queuedAt) };
      const { outcome, winner, reason, rejections } = decision.traced.parts;
      const worker = winner === null ? undefined : fleet.get(winner);
      if (outcome === 'ASSIGNED' && worker !== undefined) {
        this.#inFlight.set(entry.id, { generation: entry.generation, workerId: worker.id });
        fleet.setLive(entry.id, worker.id, entry.generation + 1);
        const { name: workerName, instanceId: instance } = worker.facts;
        batch.assigned.push({ ...made, workerId: worker.id, workerName, instance });
      } else if (outcome === 'FAILED') {
        this.#inFlight.set(entry.id, { generation: entry.generation, workerId: null });
        batch.failed.push(made);
      } else {
        const saturated = rejections.some((rejection) => rejection.reason === 'NO_CAPACITY');
        pending.setAside(entry, { reason: reason ?? 'nobody can take it', saturated, since: at });
        vain += 1;
      }
    }
    return { batch, vain };
  }

  /** Null where it could not be decided: that is a bug, and it stops nobody else. */
  #decide(entry: PendingEntry): Omit<MadeDecision, 'waitMs'> | null {
    const { plans, fleet, clock, figures, log, reread } = this.#deps;
    const plan = plans.get(entry.versionId);
    if (plan === undefined) {
      reread([entry.id]);
      return null;
    }
    const start = clock.monotonic();
    let traced: TracedDecision;
    try {
      traced = decideTraced(plan.plan, fleet.prepared(), requestOf(entry));
    } catch (error) {
      log.error({ err: error, execution: entry.id, version: entry.versionId }, 'an execution could not be decided');
      return null;
    }
    const durationUs = (clock.monotonic() - start) * 1000;
    figures.recordDecision(durationUs, traced.parts.degraded !== null);
    return { traced, versionId: entry.versionId, durationUs };
  }

  async #write(session: LeaderSession, batch: Batch): Promise<void> {
    if (batch.assigned.length > 0) await this.#writeEach(session, batch.assigned, (s, b) => this.#assign(s, b));
    if (batch.failed.length > 0) await this.#writeEach(session, batch.failed, (s, b) => this.#fail(s, b));
  }

  /** A batch that the database refuses is tried again item by item, once; what fails alone waits. Throws `LeadershipLostError`. */
  async #writeEach<T extends Made>(
    session: LeaderSession,
    batch: readonly T[],
    write: (session: LeaderSession, batch: readonly T[]) => Promise<void>,
  ): Promise<void> {
    try {
      await write(session, batch);
    } catch (error) {
      if (error instanceof LeadershipLostError) {
        this.#giveUp(batch);
        throw error;
      }
      this.#deps.log.warn({ err: error, size: batch.length }, 'a batch was refused; its items are tried one by one');
      for (const one of batch) await this.#writeAlone(session, one, write);
    }
  }

  async #writeAlone<T extends Made>(
    session: LeaderSession,
    one: T,
    write: (session: LeaderSession, batch: readonly T[]) => Promise<void>,
  ): Promise<void> {
    const { pending, log, now } = this.#deps;
    try {
      await write(session, [one]);
    } catch (error) {
      this.#giveUp([one]);
      if (error instanceof LeadershipLostError) throw error;
      log.error({ err: error, execution: one.entry.id }, 'a decision could not be stored');
      pending.delay(one.entry, now() + CONTAINED_MS);
    }
  }

  /** They are not on the workers that they were meant for. */
  #giveUp(batch: readonly Made[]): void {
    for (const { entry } of batch) {
      const known = this.#inFlight.get(entry.id);
      if (known === undefined) continue;
      this.#inFlight.delete(entry.id);
      if (known.workerId !== null) this.#deps.fleet.clearLive(entry.id, entry.generation + 1);
    }
  }

  async #encode<T extends Made, I>(
    batch: readonly T[],
    item: (made: T, decision: DecisionWrite) => I,
  ): Promise<{ frames: FrameWrite[]; items: I[]; stored(): void }> {
    const { frames, rows, stored } = await this.#encoder.encode(batch);
    return { frames, items: batch.map((made, index) => item(made, rows[index] as DecisionWrite)), stored };
  }

  async #assign(session: LeaderSession, batch: readonly Assigned[]): Promise<void> {
    const { executor, bus, figures, open, clock, now, plans } = this.#deps;
    const { frames, items, stored } = await this.#encode(batch, (made, decision): AssignItem & { made: Assigned } => ({
      ...decision,
      id: made.entry.id,
      generation: made.entry.generation,
      winner: made.workerId,
      workerName: made.workerName,
      instance: made.instance,
      made,
    }));
    const rows = new Map((await assignExecutions(executor, session, frames, items)).map((row) => [row.id, row]));
    if (rows.size > 0) stored();
    const at = now();
    const byWorker = new Map<string, { id: string; generation: number; workflow: string }[]>();
    const refused: Assigned[] = [];
    for (const { made } of items) {
      const row = rows.get(made.entry.id);
      if (row === undefined) {
        refused.push(made);
        continue;
      }
      this.#inFlight.delete(row.id);
      figures.recordAssigned(Math.max(0, at - made.entry.queuedAt));
      open.add({ ...row, workerId: made.workerId, workerName: made.workerName, at: clock.monotonic() });
      const workflow = plans.get(made.versionId)?.workflowRef ?? '';
      const list = byWorker.get(made.workerName) ?? [];
      list.push({ id: row.id, generation: row.generation, workflow });
      byWorker.set(made.workerName, list);
    }
    this.#refused(refused);
    if (rows.size === 0) return;
    for (const [worker, list] of byWorker) bus.publish('assigned', { worker, items: list });
    const live = items.flatMap(({ made }) => {
      const row = rows.get(made.entry.id);
      return row === undefined ? [] : [{ id: row.id, workerId: made.workerId, generation: row.generation }];
    });
    bus.publish('live', { items: live });
    this.#announce(items, rows);
  }

  async #fail(session: LeaderSession, batch: readonly Made[]): Promise<void> {
    const { executor, bus, figures, parkTtlSeconds } = this.#deps;
    const { frames, items, stored } = await this.#encode(batch, (made, decision) => ({
      ...decision,
      id: made.entry.id,
      generation: made.entry.generation,
      error: made.traced.parts.failure ?? { type: 'DispatchError', message: 'it cannot be dispatched' },
      made,
    }));
    const ended = await failExecutions(executor, session, frames, items, parkTtlSeconds);
    const rows = new Map(ended.map((row) => [row.id, row]));
    announceWoken(bus, wokenBy(ended));
    if (rows.size > 0) stored();
    figures.recordEnd('FAILED', rows.size);
    for (const id of rows.keys()) this.#inFlight.delete(id);
    this.#refused(batch.filter((made) => !rows.has(made.entry.id)));
    this.#announce(items, rows);
  }

  async #park(session: LeaderSession, batch: readonly Made[]): Promise<void> {
    const { executor, pending, reread } = this.#deps;
    const { frames, items, stored } = await this.#encode(batch, (made, decision) => ({
      ...decision,
      id: made.entry.id,
      generation: made.entry.generation,
      reason: made.traced.parts.reason ?? 'nobody can take it',
      made,
    }));
    const rows = new Map((await parkExecutions(executor, session, frames, items)).map((row) => [row.id, row]));
    if (rows.size > 0) stored();
    for (const { made, reason } of items) {
      const row = rows.get(made.entry.id);
      if (row !== undefined) made.entry.revision = row.revision;
      pending.marked(made.entry, reason);
    }
    reread(batch.filter((made) => !rows.has(made.entry.id)).map((made) => made.entry.id));
    this.#announce(items, rows);
  }

  /** The guard refused them: something has happened to them that this process has not heard of yet. */
  #refused(batch: readonly Made[]): void {
    if (batch.length === 0) return;
    this.#giveUp(batch);
    this.#deps.reread(batch.map((made) => made.entry.id));
  }

  #announce(
    items: readonly { id: string; decisionId: string }[],
    rows: ReadonlyMap<string, { id: string; revision: number }>,
  ): void {
    const { bus } = this.#deps;
    for (const { id, decisionId } of items) {
      const row = rows.get(id);
      if (row === undefined) continue;
      bus.publish('execution', { id, revision: row.revision });
      bus.publish('decision', { id: decisionId, executionId: id });
    }
  }
}
