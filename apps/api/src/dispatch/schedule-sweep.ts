import { type DueRun, dueRun, MusterError, spreadDelay } from '@muster/core';
import type { Bus } from '../bus/bus.ts';
import type { Log } from '../log.ts';
import { timingOf } from '../modules/schedule/schedule-row.ts';
import type { UuidSource } from './ids.ts';
import type { Executor } from './statements/executor.ts';
import { type LeaderSession, LeadershipLostError } from './statements/fence.ts';
import {
  type DueSchedule,
  fireSchedule,
  passSchedule,
  readDueSchedules,
  readNextSchedule,
  readOpenOfSchedule,
  readQueuedSchedules,
  type ScheduleTarget,
} from './statements/schedule-fire.ts';

const TICK_MS = 1_000;
const SOON_MS = 5;
/** After a change of leader workers need this time to come back: until then a deployment without a healthy variant is asked again. */
const SETTLING_MS = 10_000;
/** A schedule that was read otherwise than it stands now is left alone for so long. */
const OUTDATED_MS = 100;
/** A schedule that failed for a reason of ours is left alone for so long. */
const AFTER_BUG_MS = 10_000;
/** Schedules that wait for something; beyond that they are not put off but taken as they come. */
const MAX_PUT_OFF = 20_000;

export interface ScheduleSweepDeps {
  executor: Executor;
  bus: Bus;
  ids: UuidSource;
  /** The session to write with; null: another replica looks after the schedules. */
  session(): LeaderSession | null;
  /** The dispatcher of this process. */
  queue: { offer(ids: readonly string[]): void };
  /** What a run starts now. Errors: NOT_FOUND, NO_HEALTHY_VARIANT and others, as `MusterError`. */
  targetOf(schedule: DueSchedule): Promise<ScheduleTarget>;
  /** Asks an execution to stop. Errors: `MusterError` where it has ended or is gone. */
  cancel(executionId: string, by: string): Promise<void>;
  /** Park time of executions of schedules that bring none; 0: for ever. */
  parkTtlSeconds: number;
  /** ms by the database's clock. */
  now(): number;
  log: Log;
}

/**
 * Starts what schedules plan, while this process leads. Each run is one fenced statement, guarded by the very run that the schedule stands at: whoever comes
 * second finds that it has gone on, and what a dead leader left is due for the next one.
 */
export class ScheduleSweep {
  readonly #deps: ScheduleSweepDeps;
  /** By schedule: when to look at it again, by `now`. */
  readonly #putOff = new Map<number, number>();
  #epoch: string | null = null;
  #leadingSince = 0;
  #queuedCursor = 0;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(deps: ScheduleSweepDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#arm(0);
  }

  /** Lets the statement in flight finish. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#running;
  }

  #arm(delay: number): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#running = this.sweep().then((next) => this.#arm(next));
    }, delay);
  }

  /**
   * One look: at most 200 schedules whose run has come, and 200 with a run that waits. Answers after how many ms to look again. Never rejects.
   */
  async sweep(): Promise<number> {
    try {
      const session = this.#deps.session();
      if (session === null) return TICK_MS;
      this.#enter(session);
      await this.#startQueued(session);
      const due = await readDueSchedules(this.#deps.executor, new Date(this.#deps.now()), this.#waiting());
      for (const schedule of due) {
        if (this.#closed) return TICK_MS;
        await this.#contained(schedule, () => this.#take(session, schedule));
      }
      const next = await readNextSchedule(this.#deps.executor, this.#waiting());
      return next === null ? TICK_MS : Math.min(TICK_MS, Math.max(SOON_MS, next.getTime() - this.#deps.now()));
    } catch (error) {
      if (!(error instanceof LeadershipLostError)) this.#deps.log.error({ err: error }, 'the schedules failed');
      return TICK_MS;
    }
  }

  #enter(session: LeaderSession): void {
    if (session.epoch === this.#epoch) return;
    this.#epoch = session.epoch;
    this.#leadingSince = this.#deps.now();
    this.#queuedCursor = 0;
    this.#putOff.clear();
  }

  /** Ids of those that are put off for now. */
  #waiting(): number[] {
    const now = this.#deps.now();
    for (const [id, until] of this.#putOff) if (until <= now) this.#putOff.delete(id);
    return [...this.#putOff.keys()];
  }

  #delay(id: number, until: number): void {
    if (this.#putOff.size < MAX_PUT_OFF) this.#putOff.set(id, until);
  }

  async #startQueued(session: LeaderSession): Promise<void> {
    const { schedules, last } = await readQueuedSchedules(this.#deps.executor, this.#queuedCursor);
    this.#queuedCursor = last;
    const waiting = new Set(this.#waiting());
    for (const schedule of schedules) {
      if (waiting.has(schedule.id)) continue;
      const run = schedule.run.getTime();
      await this.#contained(schedule, () =>
        this.#run(session, schedule, { run, late: false, missed: 0, next: null }, true),
      );
    }
  }

  /** One bad schedule stops only itself: whatever goes wrong with it, the others go on. */
  async #contained(schedule: DueSchedule, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (error instanceof LeadershipLostError) throw error;
      this.#deps.log.error({ err: error, schedule: schedule.name }, 'a schedule failed unexpectedly');
      this.#delay(schedule.id, this.#deps.now() + AFTER_BUG_MS);
    }
  }

  async #take(session: LeaderSession, schedule: DueSchedule): Promise<void> {
    const { executor, now } = this.#deps;
    let plan: DueRun;
    const timing = timingOf(schedule);
    try {
      plan = dueRun(timing, schedule.run.getTime(), now(), schedule.catchUpLimit);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const message = `Its timing cannot be read any more: ${error.message}. It stands still until it is changed.`;
      await this.#fail(session, schedule, { run: schedule.run.getTime(), late: false, missed: 0, next: null }, false, {
        code: 'BAD_INPUT',
        message,
      });
      return;
    }
    if (plan.late && timing.kind === 'INTERVAL') {
      const until = this.#leadingSince + spreadDelay(schedule.id, timing.everyMs);
      if (now() < until && this.#putOff.size < MAX_PUT_OFF) return this.#delay(schedule.id, until);
    }
    if (plan.run !== null) return this.#run(session, schedule, plan, false);
    await passSchedule(executor, session, { schedule, ...dates(plan, schedule.run), queued: false, error: null });
  }

  async #run(session: LeaderSession, schedule: DueSchedule, plan: DueRun, queued: boolean): Promise<void> {
    const { executor, ids, bus, queue, parkTtlSeconds, targetOf, log, now } = this.#deps;
    let target: ScheduleTarget;
    try {
      target = await targetOf(schedule);
    } catch (error) {
      if (!(error instanceof MusterError)) throw error;
      const settling = this.#leadingSince + SETTLING_MS;
      if (error.code === 'NO_HEALTHY_VARIANT' && now() < settling) return this.#delay(schedule.id, now() + TICK_MS);
      return this.#fail(session, schedule, plan, queued, { code: error.code, message: error.message });
    }
    const request = { schedule, ...dates(plan, schedule.run), queued, executionId: ids.next(), target };
    // Before the new one: a leader that dies in between has stopped the old one, and the run is still due.
    if (schedule.overlap === 'REPLACE') await this.#stopOlder(schedule, request.run);
    const result = await fireSchedule(executor, session, { ...request, defaultParkTtlSeconds: parkTtlSeconds });
    // What this process knows of it is not what stands in the tables: it hears that soon.
    if (result === null) return this.#delay(schedule.id, now() + OUTDATED_MS);
    log.debug({ schedule: schedule.name, run: request.run, result }, 'a schedule ran');
    if (result !== 'STARTED') return;
    queue.offer([request.executionId]);
    bus.publish('execution', { id: request.executionId, revision: 1 });
  }

  /** Of earlier runs only: what a newer leader has started for this run is not touched. */
  async #stopOlder(schedule: DueSchedule, run: Date): Promise<void> {
    for (const id of await readOpenOfSchedule(this.#deps.executor, schedule.id, run)) {
      try {
        await this.#deps.cancel(id, `schedule:${schedule.name}`);
      } catch (error) {
        if (!(error instanceof MusterError)) throw error;
      }
    }
  }

  async #fail(
    session: LeaderSession,
    schedule: DueSchedule,
    plan: DueRun,
    queued: boolean,
    error: { code: string; message: string },
  ): Promise<void> {
    this.#deps.log.warn({ schedule: schedule.name, error }, 'a run of a schedule failed');
    await passSchedule(this.#deps.executor, session, { schedule, ...dates(plan, schedule.run), queued, error });
  }
}

function dates({ run, next, missed }: DueRun, read: Date): { run: Date; next: Date | null; missed: number } {
  return { run: run === null ? read : new Date(run), next: next === null ? null : new Date(next), missed };
}
