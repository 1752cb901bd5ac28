import type { Bus } from '../../bus/bus.ts';
import type { UuidSource } from '../../dispatch/ids.ts';
import type { Executor } from '../../dispatch/statements/executor.ts';
import type { FleetWorker } from '../../fleet/worker-record.ts';
import type { Log } from '../../log.ts';
import { type FenceRow, type HeldItem, readFences, recordLateWrites } from './report-store.ts';

/** The answer to one item; `code` null where it was taken. */
export interface ItemResult {
  id: string;
  code: string | null;
  message: string | null;
}

export interface RefusalDeps {
  executor: Executor;
  bus: Bus;
  log: Log;
  ids: UuidSource;
}

export function taken(id: string): ItemResult {
  return { id, code: null, message: null };
}

export function notFound(id: string): ItemResult {
  return { id, code: 'NOT_FOUND', message: 'There is no such execution.' };
}

export function badInput(id: string, message: string): ItemResult {
  return { id, code: 'BAD_INPUT', message };
}

/** Says why the guard refused what a worker wrote (ruling 30), and keeps what came too late as events. */
export class Refusals {
  readonly #o: RefusalDeps;

  constructor(deps: RefusalDeps) {
    this.#o = deps;
  }

  /** One answer per item, in order. With `wrote`, late items are kept; it says what one tried to write, e.g. COMPLETED. */
  async explain<I extends HeldItem>(
    worker: FleetWorker,
    items: readonly I[],
    wrote: ((item: I) => string) | null,
  ): Promise<ItemResult[]> {
    if (items.length === 0) return [];
    const { executor } = this.#o;
    const ids = [...new Set(items.map((item) => item.id))];
    const fences = new Map((await readFences(executor, worker.id, ids)).map((fence) => [fence.id, fence]));
    const late: { item: I; wrote: string }[] = [];
    const results = items.map((item) => {
      const fence = fences.get(item.id);
      if (fence === undefined) return notFound(item.id);
      const text = wrote?.(item) ?? null;
      const result = refusal(worker, item, fence, text);
      if (result.code === 'CONFLICT' && text !== null) late.push({ item, wrote: text });
      return result;
    });
    if (late.length > 0) await this.#keep(worker, late);
    return results;
  }

  async #keep(worker: FleetWorker, late: readonly { item: HeldItem; wrote: string }[]): Promise<void> {
    const { executor, ids, bus, log } = this.#o;
    const rows = await recordLateWrites(
      executor,
      worker.facts.name,
      late.map(({ item, wrote }) => ({ id: item.id, generation: item.generation, eventId: ids.next(), wrote })),
    );
    for (const { id, revision } of rows) bus.publish('execution', { id, revision });
    log.warn({ worker: worker.facts.name, executions: late.map(({ item }) => item.id) }, 'late writes refused');
  }
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
export function isDataError(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  return typeof code === 'string' && (code.startsWith('22') || code.startsWith('23'));
}
