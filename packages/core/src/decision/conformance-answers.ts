import { compileAffinity, passesCheck, resolveAffinity } from '../constraints/affinity.ts';
import { compileRequests, meetsRequests } from '../constraints/resource-requests.ts';
import type { JsonObject, JsonValue } from '../lib/json.ts';
import type { WorkerFacts, WorkerPackage, WorkerResources } from '../worker/worker-facts.ts';
import { decideTraced } from './decide.ts';
import { prepareFleet, readSelector } from './fleet.ts';
import { compilePlan } from './plan.ts';

/** A worker as the conformance vectors write it; left out = none. */
export interface VectorWorker {
  readonly name: string;
  readonly load: number;
  readonly capacity?: number | null;
  readonly labels?: Readonly<Record<string, string>> | null;
  readonly metadata?: Readonly<Record<string, string | number>> | null;
  readonly metrics?: Readonly<Record<string, number>> | null;
  readonly resources?: WorkerResources | null;
  readonly packages?: readonly WorkerPackage[] | null;
}

export interface ScoringVector {
  readonly policy: unknown;
  readonly workers: readonly VectorWorker[];
  readonly input?: JsonValue;
  readonly routingInput?: JsonObject | null;
  readonly preferredWorker?: string | null;
}

export interface AffinityVector {
  readonly affinity: unknown;
  readonly worker: VectorWorker;
  readonly input?: JsonValue;
  readonly routingInput?: JsonObject | null;
}

export interface RequestsVector {
  readonly requests: unknown;
  readonly worker: VectorWorker;
}

export interface ScoringAnswer {
  readonly stage: 'policy' | 'fallback' | 'hint' | 'leastLoaded';
  readonly scores: Readonly<Record<string, number>> | null;
  readonly ranking: readonly string[] | null;
  readonly winner: string | null;
}

/** Ranks the vector's workers, all eligible, with the code that dispatches. At most 50 workers, as many as a decision keeps. */
export function answerScoring(vector: ScoringVector): ScoringAnswer {
  const plan = compilePlan({ workflowRef: null, policy: vector.policy, affinity: null, requests: null, runner: null });
  // All are eligible in the vectors: a worker at capacity is one whose utilization is 1 or more.
  const fleet = prepareFleet(vector.workers.map(factsOfVector));
  fleet.capacities.fill(Number.POSITIVE_INFINITY);
  const { decision } = decideTraced(
    plan,
    fleet,
    {
      input: vector.input,
      routingInput: vector.routingInput ?? null,
      targetRoles: [],
      requiredWorker: null,
      preferredWorker: vector.preferredWorker ?? null,
      unclaimedBefore: [],
    },
    { revealed: true },
  );
  const { winner } = decision;
  if (decision.method === 'HINT') return { stage: 'hint', scores: null, ranking: null, winner };
  if (decision.method === 'LEAST_LOADED') {
    return { stage: plan.policy === null ? 'leastLoaded' : 'fallback', scores: null, ranking: null, winner };
  }
  const scores = Object.fromEntries(decision.candidates.map((candidate) => [candidate.worker, candidate.total ?? 0]));
  return { stage: 'policy', scores, ranking: decision.candidates.map((candidate) => candidate.worker), winner };
}

/** Whether the worker matches, and the first problem that would fail the execution. */
export function answerAffinity(vector: AffinityVector): {
  match: boolean;
  diagnostic: 'unresolved' | 'invalid' | 'malformed' | 'routing-blind' | null;
} {
  const affinity = compileAffinity(vector.affinity);
  if (affinity === null) return { match: true, diagnostic: null };
  const source = { input: vector.input, routingInput: vector.routingInput ?? null };
  const { checks, problems } = resolveAffinity(affinity, source);
  const [first] = problems;
  if (first !== undefined) return { match: false, diagnostic: first.routing ? 'routing-blind' : first.kind };
  const facts = factsOfVector(vector.worker);
  const match = checks.every((check) => passesCheck(check, (selector) => readSelector(facts, selector, facts.load)));
  return { match, diagnostic: null };
}

export function answerRequests(vector: RequestsVector): { match: boolean } {
  return { match: meetsRequests(compileRequests(vector.requests), factsOfVector(vector.worker)) };
}

function factsOfVector(worker: VectorWorker): WorkerFacts {
  return {
    name: worker.name,
    instanceId: worker.name,
    role: 'worker',
    status: 'HEALTHY',
    statusReasons: [],
    connected: true,
    availability: 'ACTIVE',
    labels: new Map(Object.entries(worker.labels ?? {})),
    metadata: new Map(Object.entries(worker.metadata ?? {})),
    metrics: new Map(Object.entries(worker.metrics ?? {})),
    metricsAgeMs: worker.metrics === undefined || worker.metrics === null ? null : 0,
    resources: worker.resources ?? null,
    packages: worker.packages ?? [],
    runners: [],
    workflows: [],
    capacity: worker.capacity ?? null,
    load: worker.load,
  };
}
