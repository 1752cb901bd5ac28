import { type ClientError, unavailable } from './client-error.ts';

export interface Sink<T> {
  next(value: T): void;
  /** Called once, with the error if it was one. */
  end(error?: ClientError): void;
}

const maxBuffered = 1_000;

/**
 * Turns a callback subscription into an async iterable that starts when it is first read. A reader more than 1,000
 * values behind is told so with an error; the buffer is bounded.
 */
export async function* toIterable<T>(subscribe: (sink: Sink<T>) => () => void): AsyncGenerator<T, void, undefined> {
  const buffer: T[] = [];
  let ended: { readonly error: ClientError | undefined } | undefined;
  let wake: (() => void) | undefined;
  const stop = subscribe({
    next(value) {
      if (ended !== undefined) return;
      if (buffer.length >= maxBuffered) {
        buffer.length = 0;
        ended = { error: unavailable(`The reader fell more than ${maxBuffered} events behind.`) };
        stop();
      } else {
        buffer.push(value);
      }
      wake?.();
    },
    end(error) {
      ended ??= { error };
      wake?.();
    },
  });
  try {
    for (;;) {
      while (buffer.length > 0) yield buffer.shift() as T;
      if (ended !== undefined) {
        if (ended.error !== undefined) throw ended.error;
        return;
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  } finally {
    stop();
  }
}
