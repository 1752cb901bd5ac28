import type { Bus } from '../bus/bus.ts';
import type { Clock } from '../clock.ts';
import type { Fleet, FleetChange } from '../fleet/fleet.ts';
import type { Log } from '../log.ts';
import type { DecisionStore } from '../modules/decision/decision-store.ts';
import type { FreshExecution } from '../modules/execution/submitter.ts';
import type { Decision } from '@muster/core';
import { OpenAssignments } from './assignments.ts';
import { MAX_BATCH } from './batcher.ts';
import { Canceller } from './canceller.ts';
import type { Dispatcher as DispatcherApi, DispatchStats, PreviewRequest } from './dispatch-api.ts';
import { DispatchCycle } from './dispatch-cycle.ts';
import type { DispatchFigures } from './figures.ts';
import type { UuidSource } from './ids.ts';
import { Inquiry } from './inquiry.ts';
import { Leadership } from './leadership.ts';
import { QUIET_AFTER_CHANGE_MS } from './lost-workers.ts';
import { PendingWork, type Shape } from './pending.ts';
import { PlanCache, type VersionSource } from './plan-cache.ts';
import { QueueLoader } from './queue-loader.ts';
import { QueueWalk } from './queue-walk.ts';
import type { Releaser } from './release.ts';
import type { Executor } from './statements/executor.ts';
import { type LeaderSession, LeadershipLostError } from './statements/fence.ts';
import { Sweeps } from './sweeps.ts';

const TICK_MS = 1_000;
const RECONCILE_MS = 5_000;
/** A new leader does not call anything parked before workers have had this time to come back. */
const MARK_AFTER_MS = 2_000;
/** Shapes waiting aside that are looked at again each second, whatever has or has not been heard. */
const REEXAMINED_PER_TICK = 64;
const MAX_PARKED_REASONS = 10;
/** Statements of marks in one tick. */
const MARKS_PER_TICK = 5;

export interface DispatcherDeps {
  executor: Executor;
  /** On a connection of its own, for the lease. */
  leaseExecutor: Executor;
  bus: Bus;
  fleet: Fleet;
  versions: VersionSource;
  decisions: DecisionStore;
  releaser: Releaser;
  figures: DispatchFigures;
  ids: UuidSource;
  clock: Clock;
  /** ms by the database's clock. */
  now(): number;
  log: Log;
  settings: {
    claimSeconds: number;
    cancelSeconds: number;
    /** Park time of executions that bring none; 0: for ever. */
    parkTtlSeconds: number;
    /** false: a replica that never leads. */
    mayLead: boolean;
    /** The database belongs to this process alone. */
    exclusive: boolean;
    /** New with every process start. */
    holder: string;
  };
}

/**
 * Dispatches while it leads: woken by whatever may make work placeable (ruling 28), healed by a slow tick. The decisions and writes are the
 * cycle's, the passing of time is the sweeps'; here is who wakes whom.
 */
export class Dispatcher implements DispatcherApi {
  readonly #deps: DispatcherDeps;
  readonly #pending = new PendingWork();
  readonly #open = new OpenAssignments();
  readonly #plans: PlanCache;
  readonly #loader: QueueLoader;
  readonly #cycle: DispatchCycle;
  readonly #walk: QueueWalk;
  readonly #sweeps: Sweeps;
  readonly #inquiry: Inquiry;
  readonly #canceller: Canceller;
  readonly #leadership: Leadership;
  readonly #toRead = new Set<string>();
  readonly #stops: (() => void)[] = [];
  #running: Promise<void> | null = null;
  #again = false;
  #ticking: Promise<void> | null = null;
  #due: NodeJS.Timeout | null = null;
  #scan = false;
  #leadingSince = 0;
  #lastReconcile = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    const { executor, settings } = deps;
    this.#plans = new PlanCache(deps.versions);
    this.#loader = new QueueLoader(executor, this.#plans);
    const { claimSeconds, cancelSeconds, parkTtlSeconds } = settings;
    const shared = { ...deps, plans: this.#plans, pending: this.#pending, open: this.#open, parkTtlSeconds };
    this.#cycle = new DispatchCycle({ ...shared, reread: (ids) => this.offer(ids) });
    this.#walk = new QueueWalk({
      executor,
      pending: this.#pending,
      isTaken: (id) => this.#cycle.isInFlight(id) || this.#open.has(id),
      read: (ids) => this.#read(ids),
    });
    this.#sweeps = new Sweeps({ ...shared, claimSeconds, cancelSeconds });
    this.#inquiry = new Inquiry({
      fleet: deps.fleet,
      plans: this.#plans,
      loader: this.#loader,
      decisions: deps.decisions,
    });
    this.#canceller = new Canceller(shared);
    this.#leadership = new Leadership({
      executor: deps.leaseExecutor,
      holder: settings.holder,
      exclusive: settings.exclusive,
      clock: deps.clock,
      onGain: (session) => this.#gained(session),
      onLoss: (session) => this.#lost(session),
      onError: (error) => deps.log.warn({ err: error }, 'the leadership could not be taken or renewed'),
    });
  }

  get leading(): boolean {
    return this.#leadership.current() !== null;
  }

  /** To write with, as long as this process leads. */
  session(): LeaderSession | null {
    return this.#leadership.current();
  }

  /** Takes part in the election (unless it may not lead) and dispatches while it leads. */
  async start(): Promise<void> {
    const { bus, fleet, settings } = this.#deps;
    this.#stops.push(
      bus.subscribe('execution', ({ id, revision }) => this.#heard(id, revision)),
      bus.subscribe('wake', ({ reason, ids }) => (ids === undefined ? this.wake(reason) : this.offer(ids))),
      bus.subscribe('resync', () => this.wake('resync')),
      fleet.onChange((change) => this.#fleetChanged(change)),
    );
    const timer = setInterval(() => this.#tick(), TICK_MS);
    this.#stops.push(() => clearInterval(timer));
    if (settings.mayLead) await this.#leadership.start();
    this.#tick();
  }

  /** Stops to decide, waits for the statements in flight, gives leadership up. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const stop of this.#stops.splice(0)) stop();
    if (this.#due !== null) clearTimeout(this.#due);
    await this.#running;
    await this.#ticking;
    await this.#leadership.close();
  }

  /** Something may have become placeable: takes another look soon. Cheap, may be called often. */
  wake(_reason: string): void {
    if (!this.leading) return;
    this.#scan = true;
    this.#schedule();
  }

  /** These executions have become queued (submitted or released): read them and consider them. A hint. */
  offer(ids: readonly string[]): void {
    if (!this.leading || ids.length === 0) return;
    for (const id of ids) this.#toRead.add(id);
    this.#schedule();
  }

  /** Executions that this process has just stored: nothing needs to be read. */
  accept(fresh: readonly FreshExecution[]): void {
    if (!this.leading) return;
    const now = this.#deps.now();
    for (const execution of fresh) {
      const entry = this.#loader.fresh(execution);
      if (entry === null) this.#toRead.add(execution.id);
      else this.#pending.add(entry, now);
    }
    this.#schedule();
  }

  preview(request: PreviewRequest): Promise<Decision> {
    return this.#inquiry.preview(request);
  }

  whyWaiting(executionIds: readonly string[]): Promise<Map<string, Decision>> {
    return this.#inquiry.whyWaiting(executionIds);
  }

  stats(): DispatchStats {
    const reasons = new Map<string, { reason: string; count: number; oldest: Date }>();
    for (const shape of this.#pending.asideShapes()) {
      const reason = shape.aside?.reason;
      if (reason === undefined || shape.entries.length === 0) continue;
      const oldest = new Date(Math.min(...shape.entries.map((entry) => entry.queuedAt)));
      const known = reasons.get(reason) ?? { reason, count: 0, oldest };
      known.count += shape.entries.length;
      if (oldest < known.oldest) known.oldest = oldest;
      reasons.set(reason, known);
    }
    const parkedReasons = [...reasons.values()].toSorted((a, b) => b.count - a.count).slice(0, MAX_PARKED_REASONS);
    return { ...this.#deps.figures.read(), parkedReasons };
  }

  #gained(session: LeaderSession): void {
    this.#deps.log.info({ epoch: session.epoch }, 'dispatching now');
    this.#leadingSince = this.#deps.now();
    this.#forget();
    this.#lastReconcile = Number.NEGATIVE_INFINITY;
    this.#scan = true;
    this.#tick();
    this.#schedule();
  }

  #lost(session: LeaderSession): void {
    this.#deps.log.warn({ epoch: session.epoch }, 'not dispatching any more');
    this.#forget();
  }

  #forget(): void {
    this.#pending.clear();
    this.#open.clear();
    this.#cycle.clear();
    this.#walk.reset();
    this.#toRead.clear();
  }

  /** A hint about an execution: claimed, cancelled, or made elsewhere. */
  #heard(id: string, revision: number): void {
    if (!this.leading) return;
    this.#open.heard(id, revision);
    const entry = this.#pending.get(id);
    const outdated = entry !== undefined && revision > entry.revision;
    const unknown = revision === 1 && entry === undefined && !this.#cycle.isInFlight(id) && !this.#open.has(id);
    if (outdated || unknown) this.offer([id]);
  }

  #fleetChanged(change: FleetChange): void {
    if (!change.helpful || !this.leading) return;
    const { fleet } = this.#deps;
    const roles = new Set<string>();
    for (const name of change.names) {
      const role = fleet.get(name)?.facts.role;
      if (role !== undefined) roles.add(role);
    }
    const helps = (shape: Shape): boolean =>
      (shape.targetRoles.length === 0 || shape.targetRoles.some((role) => roles.has(role))) &&
      (shape.requiredWorker === null || change.names.has(shape.requiredWorker));
    if (this.#pending.reconsider(helps) > 0) this.#schedule();
  }

  /** At the end of the present task; what comes meanwhile is one more round. */
  #schedule(): void {
    this.#again = true;
    if (this.#running !== null || this.#closed) return;
    this.#running = Promise.resolve()
      .then(() => this.#work())
      .catch((error: unknown) => this.#failed(error, 'the dispatch was interrupted'))
      .finally(() => {
        this.#running = null;
        if (this.#again && !this.#closed && this.leading) this.#schedule();
      });
  }

  async #work(): Promise<void> {
    const session = (): LeaderSession | null => (this.#closed ? null : this.#leadership.current());
    while (this.#again && session() !== null) {
      this.#again = false;
      if (this.#scan) {
        this.#scan = false;
        await this.#walk.head();
      }
      await this.#readOffered();
      await this.#cycle.run(session);
      if (await this.#walk.refill()) this.#again = true;
      const current = session();
      if (current !== null && this.#mayMark() && (await this.#cycle.mark(current, false, 0)) > 0) this.#again = true;
    }
    this.#awaitDue();
  }

  /** A queue that is only full says so on its rows at 1,000 a second: as fast as they may come, without holding up what can be placed. */
  async #markSettled(session: LeaderSession, since: number): Promise<void> {
    for (let i = 0; i < MARKS_PER_TICK; i += 1) {
      if ((await this.#cycle.mark(session, true, since)) < MAX_BATCH) return;
    }
  }

  #mayMark(): boolean {
    return this.#deps.now() - this.#leadingSince >= MARK_AFTER_MS;
  }

  async #readOffered(): Promise<void> {
    while (this.#toRead.size > 0) {
      const ids = [...this.#toRead].slice(0, 1_000);
      for (const id of ids) this.#toRead.delete(id);
      await this.#read(ids.filter((id) => !this.#cycle.isInFlight(id)));
    }
  }

  /** Reads these rows and puts those that are queued where they belong; those that are not leave the queue. */
  async #read(ids: readonly string[]): Promise<void> {
    const entries = await this.#loader.load(ids);
    if (!this.leading) return;
    const now = this.#deps.now();
    const queued = new Set(entries.map((entry) => entry.id));
    for (const id of ids) if (!queued.has(id)) this.#pending.remove(id);
    for (const entry of entries) if (!this.#cycle.isInFlight(entry.id)) this.#pending.add(entry, now);
  }

  /** Wakes itself when the next back-off is over. */
  #awaitDue(): void {
    if (this.#due !== null) clearTimeout(this.#due);
    this.#due = null;
    const due = this.#pending.nextDue();
    if (due === null || this.#closed) return;
    this.#due = setTimeout(() => this.#schedule(), Math.max(1, due - this.#deps.now()));
    this.#due.unref();
  }

  #tick(): void {
    if (this.#closed) return;
    this.#ticking ??= this.#slowTick().finally(() => {
      this.#ticking = null;
    });
  }

  /** Heals what hints did not tell. Each part fails alone. */
  async #slowTick(): Promise<void> {
    const { clock, now, fleet } = this.#deps;
    const session = this.#leadership.current();
    const part = async (name: string, run: () => Promise<unknown>): Promise<void> => {
      try {
        await run();
      } catch (error) {
        this.#failed(error, `${name} failed`);
      }
    };
    if (clock.monotonic() - this.#lastReconcile >= RECONCILE_MS) {
      this.#lastReconcile = clock.monotonic();
      await part('the rebuild of the loads', () => this.#sweeps.reconcile(session, () => this.#cycle.reapplyLoads()));
    }
    if (session === null) return;
    await part('the park deadlines', () => this.#sweeps.expire(session));
    await part('the release of what was not claimed', () => this.#sweeps.releaseUnclaimed(session));
    const quietUntil = Math.max(fleet.listeningSince, this.#leadingSince) + QUIET_AFTER_CHANGE_MS;
    await part('the release of lost work', () => this.#sweeps.releaseLost(session, quietUntil));
    await part('the timers', () => this.#sweeps.durable.wake(session));
    await part('the walk through the waiting', () => this.#sweeps.durable.heal(session));
    await part('the children of cancelled executions', () => this.#canceller.cancelChildren());
    await part('the walk through the queue', () => this.#walk.step());
    if (this.#mayMark()) await part('the marks', () => this.#markSettled(session, now() - TICK_MS));
    this.#pending.reconsider(() => true, REEXAMINED_PER_TICK);
    this.#schedule();
  }

  #failed(error: unknown, what: string): void {
    if (error instanceof LeadershipLostError) this.#leadership.stepDown();
    else this.#deps.log.error({ err: error }, what);
  }
}
