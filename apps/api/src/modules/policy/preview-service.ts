import {
  checkTargetRoles,
  type Decision,
  type DispatchRules,
  type Issue,
  type JsonValue,
  listReferences,
  MusterError,
  parseWorkflowRef,
} from '@muster/core';
import type { Dispatcher, PreviewRequest } from '../../dispatch/dispatch-api.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { decodeUuid } from '../../graphql/ids.ts';
import { issuesError } from '../../lib/issues.ts';
import type { DecisionReads } from '../decision/decision-reads.ts';
import type { ExecutionReads } from '../execution/execution-reads.ts';
import { readRoutingInput } from '../execution/run-service.ts';
import { requirePermission, type Viewer } from '../viewer/viewer.ts';
import {
  type CompiledParts,
  compileParts,
  type RequestsInput,
  type WorkflowService,
} from '../workflow/workflow-service.ts';
import type { VersionRow, WorkflowStore } from '../workflow/workflow-store.ts';

export interface PreviewArgs {
  workflow?: string | null | undefined;
  routing?: string | null | undefined;
  affinity?: string | null | undefined;
  requests?: RequestsInput | null | undefined;
  runner?: string | null | undefined;
  targetRoles?: readonly string[] | null | undefined;
  input?: JsonValue | undefined;
  routingInput?: JsonValue | undefined;
  preferredWorker?: string | null | undefined;
  requiredWorker?: string | null | undefined;
  decision?: string | null | undefined;
  weights?: readonly (number | null | undefined)[] | null | undefined;
}

export interface PreviewServiceDeps {
  dispatcher: Dispatcher;
  decisions: DecisionReads;
  executions: ExecutionReads;
  workflows: WorkflowService;
  workflowStore: WorkflowStore;
  fleet: Fleet;
}

const MAX_WEIGHT = 1e12;
const MAX_WEIGHTS = 64;

/** Asks the dispatcher what it would do. Nothing is stored or dispatched. */
export class PreviewService {
  readonly #deps: PreviewServiceDeps;

  constructor(deps: PreviewServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Parts that are given beside a workflow or decision take the place of its own. With a decision, what is absent comes from its execution, but
   * never its routing input. Takes `worker:*:read`, and the workflow's `read`, else it is not there. Errors: FORBIDDEN, POLICY_INVALID, ROUTING_INPUT_INVALID, BAD_INPUT, NOT_FOUND, UNKNOWN_WORKER.
   */
  async preview(args: PreviewArgs, viewer: Viewer): Promise<{ decision: Decision; warnings: string[] }> {
    const routingInput = readRoutingInput(args.routingInput);
    const issues: Issue[] = [...checkTargetRoles(args.targetRoles ?? [], 'targetRoles'), ...checkWeights(args.weights)];
    const policyIssues: Issue[] = [];
    const parts = compileParts(args, policyIssues);
    const all = [...issues, ...policyIssues];
    if (all.length > 0) throw issuesError(issues.length > 0 ? 'BAD_INPUT' : 'POLICY_INVALID', all);
    requirePermission(viewer, 'worker:*:read');
    if (args.requiredWorker != null && !this.#deps.fleet.get(args.requiredWorker.trim())?.registered) {
      throw new MusterError('UNKNOWN_WORKER', 'requiredWorker names no worker.', { field: 'requiredWorker' });
    }
    const past = args.decision == null ? null : await this.#past(args.decision, viewer);
    const version = await this.#version(args.workflow, past?.version ?? null, viewer);
    const rules = mergeRules(parts, args.runner, version);
    const request: PreviewRequest = { rules, ...placementOf(args, past), routingInput, decisionId: past?.decisionId };
    const decision = await this.#deps.dispatcher.preview(request);
    return { decision, warnings: past ? [] : this.#warnings(rules, decision) };
  }

  async #version(
    ref: string | null | undefined,
    fallback: VersionRow | null,
    viewer: Viewer,
  ): Promise<VersionRow | null> {
    if (ref == null) return fallback;
    const parsed = parseWorkflowRef(ref);
    if (!parsed)
      throw new MusterError('NOT_FOUND', 'workflow must be the namespace/name of a registered workflow.', {
        field: 'workflow',
      });
    const use = { viewer, action: 'read' } as const;
    return this.#deps.workflows.versionFor(`${parsed.namespace}/${parsed.name}`, null, 'workflow', use);
  }

  async #past(id: string, viewer: Viewer): Promise<Past> {
    const decisionId = decodeUuid('de', id);
    const found = decisionId === null ? null : await this.#deps.decisions.byIds([decisionId], viewer);
    const decision = found?.get(decisionId ?? '');
    if (!decision) throw new MusterError('NOT_FOUND', 'There is no such decision.', { field: 'decision' });
    const { executionId, versionId } = decision;
    const [rows, payloads, version] = await Promise.all([
      this.#deps.executions.byIds([executionId], viewer),
      this.#deps.executions.payloads([executionId]),
      this.#deps.workflowStore.versionById(versionId),
    ]);
    const row = rows.get(executionId);
    return {
      decisionId: decision.id,
      version,
      input: payloads.get(executionId)?.input,
      targetRoles: row?.targetRoles ?? [],
      requiredWorker: row?.requiredWorker ?? null,
      preferredWorker: row?.preferredWorker ?? null,
    };
  }

  /** What is legal and yet probably a mistake. */
  #warnings(rules: DispatchRules, decision: Decision): string[] {
    const workers = this.#deps.fleet.all().filter((worker) => worker.registered);
    if (workers.length === 0) return ['No worker is registered.'];
    const warnings: string[] = [];
    for (const selector of listReferences(rules.policy, rules.affinity).selectors) {
      const cut = selector.indexOf(':');
      const kind = selector.slice(0, cut);
      const key = selector.slice(cut + 1);
      const having = workers.filter(({ facts }) =>
        kind === 'label'
          ? facts.labels.has(key)
          : kind === 'metric'
            ? facts.metrics.has(key)
            : kind === 'meta'
              ? facts.metadata.has(key)
              : true,
      ).length;
      const what = kind === 'meta' ? 'metadata' : kind;
      if (having === 0) warnings.push(`No worker has the ${what} ${JSON.stringify(key)}.`);
      else if (having < workers.length && kind === 'metric')
        warnings.push(`${having} of ${workers.length} workers send the metric ${JSON.stringify(key)}.`);
    }
    const unmet = decision.rejections.find(({ reason }) => reason === 'AFFINITY_UNMET')?.count ?? 0;
    if (unmet > 0 && unmet === decision.rejectedCount && decision.eligibleCount === 0)
      warnings.push(`0 of ${unmet} workers meet the affinity.`);
    return warnings;
  }
}

/** What an execution that was decided before brings along. */
interface Past {
  decisionId: string;
  version: VersionRow | null;
  input: JsonValue | undefined;
  targetRoles: readonly string[];
  requiredWorker: string | null;
  preferredWorker: string | null;
}

/** Parts that are given take the place of the version's own. */
function mergeRules(
  parts: CompiledParts,
  runner: string | null | undefined,
  version: VersionRow | null,
): DispatchRules {
  const { workflowRef = null, routing = null, affinity = null, requests = null } = version ?? {};
  return {
    workflowRef,
    policy: parts.routing ?? routing,
    affinity: parts.affinity ?? affinity,
    requests: parts.requests ?? requests,
    runner: runner ?? version?.runner ?? null,
  };
}

function placementOf(
  args: PreviewArgs,
  past: Past | null,
): Omit<PreviewRequest, 'rules' | 'routingInput' | 'decisionId'> {
  return {
    input: args.input === undefined ? past?.input : args.input,
    targetRoles: args.targetRoles?.length ? args.targetRoles : (past?.targetRoles ?? []),
    requiredWorker: args.requiredWorker?.trim() ?? past?.requiredWorker ?? null,
    preferredWorker: args.preferredWorker?.trim() ?? past?.preferredWorker ?? null,
    weights: args.weights?.map((weight) => weight ?? null),
  };
}

function checkWeights(weights: PreviewArgs['weights']): Issue[] {
  if (weights == null) return [];
  if (weights.length > MAX_WEIGHTS)
    return [{ path: 'weights', code: 'RANGE', message: `weights takes at most ${MAX_WEIGHTS} numbers` }];
  return weights.flatMap((weight, index) =>
    weight == null || (weight > 0 && weight <= MAX_WEIGHT)
      ? []
      : [{ path: `weights.${index}`, code: 'RANGE', message: 'a weight is above 0 and at most 1e12' }],
  );
}
