import type { DispatchRequest, JsonObject, JsonValue } from '@muster/core';
import type { FreshExecution } from '../modules/execution/submitter.ts';
import type { PendingEntry } from './pending.ts';
import type { CachedPlan, PlanCache } from './plan-cache.ts';
import { project, resolvedText } from './projection.ts';
import type { Executor } from './statements/executor.ts';
import { type QueuedRow, readInputs, readQueuedByIds, readRoutingInputs } from './statements/queue-reads.ts';

/** Inputs may be large: so many are read at once. */
const INPUT_SLICE = 50;
const ROW_SLICE = 500;

/** Makes of queued rows what the dispatcher keeps in memory: only the part of the inputs that a policy can see. */
export class QueueLoader {
  readonly #db: Executor;
  readonly #plans: PlanCache;

  constructor(db: Executor, plans: PlanCache) {
    this.#db = db;
    this.#plans = plans;
  }

  /** Those of these executions that are queued now; of unknown versions there are none. */
  async load(ids: readonly string[]): Promise<PendingEntry[]> {
    const entries: PendingEntry[] = [];
    for (let i = 0; i < ids.length; i += ROW_SLICE) {
      const rows = await readQueuedByIds(this.#db, ids.slice(i, i + ROW_SLICE));
      entries.push(...(await this.#complete(rows)));
    }
    return entries;
  }

  /** For executions that this process has just stored. Null where their plan is not ready: then they must be loaded. */
  fresh(execution: FreshExecution): PendingEntry | null {
    const plan = this.#plans.get(execution.versionId);
    if (plan === undefined) return null;
    const row: QueuedRow = {
      ...execution,
      targetRoles: [...execution.targetRoles],
      generation: 0,
      revision: 1,
      attempt: 0,
      notBefore: null,
      skipWorker: null,
      parkedReason: null,
    };
    return entryOf(row, plan, execution.input, execution.routingInput);
  }

  async #complete(rows: readonly QueuedRow[]): Promise<PendingEntry[]> {
    await this.#plans.load(rows.map((row) => row.versionId));
    const wanting = (reads: (plan: CachedPlan) => readonly string[]): string[] =>
      rows.flatMap((row) => {
        const plan = this.#plans.get(row.versionId);
        return plan !== undefined && reads(plan).length > 0 ? [row.id] : [];
      });
    const inputs = new Map<string, JsonValue>();
    const wantingInput = wanting((plan) => plan.paths.all.input);
    for (let i = 0; i < wantingInput.length; i += INPUT_SLICE) {
      const slice = await readInputs(this.#db, wantingInput.slice(i, i + INPUT_SLICE));
      for (const [id, input] of slice) inputs.set(id, input);
    }
    const wantingRouting = wanting((plan) => plan.paths.all.routing);
    const routing =
      wantingRouting.length === 0 ? new Map<string, JsonObject>() : await readRoutingInputs(this.#db, wantingRouting);
    return rows.flatMap((row) => {
      const plan = this.#plans.get(row.versionId);
      return plan === undefined ? [] : [entryOf(row, plan, inputs.get(row.id), routing.get(row.id) ?? null)];
    });
  }
}

function entryOf(
  row: QueuedRow,
  { paths }: CachedPlan,
  input: JsonValue | undefined,
  routingInput: JsonObject | null,
): PendingEntry {
  const shapeKey = JSON.stringify([
    row.versionId,
    row.targetRoles,
    row.requiredWorker,
    row.skipWorker,
    resolvedText(input, paths.hard.input),
    resolvedText(routingInput ?? undefined, paths.hard.routing),
  ]);
  return {
    id: row.id,
    priority: row.priority,
    generation: row.generation,
    revision: row.revision,
    versionId: row.versionId,
    attempt: row.attempt,
    queuedAt: row.queuedAt.getTime(),
    notBefore: row.notBefore?.getTime() ?? null,
    targetRoles: row.targetRoles,
    requiredWorker: row.requiredWorker,
    preferredWorker: row.preferredWorker,
    skipWorker: row.skipWorker,
    input: project(input, paths.all.input),
    routingInput: routingInput === null ? null : project(routingInput, paths.all.routing),
    parkedReason: row.parkedReason,
    shapeKey,
  };
}

/** What `decide` is asked for this execution. */
export function requestOf(entry: PendingEntry): DispatchRequest {
  return {
    input: entry.input,
    routingInput: entry.routingInput,
    targetRoles: entry.targetRoles,
    requiredWorker: entry.requiredWorker,
    preferredWorker: entry.preferredWorker,
    unclaimedBefore: entry.skipWorker === null ? [] : [entry.skipWorker],
  };
}
