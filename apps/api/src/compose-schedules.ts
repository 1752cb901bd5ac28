import type { Config } from './config.ts';
import type { ControlPlane } from './control-plane.ts';
import { ScheduleSweep } from './dispatch/schedule-sweep.ts';
import type { ScheduleTarget } from './dispatch/statements/schedule-fire.ts';
import type { Log } from './log.ts';
import type { TargetColumns } from './modules/schedule/schedule-row.ts';
import { ScheduleService } from './modules/schedule/schedule-service.ts';
import { ScheduleStore } from './modules/schedule/schedule-store.ts';
import { onBehalfOf, type Viewer } from './modules/viewer/viewer.ts';

export interface ScheduleOptions {
  config: Config;
  log: Log;
  /** Uniform in [0, 1). */
  random: () => number;
  /** What a run starts now. */
  targetOf(target: TargetColumns, viewer: Viewer): Promise<ScheduleTarget>;
}

export interface Schedules {
  store: ScheduleStore;
  service: ScheduleService;
  /** Not started yet. */
  sweep: ScheduleSweep;
}

/** Schedules as users write them, and what starts their runs while this process leads. */
export function createSchedules(plane: ControlPlane, { config, log, random, targetOf }: ScheduleOptions): Schedules {
  const { database, executor, bus, ids, dispatcher, executions, idempotencyKey } = plane;
  const now = (): number => database.now();
  const store = new ScheduleStore(database.prisma, executor, () => ids.next(), now);
  const shared = {
    executor,
    bus,
    ids,
    queue: dispatcher,
    parkTtlSeconds: config.parkTtlSeconds,
    now,
    log,
  };
  return {
    store,
    service: new ScheduleService({ ...shared, targetOf, store, random, idempotencyKey }),
    sweep: new ScheduleSweep({
      ...shared,
      targetOf: (schedule) => targetOf(schedule, onBehalfOf(schedule.updatedBy)),
      session: () => dispatcher.session(),
      cancel: (id, by) => executions.cancel(id, onBehalfOf(by)),
    }),
  };
}
