import {
  checkCapacity,
  checkLabels,
  checkMetrics,
  checkName,
  type Issue,
  MAX_NAME,
  MusterError,
  parseWorkflowRef,
  type WorkerPackage,
  type WorkerResources,
} from '@muster/core';
import type { Fleet } from '../../fleet/fleet.ts';
import type { FleetWorker, HealthCheck } from '../../fleet/worker-record.ts';
import type { Log } from '../../log.ts';
import { boundIdentity, requireSpeaker } from './speaker.ts';
import type { Viewer } from '../viewer/viewer.ts';
import type { InboxEvent, Inboxes } from './inbox.ts';
import type { Registry } from './registry.ts';
import type { StepPage } from './recorded-steps.ts';
import type { HeldItem } from './report-store.ts';
import { storable } from './storable.ts';
import type { ReportAnswer, ReportService, WorkerReport } from './report-service.ts';
import type { UnlistedClaims } from './unlisted-claims.ts';

/** A registration as it came over the wire. */
export interface RegistrationInput {
  name: string;
  instanceId: string;
  role: string;
  hostname: string;
  version: string;
  startedAt: Date;
  labels: readonly { key: string; value: string }[];
  capacity: number | null;
  runners: readonly string[];
  workflows: readonly string[];
  resources: WorkerResources | null;
  packages: readonly WorkerPackage[];
}

export interface HeartbeatInput {
  healthy: boolean;
  draining: boolean;
  checks: readonly HealthCheck[];
  /** undefined: not sent. */
  metrics: unknown;
  /** What the worker believes to hold; null: not said. */
  claims: readonly HeldItem[] | null;
}

export interface HeartbeatAnswer {
  /** Raw ids of claims that are no longer this worker's. */
  lost: string[];
  heartbeatSeconds: number;
  warnings: string[];
}

export interface WorkerProtocolOptions {
  registry: Registry;
  inboxes: Inboxes;
  reports: ReportService;
  unlisted: UnlistedClaims;
  fleet: Fleet;
  log: Log;
  heartbeatSeconds: number;
}

const MAX_CHECKS = 32;
const MAX_CHECK_TEXT = 256;
const MAX_LIST = 1_024;
const MAX_TEXT = 256;
/** Beyond this a fleet is asked to speak less often: 10,000 heartbeats are 500 a second at 20 s. */
const CALM_FLEET = 2_000;
const BUSY_FLEET_FACTOR = 2;

/** What workers say to the server, checked (docs/worker-protocol.md). Who may speak as whom is asked before anything is looked up. */
export class WorkerProtocol {
  readonly #o: WorkerProtocolOptions;

  constructor(options: WorkerProtocolOptions) {
    this.#o = options;
  }

  /** Seconds between heartbeats that this fleet is asked for. */
  get heartbeatSeconds(): number {
    const busy = this.#o.fleet.names().length > CALM_FLEET;
    return Math.min(30, this.#o.heartbeatSeconds * (busy ? BUSY_FLEET_FACTOR : 1));
  }

  /**
   * Errors: FORBIDDEN where the viewer is another worker, or bound to other things; BAD_INPUT with every problem; CONFLICT where this
   * instance was replaced; UNAUTHENTICATED where the worker's credential has ended meanwhile.
   */
  async register(viewer: Viewer, input: RegistrationInput): Promise<FleetWorker> {
    requireSpeaker(viewer, input.name, 'name');
    const labels = checkLabels(input.labels, 'labels', 'refuse');
    const issues = [
      ...checkName(input.name, 'name', 'a worker name', MAX_NAME),
      ...checkName(input.role, 'role', 'a role', MAX_NAME),
      ...checkName(input.instanceId, 'instanceId', 'an instance id', MAX_NAME),
      ...checkTexts(input),
      ...labels.issues,
      ...checkCapacity(input.capacity, 'capacity'),
      ...checkLists(input),
    ];
    if (issues.length > 0) {
      throw new MusterError(
        'BAD_INPUT',
        `The registration has ${issues.length === 1 ? 'a problem' : `${issues.length} problems`}.`,
        { issues },
      );
    }
    const { instanceId, ...rest } = input;
    const { credential } = viewer;
    return this.#o.registry.register({
      ...rest,
      ...boundIdentity(viewer, { ...rest, labels: labels.value }),
      instance: instanceId,
      principal: viewer.name,
      credentialId: credential.kind === 'worker' ? credential.id : null,
    });
  }

  /** Never refuses metrics: a bad payload is dropped whole, with a warning, and the last snapshot stays (ruling 26). */
  async heartbeat(viewer: Viewer, name: string, instanceId: string, input: HeartbeatInput): Promise<HeartbeatAnswer> {
    const worker = this.#require(viewer, name, instanceId);
    const warnings: string[] = [];
    const checked = input.metrics === undefined ? undefined : checkMetrics(input.metrics);
    if (typeof checked === 'string') {
      warnings.push(`The metrics were dropped: ${checked}.`);
      this.#o.log.warn({ worker: name, problem: checked }, 'metrics dropped');
    }
    if (input.checks.length > MAX_CHECKS) warnings.push(`Only the first ${MAX_CHECKS} checks were kept.`);
    this.#o.registry.heartbeat(worker, {
      healthy: input.healthy,
      draining: input.draining,
      checks: input.checks.slice(0, MAX_CHECKS).map((check) => ({
        name: storable(check.name, MAX_CHECK_TEXT),
        healthy: check.healthy,
        message: check.message === null ? null : storable(check.message, MAX_CHECK_TEXT),
      })),
      metrics: typeof checked === 'string' ? undefined : checked,
    });
    const { heartbeatSeconds } = this;
    const [lost] = await Promise.all([
      this.#lost(worker, input.claims ?? []),
      this.#o.unlisted.heard(worker, input.claims, heartbeatSeconds),
    ]);
    return { lost, heartbeatSeconds, warnings };
  }

  async report(viewer: Viewer, name: string, instanceId: string, report: WorkerReport): Promise<ReportAnswer> {
    const worker = this.#require(viewer, name, instanceId);
    const { claims, ...others } = report;
    const answered = this.#o.unlisted.reporting(worker, claims, Object.values(others).flat());
    try {
      return await this.#o.reports.report(worker, report);
    } finally {
      answered();
    }
  }

  /** Further recorded steps of a claim. Errors: CONFLICT where it is not this worker's any more. */
  async steps(viewer: Viewer, name: string, instanceId: string, item: HeldItem, after: number): Promise<StepPage> {
    return this.#o.reports.steps(this.#require(viewer, name, instanceId), item, after);
  }

  /** Answers how many executions were released. */
  async leave(viewer: Viewer, name: string, instanceId: string): Promise<number> {
    return this.#o.registry.leave(this.#require(viewer, name, instanceId));
  }

  inbox(viewer: Viewer, name: string, instanceId: string): AsyncGenerator<InboxEvent, void, undefined> {
    return this.#o.inboxes.open(this.#require(viewer, name, instanceId));
  }

  /** Errors: FORBIDDEN (another worker's), NOT_FOUND (register first), CONFLICT (another process has the name now). */
  #require(viewer: Viewer, name: string, instanceId: string): FleetWorker {
    requireSpeaker(viewer, name);
    const worker = this.#o.fleet.get(name);
    if (worker === undefined || !worker.registered) {
      throw new MusterError('NOT_FOUND', 'No worker is registered under this name: register first.', {
        field: 'worker',
      });
    }
    if (worker.facts.instanceId !== instanceId) {
      throw new MusterError('CONFLICT', `Another process is registered as ${name} now: this one is replaced.`, {
        field: 'instanceId',
        details: { replaced: true },
      });
    }
    return worker;
  }

  /** What the live map does not confirm is looked up: the map is a hint, the table is the truth. */
  async #lost(worker: FleetWorker, claims: readonly HeldItem[]): Promise<string[]> {
    const doubtful = claims.filter((claim) => !this.#o.fleet.isLive(claim.id, claim.generation, worker.id));
    if (doubtful.length === 0) return [];
    const held = await this.#o.reports.stillHeld(worker, doubtful.slice(0, MAX_LIST));
    return doubtful.filter((claim) => !held.has(claim.id)).map((claim) => claim.id);
  }
}

function checkTexts(input: RegistrationInput): Issue[] {
  const issues: Issue[] = [];
  for (const field of ['hostname', 'version'] as const) {
    const text = input[field];
    if (text === '' || text !== storable(text, MAX_TEXT)) {
      issues.push({
        path: field,
        code: 'TEXT_SHAPE',
        message: `${field} has 1 to ${MAX_TEXT} characters, without NUL or lone surrogates`,
      });
    }
  }
  return issues;
}

function checkLists(input: RegistrationInput): Issue[] {
  const issues: Issue[] = [];
  for (const field of ['runners', 'workflows', 'packages'] as const) {
    const { length } = input[field];
    if (length > MAX_LIST)
      issues.push({ path: field, code: 'LIST_TOO_LONG', message: `at most ${MAX_LIST} ${field}, not ${length}` });
  }
  for (const [index, runner] of input.runners.slice(0, MAX_LIST).entries()) {
    issues.push(...checkName(runner, `runners.${index}`, 'a runner', MAX_NAME));
  }
  for (const [index, ref] of input.workflows.slice(0, MAX_LIST).entries()) {
    if (!ref.includes('/') || parseWorkflowRef(ref) === null) {
      issues.push({ path: `workflows.${index}`, code: 'REF_SHAPE', message: 'a workflow is named namespace/name' });
    }
  }
  for (const [index, { name, version }] of input.packages.slice(0, MAX_LIST).entries()) {
    if (name === '' || name !== storable(name, MAX_TEXT) || version !== storable(version, MAX_TEXT)) {
      issues.push({
        path: `packages.${index}`,
        code: 'TEXT_SHAPE',
        message: `name and version have at most ${MAX_TEXT} characters`,
      });
    }
  }
  for (const [field, value] of Object.entries(input.resources ?? {})) {
    if (typeof value === 'number' && !(value >= 0)) {
      issues.push({ path: `resources.${field}`, code: 'NUMBER_RANGE', message: 'an amount is 0 or more' });
    }
  }
  return issues;
}
