import type { Bus, BusHandler, BusMessages, BusTopic } from './bus.ts';
import { HandlerRegistry } from './handler-registry.ts';

/** The bus of a single process: delivers in order, in the microtask after the publisher's, so that no handler runs inside a publisher. */
export function createInProcessBus(onError: (topic: BusTopic, error: unknown) => void): Bus {
  const registry = new HandlerRegistry(onError);
  let queue: (() => void)[] = [];
  let closed = false;

  const drain = (): void => {
    // A handler may publish: its messages join the queue that is being drained.
    for (let i = 0; i < queue.length; i++) queue[i]?.();
    queue = [];
  };

  return {
    publish<K extends BusTopic>(topic: K, message: BusMessages[K]): void {
      if (closed || registry.size(topic) === 0) return;
      if (queue.length === 0) queueMicrotask(drain);
      queue.push(() => registry.deliver(topic, message));
    },
    subscribe<K extends BusTopic>(topic: K, handler: BusHandler<K>): () => void {
      return registry.add(topic, handler);
    },
    close(): Promise<void> {
      closed = true;
      registry.clear();
      return Promise.resolve();
    },
  };
}
