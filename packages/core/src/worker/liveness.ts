import type { WorkerAvailability, WorkerStatus } from './worker-facts.ts';

export interface HealthCheck {
  readonly name: string;
  readonly healthy: boolean;
  readonly message?: string | null;
}

/** What the server knows of a worker's life. Every time is milliseconds of the server's (the database's) clock; none is the worker's. */
export interface LivenessFacts {
  readonly registeredAt: number;
  /** When its last heartbeat arrived; null: not heard since the database started. */
  readonly lastSeenAt: number | null;
  /** Since when this replica has been able to hear heartbeats. */
  readonly observedSince: number;
  /** When it said goodbye; counts until it is heard again. */
  readonly leftAt: number | null;
  /** Whether its last heartbeat said that it is healthy. */
  readonly healthy: boolean;
  readonly checks: readonly HealthCheck[];
  readonly connected: boolean;
  readonly availability: WorkerAvailability;
}

export interface LivenessWindows {
  /** Silence from which a worker is STALE. */
  readonly staleMs: number;
  /** Silence from which it is OFFLINE and its executions are released. */
  readonly offlineMs: number;
}

export interface Liveness {
  readonly status: WorkerStatus;
  /** HEALTHY, ACTIVE and connected: it may be given work. */
  readonly eligible: boolean;
  /** Short clauses for people, empty only where nothing is amiss. */
  readonly reasons: readonly string[];
  /** Silence so far. */
  readonly silentMs: number;
  /** How long from now until silence alone changes the status; null where it no longer can. */
  readonly changesInMs: number | null;
}

/**
 * The windows of a fleet that is asked for a heartbeat every `heartbeatSeconds`: STALE after three missed ones and never before `staleSeconds`;
 * OFFLINE as much later as the two settings are apart. The one place where these are computed.
 */
export function livenessWindows(settings: {
  heartbeatSeconds: number;
  staleSeconds: number;
  offlineSeconds: number;
}): LivenessWindows {
  const staleMs = Math.max(3 * settings.heartbeatSeconds, settings.staleSeconds) * 1000;
  const graceMs = Math.max(0, settings.offlineSeconds - settings.staleSeconds) * 1000;
  return { staleMs, offlineMs: staleMs + graceMs };
}

/**
 * The one verdict on a worker's life, for dispatcher, API, metrics and screens alike (DESIGN, "Worker liveness is one function").
 * A registration counts as a sign of life. A worker that was registered before this replica could hear it and has not been heard since is STALE
 * at once, whatever its row says, but OFFLINE (and so released) only after the full silence counted from then.
 */
export function liveness(facts: LivenessFacts, serverNow: number, windows: LivenessWindows): Liveness {
  const heardAt = Math.max(facts.lastSeenAt ?? Number.NEGATIVE_INFINITY, facts.registeredAt);
  const unheard = facts.lastSeenAt === null && facts.registeredAt < facts.observedSince;
  const since = unheard ? facts.observedSince : heardAt;
  const silentMs = Math.max(0, serverNow - since);
  const left = facts.leftAt !== null && facts.leftAt >= heardAt;

  const status = statusOf(facts, { left, unheard, silentMs }, windows);
  const reasons = reasonsOf(facts, status, { left, unheard, silentMs });
  return {
    status,
    eligible: status === 'HEALTHY' && facts.availability === 'ACTIVE' && facts.connected,
    reasons,
    silentMs,
    changesInMs: left ? null : nextChange(silentMs, windows, status),
  };
}

/** What the operator said, and what the worker says about leaving: the stronger of the two. */
export function effectiveAvailability(operator: WorkerAvailability, workerDrains: boolean): WorkerAvailability {
  return workerDrains ? 'DRAINING' : operator;
}

interface Silence {
  left: boolean;
  unheard: boolean;
  silentMs: number;
}

function statusOf(facts: LivenessFacts, silence: Silence, windows: LivenessWindows): WorkerStatus {
  if (silence.left || silence.silentMs >= windows.offlineMs) return 'OFFLINE';
  if (silence.unheard || silence.silentMs >= windows.staleMs) return 'STALE';
  return facts.healthy && facts.checks.every((check) => check.healthy) ? 'HEALTHY' : 'UNHEALTHY';
}

function reasonsOf(facts: LivenessFacts, status: WorkerStatus, silence: Silence): string[] {
  if (silence.left) return ['said goodbye'];
  const reasons: string[] = [];
  if (silence.unheard) reasons.push('not heard since the server started');
  else if (status === 'STALE' || status === 'OFFLINE') {
    reasons.push(`no heartbeat for ${Math.floor(silence.silentMs / 1000)} s`);
  } else if (status === 'UNHEALTHY') {
    const failing = facts.checks.filter((check) => !check.healthy);
    for (const check of failing) {
      reasons.push(`check ${check.name} failing${check.message ? `: ${check.message}` : ''}`);
    }
    if (failing.length === 0) reasons.push('reports itself unhealthy');
  }
  if (!facts.connected) reasons.push('not connected');
  return reasons;
}

function nextChange(silentMs: number, windows: LivenessWindows, status: WorkerStatus): number | null {
  if (status === 'OFFLINE') return null;
  return (status === 'STALE' ? windows.offlineMs : windows.staleMs) - silentMs;
}
