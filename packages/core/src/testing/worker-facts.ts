import type { DispatchRequest } from '../decision/request.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';

/** A healthy worker with nothing special, for tests. Records may stand for the maps. */
export function workerFacts(
  name: string,
  more: Partial<Omit<WorkerFacts, 'labels' | 'metadata' | 'metrics'>> & {
    labels?: Record<string, string>;
    metadata?: Record<string, string | number>;
    metrics?: Record<string, number>;
  } = {},
): WorkerFacts {
  const { labels, metadata, metrics, ...rest } = more;
  return {
    name,
    instanceId: `i-${name}`,
    role: 'worker',
    status: 'HEALTHY',
    statusReasons: [],
    connected: true,
    availability: 'ACTIVE',
    metricsAgeMs: metrics === undefined ? null : 1000,
    resources: null,
    packages: [],
    runners: ['inprocess'],
    workflows: [],
    capacity: null,
    load: 0,
    ...rest,
    labels: new Map(Object.entries(labels ?? {})),
    metadata: new Map(Object.entries(metadata ?? {})),
    metrics: new Map(Object.entries(metrics ?? {})),
  };
}

/** An execution with nothing special, for tests. */
export function dispatchRequest(more: Partial<DispatchRequest> = {}): DispatchRequest {
  return {
    input: {},
    routingInput: null,
    targetRoles: [],
    requiredWorker: null,
    preferredWorker: null,
    unclaimedBefore: [],
    ...more,
  };
}
