export type WorkerStatus = 'HEALTHY' | 'UNHEALTHY' | 'STALE' | 'OFFLINE';
export type WorkerAvailability = 'ACTIVE' | 'CORDONED' | 'DRAINING';

/** Measured by the worker when it registered; amounts in bytes, cpu in cores. */
export interface WorkerResources {
  cpu_total?: number | null;
  cpu_available?: number | null;
  memory_total?: number | null;
  memory_available?: number | null;
  disk_total?: number | null;
  disk_free?: number | null;
  gpus?: readonly { name: string; memory_total?: number | null; memory_available?: number | null }[] | null;
}

export interface WorkerPackage {
  name: string;
  version: string;
}

/**
 * What a decision may know of one worker, at one instant. Everything is data: no clock is read later.
 * Labels, metadata and metrics are Maps, so that keys such as `__proto__` are just keys.
 */
export interface WorkerFacts {
  /** Stable over restarts, unique. */
  readonly name: string;
  /** New with every process start. */
  readonly instanceId: string;
  readonly role: string;
  readonly status: WorkerStatus;
  /** One short clause per reason for a status other than HEALTHY, e.g. `check disk failing`. */
  readonly statusReasons: readonly string[];
  /** Its connection is up; a worker without one cannot be given work. */
  readonly connected: boolean;
  readonly availability: WorkerAvailability;
  /** Asserted by the worker at registration; granted services stand here as `flux.service.<name>` = `true`. */
  readonly labels: ReadonlyMap<string, string>;
  /** Written by operators only. */
  readonly metadata: ReadonlyMap<string, string | number>;
  /** Asserted by the worker, live. Snapshots older than 90 s are left out by whoever builds the facts. */
  readonly metrics: ReadonlyMap<string, number>;
  /** Age of the metrics snapshot in ms, null where there is none. */
  readonly metricsAgeMs: number | null;
  readonly resources: WorkerResources | null;
  readonly packages: readonly WorkerPackage[];
  /** Runners it offers. */
  readonly runners: readonly string[];
  /** `namespace/name` of the workflows it has handlers for; empty = any. */
  readonly workflows: readonly string[];
  /** Most executions it takes at once; null = no limit (0 reads as none). */
  readonly capacity: number | null;
  /** Live executions on it, counted by the server (ruling 15). */
  readonly load: number;
}
