import { type PendingWork, type QueuePosition, standsBefore } from './pending.ts';
import type { Executor } from './statements/executor.ts';
import { QUEUE_START, type QueueId, readQueueIds } from './statements/queue-reads.ts';

const HEAD = 500;
const STEP = 1_000;
const REFILL = 2_000;

export interface QueueWalkDeps {
  executor: Executor;
  pending: PendingWork;
  /** Decided already, or just assigned: nothing to be read. */
  isTaken(id: string): boolean;
  /** Reads these rows into the queue; those that are not queued any more leave it. */
  read(ids: readonly string[]): Promise<void>;
}

/** Finds in the table what no message told of: the head of the queue, and slowly all of it. Only ids are read of what is known. */
export class QueueWalk {
  readonly #deps: QueueWalkDeps;
  #position: QueuePosition = QUEUE_START;

  constructor(deps: QueueWalkDeps) {
    this.#deps = deps;
  }

  reset(): void {
    this.#position = QUEUE_START;
  }

  /** The next to be dispatched. */
  async head(): Promise<void> {
    await this.#take(await readQueueIds(this.#deps.executor, QUEUE_START, HEAD));
  }

  /** One page further, then from the start again. */
  async step(): Promise<void> {
    const page = await readQueueIds(this.#deps.executor, this.#position, STEP);
    this.#position = page.length < STEP ? QUEUE_START : (page.at(-1) ?? QUEUE_START);
    await this.#take(page);
  }

  /** Reads on where shapes have used up what memory holds of them. False: nothing to do. */
  async refill(): Promise<boolean> {
    const { executor, pending } = this.#deps;
    const shapes = pending.needingRefill();
    const [first] = shapes
      .flatMap((shape) => (shape.overflow === null ? [] : [shape.overflow]))
      .toSorted((a, b) => (standsBefore(a, b) ? -1 : 1));
    if (first === undefined) return false;
    const page = await readQueueIds(executor, justBefore(first), REFILL);
    const end = page.length < REFILL ? null : (page.at(-1) ?? null);
    // Before the rows are put in: what does not fit this time notes where it begins.
    for (const shape of shapes) {
      const { overflow } = shape;
      if (overflow !== null && (end === null || !standsBefore(end, overflow))) pending.refilled(shape, end);
    }
    await this.#take(page);
    return true;
  }

  async #take(page: readonly QueueId[]): Promise<void> {
    const { pending, isTaken, read } = this.#deps;
    const unknown = page.filter(({ id, generation }) => {
      const known = pending.get(id);
      return known === undefined ? !isTaken(id) : known.generation < generation;
    });
    if (unknown.length > 0) await read(unknown.map(({ id }) => id));
  }
}

/** The position right before another, so that reading behind it begins with the other. */
function justBefore({ priority, id }: QueuePosition): QueuePosition {
  return { priority, id: (BigInt(`0x${id}`) - 1n).toString(16).padStart(32, '0') };
}
