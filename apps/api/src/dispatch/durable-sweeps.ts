import type { Bus } from '../bus/bus.ts';
import type { Log } from '../log.ts';
import { announceWoken } from './announce.ts';
import type { PlanCache } from './plan-cache.ts';
import type { Releaser } from './release.ts';
import type { Executor } from './statements/executor.ts';
import type { LeaderSession } from './statements/fence.ts';
import { type LiveExecution, QUEUE_START } from './statements/queue-reads.ts';
import { type ReleaseItem, TIMEOUT_GRACE_SECONDS } from './statements/release.ts';
import { healWaits, readDue, readWaits, WAITS_PAGE, wakeDue } from './statements/waits.ts';

/** Timers of one pass, so that the other sweeps get their turn: 10,000. */
const MAX_SLICES = 50;
const SLICE = 200;

export interface DurableSweepDeps {
  executor: Executor;
  bus: Bus;
  plans: PlanCache;
  releaser: Releaser;
  /** ms by the database's clock. */
  now(): number;
  log: Log;
  parkTtlSeconds: number;
  cancelSeconds: number;
}

/** What the leader does for executions that wait or overrun, by time. All of it is checked again in its statements. */
export class DurableSweeps {
  readonly #deps: DurableSweepDeps;
  #walked = QUEUE_START.id;

  constructor(deps: DurableSweepDeps) {
    this.#deps = deps;
  }

  /** Timers that have run out. Throws `LeadershipLostError`. */
  async wake(session: LeaderSession): Promise<void> {
    const { executor, bus, parkTtlSeconds } = this.#deps;
    for (let i = 0; i < MAX_SLICES; i += 1) {
      const due = await readDue(executor);
      if (due.length === 0) return;
      const woken = await wakeDue(executor, session, due, parkTtlSeconds);
      announceWoken(bus, woken);
      if (due.length < SLICE || woken.length === 0) return;
    }
  }

  /** One page of the walk through everything that waits: what was not told that its wait is over goes on. Throws `LeadershipLostError`. */
  async heal(session: LeaderSession): Promise<void> {
    const { executor, bus, log, parkTtlSeconds } = this.#deps;
    const page = await readWaits(executor, this.#walked);
    this.#walked = page.length < WAITS_PAGE ? QUEUE_START.id : (page.at(-1)?.id ?? QUEUE_START.id);
    const missed = page.filter((row) => row.missed).map((row) => row.id);
    if (missed.length === 0) return;
    const woken = await healWaits(executor, session, missed, parkTtlSeconds);
    if (woken.length > 0) log.warn({ executions: woken.map(({ id }) => id) }, 'executions whose wait was over go on');
    announceWoken(bus, woken);
  }

  /** Ends attempts that take longer than their version allows, and cancels that their worker does not answer. Throws `LeadershipLostError`. */
  async endOverdue(session: LeaderSession, live: readonly LiveExecution[]): Promise<void> {
    const { plans, releaser, now, cancelSeconds } = this.#deps;
    await plans.load(live.map((row) => row.versionId));
    const at = now();
    const items = live.flatMap((row): ReleaseItem[] => {
      const { id, generation, workerId, instance } = row;
      const item = { id, generation, workerId, instance, backoffMs: 0 };
      if (row.state === 'CANCELLING') {
        const late = row.cancelRequestedAt !== null && at - row.cancelRequestedAt.getTime() >= cancelSeconds * 1000;
        const message = `the worker did not answer the cancel within ${cancelSeconds} s`;
        return late ? [{ ...item, cause: 'CANCEL_IGNORED', message }] : [];
      }
      const seconds = plans.get(row.versionId)?.timeoutSeconds ?? null;
      if (seconds === null || row.claimedAt === null) return [];
      const late = at - row.claimedAt.getTime() >= (seconds + TIMEOUT_GRACE_SECONDS) * 1000;
      return late ? [{ ...item, cause: 'TIMED_OUT', message: `it took longer than ${seconds} s` }] : [];
    });
    if (items.length > 0) await releaser.release(session, items);
  }
}
