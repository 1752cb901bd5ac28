/** Wakes one waiter, or the next one that comes. */
export class Bell {
  #rung = false;
  #wake: (() => void) | null = null;

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Resolves when rung, after `ms` (null: never), or at once when the signal is aborted. */
  wait(ms: number | null, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#rung || signal.aborted) {
        this.#rung = false;
        return resolve();
      }
      const done = (): void => {
        if (timer) clearTimeout(timer);
        signal.removeEventListener('abort', done);
        this.#wake = null;
        this.#rung = false;
        resolve();
      };
      const timer = ms === null ? null : setTimeout(done, ms);
      signal.addEventListener('abort', done);
      this.#wake = done;
    });
  }
}

/** Waits, or returns at once when the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Bell().wait(ms, signal);
}

/**
 * An async generator that ends when its reader goes, also while it waits: `return` aborts the signal that the producer waits with, where a plain
 * generator would first let the wait run out.
 */
export function stream<T>(
  produce: (signal: AbortSignal) => AsyncGenerator<T, void, void>,
): AsyncGenerator<T, void, void> {
  const controller = new AbortController();
  const source = produce(controller.signal);
  const result: AsyncGenerator<T, void, void> = {
    next: () => source.next(),
    return: () => {
      controller.abort();
      return source.return();
    },
    throw: (error) => {
      controller.abort();
      return source.throw(error);
    },
    [Symbol.asyncIterator]: () => result,
    [Symbol.asyncDispose]: async () => {
      await result.return();
    },
  };
  return result;
}
