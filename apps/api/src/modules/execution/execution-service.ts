import { type JsonValue, MusterError } from '@muster/core';
import type { Bus } from '../../bus/bus.ts';
import { announceWoken } from '../../dispatch/announce.ts';
import { Batcher } from '../../dispatch/batcher.ts';
import { Canceller } from '../../dispatch/canceller.ts';
import type { CancelItem } from '../../dispatch/statements/cancel.ts';
import type { OperatorNote } from '../../dispatch/statements/operator-audit.ts';
import type { UuidSource } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import { databaseTrouble } from '../../lib/database-trouble.ts';
import { mayReadExecutions, mayReadWorkflow } from '../viewer/readable.ts';
import { may, requirePermission, type Viewer } from '../viewer/viewer.ts';
import { type BindingChecks, checkBinding, trimHint } from './binding.ts';
import { readForRetry, readStates, resumeExecution, workflowOfExecution } from './execution-store.ts';
import { SettleWatch } from './settle-watch.ts';
import type { SubmitItem, SubmitOutcome } from './submission.ts';
import { type FreshExecution, Submitter } from './submitter.ts';

export interface ExecutionServiceDeps {
  executor: Executor;
  bus: Bus;
  ids: UuidSource;
  binding: BindingChecks;
  /** Park time of executions that bring none; 0: for ever. */
  parkTtlSeconds: number;
  /** The dispatcher of this process, if it has one. */
  queue: { accept(fresh: readonly FreshExecution[]): void };
  onError(error: unknown): void;
}

/** What callers can do to executions. Ids are raw UUIDs: 32 hex digits, without the `ex_` of the API. */
export class ExecutionService {
  readonly #deps: ExecutionServiceDeps;
  readonly #submitter: Submitter;
  readonly #canceller: Canceller;
  readonly #cancels: Batcher<Omit<CancelItem, 'eventId'>, boolean>;
  readonly #settled: SettleWatch;

  constructor(deps: ExecutionServiceDeps) {
    this.#deps = deps;
    this.#submitter = new Submitter(deps);
    this.#canceller = new Canceller(deps);
    this.#cancels = new Batcher((items) => this.#cancelBatch(items));
    this.#settled = new SettleWatch({
      bus: deps.bus,
      readStates: (ids) => readStates(deps.executor, ids),
      onError: deps.onError,
    });
  }

  /**
   * Makes executions; the rows are durable when it resolves. Concurrent calls are joined into one insert of at most 200
   * rows; each item succeeds or fails alone. Never rejects.
   */
  submit(items: readonly SubmitItem[], viewer: Viewer): Promise<SubmitOutcome[]> {
    return Promise.all(
      items.map(async (item): Promise<SubmitOutcome> => {
        try {
          const requiredWorker = checkBinding(item.requiredWorker, viewer, this.#deps.binding);
          const preferredWorker = requiredWorker === null ? trimHint(item.preferredWorker) : null;
          const text = item.input === null || item.input === undefined ? null : JSON.stringify(item.input);
          const routed = item.routingInput !== undefined && Object.keys(item.routingInput).length > 0;
          return await this.#submitter.submit({
            ...item,
            requiredWorker,
            preferredWorker,
            submittedBy: viewer.name,
            inputText: text,
            routingInput: routed ? item.routingInput : undefined,
          });
        } catch (error) {
          return { error: this.#asMusterError(error) };
        }
      }),
    );
  }

  /**
   * Unassigned, unclaimed and paused executions are CANCELLED at once, claimed and running ones become CANCELLING until
   * their worker answers. Children that have not ended are cancelled too, and theirs. Cancelling twice is fine.
   * Errors: FORBIDDEN; NOT_FOUND, also where the viewer may not read it; CONFLICT where it has COMPLETED or FAILED.
   */
  async cancel(id: string, viewer: Viewer, requestId: string | null = null): Promise<void> {
    requirePermission(viewer, 'execution:*:cancel');
    await this.#require(id, viewer, 'read');
    if (await this.#cancels.add({ id, by: viewer.name, note: this.#note(viewer, requestId) })) return;
    const row = (await readStates(this.#deps.executor, [id])).get(id);
    if (row === undefined) throw notFound();
    if (row.state === 'COMPLETED' || row.state === 'FAILED') {
      throw new MusterError('CONFLICT', `It has ${row.state} already; there is nothing to cancel.`, { field: 'id' });
    }
  }

  /**
   * A new execution with the same version, input, variant, roles, binding, hint, priority and routing input (ruling 32).
   * Errors: as `resume`; CONFLICT where it is not FAILED or CANCELLED.
   */
  async retry(id: string, viewer: Viewer): Promise<{ id: string }> {
    await this.#require(id, viewer, 'run');
    const source = await readForRetry(this.#deps.executor, id);
    if (source === null) throw notFound();
    if (source.state !== 'FAILED' && source.state !== 'CANCELLED') {
      throw new MusterError(
        'CONFLICT',
        `Only FAILED and CANCELLED executions can be retried; this one is ${source.state}.`,
        {
          field: 'id',
        },
      );
    }
    const outcome = await this.#submitter.submit({
      versionId: source.versionId,
      deploymentId: source.deploymentId ?? undefined,
      variant: source.variant ?? undefined,
      targetRoles: source.targetRoles,
      sessionKey: source.sessionKey ?? undefined,
      inputText: source.input,
      input: source.input === null ? null : (JSON.parse(source.input) as JsonValue),
      routingInput: source.routingInput ?? undefined,
      requiredWorker: source.requiredWorker,
      preferredWorker: source.preferredWorker,
      parkTtlSeconds: source.parkTtlSeconds,
      priority: source.priority,
      retryOf: source.id,
      submittedBy: viewer.name,
    });
    if ('error' in outcome) throw outcome.error;
    return { id: outcome.id };
  }

  /**
   * Errors: NOT_FOUND, also where the viewer may not read it; FORBIDDEN where he may not run its workflow; CONFLICT where it is not PAUSED, or waits for
   * something else than a resume.
   */
  async resume(id: string, input: JsonValue, viewer: Viewer, requestId: string | null = null): Promise<void> {
    await this.#require(id, viewer, 'run');
    const { executor, bus, ids, parkTtlSeconds } = this.#deps;
    const note = this.#note(viewer, requestId);
    const text = JSON.stringify(input ?? null);
    const request = { id, eventId: ids.next(), by: viewer.name, input: text, parkTtlSeconds, note };
    const resumed = await resumeExecution(executor, request);
    if (resumed !== null) {
      announceWoken(bus, [resumed]);
      return;
    }
    const row = (await readStates(executor, [id])).get(id);
    if (row === undefined) throw notFound();
    const why =
      row.state === 'PAUSED'
        ? `It waits for ${row.waiting === 'TIMER' ? 'a time' : 'a child'}, not for a resume.`
        : `Only PAUSED executions can be resumed; this one is ${row.state}.`;
    throw new MusterError('CONFLICT', why, { field: 'id' });
  }

  /** Resolves when the execution has ended or parked, or after so many seconds; event-driven. */
  waitUntilSettled(id: string, seconds: number): Promise<void> {
    return this.#settled.wait(id, seconds * 1000, { until: 'ENDED_OR_PARKED' });
  }

  /** Resolves when the execution has ended, when the signal is aborted, or after so many seconds; event-driven. */
  waitUntilEnded(id: string, seconds: number, signal: AbortSignal): Promise<void> {
    return this.#settled.wait(id, seconds * 1000, { until: 'ENDED', signal });
  }

  /** How many executions somebody waits for. */
  get awaited(): number {
    return this.#settled.size;
  }

  /** Lets waiting callers go and finishes the writes that are on their way. */
  async close(): Promise<void> {
    this.#settled.close();
    await Promise.all([this.#submitter.settled(), this.#cancels.settled()]);
  }

  /** What may not be read looks as what is not there, and only then is asked whether it may be run. Nothing is read for who may do it with all. */
  async #require(id: string, viewer: Viewer, action: 'read' | 'run'): Promise<void> {
    const reads = mayReadExecutions(viewer);
    if (reads && may(viewer, 'workflow:*:*:read') && may(viewer, `workflow:*:*:${action}`)) return;
    const ref = reads ? await workflowOfExecution(this.#deps.executor, id) : null;
    if (ref === null || !mayReadWorkflow(viewer, ref)) throw notFound();
    requirePermission(viewer, `workflow:${ref.replace('/', ':')}:${action}`, 'id');
  }

  async #cancelBatch(items: readonly Omit<CancelItem, 'eventId'>[]): Promise<boolean[]> {
    const rows = await this.#canceller.cancel(items);
    // The leader's sweep does it too, where this fails half-way.
    if (rows.some((row) => row.cancelChildren)) await this.#canceller.cancelChildren().catch(this.#deps.onError);
    const moved = new Set(rows.map((row) => row.id));
    return items.map((item) => moved.has(item.id));
  }

  /** Without a request nobody asked for it: the server does it by itself. */
  #note({ address }: Viewer, requestId: string | null): OperatorNote | null {
    return requestId === null ? null : { id: this.#deps.ids.next(), address, requestId };
  }

  #asMusterError(error: unknown): MusterError {
    if (error instanceof MusterError) return error;
    this.#deps.onError(error);
    return (
      databaseTrouble(error) ?? new MusterError('INTERNAL', 'The execution could not be stored.', { cause: error })
    );
  }
}

function notFound(): MusterError {
  return new MusterError('NOT_FOUND', 'There is no such execution.', { field: 'id' });
}
