import { type TestDatabase, testDatabase } from '@muster/db/testing';
import { type Bus } from '../../bus/bus.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { createLog } from '../../log.ts';
import type { ScheduleRow } from '../../modules/schedule/schedule-row.ts';
import { type ScheduleContent, ScheduleStore } from '../../modules/schedule/schedule-store.ts';
import { uuidSource } from '../ids.ts';
import { ScheduleSweep, type ScheduleSweepDeps } from '../schedule-sweep.ts';
import { createExecutor, type Executor } from '../statements/executor.ts';
import type { LeaderSession } from '../statements/fence.ts';
import { readDueSchedules } from '../statements/schedule-fire.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const session: LeaderSession = { epoch: '7', holder: 'me' };

interface Sweeper {
  sweep: ScheduleSweep;
  /** Raw ids of the executions that the dispatcher was told of. */
  offered: string[];
  lines: string[];
  bus: Bus;
}

/** Schedules on a real database, and sweeps whose clock the test holds. */
export class ScheduleBench {
  readonly database: TestDatabase;
  readonly db: Executor;
  readonly store: ScheduleStore;
  readonly versionId: number;
  /** The time, in ms. */
  now = 0;
  #made = 0;

  private constructor(database: TestDatabase, versionId: number) {
    this.database = database;
    this.db = createExecutor(database);
    this.versionId = versionId;
    this.store = new ScheduleStore(
      database.prisma,
      this.db,
      () => database.uuidv7(),
      () => database.now(),
    );
  }

  static async open(): Promise<ScheduleBench> {
    const database = await testDatabase();
    const { rows } = await database.query<{ id: number }>(
      `WITH w AS (INSERT INTO workflow (namespace, name, created_by) VALUES ('t', 't', 't') RETURNING id)
       INSERT INTO workflow_version (workflow_id, number, max_attempts, fingerprint, created_by) SELECT id, 1, 2, '\\x00', 't' FROM w RETURNING id`,
    );
    return new ScheduleBench(database, rows[0]?.id ?? 0);
  }

  /** No schedule, and `session` leads. */
  async reset(): Promise<void> {
    await this.database.query('DELETE FROM execution');
    await this.database.query('DELETE FROM schedule');
    await this.database.query(`UPDATE leadership SET epoch = 7, holder = 'me', expires_at = 'infinity'`);
    this.now = Date.parse('2027-03-01T08:00:00Z');
  }

  /** A schedule, by default every hour, whose next run is `inMs` from now. */
  async schedule(content: Partial<ScheduleContent> = {}, inMs = 0): Promise<ScheduleRow> {
    this.#made += 1;
    const next = new Date(this.now + inMs);
    const row = await this.store.create(
      {
        content: {
          name: `s-${this.#made}`,
          kind: 'INTERVAL',
          intervalSeconds: 3_600,
          anchorAt: next,
          workflow: 't/t',
          nextAt: next,
          ...content,
        },
        author: { name: 'owner', address: null, requestId: 'rq' },
        action: 'schedule.create',
      },
      null,
    );
    if (row === 'key-used') throw new Error('no key was used');
    return row;
  }

  sweeper(more: Partial<ScheduleSweepDeps> = {}): Sweeper {
    const offered: string[] = [];
    const lines: string[] = [];
    const bus = createInProcessBus(() => {});
    const sweep = new ScheduleSweep({
      executor: this.db,
      bus,
      ids: uuidSource(this.database),
      session: () => session,
      queue: { offer: (ids) => void offered.push(...ids) },
      targetOf: async () => ({ versionId: this.versionId, deploymentId: null, variant: null, targetRoles: [] }),
      cancel: async () => {},
      parkTtlSeconds: 0,
      now: () => this.now,
      log: createLog('debug', { write: (line: string) => void lines.push(line) }),
      ...more,
    });
    return { sweep, offered, lines, bus };
  }

  /** Until nothing is due at this time. */
  async sweepAll(sweep: ScheduleSweep): Promise<void> {
    for (let i = 0; i < 300; i += 1) {
      await sweep.sweep();
      if ((await readDueSchedules(this.db, new Date(this.now), [])).length === 0) return;
    }
    throw new Error('it does not come to an end');
  }

  /** The planned runs of its executions, in order. */
  async runsOf({ id }: { id: number }): Promise<number[]> {
    const { rows } = await this.database.query<{ run: Date }>(
      'SELECT schedule_run AS run FROM execution WHERE schedule_id = $1 ORDER BY schedule_run',
      [id],
    );
    return rows.map(({ run }) => run.getTime());
  }

  async reread({ id }: { id: number }): Promise<ScheduleRow> {
    const row = (await this.store.byIds([id])).get(id);
    if (row === undefined) throw new Error('the schedule is gone');
    return row;
  }

  /** How many executions there are. */
  async count(): Promise<number> {
    return (await this.database.query<{ n: number }>('SELECT count(*)::int AS n FROM execution')).rows[0]?.n ?? 0;
  }

  async endAll(): Promise<void> {
    await this.database.query(
      `UPDATE execution SET state = 'CANCELLED', finished_state = 'CANCELLED', queued = false, finished_at = now(), finished_seq = 2 WHERE finished_state IS NULL`,
    );
  }
}
