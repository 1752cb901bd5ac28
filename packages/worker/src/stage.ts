import { ClientError, reconnectDelay } from '@muster/client';

/** Items of one flush at most. */
export const maxFlushItems = 200;
/** Bytes of one flush at most, unless a single item is larger. */
export const maxFlushBytes = 4 * 1024 * 1024;

export interface StageOptions<TItem, TAnswer> {
  /** Sends a batch; answers one per item, in order. Throws ClientError where the batch as a whole was not taken. */
  readonly send: (items: readonly TItem[]) => Promise<readonly TAnswer[]>;
  /** The answer for one item that the server cannot read (BAD_INPUT, TOO_LARGE). */
  readonly refuse: (item: TItem, error: ClientError) => TAnswer;
  /** What an item becomes when it has to be sent once more, because no answer came. */
  readonly again?: (item: TItem) => TItem;
  readonly sizeOf?: (item: TItem) => number;
  /** The server does not know us any more (CONFLICT, NOT_FOUND, FORBIDDEN, UNAUTHENTICATED); the stage waits for `resume`. */
  readonly onRefused: (error: ClientError) => void;
  readonly random?: () => number;
}

interface Entry<TItem, TAnswer> {
  item: TItem;
  readonly bytes: number;
  readonly resolve: (answer: TAnswer) => void;
}

/**
 * One kind of message to the server, in batches that form by themselves: a flush starts as soon as the one before it is
 * answered, takes at most 200 items, and no timer delays the first one. What was not answered is sent again in order
 * once the connection is back; nothing is dropped.
 */
export class Stage<TItem, TAnswer> {
  readonly #options: StageOptions<TItem, TAnswer>;
  #waiting: Entry<TItem, TAnswer>[] = [];
  #inFlight = false;
  #scheduled = false;
  #online = false;
  #failures = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** So many of the next items are sent one by one: one of them made the server refuse their batch. */
  #singly = 0;

  constructor(options: StageOptions<TItem, TAnswer>) {
    this.#options = options;
  }

  /** Items not answered yet. */
  get size(): number {
    return this.#waiting.length;
  }

  /** Hands over one item; its answer comes when the server has given it, however long that takes. */
  add(item: TItem): Promise<TAnswer> {
    return new Promise((resolve) => {
      this.#waiting.push({ item, bytes: this.#options.sizeOf?.(item) ?? 0, resolve });
      this.#schedule();
    });
  }

  /** The connection is up and the server knows us: flush what waits. */
  resume(): void {
    this.#online = true;
    this.#failures = 0;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#schedule();
  }

  /** The connection is gone: keep what comes. */
  pause(): void {
    this.#online = false;
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
  }

  // Everything added within one turn of the event loop's microtasks goes out together.
  #schedule(): void {
    if (this.#scheduled || this.#inFlight || !this.#online || this.#retryTimer !== undefined) return;
    if (this.#waiting.length === 0) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    if (this.#inFlight || !this.#online || this.#waiting.length === 0) return;
    this.#inFlight = true;
    const batch = this.#waiting.slice(0, this.#batchSize());
    try {
      const answers = await this.#options.send(batch.map((entry) => entry.item));
      this.#waiting.splice(0, batch.length);
      this.#singly = Math.max(0, this.#singly - batch.length);
      this.#failures = 0;
      for (const [index, entry] of batch.entries()) entry.resolve(answers[index] as TAnswer);
    } catch (error) {
      this.#failed(batch, error instanceof ClientError ? error : new ClientError('INTERNAL', String(error)));
    } finally {
      this.#inFlight = false;
      this.#schedule();
    }
  }

  #batchSize(): number {
    if (this.#singly > 0) return 1;
    let bytes = 0;
    let count = 0;
    for (const entry of this.#waiting) {
      bytes += entry.bytes;
      if (count > 0 && (count >= maxFlushItems || bytes > maxFlushBytes)) break;
      count += 1;
    }
    return count;
  }

  #failed(batch: readonly Entry<TItem, TAnswer>[], error: ClientError): void {
    switch (error.code) {
      case 'BAD_INPUT':
      case 'TOO_LARGE': {
        const [only] = batch;
        if (batch.length > 1) {
          this.#singly = batch.length;
        } else if (only !== undefined) {
          this.#waiting.shift();
          this.#singly = Math.max(0, this.#singly - 1);
          only.resolve(this.#options.refuse(only.item, error));
        }
        return;
      }
      case 'CONFLICT':
      case 'NOT_FOUND':
      case 'FORBIDDEN':
      case 'UNAUTHENTICATED':
        this.#online = false;
        this.#options.onRefused(error);
        return;
      default: {
        // UNAVAILABLE, RATE_LIMITED, INTERNAL: it is not known whether the server took the batch.
        const { again } = this.#options;
        if (again !== undefined) for (const entry of batch) entry.item = again(entry.item);
        if (!this.#online) return;
        const delay = reconnectDelay(this.#failures, this.#options.random ?? Math.random);
        this.#failures += 1;
        this.#retryTimer = setTimeout(() => {
          this.#retryTimer = undefined;
          this.#schedule();
        }, delay);
      }
    }
  }
}
