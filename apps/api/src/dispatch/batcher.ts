/** Most items of one statement. */
export const MAX_BATCH = 200;

/**
 * Joins concurrent calls: at most one batch is on its way, what arrives meanwhile becomes the next one. Nobody waits for a timer: an idle batcher
 * sends at the end of the present task. `send` answers one result per item, in order; where it rejects, its items are tried again one by one,
 * once, so that one bad item fails alone.
 */
export class Batcher<T, R> {
  readonly #send: (items: readonly T[]) => Promise<readonly R[]>;
  readonly #limit: number;
  #waiting: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  #running: Promise<void> | null = null;

  constructor(send: (items: readonly T[]) => Promise<readonly R[]>, limit = MAX_BATCH) {
    this.#send = send;
    this.#limit = limit;
  }

  add(item: T): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      this.#running ??= Promise.resolve().then(() => this.#run());
    });
  }

  /** Resolves when nothing is on its way any more. */
  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#limit);
      try {
        const results = await this.#send(batch.map((call) => call.item));
        batch.forEach((call, index) => {
          call.resolve(results[index] as R);
        });
      } catch (error) {
        if (batch.length === 1) batch[0]?.reject(error);
        else for (const call of batch) await this.#alone(call);
      }
    }
    this.#running = null;
  }

  async #alone(call: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }): Promise<void> {
    try {
      const [result] = await this.#send([call.item]);
      call.resolve(result as R);
    } catch (error) {
      call.reject(error);
    }
  }
}
