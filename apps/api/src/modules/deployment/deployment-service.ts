import {
  checkSlug,
  checkVariants,
  deploymentHealth,
  type Issue,
  movedShare,
  MusterError,
  resolveDeployment,
  type RoleChecker,
  type Variant,
  type VariantInput,
  variantShares,
} from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { Fleet } from '../../fleet/fleet.ts';
import { decodeInt, encodeId } from '../../graphql/ids.ts';
import { keyedFingerprint } from '../../lib/fingerprint.ts';
import { issuesError } from '../../lib/issues.ts';
import { authorOf } from '../audit/audit-log.ts';
import { mayReadNamed, mayReadWorkflow } from '../viewer/readable.ts';
import { requirePermission, type Viewer } from '../viewer/viewer.ts';
import type { VersionRow, WorkflowStore } from '../workflow/workflow-store.ts';
import type { DeploymentDirectory } from './deployment-directory.ts';
import type { Authorship, DeploymentRow, DeploymentStore, IdempotencyRow } from './deployment-store.ts';
import { waitingConflict } from './waiting-conflict.ts';

export interface DeploymentServiceDeps {
  store: DeploymentStore;
  directory: DeploymentDirectory;
  workflows: WorkflowStore;
  fleet: Pick<Fleet, 'isRoleHealthy' | 'roleHealth'>;
  bus: Bus;
  /** Uniform in [0, 1). */
  random: () => number;
  idempotencyKey: Uint8Array;
}

export interface Written {
  deployment: DeploymentRow;
  warnings: string[];
}

export interface CreateInput {
  slug: string;
  module?: string | null | undefined;
  description?: string | null | undefined;
  variants: readonly VariantInput[];
  comment?: string | null | undefined;
  idempotencyKey?: string | null | undefined;
}

export interface UpdateInput extends Partial<Omit<CreateInput, 'slug' | 'idempotencyKey'>> {
  slug: string;
  expectedRevision: number;
  force?: boolean | null | undefined;
}

export interface RollbackInput {
  slug: string;
  toRevision: number;
  expectedRevision: number;
  comment?: string | null | undefined;
  force?: boolean | null | undefined;
}

/** Who wants to do what with a deployment, and which field names it. */
export interface DeploymentUse {
  readonly viewer: Viewer;
  readonly action: 'read' | 'run' | 'write';
  readonly field: string;
}

/** What a session would get now. */
export interface ResolvedVariant {
  deployment: DeploymentRow;
  variant: Variant;
  version: VersionRow;
  sticky: boolean;
  skipped: readonly { label: string; reason: 'ROLES_DEAD' | 'WEIGHT_ZERO'; deadRoles: readonly string[] }[];
}

export interface PreviewResult {
  variants: { label: string; share: number; effectiveShare: number; dead: boolean; sampled: number }[];
  movedShare: number;
  unavailable: boolean;
  warnings: string[];
}

const MAX_TEXT = 4_096;
const MAX_SAMPLE = 10_000;

/** Writes deployments and picks their variants. The rules of picking are core's. */
export class DeploymentService {
  readonly #deps: DeploymentServiceDeps;
  readonly #roleChecker: RoleChecker;

  constructor(deps: DeploymentServiceDeps) {
    this.#deps = deps;
    this.#roleChecker = (role) => deps.fleet.isRoleHealthy(role);
  }

  /**
   * Shape, permission, existence: names cannot be probed. What may not be read is not there.
   * Errors: FORBIDDEN where the viewer may not write or run it; NOT_FOUND.
   */
  #require(slug: string, { viewer, action, field }: DeploymentUse): DeploymentRow {
    const named = checkSlug(slug, field).length === 0;
    if (named && action !== 'read') requirePermission(viewer, `deployment:${slug}:${action}`, field);
    const hidden = !named || (action === 'read' && !mayReadNamed(viewer, 'deployment', slug));
    const row = hidden ? undefined : this.#deps.directory.get(slug);
    if (!row)
      throw new MusterError('NOT_FOUND', `There is no deployment ${JSON.stringify(slug.slice(0, 70))}.`, { field });
    return row;
  }

  health(row: DeploymentRow): 'OK' | 'DEGRADED' | 'UNAVAILABLE' {
    return deploymentHealth(row.variants, this.#roleChecker);
  }

  /** Resolving fails with NO_HEALTHY_VARIANT. */
  unavailable(row: DeploymentRow): boolean {
    return this.health(row) === 'UNAVAILABLE';
  }

  shares(row: DeploymentRow): ReturnType<typeof variantShares> {
    return variantShares(row.variants, this.#roleChecker);
  }

  /** Errors: FORBIDDEN, BAD_INPUT with every problem, NOT_FOUND never, CONFLICT for a slug in use or a key used with another input. */
  async create(input: CreateInput, viewer: Viewer, requestId: string): Promise<Written> {
    const { idempotencyKey, ...rest } = input;
    const slugIssues = checkSlug(input.slug, 'slug');
    if (slugIssues.length === 0) requirePermission(viewer, `deployment:${input.slug}:write`, 'slug');
    const key =
      idempotencyKey == null
        ? null
        : {
            principal: viewer.name,
            mutation: 'createDeployment',
            key: checkKey(idempotencyKey),
            hmac: keyedFingerprint(this.#deps.idempotencyKey, rest),
          };
    if (key) {
      const replay = await this.#replay(key);
      if (replay) return replay;
    }
    const issues: Issue[] = [...slugIssues, ...checkTexts(input)];
    const variants = await this.#checkVariants(input.variants, [], issues, viewer);
    refuseIssues(issues);
    const content = { module: input.module ?? null, description: input.description ?? null, variants };
    const made = await this.#deps.store.create(
      input.slug,
      content,
      this.#author(viewer, requestId, input.comment),
      key,
    );
    if (made === 'key-used') {
      const replay = key && (await this.#replay(key));
      if (replay) return replay;
      throw new MusterError('CONFLICT', 'The idempotency key is in use.', { field: 'idempotencyKey' });
    }
    return this.#written(made);
  }

  /**
   * Errors: FORBIDDEN; NOT_FOUND; BAD_INPUT; CONFLICT with `current` where the revision is another one, with `waiting` where work waits for a variant that it removes
   * (not with `force`).
   */
  async update(input: UpdateInput, viewer: Viewer, requestId: string): Promise<Written> {
    const current = await this.#expect(input.slug, input.expectedRevision, viewer);
    const issues: Issue[] = checkTexts(input);
    const variants =
      input.variants == null
        ? current.variants
        : await this.#checkVariants(input.variants, current.variants, issues, viewer);
    refuseIssues(issues);
    const change = {
      module: input.module === undefined ? current.module : input.module,
      description: input.description === undefined ? current.description : input.description,
      variants,
    };
    const author = this.#author(viewer, requestId, input.comment);
    return this.#change(current, change, author, 'deployment.update', 'variants', input.force);
  }

  /** Writes the content of an older revision as a new one. Errors as for `update`; NOT_FOUND for the revision. */
  async rollback(input: RollbackInput, viewer: Viewer, requestId: string): Promise<Written> {
    const current = await this.#expect(input.slug, input.expectedRevision, viewer);
    const issues: Issue[] = checkTexts(input);
    const old = await this.#deps.store.revision(current.id, input.toRevision);
    if (!old)
      throw new MusterError('NOT_FOUND', `${input.slug} has no revision ${input.toRevision}.`, { field: 'toRevision' });
    const variants = await this.#checkVariants(
      old.variants.map((variant) => ({
        ...variant,
        labels: Object.entries(variant.labels).map(([key, value]) => ({ key, value })),
      })),
      old.variants,
      issues,
      viewer,
    );
    refuseIssues(issues);
    const author = this.#author(viewer, requestId, input.comment ?? `Back to revision ${input.toRevision}`);
    const change = { module: old.module, description: old.description, variants };
    return this.#change(current, change, author, 'deployment.rollback', 'toRevision', input.force);
  }

  async #change(
    current: DeploymentRow,
    change: Pick<DeploymentRow, 'module' | 'description' | 'variants'>,
    author: Authorship,
    action: 'deployment.update' | 'deployment.rollback',
    field: string,
    force: boolean | null | undefined,
  ): Promise<Written> {
    const { slug, revision } = current;
    const made = await this.#deps.store
      .update(slug, revision, change, author, action, force ?? false)
      .catch((error: unknown) => {
        throw waitingConflict(error, field);
      });
    return this.#written(made ?? (await this.#conflict(current)));
  }

  /** Errors: NOT_FOUND; CONFLICT as for `update`, of all its variants. */
  async delete(
    input: { slug: string; expectedRevision: number; force?: boolean | null | undefined },
    viewer: Viewer,
    requestId: string,
  ): Promise<void> {
    const { slug, expectedRevision, force } = input;
    const current = await this.#expect(slug, expectedRevision, viewer);
    const author = this.#author(viewer, requestId, null);
    const deleted = await this.#deps.store
      .delete(slug, expectedRevision, author, force ?? false)
      .catch((error: unknown) => {
        throw waitingConflict(error, 'slug');
      });
    if (!deleted) await this.#conflict(current);
    this.#deps.directory.remove(current.id);
    this.#deps.bus.publish('deployment', { id: current.id, revision: current.revision + 1 });
  }

  /** Reads it again, for whoever has found that what is known of it is old. */
  async refresh(id: number): Promise<void> {
    const row = await this.#deps.store.byId(id);
    if (row) this.#deps.directory.put(row);
    else this.#deps.directory.remove(id);
  }

  /** Errors: FORBIDDEN, NOT_FOUND, BAD_INPUT for an impossible session key, NO_HEALTHY_VARIANT. */
  async resolve(slug: string, sessionKey: string | null, use: DeploymentUse): Promise<ResolvedVariant> {
    const deployment = this.#require(slug, use);
    const { variant, sticky, skipped } = resolveDeployment(deployment, {
      sessionKey,
      roleChecker: this.#roleChecker,
      random: this.#deps.random,
    });
    return { deployment, variant, version: await this.versionOf(variant), sticky, skipped };
  }

  /** The version a variant runs. Errors: NOT_FOUND where its workflow or version is gone. */
  async versionOf(variant: Variant): Promise<VersionRow> {
    const pinned = variant.versionId === null ? null : decodeInt('wv', variant.versionId);
    const version =
      variant.versionId === null
        ? await this.#deps.workflows.latestByRef(variant.flowId)
        : pinned === null
          ? null
          : await this.#deps.workflows.versionById(pinned);
    if (!version)
      throw new MusterError(
        'NOT_FOUND',
        `Variant ${variant.label} runs ${variant.flowId}, which is not registered any more.`,
        { field: 'deployment' },
      );
    return version;
  }

  /** What saving these variants would do. Nothing is stored. Errors as for `update`. */
  async preview(
    input: { slug: string; variants: readonly VariantInput[]; sampleSessions: number },
    viewer: Viewer,
  ): Promise<PreviewResult> {
    const current = this.#require(input.slug, { viewer, action: 'read', field: 'slug' });
    const issues: Issue[] = [];
    if (input.sampleSessions < 0 || input.sampleSessions > MAX_SAMPLE) {
      issues.push({ path: 'sampleSessions', code: 'RANGE', message: `sampleSessions must be from 0 to ${MAX_SAMPLE}` });
    }
    const variants = await this.#checkVariants(input.variants, current.variants, issues, viewer);
    refuseIssues(issues);
    const shares = variantShares(variants, this.#roleChecker);
    const sampled = new Map<string, number>();
    const unavailable = deploymentHealth(variants, this.#roleChecker) === 'UNAVAILABLE';
    if (!unavailable) {
      const proposed = { slug: current.slug, variants };
      for (let i = 0; i < input.sampleSessions; i++) {
        const { variant } = resolveDeployment(proposed, {
          sessionKey: `sample-${i}`,
          roleChecker: this.#roleChecker,
          random: this.#deps.random,
        });
        sampled.set(variant.label, (sampled.get(variant.label) ?? 0) + 1);
      }
    }
    return {
      variants: shares.map((share) => ({ ...share, sampled: sampled.get(share.label) ?? 0 })),
      movedShare: movedShare(current.variants, variants, this.#roleChecker),
      unavailable,
      warnings: this.warnings(variants),
    };
  }

  /** What is odd about variants, though legal. */
  warnings(variants: readonly Variant[]): string[] {
    const known = new Map(this.#deps.fleet.roleHealth().map((role) => [role.role, role]));
    const warnings: string[] = [];
    for (const variant of variants) {
      for (const role of variant.targetRoles) {
        if (!known.has(role))
          warnings.push(`Variant ${variant.label} targets role ${role}, which no worker has announced.`);
        else if (!known.get(role)?.healthy)
          warnings.push(`Variant ${variant.label} targets role ${role}, which has no healthy worker now.`);
      }
    }
    if (variants.length > 0 && variantShares(variants, this.#roleChecker).every((variant) => variant.dead)) {
      warnings.push('Every variant is pinned to roles without a healthy worker: calls fail with NO_HEALTHY_VARIANT.');
    }
    return warnings;
  }

  /** `known`: what is there already and may stay, whether or not the viewer may read the workflows. */
  async #checkVariants(
    inputs: readonly VariantInput[],
    known: readonly Variant[],
    issues: Issue[],
    viewer: Viewer,
  ): Promise<Variant[]> {
    const checked = checkVariants(inputs, 'variants');
    issues.push(...checked.issues);
    for (const [index, variant] of checked.value.entries()) {
      if (checked.issues.some((issue) => issue.path === `variants.${index}.flowId`)) continue;
      const visible = mayReadWorkflow(viewer, variant.flowId) || known.some(({ flowId }) => flowId === variant.flowId);
      const latest = visible ? await this.#deps.workflows.latestByRef(variant.flowId) : null;
      if (!latest) {
        issues.push({
          path: `variants.${index}.flowId`,
          code: 'UNKNOWN_WORKFLOW',
          message: `there is no workflow ${variant.flowId}; register it first`,
        });
        continue;
      }
      if (variant.versionId === null) continue;
      const id = decodeInt('wv', variant.versionId);
      const version = id === null ? null : await this.#deps.workflows.versionById(id);
      if (version?.workflowId !== latest.workflowId) {
        issues.push({
          path: `variants.${index}.versionId`,
          code: 'UNKNOWN_VERSION',
          message: `${variant.flowId} has no version with this id`,
        });
      }
    }
    return checked.value;
  }

  /** What is known may be older than what the caller has read from another replica: then the table is asked. */
  async #expect(slug: string, expectedRevision: number, viewer: Viewer): Promise<DeploymentRow> {
    const known = this.#require(slug, { viewer, action: 'write', field: 'slug' });
    if (known.revision === expectedRevision) return known;
    const current = await this.#deps.store.byId(known.id);
    if (current) this.#deps.directory.put(current);
    if (current?.revision !== expectedRevision) throw revisionConflict(current ?? known);
    return current;
  }

  /** The guarded write found another revision: says which. Errors: always. */
  async #conflict(known: DeploymentRow): Promise<never> {
    const now = await this.#deps.store.byId(known.id);
    if (now) this.#deps.directory.put(now);
    else this.#deps.directory.remove(known.id);
    throw now
      ? revisionConflict(now)
      : new MusterError('NOT_FOUND', `There is no deployment ${known.slug} any more.`, { field: 'slug' });
  }

  #written(deployment: DeploymentRow): Written {
    this.#deps.directory.put(deployment);
    this.#deps.bus.publish('deployment', { id: deployment.id, revision: deployment.revision });
    return { deployment, warnings: this.warnings(deployment.variants) };
  }

  async #replay(key: IdempotencyRow): Promise<Written | null> {
    const used = await this.#deps.store.usedKey(key);
    if (!used) return null;
    if (!Buffer.from(used.hmac).equals(key.hmac))
      throw new MusterError('CONFLICT', 'The idempotency key was used with another input.', {
        field: 'idempotencyKey',
      });
    const deployment = used.answer === null ? null : await this.#deps.store.byId(used.answer.id);
    if (!deployment) {
      throw new MusterError('CONFLICT', `accepted as ${encodeId('dp', used.answer?.id ?? 0)}, since deleted`, {
        field: 'idempotencyKey',
      });
    }
    return { deployment, warnings: this.warnings(deployment.variants) };
  }

  #author(viewer: Viewer, requestId: string, comment: string | null | undefined): Authorship {
    return { ...authorOf(viewer, requestId), comment: comment ?? null };
  }
}

function revisionConflict(current: DeploymentRow): MusterError {
  const { revision, updatedBy, updatedAt } = current;
  return new MusterError(
    'CONFLICT',
    `${current.slug} is at revision ${revision} now, changed by ${updatedBy}. Read it again and repeat the change on it.`,
    {
      field: 'expectedRevision',
      details: { current: { revision, updatedBy, updatedAt: updatedAt.toISOString() } },
    },
  );
}

function refuseIssues(issues: readonly Issue[]): void {
  if (issues.length > 0) throw issuesError('BAD_INPUT', issues);
}

/** Errors: BAD_INPUT. */
export function checkKey(key: string): string {
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw new MusterError('BAD_INPUT', 'idempotencyKey is 1 to 200 printable ASCII characters without spaces.', {
      field: 'idempotencyKey',
    });
  }
  return key;
}

function checkTexts(input: {
  module?: string | null | undefined;
  description?: string | null | undefined;
  comment?: string | null | undefined;
}): Issue[] {
  return (['module', 'description', 'comment'] as const).flatMap((path) => {
    const text = input[path];
    if (
      text == null ||
      (text.length <= (path === 'module' ? 128 : MAX_TEXT) && !text.includes('\u0000') && !/\p{Surrogate}/u.test(text))
    )
      return [];
    return [
      {
        path,
        code: 'TEXT',
        message: `${path} has at most ${path === 'module' ? 128 : MAX_TEXT} characters, without NUL or lone surrogates`,
      },
    ];
  });
}
