import type { Clock } from '../clock.ts';
import type { Executor, Statement } from './statements/executor.ts';
import type { LeaderSession } from './statements/fence.ts';

const LEASE_SECONDS = 3;
const RENEW_EVERY_MS = 1_000;
/** Shorter than the lease, and counted from the moment the renewal was sent: whoever takes over finds us already silent. */
const STOP_AFTER_MS = 2_000;
/** Raised when a release may not lead beside an older schema's rows. */
const LEADER_VERSION = 1;

const TAKE: Statement = {
  name: 'leadership_take',
  priority: 'hot',
  text: `UPDATE leadership
    SET epoch = epoch + 1, holder = $1, expires_at = clock_timestamp() + make_interval(secs => $2)
    WHERE one AND (expires_at < clock_timestamp() OR $3::bool) AND min_version <= $4
    RETURNING epoch::text AS epoch`,
};
const RENEW: Statement = {
  name: 'leadership_renew',
  priority: 'hot',
  text: `UPDATE leadership SET expires_at = clock_timestamp() + make_interval(secs => $3)
    WHERE one AND epoch = $1::bigint AND holder = $2 AND expires_at > clock_timestamp() RETURNING epoch::text AS epoch`,
};
const RESIGN: Statement = {
  name: 'leadership_resign',
  priority: 'hot',
  text: `UPDATE leadership SET expires_at = 'epoch' WHERE one AND epoch = $1::bigint AND holder = $2 RETURNING epoch::text AS epoch`,
};

export interface LeadershipDeps {
  /** A connection of its own: a renewal never waits behind other work of this process. */
  executor: Executor;
  /** New with every process start. */
  holder: string;
  clock: Clock;
  /** The database is locked to this process, so that nobody else can hold the lease: a restart need not wait for it. */
  exclusive: boolean;
  onGain(session: LeaderSession): void;
  onLoss(session: LeaderSession): void;
  onError(error: unknown): void;
}

/**
 * The election: one row, timed by the database's clock (DESIGN §6). A leader is one until its own monotonic clock says that its last
 * successful renewal was sent 2 s ago; the fence of its statements protects what it wrote in between.
 */
export class Leadership {
  readonly #deps: LeadershipDeps;
  #session: LeaderSession | null = null;
  #lastSent = 0;
  #timer: NodeJS.Timeout | null = null;
  #watchdog: NodeJS.Timeout | null = null;
  #step: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(deps: LeadershipDeps) {
    this.#deps = deps;
  }

  /** The session to write with, or null: not the leader (any more). Looks at the clock each time: a stopped process wakes up deposed. */
  current(): LeaderSession | null {
    if (this.#session !== null && this.#deps.clock.monotonic() - this.#lastSent >= STOP_AFTER_MS) this.stepDown();
    return this.#session;
  }

  /** Tries at once, then each second. Resolves after the first try. */
  async start(): Promise<void> {
    await this.attempt();
    this.#schedule();
  }

  /** One try to take or renew the lease. Errors are reported and count as a failed try. */
  attempt(): Promise<void> {
    this.#step = this.#step.then(() => this.#attempt()).catch((error: unknown) => this.#deps.onError(error));
    return this.#step;
  }

  /** Stops to be the leader at once; the lease runs out by itself. */
  stepDown(): void {
    const session = this.#session;
    if (session === null) return;
    this.#session = null;
    if (this.#watchdog !== null) clearTimeout(this.#watchdog);
    this.#deps.onLoss(session);
  }

  /** Gives the lease back, so that another replica need not wait for it. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#step;
    const session = this.#session;
    this.stepDown();
    if (session === null) return;
    try {
      await this.#deps.executor.run(RESIGN, [session.epoch, session.holder]);
    } catch (error) {
      this.#deps.onError(error);
    }
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      void this.attempt().finally(() => this.#schedule());
    }, RENEW_EVERY_MS);
  }

  async #attempt(): Promise<void> {
    if (this.#closed) return;
    const { executor, holder, clock, exclusive } = this.#deps;
    const sent = clock.monotonic();
    const session = this.current();
    if (session !== null) {
      const { rowCount } = await executor.run(RENEW, [session.epoch, holder, LEASE_SECONDS]);
      if (this.#session !== session) return;
      if (rowCount === 1) this.#extend(sent);
      else this.stepDown();
      return;
    }
    const { rows } = await executor.run<{ epoch: string }>(TAKE, [holder, LEASE_SECONDS, exclusive, LEADER_VERSION]);
    const epoch = rows[0]?.epoch;
    if (epoch === undefined || this.#closed) return;
    this.#session = { epoch, holder };
    this.#extend(sent);
    // Slow answers may have used up the time: then this is no leader from the start.
    const gained = this.current();
    if (gained !== null) this.#deps.onGain(gained);
  }

  #extend(sent: number): void {
    this.#lastSent = sent;
    if (this.#watchdog !== null) clearTimeout(this.#watchdog);
    const left = Math.max(0, sent + STOP_AFTER_MS - this.#deps.clock.monotonic());
    this.#watchdog = setTimeout(() => this.current(), Math.ceil(left) + 1);
    this.#watchdog.unref();
  }
}
