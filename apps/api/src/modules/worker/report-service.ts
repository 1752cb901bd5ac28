import { type JsonValue, LIVE_STATES, MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import type { UuidSource } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { Log } from '../../log.ts';
import {
  type CallAnswer,
  type CallReport,
  DurableReports,
  type StepReport,
  type SuspendReport,
} from './durable-reports.ts';
import { readSteps, type RecordedStep, type StepPage } from './recorded-steps.ts';
import type { ReleaseWorker } from './release-worker.ts';
import {
  appendEvents,
  type ChangedRow,
  type ClaimedRow,
  claimExecutions,
  type EndItem,
  endExecutions,
  type FenceRow,
  type HeldItem,
  type Holder,
  readFences,
  readHeldClaims,
  readInput,
  recordLateWrites,
  startExecutions,
} from './report-store.ts';

/** Most items of one kind in one report. */
export const MAX_REPORT_ITEMS = 200;

export interface WorkerReport {
  claims: readonly (HeldItem & { started: boolean; again: boolean })[];
  starts: readonly HeldItem[];
  calls: readonly CallReport[];
  steps: readonly StepReport[];
  events: readonly (HeldItem & { type: string; data: JsonValue | undefined })[];
  suspends: readonly SuspendReport[];
  ends: readonly (HeldItem & { state: EndItem['state']; output: JsonValue | undefined; error: EndError | null })[];
  releases: readonly (HeldItem & { reason: string | null })[];
}

export interface EndError {
  type: string;
  message: string;
  stack: string | null;
  retryable: boolean;
}

/** The answer to one item; `code` null where it was taken. */
export interface ItemResult {
  id: string;
  code: string | null;
  message: string | null;
}

export interface ClaimAnswer extends ItemResult {
  claim: {
    workflow: string;
    version: number;
    input: JsonValue;
    attempt: number;
    maxAttempts: number;
    timeoutSeconds: number | null;
    workflowRunner: string | null;
    steps: RecordedStep[];
    stepsAfter: number | null;
  } | null;
}

export interface ReportAnswer {
  claims: ClaimAnswer[];
  starts: ItemResult[];
  calls: CallAnswer[];
  steps: ItemResult[];
  events: ItemResult[];
  suspends: ItemResult[];
  ends: ItemResult[];
  releases: ItemResult[];
}

/** What a claim's answer says of the version; immutable. */
export interface ClaimedVersion {
  workflowRef: string;
  number: number;
  maxAttempts: number;
  timeoutSeconds: number | null;
  runner: string | null;
}

export interface ReportServiceOptions {
  executor: Executor;
  bus: Bus;
  log: Log;
  ids: UuidSource;
  versionById: (id: number) => Promise<ClaimedVersion>;
  releaseWorker: ReleaseWorker;
  recordEnd: (state: 'COMPLETED' | 'FAILED', count: number) => void;
}

/** Event types that the server itself writes. */
const RESERVED_EVENT_TYPES = new Set([
  'CREATED',
  'SCHEDULED',
  'CLAIMED',
  'STARTED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'PAUSED',
  'RESUMED',
  'LATE_WRITE_REFUSED',
]);
const EVENT_TYPE = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/**
 * What workers report: claims, starts, events, ends and releases. Every write is fenced by worker, instance and generation; a refused
 * one is answered by itself and does not touch the others. Late writes are kept as events (DESIGN, "The way of an execution", 6).
 */
export class ReportService {
  readonly #o: ReportServiceOptions;
  readonly #durable = new DurableReports();

  constructor(options: ReportServiceOptions) {
    this.#o = options;
  }

  /** The parts are taken in the order of an execution's life. Errors: BAD_INPUT where a list is too long. */
  async report(worker: FleetWorker, report: WorkerReport): Promise<ReportAnswer> {
    for (const [field, items] of Object.entries(report)) {
      if (items.length > MAX_REPORT_ITEMS) {
        throw new MusterError('BAD_INPUT', `${field} has at most ${MAX_REPORT_ITEMS} items, not ${items.length}.`, {
          field,
        });
      }
    }
    const claims = await this.#claim(worker, report.claims);
    const starts = await this.#write(worker, report.starts, 'STARTED', (holder, items) =>
      startExecutions(this.#o.executor, holder, items),
    );
    const calls = await this.#durable.calls(report.calls);
    const steps = await this.#durable.steps(report.steps);
    const events = await this.#events(worker, report.events);
    const suspends = await this.#durable.suspends(report.suspends);
    const ends = await this.#end(worker, report.ends);
    const releases = await this.#release(worker, report.releases);
    return { claims, starts, calls, steps, events, suspends, ends, releases };
  }

  /** Ids of those that this instance really holds. */
  async stillHeld(worker: FleetWorker, items: readonly HeldItem[]): Promise<Set<string>> {
    const fences = await readFences(
      this.#o.executor,
      worker.id,
      items.map((item) => item.id),
    );
    const generations = new Map(items.map((item) => [item.id, item.generation]));
    const held = fences.filter(
      (fence) =>
        fence.workerId === worker.id &&
        fence.instance === worker.facts.instanceId &&
        fence.generation === generations.get(fence.id) &&
        HELD_STATES.has(fence.state),
    );
    return new Set(held.map((fence) => fence.id));
  }

  async #claim(worker: FleetWorker, items: WorkerReport['claims']): Promise<ClaimAnswer[]> {
    if (items.length === 0) return [];
    const { executor } = this.#o;
    const holder = holderOf(worker);
    const rows = await claimExecutions(executor, holder, items);
    this.#publishChanges(rows);
    const again = items.filter((item) => item.again && !rows.some((row) => row.id === item.id));
    const held = again.length === 0 ? [] : await readHeldClaims(executor, holder, again);
    const taken = new Map([...rows, ...held].map((row) => [row.id, row]));
    const refusals = await this.#refusals(
      worker,
      items.filter((item) => !taken.has(item.id)),
      null,
    );
    const recorded = [...taken.values()].filter((row) => row.stepCount > 0).map(({ id }) => ({ id, after: -1 }));
    const pages = recorded.length === 0 ? new Map<string, StepPage>() : await readSteps(executor, recorded);
    return Promise.all(
      items.map(async (item) => {
        const row = taken.get(item.id);
        if (row === undefined) return { ...(refusals.get(item.id) ?? notFound(item.id)), claim: null };
        return { id: item.id, code: null, message: null, claim: await this.#claimAnswer(row, pages.get(item.id)) };
      }),
    );
  }

  /** Further recorded steps of a claim. Errors: CONFLICT where it is not this worker's any more. */
  async steps(worker: FleetWorker, item: HeldItem, after: number): Promise<StepPage> {
    if (!(await this.stillHeld(worker, [item])).has(item.id)) {
      throw new MusterError('CONFLICT', 'This claim is not held by this worker.', { field: 'id' });
    }
    return (await readSteps(this.#o.executor, [{ id: item.id, after }])).get(item.id) ?? { steps: [], after: null };
  }

  async #claimAnswer(row: ClaimedRow, page: StepPage | undefined): Promise<NonNullable<ClaimAnswer['claim']>> {
    const version = await this.#o.versionById(row.versionId);
    const text = row.inputOmitted ? await readInput(this.#o.executor, row.id) : row.input;
    return {
      workflow: version.workflowRef,
      version: version.number,
      input: text === null ? null : (JSON.parse(text) as JsonValue),
      attempt: row.attempt,
      maxAttempts: version.maxAttempts,
      timeoutSeconds: version.timeoutSeconds,
      workflowRunner: version.runner,
      steps: page?.steps ?? [],
      stepsAfter: page?.after ?? null,
    };
  }

  async #events(worker: FleetWorker, items: WorkerReport['events']): Promise<ItemResult[]> {
    const bad = new Map<(typeof items)[number], ItemResult>();
    for (const item of items) {
      if (!EVENT_TYPE.test(item.type) || RESERVED_EVENT_TYPES.has(item.type)) {
        const message =
          'type is 1 to 64 letters, digits, ".", "_" or "-", begins with a letter, and is none of the server\'s own.';
        bad.set(item, { id: item.id, code: 'BAD_INPUT', message });
      }
    }
    const good = items.filter((item) => !bad.has(item));
    const answers = await this.#write(worker, good, 'an event', (holder, batch) =>
      appendEvents(
        this.#o.executor,
        holder,
        worker.facts.name,
        batch.map((item) => ({
          id: item.id,
          generation: item.generation,
          eventId: this.#o.ids.next(),
          type: item.type,
          data: item.data === undefined ? null : JSON.stringify(item.data),
        })),
      ),
    );
    let next = 0;
    return items.map((item) => bad.get(item) ?? answers[next++] ?? notFound(item.id));
  }

  async #end(worker: FleetWorker, items: WorkerReport['ends']): Promise<ItemResult[]> {
    const stored = items.map((item) => ({
      id: item.id,
      generation: item.generation,
      state: item.state,
      output: item.output === undefined ? null : JSON.stringify(item.output),
      error: item.state === 'FAILED' ? JSON.stringify(item.error ?? UNEXPLAINED) : null,
    }));
    return this.#write(
      worker,
      stored,
      (item) => item.state,
      async (holder, batch) => {
        const rows = await endExecutions(this.#o.executor, holder, batch);
        this.#o.bus.publish('live', { items: rows.map(({ id, generation }) => ({ id, workerId: null, generation })) });
        for (const state of ['COMPLETED', 'FAILED'] as const) {
          const count = rows.filter((row) => row.state === state).length;
          if (count > 0) this.#o.recordEnd(state, count);
        }
        return rows;
      },
    );
  }

  async #release(worker: FleetWorker, items: WorkerReport['releases']): Promise<ItemResult[]> {
    if (items.length === 0) return [];
    const released = new Map<string, HeldItem>();
    for (const reason of new Set(items.map(reasonOf))) {
      const group = items.filter((item) => reasonOf(item) === reason);
      const rows = await this.#o.releaseWorker({
        workerId: worker.id,
        instance: worker.facts.instanceId,
        cause: 'RETURNED',
        message: reason,
        items: group,
      });
      for (const row of rows) released.set(row.id, row);
    }
    const refusals = await this.#refusals(
      worker,
      items.filter((item) => !released.has(item.id)),
      null,
    );
    return items.map((item) => (released.has(item.id) ? taken(item.id) : (refusals.get(item.id) ?? notFound(item.id))));
  }

  /** One statement for the batch; where the database refuses it, item by item, once, so that one bad item fails alone. */
  async #write<I extends HeldItem>(
    worker: FleetWorker,
    items: readonly I[],
    wrote: string | ((item: I) => string),
    statement: (holder: Holder, items: readonly I[]) => Promise<ChangedRow[]>,
  ): Promise<ItemResult[]> {
    if (items.length === 0) return [];
    const holder = holderOf(worker);
    const broken = new Map<string, ItemResult>();
    let rows: ChangedRow[];
    try {
      rows = await statement(holder, items);
    } catch (error) {
      if (!isDataError(error)) throw error;
      rows = [];
      for (const item of items) {
        try {
          rows.push(...(await statement(holder, [item])));
        } catch (single) {
          if (!isDataError(single)) throw single;
          broken.set(item.id, { id: item.id, code: 'BAD_INPUT', message: 'The database cannot store this value.' });
        }
      }
    }
    this.#publishChanges(rows);
    const written = new Set(rows.map((row) => row.id));
    const missed = items.filter((item) => !written.has(item.id) && !broken.has(item.id));
    const refusals = await this.#refusals(worker, missed, typeof wrote === 'string' ? () => wrote : wrote);
    return items.map((item) =>
      written.has(item.id) ? taken(item.id) : (broken.get(item.id) ?? refusals.get(item.id) ?? notFound(item.id)),
    );
  }

  /** Why these were refused (ruling 30); with `wrote`, those that came too late are kept as events. */
  async #refusals<I extends HeldItem>(
    worker: FleetWorker,
    items: readonly I[],
    wrote: ((item: I) => string) | null,
  ): Promise<Map<string, ItemResult>> {
    if (items.length === 0) return new Map();
    const fences = new Map(
      (
        await readFences(
          this.#o.executor,
          worker.id,
          items.map((item) => item.id),
        )
      ).map((fence) => [fence.id, fence]),
    );
    const results = new Map<string, ItemResult>();
    const late: { item: I; wrote: string }[] = [];
    for (const item of items) {
      const fence = fences.get(item.id);
      if (fence === undefined) continue;
      const text = wrote?.(item) ?? null;
      const result = refusal(worker, item, fence, text);
      results.set(item.id, result);
      if (result.code === 'CONFLICT' && text !== null) late.push({ item, wrote: text });
    }
    if (late.length > 0) {
      const rows = await recordLateWrites(
        this.#o.executor,
        worker.facts.name,
        late.map(({ item, wrote }) => ({
          id: item.id,
          generation: item.generation,
          eventId: this.#o.ids.next(),
          wrote,
        })),
      );
      this.#publishChanges(rows);
      this.#o.log.warn(
        { worker: worker.facts.name, executions: late.map(({ item }) => item.id) },
        'late writes refused',
      );
    }
    return results;
  }

  #publishChanges(rows: readonly { id: string; revision: number }[]): void {
    for (const { id, revision } of rows) this.#o.bus.publish('execution', { id, revision });
  }
}

const HELD_STATES: ReadonlySet<string> = new Set(LIVE_STATES);
const UNEXPLAINED: EndError = { type: 'Error', message: 'The worker gave no reason.', stack: null, retryable: false };

function holderOf(worker: FleetWorker): Holder {
  return { workerId: worker.id, instance: worker.facts.instanceId };
}

function reasonOf(item: { reason: string | null }): string {
  return (item.reason ?? 'given back by the worker').slice(0, 200);
}

function taken(id: string): ItemResult {
  return { id, code: null, message: null };
}

function notFound(id: string): ItemResult {
  return { id, code: 'NOT_FOUND', message: 'There is no such execution.' };
}

/**
 * A worker that never had it gets FORBIDDEN; one that had it, CONFLICT: its generation is over, or the state does not allow the write. What it has
 * written already (the answer was lost) is taken again.
 */
function refusal(worker: FleetWorker, item: HeldItem, fence: FenceRow, wrote: string | null): ItemResult {
  const mine = fence.workerId === worker.id && fence.instance === worker.facts.instanceId;
  if (!mine && !fence.hadItBefore) {
    return { id: item.id, code: 'FORBIDDEN', message: 'This execution is not scheduled to this worker.' };
  }
  if (!mine || fence.generation !== item.generation) {
    return {
      id: item.id,
      code: 'CONFLICT',
      message: `Generation ${item.generation} is over, the execution is at ${fence.generation} (${fence.state}): this claim was revoked.`,
    };
  }
  if (wrote !== null && fence.state === (wrote === 'STARTED' ? 'RUNNING' : wrote)) return taken(item.id);
  return { id: item.id, code: 'CONFLICT', message: `The execution is ${fence.state}, which does not allow this.` };
}

/** SQLSTATE classes 22 (data) and 23 (constraint): the value's fault, not the database's. */
function isDataError(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && (code.startsWith('22') || code.startsWith('23'));
}
