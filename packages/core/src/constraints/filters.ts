import { shorten } from '../lib/text.ts';
import type { CandidateRejection, RejectionReason } from '../decision/decision.ts';
import { valueText, type WorkerValue } from '../policy/values.ts';
import type { WorkerFacts } from '../worker/worker-facts.ts';
import { type AffinityCheck, passesCheck, ROUTING_UNSATISFIED, wantedText } from './affinity.ts';
import { type CompiledRequests, meetsRequests, shortfalls } from './resource-requests.ts';

/** The filters in the order in which they run (ruling 14); a verdict is 0 or the position of the first that rejects, from 1. */
export const FILTERS: readonly RejectionReason[] = [
  'OFFLINE',
  'DISCONNECTED',
  'STALE',
  'UNHEALTHY',
  'CORDONED',
  'DRAINING',
  'NOT_BOUND_WORKER',
  'ROLE_MISMATCH',
  'NO_HANDLER',
  'RUNNER_MISSING',
  'RESOURCES_SHORT',
  'AFFINITY_UNMET',
  'NO_CAPACITY',
  'UNCLAIMED_BEFORE',
];

export const VERDICT = {
  bound: 7,
  role: 8,
  handler: 9,
  runner: 10,
  resources: 11,
  affinity: 12,
  capacity: 13,
  unclaimed: 14,
} as const;

/** What the version asks of a worker, apart from affinity. */
export interface StaticRules {
  readonly workflowRef: string | null;
  readonly runner: string | null;
  readonly requests: CompiledRequests | null;
}

/** Liveness and availability: 0, or the first of the filters 1 to 6 that rejects. */
export function standingVerdict(facts: WorkerFacts): number {
  if (facts.status === 'OFFLINE') return 1;
  if (!facts.connected) return 2;
  if (facts.status === 'STALE') return 3;
  if (facts.status === 'UNHEALTHY') return 4;
  if (facts.availability === 'CORDONED') return 5;
  return facts.availability === 'DRAINING' ? 6 : 0;
}

/** Handler, runner and resource requests: 0, or the first of the filters 9 to 11 that rejects. */
export function rulesVerdict(rules: StaticRules, facts: WorkerFacts): number {
  if (!hasHandler(rules, facts)) return VERDICT.handler;
  if (rules.runner !== null && !facts.runners.includes(rules.runner)) return VERDICT.runner;
  return meetsRequests(rules.requests, facts) ? 0 : VERDICT.resources;
}

function hasHandler(rules: StaticRules, facts: WorkerFacts): boolean {
  return rules.workflowRef === null || facts.workflows.length === 0 || facts.workflows.includes(rules.workflowRef);
}

/** One execution and one worker, for the filters that need both. */
export interface FilterContext {
  readonly rules: StaticRules;
  readonly requiredWorker: string | null;
  readonly targetRoles: readonly string[];
  readonly unclaimedBefore: readonly string[];
  readonly checks: readonly AffinityCheck[];
}

/** Every filter that rejects the worker, in order. `load` as the fleet counts it; UNCLAIMED_BEFORE as far as its name tells. */
export function rejectingFilters(
  context: FilterContext,
  facts: WorkerFacts,
  load: number,
  read: (s: string) => WorkerValue,
): RejectionReason[] {
  const { rules } = context;
  const rejected = [
    facts.status === 'OFFLINE',
    !facts.connected,
    facts.status === 'STALE',
    facts.status === 'UNHEALTHY',
    facts.availability === 'CORDONED',
    facts.availability === 'DRAINING',
    context.requiredWorker !== null && context.requiredWorker !== facts.name,
    context.targetRoles.length > 0 && !context.targetRoles.includes(facts.role),
    !hasHandler(rules, facts),
    rules.runner !== null && !facts.runners.includes(rules.runner),
    !meetsRequests(rules.requests, facts),
    !context.checks.every((check) => passesCheck(check, read)),
    facts.capacity !== null && facts.capacity > 0 && load >= facts.capacity,
    context.unclaimedBefore.includes(facts.name),
  ];
  return FILTERS.filter((_, index) => rejected[index] === true);
}

/** A rejection with its texts. Nothing of a constraint that reads routing input is told (ruling 22). */
export function describeRejection(
  reason: RejectionReason,
  context: FilterContext,
  facts: WorkerFacts,
  load: number,
  read: (selector: string) => WorkerValue,
): CandidateRejection {
  const say = (message: string, wanted: string | null = null, had: string | null = null): CandidateRejection => ({
    reason,
    message,
    wanted,
    had,
  });
  const because = facts.statusReasons.length > 0 ? `: ${facts.statusReasons.join(', ')}` : '';
  switch (reason) {
    case 'OFFLINE':
      return say(`offline${because}`);
    case 'DISCONNECTED':
      return say('not connected');
    case 'STALE':
      return say(`stale${because}`);
    case 'UNHEALTHY':
      return say(`unhealthy${because}`);
    case 'CORDONED':
      return say('cordoned');
    case 'DRAINING':
      return say('draining');
    case 'NOT_BOUND_WORKER':
      return say('the execution is bound to another worker');
    case 'ROLE_MISMATCH':
      return say('has another role', `role ${context.targetRoles.join(' or ')}`, facts.role);
    case 'NO_HANDLER':
      return say(
        'has no handler for the workflow',
        context.rules.workflowRef,
        shorten(facts.workflows.join(', '), 160),
      );
    case 'RUNNER_MISSING':
      return say(
        'does not offer the runner',
        `runner ${context.rules.runner ?? ''}`,
        shorten(facts.runners.join(', '), 160) || 'none',
      );
    case 'RESOURCES_SHORT': {
      const short = shortfalls(context.rules.requests, facts);
      const wanted = short.map((s) => s.wanted).join(', ');
      return say(`lacks ${wanted}`, wanted, short.map((s) => s.had).join(', '));
    }
    case 'AFFINITY_UNMET':
      return affinityRejection(context, read, say);
    case 'NO_CAPACITY':
      return say('at capacity', 'a free slot', `${load} of ${facts.capacity ?? 0} taken`);
    case 'UNCLAIMED_BEFORE':
      return say('did not claim this execution when it was given it');
  }
}

function affinityRejection(
  context: FilterContext,
  read: (selector: string) => WorkerValue,
  say: (message: string, wanted?: string | null, had?: string | null) => CandidateRejection,
): CandidateRejection {
  const failed = context.checks.filter((check) => !passesCheck(check, read));
  const open = failed.filter((check) => !check.routing);
  if (open.length < failed.length) return say(ROUTING_UNSATISFIED);
  const wanted = open.map((check) => wantedText(check) ?? '').join(', ');
  const had = open.map((check) => hadText(read(`${check.kind}:${check.key}`))).join(', ');
  return say(`lacks ${wanted}`, wanted, had);
}

function hadText(value: WorkerValue): string {
  return value === undefined ? 'none' : shorten(valueText(value), 80);
}
