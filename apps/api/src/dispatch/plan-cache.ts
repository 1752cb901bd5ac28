import {
  affinityNamesRoutingInput,
  compilePlan,
  type DispatchPlan,
  type DispatchRules,
  formatPolicy,
} from '@muster/core';
import { type VersionPaths, versionPaths } from './projection.ts';

/** What the dispatcher needs of a workflow version. */
export interface VersionRules {
  id: number;
  workflowRef: string;
  routing: unknown;
  affinity: unknown;
  requests: unknown;
  runner: string | null;
  timeoutSeconds: number | null;
}

/** Versions are immutable, so what is made of them is kept. */
export interface VersionSource {
  /** Unknown ids are left out. */
  versionsByIds(ids: readonly number[]): Promise<ReadonlyMap<number, VersionRules>>;
}

export interface CachedPlan {
  readonly versionId: number;
  readonly workflowRef: string;
  readonly rules: DispatchRules;
  readonly plan: DispatchPlan;
  readonly paths: VersionPaths;
  /** How long an attempt may take; null: as long as it likes. */
  readonly timeoutSeconds: number | null;
  /** Constraints as text for people; those on routing input are not spelled out. null: none. */
  readonly affinityText: string | null;
}

const MAX_PLANS = 5_000;
const ROUTING_UNSATISFIED = 'routing constraint unsatisfied';

export class PlanCache {
  readonly #source: VersionSource;
  readonly #plans = new Map<number, CachedPlan>();

  constructor(source: VersionSource) {
    this.#source = source;
  }

  get(versionId: number): CachedPlan | undefined {
    return this.#plans.get(versionId);
  }

  /** Makes the plans of these versions ready; unknown versions are left out. */
  async load(versionIds: Iterable<number>): Promise<void> {
    const missing = [...new Set(versionIds)].filter((id) => !this.#plans.has(id));
    if (missing.length === 0) return;
    if (this.#plans.size + missing.length > MAX_PLANS) this.#plans.clear();
    for (const version of (await this.#source.versionsByIds(missing)).values()) {
      const rules = rulesOf(version);
      this.#plans.set(version.id, {
        versionId: version.id,
        workflowRef: version.workflowRef,
        rules,
        plan: compilePlan(rules),
        paths: versionPaths(rules),
        timeoutSeconds: version.timeoutSeconds,
        affinityText: constraintText(version.affinity),
      });
    }
  }
}

export function rulesOf(version: Omit<VersionRules, 'timeoutSeconds'>): DispatchRules {
  const { workflowRef, routing, affinity, requests, runner } = version;
  return { workflowRef, policy: routing, affinity, requests, runner };
}

function constraintText(affinity: unknown): string | null {
  if (affinity === null || affinity === undefined) return null;
  if (!Array.isArray(affinity)) return formatPolicy(affinity, 'AFFINITY');
  const open = affinity.filter((term) => !affinityNamesRoutingInput([term]));
  const parts = open.length > 0 ? [formatPolicy(open, 'AFFINITY')] : [];
  if (open.length < affinity.length) parts.push(ROUTING_UNSATISFIED);
  return parts.join(', ');
}
