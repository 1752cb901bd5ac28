import type { Bus } from '../bus/bus.ts';
import { announceWoken } from './announce.ts';
import type { UuidSource } from './ids.ts';
import { type CancelItem, type CancelledRow, cancelExecutions } from './statements/cancel.ts';
import { markChildrenCancelled, readCancelledParents, readOpenChildren } from './statements/cancel-children.ts';
import type { Executor } from './statements/executor.ts';
import { wokenBy } from './statements/wake.ts';

/** Statements of one pass over the children of cancelled executions; what is left then waits for the next. */
const MAX_ROUNDS = 50;
const BY_PARENT = 'parent';

export interface CancellerDeps {
  executor: Executor;
  bus: Bus;
  ids: UuidSource;
  /** Park time of executions that bring none; 0: for ever. */
  parkTtlSeconds: number;
}

/** Cancels executions and, after them, their children; tells everybody. Any replica may do it. */
export class Canceller {
  readonly #deps: CancellerDeps;

  constructor(deps: CancellerDeps) {
    this.#deps = deps;
  }

  /** At most 200. Answers those that were cancelled now; their children are only noted. */
  async cancel(items: readonly Omit<CancelItem, 'eventId'>[]): Promise<CancelledRow[]> {
    const { executor, bus, ids, parkTtlSeconds } = this.#deps;
    const rows = await cancelExecutions(
      executor,
      items.map((item) => ({ ...item, eventId: ids.next() })),
      parkTtlSeconds,
    );
    const freed = rows.filter((row) => row.state === 'CANCELLED' && row.workerId !== null);
    if (freed.length > 0) {
      bus.publish('live', { items: freed.map(({ id, generation }) => ({ id, workerId: null, generation })) });
    }
    for (const row of rows) {
      bus.publish('execution', { id: row.id, revision: row.revision });
      if (row.workerName !== null && row.workerId !== null) {
        bus.publish('cancel', { worker: row.workerName, items: [{ id: row.id, generation: row.generation }] });
      }
    }
    announceWoken(bus, wokenBy(rows));
    return rows;
  }

  /** Cancels the children, and theirs, of every cancelled execution of which it is not known that it has none left. */
  async cancelChildren(): Promise<void> {
    const { executor } = this.#deps;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const parents = await readCancelledParents(executor);
      if (parents.length === 0) return;
      const children = await readOpenChildren(executor, parents);
      if (children.length === 0) await markChildrenCancelled(executor, parents);
      else await this.cancel(children.map((id) => ({ id, by: BY_PARENT })));
    }
  }
}
