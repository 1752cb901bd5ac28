import type { Bus } from '../bus/bus.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { timeOfId } from './ids.ts';
import type { Executor } from './statements/executor.ts';
import { type LeaderSession, LeadershipLostError } from './statements/fence.ts';
import { QUEUE_START } from './statements/queue-reads.ts';
import {
  checkpoint,
  countEnded,
  deleteEnded,
  deleteOldKeys,
  maintainPartitions,
  oldestExecution,
  RETENTION_SLICE,
  tablesWithDeadRows,
  vacuum,
} from './statements/retention.ts';

const TICK_MS = 1_000;
const RETENTION_EVERY_MS = 60_000;
const PARTITIONS_EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Nothing has happened to an execution for so long: a good moment to clean up. */
const IDLE_MS = 1_000;
const DEAD_ROWS_IDLE = 1_000;
/** So many dead rows cost more than the wait behind a VACUUM. */
const DEAD_ROWS_BUSY = 20_000;
const CHECKPOINT_IDLE_MS = 60_000;
const CHECKPOINT_BUSY_MS = 300_000;
const LAST_ID = 'ffffffffffffffffffffffffffffffff';

export interface HousekeepingDeps {
  executor: Executor;
  bus: Bus;
  kind: 'embedded' | 'postgres';
  /** Ended executions are kept up to both bounds; null: no such bound. */
  retention: { executions: number | null; days: number | null };
  /** The session to write with; null: another replica cleans up. */
  session(): LeaderSession | null;
  clock: Clock;
  /** ms by the database's clock. */
  now(): number;
  log: Log;
}

/** What the leader does when nobody waits for it: retention, partitions, and for the embedded database VACUUM and CHECKPOINT (DESIGN §6). */
export class Housekeeping {
  readonly #deps: HousekeepingDeps;
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | null = null;
  #running: Promise<void> | null = null;
  #closed = false;
  #lastActivity: number;
  #lastCheckpoint: number;
  #nextRetention: number;
  #nextPartitions = Number.NEGATIVE_INFINITY;

  constructor(deps: HousekeepingDeps) {
    this.#deps = deps;
    const now = deps.clock.monotonic();
    this.#lastActivity = now;
    this.#lastCheckpoint = now;
    this.#nextRetention = now + RETENTION_EVERY_MS;
    this.#unsubscribe = deps.bus.subscribe('execution', () => {
      this.#lastActivity = deps.clock.monotonic();
    });
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#running ??= this.tick().finally(() => {
        this.#running = null;
      });
    }, TICK_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe();
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#running;
  }

  /** Whatever is due. Never rejects. */
  async tick(): Promise<void> {
    const { kind, clock } = this.#deps;
    const now = clock.monotonic();
    if (now >= this.#nextPartitions) {
      this.#nextPartitions = now + PARTITIONS_EVERY_MS;
      await this.#guarded('the partitions', () => this.maintainPartitions());
    }
    if (now >= this.#nextRetention) {
      this.#nextRetention = now + RETENTION_EVERY_MS;
      await this.#guarded('the retention', () => this.enforceRetention());
    }
    if (kind === 'embedded') await this.#guarded('the vacuum', () => this.#tidyEmbedded());
  }

  /** Partitions for the coming days; days that no kept execution reaches into are dropped. */
  async maintainPartitions(): Promise<void> {
    const { executor, retention, log, now, session } = this.#deps;
    if (session() === null) return;
    const oldest = await oldestExecution(executor);
    const reach = oldest === null ? 1 : Math.ceil((now() - timeOfId(oldest)) / DAY_MS) + 1;
    const bounded = retention.days !== null || retention.executions !== null;
    const keep = bounded ? Math.max(1, Math.min(reach, retention.days ?? reach)) : null;
    for (const { done, partition } of await maintainPartitions(executor, keep))
      log.info({ partition }, `partition ${done}`);
  }

  /** Deletes ended executions beyond the bounds, in slices, oldest first. Answers how many. */
  async enforceRetention(): Promise<number> {
    const { retention, executor, now } = this.#deps;
    let deleted = 0;
    if (retention.days !== null) {
      const limit = Math.max(0, Math.floor(now() - retention.days * DAY_MS));
      deleted += await this.#deleteOldest(
        limit.toString(16).padStart(12, '0').padEnd(32, '0'),
        Number.POSITIVE_INFINITY,
      );
    }
    if (retention.executions !== null) {
      const excess = (await countEnded(executor)) - retention.executions;
      if (excess > 0) deleted += await this.#deleteOldest(LAST_ID, excess);
    }
    while (!this.#closed && (await deleteOldKeys(executor)) === RETENTION_SLICE);
    if (deleted > 0) this.#deps.log.info({ deleted }, 'ended executions deleted');
    return deleted;
  }

  async #deleteOldest(before: string, atMost: number): Promise<number> {
    const { executor, session } = this.#deps;
    let after = QUEUE_START.id;
    let deleted = 0;
    while (deleted < atMost && !this.#closed) {
      const current = session();
      if (current === null) break;
      const ids = await deleteEnded(executor, current, {
        after,
        before,
        limit: Math.min(RETENTION_SLICE, atMost - deleted),
      });
      const last = ids.at(-1);
      if (last === undefined) break;
      deleted += ids.length;
      after = last;
    }
    return deleted;
  }

  /** One table at a time, so that hot statements get their turn between them. */
  async #tidyEmbedded(): Promise<void> {
    const { executor, clock } = this.#deps;
    const idle = (): boolean => clock.monotonic() - this.#lastActivity >= IDLE_MS;
    for (const { name, dead } of await tablesWithDeadRows(executor, DEAD_ROWS_IDLE)) {
      if (this.#closed) return;
      if (idle() || dead >= DEAD_ROWS_BUSY) await vacuum(executor, name);
    }
    const since = clock.monotonic() - this.#lastCheckpoint;
    if (since < (idle() ? CHECKPOINT_IDLE_MS : CHECKPOINT_BUSY_MS)) return;
    this.#lastCheckpoint = clock.monotonic();
    await checkpoint(executor);
  }

  async #guarded(what: string, run: () => Promise<unknown>): Promise<void> {
    if (this.#closed) return;
    try {
      await run();
    } catch (error) {
      if (error instanceof LeadershipLostError) return;
      this.#deps.log.error({ err: error }, `${what} failed`);
    }
  }
}
