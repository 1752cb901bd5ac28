import {
  blind,
  compilePlan,
  type Decision,
  type DecideOptions,
  decide,
  decideOnce,
  frameFacts,
  MusterError,
} from '@muster/core';
import type { Fleet } from '../fleet/fleet.ts';
import type { DecisionStore } from '../modules/decision/decision-store.ts';
import type { PreviewRequest } from './dispatch-api.ts';
import type { PlanCache } from './plan-cache.ts';
import { type QueueLoader, requestOf } from './queue-loader.ts';

export interface InquiryDeps {
  fleet: Fleet;
  plans: PlanCache;
  loader: QueueLoader;
  decisions: DecisionStore;
}

/** Answers what would happen, and why something waits, by the very function that dispatches. Any replica can. */
export class Inquiry {
  readonly #deps: InquiryDeps;

  constructor(deps: InquiryDeps) {
    this.#deps = deps;
  }

  /**
   * Blinded where the rules read routing input, except for a caller who brings the routing value in this very request. On a stored decision the
   * routing input that its execution may have had is never used. Errors: NOT_FOUND for the decision.
   */
  async preview(request: PreviewRequest): Promise<Decision> {
    const revealed = request.routingInput !== null && Object.keys(request.routingInput).length > 0;
    const options: DecideOptions = {
      allReasons: true,
      revealed,
      ...(request.weights === undefined ? {} : { weights: request.weights }),
    };
    const dispatch = { ...request, unclaimedBefore: [] };
    const plan = compilePlan(request.rules);
    let decision: Decision;
    if (request.decisionId === undefined) {
      decision = decide(plan, this.#deps.fleet.prepared(), dispatch, options);
    } else {
      const packed = await this.#deps.decisions.packed(request.decisionId);
      if (packed === null) throw new MusterError('NOT_FOUND', 'There is no such decision.', { field: 'decision' });
      decision = decideOnce(request.rules, frameFacts(packed.frame, packed.row), dispatch, options);
    }
    return revealed ? decision : blind(decision, plan.blinding);
  }

  /** For executions that wait now, with all reasons per worker, blinded; the others are left out. */
  async whyWaiting(executionIds: readonly string[]): Promise<Map<string, Decision>> {
    const { loader, plans, fleet } = this.#deps;
    const answers = new Map<string, Decision>();
    for (const entry of await loader.load(executionIds)) {
      const cached = plans.get(entry.versionId);
      if (cached === undefined) continue;
      const decision = decide(cached.plan, fleet.prepared(), requestOf(entry), { allReasons: true });
      answers.set(entry.id, blind(decision, cached.plan.blinding));
    }
    return answers;
  }
}
