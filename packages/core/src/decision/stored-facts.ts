import { utf8Length } from '../lib/text.ts';
import { parseSelector } from '../policy/values.ts';
import type {
  WorkerAvailability,
  WorkerFacts,
  WorkerPackage,
  WorkerResources,
  WorkerStatus,
} from '../worker/worker-facts.ts';

/** A worker's facts as plain JSON; maps as pairs, so that any key is just a key. The load is not among them. */
export interface StoredFacts {
  readonly status: WorkerStatus;
  readonly statusReasons: readonly string[];
  readonly connected: boolean;
  readonly availability: WorkerAvailability;
  readonly labels: readonly (readonly [string, string])[];
  readonly metadata: readonly (readonly [string, string | number])[];
  readonly metrics: readonly (readonly [string, number])[];
  readonly resources: WorkerResources | null;
  readonly packages: readonly WorkerPackage[];
  readonly runners: readonly string[];
  readonly workflows: readonly string[];
}

/** One candidate of a frame: what it is, and the facts it had. `cut`: its facts were too large, only what was read is here. */
export interface FrameCandidate {
  readonly worker: string;
  readonly instanceId: string;
  readonly role: string;
  readonly capacity: number | null;
  readonly metricsAgeMs: number | null;
  readonly cut: boolean;
  readonly facts: StoredFacts;
}

/** Most bytes of a candidate's facts that a frame takes. */
export const FACTS_MAX_BYTES = 16 * 1024;

const stored = new WeakMap<WorkerFacts, StoredFacts | 'cut'>();

/** The facts as a frame holds them, or 'cut' where they are larger than {@link FACTS_MAX_BYTES}. Kept per facts object. */
function storedFacts(facts: WorkerFacts): StoredFacts | 'cut' {
  const known = stored.get(facts);
  if (known !== undefined) return known;
  const all: StoredFacts = {
    status: facts.status,
    statusReasons: facts.statusReasons,
    connected: facts.connected,
    availability: facts.availability,
    labels: [...facts.labels],
    metadata: [...facts.metadata].filter(([, value]) => typeof value === 'string' || Number.isFinite(value)),
    metrics: [...facts.metrics].filter(([, value]) => Number.isFinite(value)),
    resources: facts.resources,
    packages: facts.packages,
    runners: facts.runners,
    workflows: facts.workflows,
  };
  const result = utf8Length(JSON.stringify(all)) > FACTS_MAX_BYTES ? 'cut' : all;
  stored.set(facts, result);
  return result;
}

/** `read`: the selectors that the frame's decisions read; all that is kept of facts that are too large. */
export function frameCandidate(facts: WorkerFacts, read: Iterable<string>): FrameCandidate {
  const all = storedFacts(facts);
  return {
    worker: facts.name,
    instanceId: facts.instanceId,
    role: facts.role,
    capacity: facts.capacity,
    metricsAgeMs: facts.metricsAgeMs,
    cut: all === 'cut',
    facts: all === 'cut' ? cutFacts(facts, read) : all,
  };
}

function cutFacts(facts: WorkerFacts, read: Iterable<string>): StoredFacts {
  const labels: [string, string][] = [];
  const metadata: [string, string | number][] = [];
  const metrics: [string, number][] = [];
  for (const selector of read) {
    const parsed = parseSelector(selector);
    const key = parsed?.key ?? '';
    const label = parsed?.kind === 'label' ? facts.labels.get(key) : undefined;
    const meta = parsed?.kind === 'meta' ? facts.metadata.get(key) : undefined;
    const metric = parsed?.kind === 'metric' ? facts.metrics.get(key) : undefined;
    if (label !== undefined) labels.push([key, label]);
    if (meta !== undefined && (typeof meta === 'string' || Number.isFinite(meta))) metadata.push([key, meta]);
    if (metric !== undefined && Number.isFinite(metric)) metrics.push([key, metric]);
  }
  return {
    status: facts.status,
    statusReasons: [],
    connected: facts.connected,
    availability: facts.availability,
    labels,
    metadata,
    metrics,
    resources: facts.resources === null ? null : { ...facts.resources, gpus: [] },
    packages: [],
    runners: [],
    workflows: [],
  };
}

/** The facts of a stored candidate with the load it had in one decision. */
export function factsOfCandidate(candidate: FrameCandidate, load: number): WorkerFacts {
  const { facts } = candidate;
  return {
    name: candidate.worker,
    instanceId: candidate.instanceId,
    role: candidate.role,
    status: facts.status,
    statusReasons: facts.statusReasons,
    connected: facts.connected,
    availability: facts.availability,
    labels: new Map(facts.labels),
    metadata: new Map<string, string | number>(facts.metadata),
    metrics: new Map(facts.metrics),
    metricsAgeMs: candidate.metricsAgeMs,
    resources: facts.resources,
    packages: facts.packages,
    runners: facts.runners,
    workflows: facts.workflows,
    capacity: candidate.capacity,
    load,
  };
}
