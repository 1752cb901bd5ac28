import type { Bus } from '../bus/bus.ts';
import type { Clock } from '../clock.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { FleetWorker } from '../fleet/worker-record.ts';
import type { Log } from '../log.ts';
import { announceWoken } from './announce.ts';
import type { OpenAssignments } from './assignments.ts';
import { DurableSweeps } from './durable-sweeps.ts';
import type { DispatchFigures } from './figures.ts';
import { findLostWorkers, type LostWorker } from './lost-workers.ts';
import type { PlanCache } from './plan-cache.ts';
import type { Releaser } from './release.ts';
import type { Executor } from './statements/executor.ts';
import { type ExpiredRow, expireExecutions, readExpired } from './statements/expire.ts';
import type { LeaderSession } from './statements/fence.ts';
import { type LiveExecution, readLive, readLiveOfWorker } from './statements/queue-reads.ts';
import type { ReleaseItem } from './statements/release.ts';
import { wokenBy } from './statements/wake.ts';

/** Where much of a role was lost at once, so many executions go back a second. */
const PACED_PER_SECOND = 50;
const SLICE = 200;

export interface SweepDeps {
  executor: Executor;
  bus: Bus;
  fleet: Fleet;
  plans: PlanCache;
  releaser: Releaser;
  open: OpenAssignments;
  figures: DispatchFigures;
  clock: Clock;
  /** ms by the database's clock. */
  now(): number;
  log: Log;
  claimSeconds: number;
  cancelSeconds: number;
  parkTtlSeconds: number;
}

/** What the leader looks after by time: park deadlines, claims that did not come, workers that are gone. All of it is checked again in its statements. */
export class Sweeps {
  readonly #deps: SweepDeps;
  readonly #alerted = new Set<string>();
  /** For what waits or overruns. */
  readonly durable: DurableSweeps;

  constructor(deps: SweepDeps) {
    this.#deps = deps;
    this.durable = new DurableSweeps(deps);
  }

  /** Ends what has waited for longer than its park time (ruling 18). Throws `LeadershipLostError`. */
  async expire(session: LeaderSession): Promise<void> {
    const { executor, plans, bus, figures, parkTtlSeconds } = this.#deps;
    for (;;) {
      const due = await readExpired(executor);
      if (due.length === 0) return;
      await plans.load(due.map((row) => row.versionId));
      const items = due.map((row) => ({ ...row, message: this.#parkMessage(row) }));
      const rows = await expireExecutions(executor, session, items, parkTtlSeconds);
      announceWoken(bus, wokenBy(rows));
      figures.recordEnd('FAILED', rows.length);
      for (const row of rows) bus.publish('execution', { id: row.id, revision: row.revision });
      if (due.length < SLICE || rows.length === 0) return;
    }
  }

  /** Takes back what was not claimed in time (ruling 31). */
  async releaseUnclaimed(session: LeaderSession): Promise<void> {
    const { open, clock, releaser, claimSeconds } = this.#deps;
    for (;;) {
      const due = open.takeOlderThan(clock.monotonic() - claimSeconds * 1000, SLICE);
      if (due.length === 0) return;
      await releaser.release(
        session,
        due.map(({ id, generation, workerId, workerName }) => ({
          id,
          generation,
          workerId,
          instance: null,
          cause: 'UNCLAIMED',
          backoffMs: releaser.backoffFor(id),
          message: `worker ${workerName} did not claim it within ${claimSeconds} s`,
        })),
      );
    }
  }

  /** Takes back what is on workers that are gone. `quietUntil`: until then a lost connection alone proves nothing. */
  async releaseLost(session: LeaderSession, quietUntil: number): Promise<void> {
    const { fleet, now } = this.#deps;
    const { lost, massLoss } = findLostWorkers(fleet.all(), now(), quietUntil);
    this.#alert(massLoss, fleet.all());
    let budget = PACED_PER_SECOND;
    for (const one of lost) {
      if (fleet.loadOf(one.worker.id) === 0) continue;
      const limit = one.paced ? Math.min(SLICE, budget) : SLICE;
      if (limit === 0) continue;
      const count = await this.#releaseWorker(session, one, limit);
      if (one.paced) budget -= count;
    }
  }

  /**
   * Rebuilds the loads from the tables (DESIGN §3): messages that arrive meanwhile are kept and played again on top. Every replica does it; the
   * leader also finds what no message told it.
   */
  async reconcile(session: LeaderSession | null, reapply: () => void): Promise<void> {
    const { executor, fleet, open, clock } = this.#deps;
    fleet.recordLive();
    const rows = await readLive(executor);
    fleet.replaceLive(rows);
    reapply();
    if (session === null) return;
    for (const row of rows) {
      if (row.state !== 'SCHEDULED' || open.has(row.id)) continue;
      const workerName = fleet.byId(row.workerId)?.facts.name ?? `#${row.workerId}`;
      open.add({ ...row, workerName, at: clock.monotonic() });
    }
    await this.#releaseStray(session, rows);
    await this.durable.endOverdue(session, rows);
  }

  /** Executions of instances that were replaced and of workers that were removed, where a replica died before it released them. */
  async #releaseStray(session: LeaderSession, rows: readonly LiveExecution[]): Promise<void> {
    const { fleet, releaser } = this.#deps;
    const items = rows.flatMap((row): ReleaseItem[] => {
      const worker = fleet.byId(row.workerId);
      if (worker !== undefined && worker.facts.instanceId === row.instance) return [];
      const { id, generation, workerId, instance } = row;
      const message =
        worker === undefined ? 'its worker was removed' : `worker ${worker.facts.name} was replaced by a newer process`;
      return [
        {
          id,
          generation,
          workerId,
          instance,
          cause: worker === undefined ? 'REMOVED' : 'REPLACED',
          backoffMs: 0,
          message,
        },
      ];
    });
    if (items.length > 0) await releaser.release(session, items);
  }

  async #releaseWorker(session: LeaderSession, { worker, cause, message }: LostWorker, limit: number): Promise<number> {
    const { executor, releaser, log } = this.#deps;
    const held = await readLiveOfWorker(executor, worker.id, limit);
    const rows = await releaser.release(
      session,
      held.map(({ id, generation, instance }) => ({
        id,
        generation,
        workerId: worker.id,
        instance,
        cause,
        backoffMs: 0,
        message,
      })),
    );
    if (rows.length > 0)
      log.warn({ worker: worker.facts.name, cause, executions: rows.length }, 'released from a lost worker');
    return rows.length;
  }

  /** Once per role and occurrence. */
  #alert(massLoss: readonly string[], workers: readonly FleetWorker[]): void {
    for (const role of massLoss) {
      if (this.#alerted.has(role)) continue;
      this.#alerted.add(role);
      const members = workers.filter((worker) => worker.facts.role === role);
      const gone = members.filter((worker) => !worker.facts.connected || worker.facts.status !== 'HEALTHY').length;
      this.#deps.log.error(
        { role, gone, workers: members.length, alert: 'MASS_LOSS' },
        'much of a role was lost at once: its claims are kept until it is silent for good, and go back slowly',
      );
    }
    for (const role of this.#alerted) if (!massLoss.includes(role)) this.#alerted.delete(role);
  }

  #parkMessage(row: ExpiredRow): string {
    const parts: string[] = [];
    if (row.requiredWorker !== null) parts.push(`worker ${row.requiredWorker}`);
    if (row.targetRoles.length > 0) parts.push(`role ${row.targetRoles.join(' or ')}`);
    const affinity = this.#deps.plans.get(row.versionId)?.affinityText ?? null;
    if (affinity !== null) parts.push(affinity);
    const wanted = parts.length === 0 ? '' : ` (wanted: ${parts.join('; ')})`;
    return `no worker could take it within its park time${wanted}`;
  }
}
