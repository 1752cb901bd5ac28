import type { FleetWorker } from '../fleet/worker-record.ts';
import type { ReleaseCause } from './statements/release.ts';

/** How long a worker may be without connection before its claims are released. */
export const DISCONNECT_GRACE_MS = 5_000;
/** After a start, a stop or a change of leader, connections prove nothing for so long: only silence counts. */
export const QUIET_AFTER_CHANGE_MS = 60_000;
const MASS_WINDOW_MS = 5_000;
const MASS_LEAST = 5;
const MASS_PART = 0.1;
/** A worker that was lost longer ago and holds nothing says nothing about what goes on now. */
const REMEMBERED_MS = 600_000;

export interface LostWorker {
  worker: FleetWorker;
  cause: Extract<ReleaseCause, 'SILENT' | 'DISCONNECTED' | 'LEFT'>;
  /** Much of its role was lost at once: its executions go back slowly. */
  paced: boolean;
  /** For the attempt's record. */
  message: string;
}

export interface LostVerdict {
  lost: LostWorker[];
  /** Roles of which too many workers went at once. */
  massLoss: string[];
}

/**
 * Whose executions are to be released (DESIGN §5). `now`: ms by the database's clock; `quietUntil`: until then a lost connection alone proves nothing.
 * Where more than max(5, 10 %) of a role went within 5 s, the cause is more likely the network or a replica than the workers: then
 * only silence counts, and what is released goes slowly.
 */
export function findLostWorkers(workers: readonly FleetWorker[], now: number, quietUntil: number): LostVerdict {
  const byRole = new Map<string, FleetWorker[]>();
  for (const worker of workers) {
    if (!worker.registered) continue;
    const list = byRole.get(worker.facts.role) ?? [];
    list.push(worker);
    byRole.set(worker.facts.role, list);
  }
  const lost: LostWorker[] = [];
  const massLoss: string[] = [];
  for (const [role, members] of byRole) {
    const many = Math.max(MASS_LEAST, MASS_PART * members.length);
    const atOnce = mostWithin(
      members.flatMap((worker) => lostAt(worker, now) ?? []),
      MASS_WINDOW_MS,
    );
    const mass = atOnce > many;
    if (mass) massLoss.push(role);
    for (const worker of members) {
      const verdict = judge(worker, now, mass || now < quietUntil);
      if (verdict !== null) lost.push({ worker, ...verdict, paced: mass && verdict.cause !== 'LEFT' });
    }
  }
  return { lost, massLoss };
}

function judge(worker: FleetWorker, now: number, onlySilence: boolean): Pick<LostWorker, 'cause' | 'message'> | null {
  const { name, status } = worker.facts;
  if (status === 'OFFLINE') {
    if (worker.leftAt !== null) return { cause: 'LEFT', message: `worker ${name} said goodbye` };
    return { cause: 'SILENT', message: `worker ${name} was not heard any more` };
  }
  if (onlySilence || worker.facts.connected || worker.disconnectedAt === null) return null;
  if (now - worker.disconnectedAt < DISCONNECT_GRACE_MS) return null;
  return { cause: 'DISCONNECTED', message: `worker ${name} lost its connection` };
}

/** When it was lost without having said goodbye; null where it is there, or its loss is an old story. */
function lostAt(worker: FleetWorker, now: number): number | null {
  const { status, load } = worker.facts;
  if (worker.leftAt !== null) return null;
  const silent = status === 'OFFLINE' || status === 'STALE';
  const at = worker.disconnectedAt ?? (silent ? worker.lastSeenAt.getTime() : null);
  return at !== null && (load > 0 || now - at < REMEMBERED_MS) ? at : null;
}

/** The most of these instants that lie within one window. */
function mostWithin(times: readonly number[], window: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  let most = 0;
  let first = 0;
  for (const [index, time] of sorted.entries()) {
    while (time - (sorted[first] ?? time) > window) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
