import { type JsonValue, LIVE_STATES, MusterError } from '@muster/core';
import { announceWoken } from '../../dispatch/announce.ts';
import type { AttemptFailure } from '../../dispatch/statements/release.ts';
import { wokenBy } from '../../dispatch/statements/wake.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import {
  type CallAnswer,
  type CallReport,
  type DurableReportDeps,
  DurableReports,
  type StepReport,
  type SuspendReport,
} from './durable-reports.ts';
import { readSteps, type RecordedStep, type StepPage } from './recorded-steps.ts';
import { badInput, type ItemResult, isDataError, notFound, Refusals, taken } from './refusals.ts';
import type { ReleaseWorker } from './release-worker.ts';
import { storable } from './storable.ts';
import {
  appendEvents,
  type ChangedRow,
  type ClaimedRow,
  claimExecutions,
  type EndItem,
  endExecutions,
  type HeldItem,
  type Holder,
  readFences,
  readHeldClaims,
  readInput,
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

export interface ClaimAnswer extends ItemResult {
  claim: {
    workflow: string;
    version: number;
    input: JsonValue;
    attempt: number;
    maxAttempts: number;
    timeoutSeconds: number | null;
    workflowRunner: string | null;
    token: string;
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

export interface ReportServiceOptions extends DurableReportDeps {
  versionById: (id: number) => Promise<ClaimedVersion>;
  /** The token of a claim (docs/worker-credentials.md). */
  tokenFor: (claim: { id: string; generation: number; submittedBy: string }) => string;
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
  readonly #refusals: Refusals;
  readonly #durable: DurableReports;

  constructor(options: ReportServiceOptions) {
    this.#o = options;
    this.#refusals = new Refusals(options);
    this.#durable = new DurableReports(options, this.#refusals);
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
    const calls = await this.#durable.calls(worker, report.calls);
    const steps = await this.#durable.steps(worker, report.steps);
    const events = await this.#events(worker, report.events);
    const suspends = await this.#durable.suspends(worker, report.suspends);
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
    const claimed = new Map([...rows, ...held].map((row) => [row.id, row]));
    const missed = items.filter((item) => !claimed.has(item.id));
    const refused = await this.#refusals.explain(worker, missed, null);
    const recorded = [...claimed.values()].filter((row) => row.stepCount > 0).map(({ id }) => ({ id, after: -1 }));
    const pages = recorded.length === 0 ? new Map<string, StepPage>() : await readSteps(executor, recorded);
    return Promise.all(
      items.map(async (item) => {
        const row = claimed.get(item.id);
        if (row === undefined) return { ...(refused[missed.indexOf(item)] ?? notFound(item.id)), claim: null };
        return { ...taken(item.id), claim: await this.#claimAnswer(row, pages.get(item.id)) };
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
      token: this.#o.tokenFor(row),
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
        bad.set(item, badInput(item.id, message));
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

  /** A failure that another attempt may mend goes back to the queue while there are attempts left; the rest ends. */
  async #end(worker: FleetWorker, items: WorkerReport['ends']): Promise<ItemResult[]> {
    const mendable = items.filter(isMendable);
    const final = items.filter((item) => !isMendable(item));
    const [failed, ended] = [await this.#failAttempts(worker, mendable), await this.#endFinally(worker, final)];
    return items.map((item) =>
      isMendable(item)
        ? (failed[mendable.indexOf(item)] ?? notFound(item.id))
        : (ended[final.indexOf(item)] ?? notFound(item.id)),
    );
  }

  #endFinally(worker: FleetWorker, items: WorkerReport['ends']): Promise<ItemResult[]> {
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
        const { executor, bus, parkTtlSeconds, recordEnd } = this.#o;
        const rows = await endExecutions(executor, holder, batch, parkTtlSeconds);
        bus.publish('live', { items: rows.map(({ id, generation }) => ({ id, workerId: null, generation })) });
        announceWoken(bus, wokenBy(rows));
        for (const state of ['COMPLETED', 'FAILED'] as const) {
          const count = rows.filter((row) => row.state === state).length;
          if (count > 0) recordEnd(state, count);
        }
        return rows;
      },
    );
  }

  async #failAttempts(worker: FleetWorker, items: WorkerReport['ends']): Promise<ItemResult[]> {
    if (items.length === 0) return [];
    const rows = await this.#o.releaseWorker({
      workerId: worker.id,
      instance: worker.facts.instanceId,
      cause: 'ATTEMPT_FAILED',
      message: 'the attempt failed',
      items: items.map(({ id, generation, error }) => ({ id, generation, failure: toFailure(error ?? UNEXPLAINED) })),
    });
    const moved = new Set(rows.map((row) => row.id));
    const missed = items.filter((item) => !moved.has(item.id));
    const refused = await this.#refusals.explain(worker, missed, () => 'FAILED');
    return items.map((item) =>
      moved.has(item.id) ? taken(item.id) : (refused[missed.indexOf(item)] ?? notFound(item.id)),
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
    const missed = items.filter((item) => !released.has(item.id));
    const refused = await this.#refusals.explain(worker, missed, null);
    return items.map((item) =>
      released.has(item.id) ? taken(item.id) : (refused[missed.indexOf(item)] ?? notFound(item.id)),
    );
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
          broken.set(item.id, badInput(item.id, 'The database cannot store this value.'));
        }
      }
    }
    this.#publishChanges(rows);
    const written = new Set(rows.map((row) => row.id));
    const missed = items.filter((item) => !written.has(item.id) && !broken.has(item.id));
    const refused = await this.#refusals.explain(worker, missed, typeof wrote === 'string' ? () => wrote : wrote);
    return items.map((item) =>
      written.has(item.id)
        ? taken(item.id)
        : (broken.get(item.id) ?? refused[missed.indexOf(item)] ?? notFound(item.id)),
    );
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

const OUTCOMES: Readonly<Record<string, AttemptFailure['outcome']>> = {
  TimeoutError: 'TIMED_OUT',
  CrashError: 'CRASHED',
};

/** Timeouts and crashes are of the attempt, whatever the handler would say; of its own errors it says whether trying again makes sense. */
function isMendable({ state, error }: WorkerReport['ends'][number]): boolean {
  return state === 'FAILED' && error !== null && (error.retryable || Object.hasOwn(OUTCOMES, error.type));
}

function toFailure(error: EndError): AttemptFailure {
  const outcome = Object.hasOwn(OUTCOMES, error.type) ? OUTCOMES[error.type] : undefined;
  return { outcome: outcome ?? 'FAILED', error: JSON.stringify(error), message: storable(error.message, 1_000) };
}

function reasonOf(item: { reason: string | null }): string {
  return storable(item.reason ?? 'given back by the worker', 200);
}
