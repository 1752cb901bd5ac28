import type { Executor } from '../../dispatch/statements/executor.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { Log } from '../../log.ts';
import type { ReleaseWorker } from './release-worker.ts';
import { type HeldItem, readFences } from './report-store.ts';

/** So many heartbeats in a row without a claim, each of them sent after its answer, and the worker has forgotten it. */
const HEARTBEATS = 3;
/** One more, the first: it may have been under way when the claim was answered. A worker sends the next one when that is answered. */
const WINDOW = HEARTBEATS + 1;
/** Heartbeats that come closer together than this part of the interval were held up on the way, and count as one. */
const SPACING = 0.5;
/** An answer that another replica gives to a claim, or that is lost and given again, may take so long. */
const ANSWER_MS = 5_000;
/** Most executions of one worker that are counted at once; the others have their turn when those are done. */
const MAX_COUNTED = 1_000;
/** A worker that was not heard for so long has been lost by other rules. */
const FORGET_MS = 120_000;
const HELD_STATES: ReadonlySet<string> = new Set(['CLAIMED', 'RUNNING', 'CANCELLING']);

/** What the attempt's record says. */
export const UNLISTED_MESSAGE = 'the worker no longer lists this execution';

export interface UnlistedClaimsOptions {
  executor: Executor;
  fleet: Pick<Fleet, 'executionsOf'>;
  releaseWorker: ReleaseWorker;
  /** ms by the database's clock; never goes back. */
  now: () => number;
  log: Log;
}

/** What one process has left out of its last heartbeats. */
interface Watched {
  instance: string;
  /** When the last heartbeats that count arrived, the newest last; at most WINDOW. */
  heard: number[];
  /** By execution: how many of them in a row did not list it. */
  missing: Map<string, number>;
}

/**
 * The net under a claim that a living worker has forgotten: nobody else would ever take it back. Fed by the heartbeats that arrive at
 * this replica; what it counts is bounded, and gone with the worker's process or this one. Which executions are on the worker is a hint here; the
 * release is checked against the tables, and against the time of the claim, under the lock of the row.
 */
export class UnlistedClaims {
  readonly #o: UnlistedClaimsOptions;
  /** By worker, the one heard last at the end; only workers that leave something out. */
  readonly #watched = new Map<number, Watched>();
  /** Executions that a report under way is about, and how many reports. */
  readonly #underWay = new Map<string, number>();

  constructor(options: UnlistedClaimsOptions) {
    this.#o = options;
  }

  /** How many workers are watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** A report is under way: nothing of it counts as left out before it is answered; a claim is counted anew from then on. Call what it returns then. */
  reporting(worker: FleetWorker, claims: readonly HeldItem[], others: readonly HeldItem[]): () => void {
    const ids = [...claims, ...others].map((item) => item.id);
    for (const id of ids) this.#underWay.set(id, (this.#underWay.get(id) ?? 0) + 1);
    return () => {
      for (const id of ids) {
        const left = (this.#underWay.get(id) ?? 1) - 1;
        if (left === 0) this.#underWay.delete(id);
        else this.#underWay.set(id, left);
      }
      const missing = this.#watched.get(worker.id)?.missing;
      for (const { id } of claims) missing?.delete(id);
    };
  }

  /**
   * Takes note of a heartbeat and releases what has been left out for too long. `claims` null: it does not say what it holds, and nothing
   * follows. Never rejects: what fails is tried again at the next heartbeat.
   */
  async heard(worker: FleetWorker, claims: readonly HeldItem[] | null, heartbeatSeconds: number): Promise<void> {
    const now = this.#o.now();
    this.#forgetOld(now);
    const due = claims === null ? this.#forget(worker) : this.#count(worker, claims, now, heartbeatSeconds * 1_000);
    if (due === null) return;
    try {
      await this.#release(worker, due.ids, due.claimedBefore);
    } catch (error) {
      this.#o.log.warn({ err: error, worker: worker.facts.name }, 'unlisted executions could not be released');
    }
  }

  #count(
    worker: FleetWorker,
    claims: readonly HeldItem[],
    now: number,
    intervalMs: number,
  ): { ids: string[]; claimedBefore: Date } | null {
    const known = this.#watched.get(worker.id);
    const before = known?.instance === worker.facts.instanceId ? known : undefined;
    const last = before?.heard.at(-1);
    const step = last === undefined || now - last >= intervalMs * SPACING ? 1 : 0;
    const missing = this.#missing(worker.id, claims, before?.missing ?? new Map<string, number>(), step);
    this.#watched.delete(worker.id);
    if (missing.size === 0) return null;
    const heard = step === 1 ? [...(before?.heard ?? []), now].slice(-WINDOW) : (before?.heard ?? []);
    this.#watched.set(worker.id, { instance: worker.facts.instanceId, heard, missing });
    const ids = [...missing].filter(([, count]) => count === WINDOW).map(([id]) => id);
    const first = heard[0];
    if (ids.length === 0 || first === undefined) return null;
    return { ids, claimedBefore: new Date(first - ANSWER_MS) };
  }

  /** How often each execution on the worker has been left out, now that these are listed. */
  #missing(
    workerId: number,
    claims: readonly HeldItem[],
    before: ReadonlyMap<string, number>,
    step: number,
  ): Map<string, number> {
    const listed = new Set(claims.map((claim) => claim.id));
    const missing = new Map<string, number>();
    for (const id of this.#o.fleet.executionsOf(workerId)) {
      if (listed.has(id) || this.#underWay.has(id)) continue;
      const count = (before.get(id) ?? 0) + step;
      if (count > 0) missing.set(id, Math.min(WINDOW, count));
      if (missing.size === MAX_COUNTED) break;
    }
    return missing;
  }

  /** Which of them are claimed, and under which generation, stands in the tables alone. */
  async #release(worker: FleetWorker, ids: readonly string[], claimedBefore: Date): Promise<void> {
    const { executor, releaseWorker, log } = this.#o;
    const { instanceId, name } = worker.facts;
    const fences = await readFences(executor, worker.id, ids);
    // Meanwhile another heartbeat may have listed it, or a report have come.
    const missing = this.#watched.get(worker.id)?.missing;
    const items = fences
      .filter(
        ({ state, workerId, instance }) => HELD_STATES.has(state) && workerId === worker.id && instance === instanceId,
      )
      .filter(({ id }) => missing?.has(id) === true && !this.#underWay.has(id))
      .map(({ id, generation }) => ({ id, generation }));
    if (items.length === 0) return;
    const rows = await releaseWorker({
      workerId: worker.id,
      instance: instanceId,
      cause: 'UNLISTED',
      message: UNLISTED_MESSAGE,
      claimedBefore,
      items,
    });
    if (rows.length > 0)
      log.warn({ worker: name, executions: rows.map(({ id }) => id) }, 'released: the worker no longer lists them');
  }

  #forget(worker: FleetWorker): null {
    this.#watched.delete(worker.id);
    return null;
  }

  #forgetOld(now: number): void {
    for (const [id, { heard }] of this.#watched) {
      if (now - (heard.at(-1) ?? 0) < FORGET_MS) return;
      this.#watched.delete(id);
    }
  }
}
