import {
  type AffinitySpec,
  checkSpec,
  formatPolicy,
  type Issue,
  MusterError,
  parsePolicyText,
  parseWorkflowRef,
  permitsSome,
  type PolicySpec,
  type PolicyStage,
  type RequestsSpec,
} from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import { fingerprint } from '../../lib/fingerprint.ts';
import { issuesError } from '../../lib/issues.ts';
import { authorOf } from '../audit/audit-log.ts';
import { mayReadWorkflow } from '../viewer/readable.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { NewVersion, VersionRow, WorkflowStore } from './workflow-store.ts';

export interface RequestsInput {
  cpu?: number | null | undefined;
  memory?: number | null | undefined;
  disk?: number | null | undefined;
  gpu?: number | null | undefined;
  memoryText?: string | null | undefined;
  packages?: readonly string[] | null | undefined;
}

export interface RegisterInput {
  namespace: string;
  name: string;
  description?: string | null | undefined;
  routing?: string | null | undefined;
  affinity?: string | null | undefined;
  requests?: RequestsInput | null | undefined;
  runner?: string | null | undefined;
  maxAttempts: number;
  timeoutSeconds?: number | null | undefined;
}

export interface CompiledParts {
  routing: PolicySpec | null;
  affinity: AffinitySpec | null;
  requests: RequestsSpec | null;
}

export interface WorkflowServiceDeps {
  store: WorkflowStore;
  bus: Bus;
}

/** Who wants to do what with a workflow. */
export interface WorkflowUse {
  readonly viewer: Viewer;
  readonly action: 'read' | 'run';
}

const MAX_DESCRIPTION = 4_096;

/** Registers workflows and finds their versions. */
export class WorkflowService {
  readonly #deps: WorkflowServiceDeps;

  constructor(deps: WorkflowServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a new version unless the newest says the same already.
   * Errors: FORBIDDEN, for workers with `details.registered`: whether the newest version says the same; POLICY_INVALID for texts that do not compile, BAD_INPUT for the rest; every problem at once.
   */
  async register(
    input: RegisterInput,
    viewer: Viewer,
    requestId: string,
  ): Promise<{ version: VersionRow; created: boolean }> {
    const issues: Issue[] = checkRegistration(input);
    const named = !issues.some(({ path }) => path === 'namespace' || path === 'name');
    const permission = `workflow:${input.namespace}:${input.name}:register`;
    const denied = named && !may(viewer, permission);
    if (denied && !isWorker(viewer)) requirePermission(viewer, permission, 'name');
    const policyIssues: Issue[] = [];
    const parts = compileParts(input, policyIssues);
    if (denied && issues.length + policyIssues.length > 0) requirePermission(viewer, permission, 'name');
    if (issues.length + policyIssues.length > 0) {
      const all = [...issues, ...policyIssues];
      throw issuesError(issues.length > 0 ? 'BAD_INPUT' : 'POLICY_INVALID', all);
    }
    const version: NewVersion = {
      namespace: input.namespace,
      name: input.name,
      description: input.description ?? null,
      ...parts,
      routingText: parts.routing ? formatPolicy(parts.routing, 'ROUTING') : null,
      affinityText: parts.affinity ? formatPolicy(parts.affinity, 'AFFINITY') : null,
      runner: input.runner ?? null,
      maxAttempts: input.maxAttempts,
      timeoutSeconds: input.timeoutSeconds ?? null,
      fingerprint: fingerprint({
        ...parts,
        runner: input.runner ?? null,
        maxAttempts: input.maxAttempts,
        timeoutSeconds: input.timeoutSeconds ?? null,
      }),
    };
    if (denied) {
      const message = `This takes the permission ${permission}.`;
      const registered = await this.#deps.store.isNewest(version);
      throw new MusterError('FORBIDDEN', message, { field: 'name', details: { permission, registered } });
    }
    const registered = await this.#deps.store.register(version, authorOf(viewer, requestId));
    if (registered.created) this.#deps.bus.publish('workflow', { id: registered.version.workflowId });
    return registered;
  }

  /**
   * The version that `use` is about: the given one of this workflow, else the newest.
   * Errors: FORBIDDEN where the viewer may not run it; NOT_FOUND for the workflow, also where he may not read it; BAD_INPUT for a version of another one.
   */
  async versionFor(ref: string, versionId: number | null, field: string, use: WorkflowUse): Promise<VersionRow> {
    const parsed = parseWorkflowRef(ref);
    const canonical = parsed ? `${parsed.namespace}/${parsed.name}` : null;
    if (parsed && use.action === 'run')
      requirePermission(use.viewer, `workflow:${parsed.namespace}:${parsed.name}:run`, field);
    const hidden = canonical === null || (use.action === 'read' && !mayReadWorkflow(use.viewer, canonical));
    const latest = hidden ? null : await this.#deps.store.latestByRef(canonical);
    if (!latest)
      throw new MusterError('NOT_FOUND', `There is no workflow ${JSON.stringify(ref.slice(0, 130))}.`, { field });
    if (versionId === null) return latest;
    const version = await this.#deps.store.versionById(versionId);
    if (version?.workflowId !== latest.workflowId) {
      throw new MusterError('BAD_INPUT', `versionId is not a version of ${latest.workflowRef}.`, {
        field: 'versionId',
      });
    }
    return version;
  }

  /** The version of the workflow that has this number, from 1. Errors: as `versionFor`. */
  async versionNumbered(ref: string, number: number, field: string, use: WorkflowUse): Promise<VersionRow> {
    const latest = await this.versionFor(ref, null, field, use);
    const version = await this.#deps.store.versionByNumber(latest.workflowId, number);
    if (version === null)
      throw new MusterError('NOT_FOUND', `${latest.workflowRef} has no version ${number}.`, { field: 'version' });
    return version;
  }
}

/** Compiles the texts and requests of a registration or preview; problems go to `issues` with the input's path. */
export function compileParts(
  input: Pick<RegisterInput, 'routing' | 'affinity' | 'requests'>,
  issues: Issue[],
): CompiledParts {
  return {
    routing: compile(input.routing, 'ROUTING', 'routing', issues),
    affinity: compile(input.affinity, 'AFFINITY', 'affinity', issues),
    requests: compileRequests(input.requests, issues),
  };
}

function compile<Stage extends 'ROUTING' | 'AFFINITY'>(
  text: string | null | undefined,
  stage: Stage,
  path: string,
  issues: Issue[],
) {
  if (text == null || text.trim() === '') return null;
  const parsed = parsePolicyText(text, stage);
  if (parsed.ok) return parsed.spec;
  for (const { message, code, from, to, severity } of parsed.problems) {
    if (severity === 'ERROR') issues.push({ path, code, message, from, to });
  }
  return null;
}

function compileRequests(input: RequestsInput | null | undefined, issues: Issue[]): RequestsSpec | null {
  if (input == null) return null;
  if (input.memory != null && input.memoryText != null) {
    issues.push({ path: 'requests.memoryText', code: 'MEMORY_TWICE', message: 'give memory or memoryText, not both' });
    return null;
  }
  const spec: RequestsSpec = {};
  if (input.cpu != null) spec.cpu = input.cpu;
  const memory = input.memoryText ?? input.memory;
  if (memory != null) spec.memory = memory;
  if (input.disk != null) spec.disk = input.disk;
  if (input.gpu != null) spec.gpu = input.gpu;
  if (input.packages != null && input.packages.length > 0) spec.packages = [...input.packages];
  const checked = checkSpec(spec, 'REQUESTS' satisfies PolicyStage);
  if (checked.ok) return checked.spec;
  for (const issue of checked.issues) issues.push({ ...issue, path: `requests${issue.path ? `.${issue.path}` : ''}` });
  return null;
}

/** Whoever runs workflows that he may not register has to know whether they are registered as he has them. */
function isWorker({ worker, permissions }: Viewer): boolean {
  return worker !== null || permitsSome(permissions, 'worker:{name}:serve');
}

function checkRegistration(input: RegisterInput): Issue[] {
  const issues: Issue[] = [];
  const shape = (value: string, path: string): void => {
    const legal = parseWorkflowRef(`${path === 'namespace' ? value : 'x'}/${path === 'name' ? value : 'x'}`) !== null;
    if (!legal)
      issues.push({
        path,
        code: 'NAME_SHAPE',
        message: `${path} is letters, digits, ".", "_" and "-", begins and ends with a letter or digit, and has at most 64 characters`,
      });
  };
  shape(input.namespace, 'namespace');
  shape(input.name, 'name');
  if ((input.description?.length ?? 0) > MAX_DESCRIPTION || input.description?.includes('\u0000')) {
    issues.push({
      path: 'description',
      code: 'TEXT',
      message: `description has at most ${MAX_DESCRIPTION} characters and no NUL`,
    });
  }
  if (input.runner != null && !/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/.test(input.runner)) {
    issues.push({
      path: 'runner',
      code: 'NAME_SHAPE',
      message: 'runner is a name of at most 128 letters, digits, ".", "_" and "-"',
    });
  }
  if (input.maxAttempts < 1 || input.maxAttempts > 100)
    issues.push({ path: 'maxAttempts', code: 'RANGE', message: 'maxAttempts must be from 1 to 100' });
  if (input.timeoutSeconds != null && (input.timeoutSeconds < 1 || input.timeoutSeconds > 2_592_000)) {
    issues.push({
      path: 'timeoutSeconds',
      code: 'RANGE',
      message: 'timeoutSeconds must be from 1 to 2592000 (30 days), or absent',
    });
  }
  return issues;
}
