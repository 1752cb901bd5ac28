import { type CompiledAffinity, compileAffinity } from '../constraints/affinity.ts';
import { rulesVerdict, type StaticRules } from '../constraints/filters.ts';
import { compileRequests } from '../constraints/resource-requests.ts';
import { formatTerm } from '../policy/format.ts';
import { type CompiledPolicy, compilePolicy, mayTurnMalformed } from '../policy/score.ts';
import { isRecord, own } from '../policy/values.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import type { DispatchRules } from './request.ts';

/** What `blind` withholds from the decisions of one version (ruling 23). It depends on the version alone. */
export interface Blinding {
  /** The affinity names routing input: the verdicts of affinity and of everything after it are withheld. */
  readonly affinity: boolean;
  /** Per term of the policy: withheld or not. */
  readonly terms: readonly boolean[];
  /**
   * Set where it depends on the routing value whether the policy degrades: then the decision says this instead, and all
   * terms are withheld.
   */
  readonly degraded: string | null;
}

/** A version's placement rules, taken apart once and kept for as long as the version is in use. */
export interface DispatchPlan {
  readonly rules: DispatchRules;
  readonly policy: CompiledPolicy | null;
  readonly affinity: CompiledAffinity | null;
  readonly staticRules: StaticRules;
  readonly texts: readonly string[];
  /** null: decisions of this version are not blinded. */
  readonly blinding: Blinding | null;
  /** Handler, runner and requests of one worker. */
  readonly judge: (facts: WorkerFacts) => number;
}

/** Never throws: a stored spec that cannot be read degrades (policy) or rejects (affinity, requests) when it is used. */
export function compilePlan(rules: DispatchRules): DispatchPlan {
  const policy = compilePolicy(rules.policy);
  const affinity = compileAffinity(rules.affinity);
  const staticRules: StaticRules = {
    workflowRef: rules.workflowRef,
    runner: rules.runner,
    requests: compileRequests(rules.requests),
  };
  return {
    rules,
    policy,
    affinity,
    staticRules,
    texts: termTexts(rules.policy),
    blinding: blindingOf(policy, affinity),
    judge: (facts) => rulesVerdict(staticRules, facts),
  };
}

function termTexts(policy: unknown): string[] {
  const terms = isRecord(policy) ? own(policy, 'terms') : undefined;
  return Array.isArray(terms) ? terms.map(formatTerm) : [];
}

function blindingOf(policy: CompiledPolicy | null, affinity: CompiledAffinity | null): Blinding | null {
  if (!policy?.routing && !affinity?.routing) return null;
  const byAffinity = affinity?.routing ?? false;
  const terms = policy?.terms ?? [];
  // A body is looked at only where the condition lets evaluation reach it, so whether it degrades the policy may tell the
  // routing value, or (through the eligible workers) the affinity's verdicts.
  const doubtful = terms.findIndex(
    (term) => mayTurnMalformed(term) && (term.routing || (byAffinity && term.condition?.on !== 'input')),
  );
  const degraded = doubtful < 0 ? null : `term ${doubtful + 1} is malformed; whether it was reached is withheld`;
  return {
    affinity: byAffinity,
    terms: terms.map((term) => term.routing || byAffinity || degraded !== null),
    degraded,
  };
}
