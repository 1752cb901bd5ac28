export interface DeliveriesOptions {
  /** Whether nothing is left for the handler to do but to wait. */
  readonly onlyWaits: () => boolean;
  /** For a whole turn of the event loop nothing was handed over, nothing was asked for, and only waits were left. */
  readonly onQuiet: () => void;
}

/**
 * Hands results to the handler one at a time, with a turn of the event loop between, because what a handler does next may
 * depend on which of two results it saw first. Recorded ones come in the order of the first time, before all others.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  /** Recorded results that the handler has asked for, by their rank. */
  readonly #replays = new Map<number, () => void>();
  #lowestRank = 0;
  #live: (() => void)[] = [];
  #scheduled = false;
  #quiet = false;
  #stopped = false;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  replay(rank: number, deliver: () => void): void {
    this.#replays.set(rank, deliver);
    this.#lowestRank = Math.min(this.#lowestRank, rank);
    this.schedule();
  }

  live(deliver: () => void): void {
    this.#live.push(deliver);
    this.schedule();
  }

  /** The handler has asked for something: it is not quiet. */
  touch(): void {
    this.#quiet = false;
  }

  /** Looks once more, in the next turn. */
  schedule(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (!this.#stopped) this.#turn();
    });
  }

  /** Hands over nothing more until `start`. */
  stop(): void {
    this.#stopped = true;
  }

  start(): void {
    this.#stopped = false;
    this.#quiet = false;
    this.schedule();
  }

  #turn(): void {
    const deliver = this.#takeReplay() ?? this.#live.shift();
    if (deliver !== undefined) {
      this.#quiet = false;
      deliver();
      this.schedule();
    } else if (this.#options.onlyWaits()) {
      if (this.#quiet) this.#options.onQuiet();
      this.#quiet = true;
      this.schedule();
    }
  }

  #takeReplay(): (() => void) | undefined {
    if (this.#replays.size === 0) return undefined;
    while (!this.#replays.has(this.#lowestRank)) this.#lowestRank += 1;
    const deliver = this.#replays.get(this.#lowestRank);
    this.#replays.delete(this.#lowestRank);
    return deliver;
  }
}
