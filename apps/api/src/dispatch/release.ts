import type { Bus } from '../bus/bus.ts';
import { announceWoken, publishQueued } from './announce.ts';
import type { DispatchFigures } from './figures.ts';
import type { Executor } from './statements/executor.ts';
import type { LeaderSession } from './statements/fence.ts';
import { readLiveOfWorker } from './statements/queue-reads.ts';
import {
  type AttemptFailure,
  type ReleaseCause,
  type ReleasedRow,
  type ReleaseItem,
  type ReleaseSettings,
  releaseAssignments,
} from './statements/release.ts';
import { wokenBy } from './statements/wake.ts';

const SLICE = 200;
const MIN_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 5_000;
/** Executions whose number of refusals in a row is remembered. */
const MAX_REMEMBERED = 10_000;

export interface ReleaserDeps {
  executor: Executor;
  bus: Bus;
  figures: DispatchFigures;
  settings: ReleaseSettings;
}

/** What a worker, or an operator in its name, gives back. */
export interface WorkerRelease {
  workerId: number;
  /** null: whatever instance it was given to. */
  instance: string | null;
  cause: Exclude<ReleaseCause, 'UNCLAIMED' | 'SILENT' | 'DISCONNECTED' | 'TIMED_OUT' | 'CANCEL_IGNORED'>;
  /** For people: what happened, e.g. `worker w-2 said goodbye`. */
  message: string;
  /** Of UNLISTED: claims that were taken later than this stay. */
  claimedBefore?: Date | undefined;
  /** Only these; absent: everything that is live on it. */
  items?: readonly { id: string; generation: number; failure?: AttemptFailure | undefined }[];
}

/** Takes executions back from workers and tells everybody. */
export class Releaser {
  readonly #deps: ReleaserDeps;
  readonly #refusals = new Map<string, number>();

  constructor(deps: ReleaserDeps) {
    this.#deps = deps;
  }

  /** 100 ms after the first refusal in a row, then twice as long each time, at most 5 s. */
  backoffFor(id: string): number {
    return Math.min(MAX_BACKOFF_MS, MIN_BACKOFF_MS * 2 ** (this.#refusals.get(id) ?? 0));
  }

  /** At most 200 a statement. With a session they are statements of the leader and may throw `LeadershipLostError`. */
  async release(session: LeaderSession | null, items: readonly ReleaseItem[]): Promise<ReleasedRow[]> {
    const all: ReleasedRow[] = [];
    for (let i = 0; i < items.length; i += SLICE) {
      const slice = items.slice(i, i + SLICE);
      const rows = await releaseAssignments(this.#deps.executor, session, slice, this.#deps.settings);
      this.#remember(slice, rows);
      this.#tell(rows);
      all.push(...rows);
    }
    return all;
  }

  /** For a worker that gives back or is gone for good; any replica may do it. Ended: FAILED or CANCELLED. */
  async releaseWorker(release: WorkerRelease): Promise<(ReleasedRow & { ended: boolean })[]> {
    const all: ReleasedRow[] = [];
    let held: WorkerRelease['items'] = release.items;
    for (;;) {
      held ??= await readLiveOfWorker(this.#deps.executor, release.workerId, SLICE);
      const rows = await this.release(
        null,
        held.map(({ id, generation, failure }) => ({
          id,
          generation,
          failure,
          workerId: release.workerId,
          instance: release.instance,
          cause: release.cause,
          backoffMs: release.cause === 'RETURNED' ? this.backoffFor(id) : 0,
          message: failure?.message ?? release.message,
          claimedBefore: release.claimedBefore,
        })),
      );
      all.push(...rows);
      // Where a whole page was read and something of it moved, there may be more.
      if (release.items !== undefined || held.length < SLICE || rows.length === 0) break;
      held = undefined;
    }
    return all.map((row) => ({ ...row, ended: row.state === 'FAILED' || row.state === 'CANCELLED' }));
  }

  #remember(items: readonly ReleaseItem[], rows: readonly ReleasedRow[]): void {
    const moved = new Set(rows.map((row) => row.id));
    for (const item of items) {
      if (!moved.has(item.id) || (item.cause !== 'UNCLAIMED' && item.cause !== 'RETURNED')) continue;
      const count = (this.#refusals.get(item.id) ?? 0) + 1;
      this.#refusals.delete(item.id);
      this.#refusals.set(item.id, Math.min(count, 10));
    }
    for (const id of this.#refusals.keys()) {
      if (this.#refusals.size <= MAX_REMEMBERED) break;
      this.#refusals.delete(id);
    }
  }

  #tell(rows: readonly ReleasedRow[]): void {
    if (rows.length === 0) return;
    const { bus, figures } = this.#deps;
    bus.publish('live', { items: rows.map((row) => ({ id: row.id, workerId: null, generation: row.generation })) });
    for (const row of rows) bus.publish('execution', { id: row.id, revision: row.revision });
    announceWoken(bus, wokenBy(rows));
    const failed = rows.filter((row) => row.state === 'FAILED').length;
    if (failed > 0) figures.recordEnd('FAILED', failed);
    const queued = rows.filter((row) => row.state === 'PENDING' || row.state === 'RESUMING').map((row) => row.id);
    if (queued.length === 0) return;
    publishQueued(bus, 'released', queued);
  }
}
