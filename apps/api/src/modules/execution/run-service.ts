import {
  checkParkTtl,
  checkPriority,
  checkRoutingInput,
  type Issue,
  type JsonObject,
  type JsonValue,
  MusterError,
  parseWorkflowRef,
} from '@muster/core';
import type { Config } from '../../config.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { decodeInt } from '../../graphql/ids.ts';
import { keyedFingerprint } from '../../lib/fingerprint.ts';
import { issuesError } from '../../lib/issues.ts';
import type { Log } from '../../log.ts';
import { checkKey, type DeploymentService, type ResolvedVariant } from '../deployment/deployment-service.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { WorkflowService } from '../workflow/workflow-service.ts';
import type { ExecutionService } from './execution-service.ts';
import { type SubmitItem, type SubmitOutcome, VariantGoneError } from './submission.ts';

interface RunOptions {
  input?: JsonValue | undefined;
  routingInput?: JsonValue | undefined;
  requiredWorker?: string | null | undefined;
  preferredWorker?: string | null | undefined;
  parkTtlSeconds?: number | null | undefined;
  priority?: number | null | undefined;
  idempotencyKey?: string | null | undefined;
  waitSeconds?: number | null | undefined;
}

export interface RunWorkflowArgs extends RunOptions {
  workflow: string;
  versionId?: string | null | undefined;
}

export interface RunDeploymentArgs extends RunOptions {
  deployment: string;
  sessionKey?: string | null | undefined;
}

export interface RunServiceDeps {
  workflows: WorkflowService;
  deployments: DeploymentService;
  executions: ExecutionService;
  fleet: Pick<Fleet, 'get'>;
  config: Pick<Config, 'workerName' | 'embeddedWorker'>;
  idempotencyKey: Uint8Array;
  log: Log;
}

/** At most so many runs in one request. */
export const MAX_RUNS = 500;
const MAX_WAIT_SECONDS = 60;
const MAX_PICKS = 3;

/** Starts executions: validates, finds the version, picks the variant, and gives them to the submission. */
export class RunService {
  readonly #deps: RunServiceDeps;

  constructor(deps: RunServiceDeps) {
    this.#deps = deps;
  }

  /** Answers the raw id. Errors: BAD_INPUT, ROUTING_INPUT_INVALID, NOT_FOUND, UNKNOWN_WORKER, CONFLICT, FORBIDDEN. */
  async runWorkflow(args: RunWorkflowArgs, viewer: Viewer, requestId: string): Promise<string> {
    const wait = checkWait(args.waitSeconds);
    const item = await this.#workflowItem(args, viewer, requestId);
    const id = await this.#submitOne(item, viewer);
    if (wait > 0) await this.#deps.executions.waitUntilSettled(id, wait);
    return id;
  }

  /** Each run succeeds or fails by itself, in order. Errors of the whole: BAD_INPUT for more than 500. */
  async runWorkflows(runs: readonly RunWorkflowArgs[], viewer: Viewer, requestId: string): Promise<SubmitOutcome[]> {
    if (runs.length > MAX_RUNS)
      throw new MusterError('BAD_INPUT', `runs takes at most ${MAX_RUNS} items.`, { field: 'runs' });
    const prepared = await Promise.all(
      runs.map(async (run): Promise<SubmitItem | MusterError> => {
        try {
          if ((run.waitSeconds ?? 0) !== 0)
            throw new MusterError('BAD_INPUT', 'waitSeconds is for single runs.', { field: 'waitSeconds' });
          return await this.#workflowItem(run, viewer, requestId);
        } catch (error) {
          if (error instanceof MusterError) return error;
          throw error;
        }
      }),
    );
    const items = prepared.filter((item): item is SubmitItem => !(item instanceof MusterError));
    const outcomes = items.length === 0 ? [] : await this.#deps.executions.submit(items, viewer);
    let next = 0;
    return prepared.map((item) =>
      item instanceof MusterError ? { error: item } : (outcomes[next++] as SubmitOutcome),
    );
  }

  /** Errors: as for a workflow; NO_HEALTHY_VARIANT where every variant is left out. */
  async runDeployment(
    args: RunDeploymentArgs,
    viewer: Viewer,
    requestId: string,
  ): Promise<{ id: string; resolved: ResolvedVariant }> {
    const wait = checkWait(args.waitSeconds);
    const options = this.#checkOptions(args, 'runDeployment', requestId);
    const { id, resolved } = await this.#submitPicked(args, options, viewer);
    if (wait > 0) await this.#deps.executions.waitUntilSettled(id, wait);
    return { id, resolved };
  }

  /** A variant that is removed between pick and submission is picked anew, by what the deployment is then. */
  async #submitPicked(
    args: RunDeploymentArgs,
    options: Omit<SubmitItem, 'versionId' | 'workflowRef' | 'targetRoles'>,
    viewer: Viewer,
  ): Promise<{ id: string; resolved: ResolvedVariant }> {
    for (let tries = 1; ; tries += 1) {
      const use = { viewer, action: 'run', field: 'deployment' } as const;
      const resolved = await this.#deps.deployments.resolve(args.deployment, args.sessionKey ?? null, use);
      const { deployment, variant, version } = resolved;
      const item = {
        ...options,
        versionId: version.id,
        workflowRef: version.workflowRef,
        deploymentId: deployment.id,
        variant: variant.label,
        targetRoles: variant.targetRoles,
        sessionKey: args.sessionKey ?? undefined,
        preferredWorker:
          options.preferredWorker ?? this.#ownHint(variant.targetRoles, version.workflowRef, options.requiredWorker),
      };
      try {
        return { id: await this.#submitOne(item, viewer), resolved };
      } catch (error) {
        if (!(error instanceof VariantGoneError) || tries === MAX_PICKS) throw error;
        await this.#deps.deployments.refresh(deployment.id);
      }
    }
  }

  async #submitOne(item: SubmitItem, viewer: Viewer): Promise<string> {
    const [outcome] = await this.#deps.executions.submit([item], viewer);
    if (!outcome) throw new Error('the submission gave no outcome');
    if ('error' in outcome) throw outcome.error;
    return outcome.id;
  }

  async #workflowItem(args: RunWorkflowArgs, viewer: Viewer, requestId: string): Promise<SubmitItem> {
    const options = this.#checkOptions(args, 'runWorkflow', requestId);
    const parsed = parseWorkflowRef(args.workflow);
    if (parsed === null)
      throw new MusterError('NOT_FOUND', 'workflow must be the namespace/name of a registered workflow.', {
        field: 'workflow',
      });
    const versionId = args.versionId == null ? null : decodeInt('wv', args.versionId);
    if (args.versionId != null && versionId === null)
      throw new MusterError('BAD_INPUT', 'versionId is not the id of a version.', { field: 'versionId' });
    const version = await this.#deps.workflows.versionFor(`${parsed.namespace}/${parsed.name}`, versionId, 'workflow', {
      viewer,
      action: 'run',
    });
    return { ...options, versionId: version.id, workflowRef: version.workflowRef, targetRoles: [] };
  }

  /**
   * What both kinds of run share. Routing input is checked first and never named again: from its keys alone the log learns that there was any.
   */
  #checkOptions(
    args: RunOptions,
    mutation: string,
    requestId: string,
  ): Omit<SubmitItem, 'versionId' | 'workflowRef' | 'targetRoles'> {
    const routingInput = this.#checkRoutingInput(args.routingInput, requestId);
    const issues: Issue[] = [
      ...checkPriority(args.priority ?? 0, 'priority'),
      ...checkParkTtl(args.parkTtlSeconds, 'parkTtlSeconds'),
    ];
    if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
    const { idempotencyKey, waitSeconds, ...content } = args;
    void waitSeconds;
    return {
      input: args.input ?? null,
      routingInput,
      requiredWorker: args.requiredWorker ?? undefined,
      preferredWorker: args.preferredWorker ?? undefined,
      parkTtlSeconds: args.parkTtlSeconds,
      priority: args.priority ?? 0,
      idempotency:
        idempotencyKey == null
          ? undefined
          : {
              key: checkKey(idempotencyKey),
              mutation,
              fingerprint: keyedFingerprint(this.#deps.idempotencyKey, content),
            },
    };
  }

  #checkRoutingInput(value: JsonValue | undefined, requestId: string): JsonObject | undefined {
    const routingInput = readRoutingInput(value);
    if (routingInput === null) return undefined;
    this.#deps.log.info({ requestId, routingKeys: Object.keys(routingInput) }, 'routing input received');
    return routingInput;
  }

  /** Ruling 11: an unpinned variant without a caller's hint runs on the worker of the process that took the call, if it can. */
  #ownHint(
    targetRoles: readonly string[],
    workflowRef: string,
    requiredWorker: string | undefined,
  ): string | undefined {
    const { config, fleet } = this.#deps;
    if (!config.embeddedWorker || targetRoles.length > 0 || requiredWorker !== undefined) return undefined;
    const own = fleet.get(config.workerName);
    if (!own?.eligible) return undefined;
    const { workflows } = own.facts;
    return workflows.length === 0 || workflows.includes(workflowRef) ? config.workerName : undefined;
  }
}

/** null: none. Errors: ROUTING_INPUT_INVALID, naming the rule and neither key nor value. */
export function readRoutingInput(value: JsonValue | undefined): JsonObject | null {
  const checked = checkRoutingInput(value);
  if (checked.accept) return checked.value;
  const issue = { ...checked.issue, path: 'routingInput' };
  throw new MusterError('ROUTING_INPUT_INVALID', issue.message, { issues: [issue] });
}

function checkWait(seconds: number | null | undefined): number {
  const wait = seconds ?? 0;
  if (wait < 0 || wait > MAX_WAIT_SECONDS)
    throw new MusterError('BAD_INPUT', `waitSeconds must be from 0 to ${MAX_WAIT_SECONDS}.`, { field: 'waitSeconds' });
  return wait;
}
