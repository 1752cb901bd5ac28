import type { Log } from '../log.ts';
import type { RunnerChild } from './runner-child.ts';

export interface ChildPoolOptions {
  /** Processes that wait for work, with their module loaded. */
  readonly warm: number;
  readonly fork: (module: string) => RunnerChild;
  readonly log: Log;
}

/**
 * Keeps some processes started ahead, for the module that was asked for last: each is given away once, and replaced.
 */
export class ChildPool {
  readonly #options: ChildPoolOptions;
  readonly #waiting = new Set<RunnerChild>();
  #closed = false;

  constructor(options: ChildPoolOptions) {
    this.#options = options;
  }

  /** A process for that module, started ahead if there is one. It is the caller's from now on. */
  take(module: string): RunnerChild {
    const waiting = [...this.#waiting].find((child) => child.module === module);
    if (waiting !== undefined) this.#waiting.delete(waiting);
    const taken = waiting ?? this.#options.fork(module);
    this.prepare(module);
    return taken;
  }

  /** Sees to it that all that wait do so for that module. */
  prepare(module: string): void {
    if (this.#closed) return;
    for (const child of this.#waiting) if (child.module !== module) this.#drop(child);
    try {
      while (this.#waiting.size < this.#options.warm) this.#add(module);
    } catch (error) {
      // No more processes, memory or files for now; the next execution says so, if it is still so then.
      this.#options.log('warn', `No process could be started ahead: ${String(error)}`, { module });
    }
  }

  /** Ends those that wait; nothing is started ahead any more. */
  close(): void {
    this.#closed = true;
    for (const child of this.#waiting) this.#drop(child);
  }

  #add(module: string): void {
    const child = this.#options.fork(module);
    this.#waiting.add(child);
    void child.gone.then((end) => {
      // Not replaced before the next one is asked for: a module that ends its process would be started for ever.
      if (!this.#waiting.delete(child)) return;
      const how = end.startError ?? end.signal ?? `code ${end.code}`;
      this.#options.log('warn', `A process that waited for work has ended: ${how}.`, { module });
    });
  }

  #drop(child: RunnerChild): void {
    this.#waiting.delete(child);
    child.kill();
  }
}
