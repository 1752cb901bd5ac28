import type { ScheduleTiming } from '@muster/core';

export type ScheduleKind = 'CRON' | 'INTERVAL' | 'ONCE';
/** What happens to a run while an execution of the schedule has not ended. */
export type ScheduleOverlap = 'SKIP' | 'QUEUE_ONE' | 'ALLOW' | 'REPLACE';
export type ScheduleResult = 'STARTED' | 'SKIPPED' | 'QUEUED' | 'MISSED' | 'FAILED';

/** The columns that say when it runs. */
export interface TimingColumns {
  kind: ScheduleKind;
  cron: string | null;
  timeZone: string;
  intervalSeconds: number | null;
  anchorAt: Date | null;
  onceAt: Date | null;
}

/** What it calls: a workflow (in a fixed version, or the newest) or a deployment, by name. */
export interface TargetColumns {
  /** `namespace/name` */
  workflow: string | null;
  versionId: number | null;
  /** Slug. */
  deployment: string | null;
  sessionKey: string | null;
}

/** A schedule as lists read it: everything but its input, which may be large, and its routing input, which nobody reads. */
export interface ScheduleRow extends TimingColumns, TargetColumns {
  id: number;
  name: string;
  description: string | null;
  overlap: ScheduleOverlap;
  catchUpLimit: number;
  priority: number;
  parkTtlSeconds: number | null;
  paused: boolean;
  pausedBy: string | null;
  pausedAt: Date | null;
  nextAt: Date | null;
  queuedAt: Date | null;
  lastAt: Date | null;
  lastResult: ScheduleResult | null;
  lastResultAt: Date | null;
  /** Raw UUID. */
  lastExecutionId: string | null;
  lastError: { code: string; message: string } | null;
  lastErrorAt: Date | null;
  startedCount: number;
  skippedCount: number;
  missedCount: number;
  failedCount: number;
  revision: number;
  createdBy: string;
  createdAt: Date;
  updatedBy: string;
  updatedAt: Date;
}

/** When it runs, as the rules take it. The columns fit their kind: the table checks it. */
export function timingOf(row: TimingColumns): ScheduleTiming {
  switch (row.kind) {
    case 'CRON':
      return { kind: 'CRON', cron: row.cron ?? '', timeZone: row.timeZone };
    case 'INTERVAL':
      return { kind: 'INTERVAL', everyMs: (row.intervalSeconds ?? 0) * 1_000, anchor: row.anchorAt?.getTime() ?? 0 };
    case 'ONCE':
      return { kind: 'ONCE', at: row.onceAt?.getTime() ?? 0 };
  }
}
