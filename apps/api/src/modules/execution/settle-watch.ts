import type { Bus } from '../../bus/bus.ts';
import type { StateRow } from './execution-store.ts';

/** Where a hint was lost, the rows are looked at this often. */
const RECHECK_MS = 1_000;
const ENDED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELLED']);

export interface SettleWatchDeps {
  bus: Bus;
  readStates(ids: readonly string[]): Promise<Map<string, StateRow>>;
  onError(error: unknown): void;
}

/** Until when somebody waits. A signal that is aborted lets the caller go at once. */
export interface WaitOptions {
  readonly until: 'ENDED' | 'ENDED_OR_PARKED';
  readonly signal?: AbortSignal | undefined;
}

interface Waiter {
  readonly until: WaitOptions['until'];
  finish(): void;
}

/**
 * Lets callers wait until executions have ended or parked. One subscription serves all of them, and rows are read together, only
 * when the bus says that something happened to an execution that somebody waits for.
 */
export class SettleWatch {
  readonly #deps: SettleWatchDeps;
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #changed = new Set<string>();
  readonly #unsubscribe: () => void;
  #reading = false;
  #recheck: NodeJS.Timeout | null = null;

  constructor(deps: SettleWatchDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.subscribe('execution', ({ id }) => this.#note(id));
  }

  /** Executions that somebody waits for. */
  get size(): number {
    return this.#waiters.size;
  }

  /** Resolves when it is as far as that, has been deleted, or after so many ms. */
  async wait(id: string, timeoutMs: number, { until, signal }: WaitOptions): Promise<void> {
    if (timeoutMs <= 0 || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const waiters = this.#waiters.get(id) ?? new Set();
      this.#waiters.set(id, waiters);
      const finish = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        waiters.delete(waiter);
        if (waiters.size === 0 && this.#waiters.get(id) === waiters) this.#waiters.delete(id);
        resolve();
      };
      const waiter: Waiter = { until, finish };
      const timer = setTimeout(finish, timeoutMs);
      signal?.addEventListener('abort', finish);
      waiters.add(waiter);
      this.#note(id);
      this.#recheck ??= setInterval(() => this.#recheckAll(), RECHECK_MS).unref();
    });
  }

  /** Lets everybody go. */
  close(): void {
    this.#unsubscribe();
    if (this.#recheck !== null) clearInterval(this.#recheck);
    for (const waiters of [...this.#waiters.values()]) for (const waiter of [...waiters]) waiter.finish();
  }

  #note(id: string): void {
    if (!this.#waiters.has(id)) return;
    this.#changed.add(id);
    if (this.#reading) return;
    this.#reading = true;
    void Promise.resolve().then(() => this.#read());
  }

  #recheckAll(): void {
    if (this.#waiters.size === 0 && this.#recheck !== null) {
      clearInterval(this.#recheck);
      this.#recheck = null;
    }
    for (const id of this.#waiters.keys()) this.#note(id);
  }

  async #read(): Promise<void> {
    try {
      while (this.#changed.size > 0) {
        const ids = [...this.#changed];
        this.#changed.clear();
        const states = await this.#deps.readStates(ids);
        for (const id of ids) {
          const row = states.get(id);
          const ended = row === undefined || ENDED.has(row.state);
          for (const waiter of [...(this.#waiters.get(id) ?? [])]) {
            if (ended || (row.parked && waiter.until === 'ENDED_OR_PARKED')) waiter.finish();
          }
        }
      }
    } catch (error) {
      this.#deps.onError(error);
    } finally {
      this.#reading = false;
    }
  }
}
