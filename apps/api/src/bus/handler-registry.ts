import type { BusHandler, BusMessages, BusTopic } from './bus.ts';

type AnyHandler = (message: never) => void;

/** The local half of every bus: who listens to what. A handler that throws is reported and stops nobody else. */
export class HandlerRegistry {
  readonly #handlers = new Map<BusTopic, Set<AnyHandler>>();
  readonly #onError: (topic: BusTopic, error: unknown) => void;

  constructor(onError: (topic: BusTopic, error: unknown) => void) {
    this.#onError = onError;
  }

  add<K extends BusTopic>(topic: K, handler: BusHandler<K>): () => void {
    const handlers = this.#handlers.get(topic) ?? new Set<AnyHandler>();
    this.#handlers.set(topic, handlers);
    handlers.add(handler);
    return () => {
      handlers.delete(handler);
    };
  }

  deliver<K extends BusTopic>(topic: K, message: BusMessages[K]): void {
    for (const handler of this.#handlers.get(topic) ?? []) {
      try {
        (handler as BusHandler<K>)(message);
      } catch (error) {
        this.#onError(topic, error);
      }
    }
  }

  size(topic: BusTopic): number {
    return this.#handlers.get(topic)?.size ?? 0;
  }

  clear(): void {
    this.#handlers.clear();
  }
}
