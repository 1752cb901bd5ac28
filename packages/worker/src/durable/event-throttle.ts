import type { Clock } from '../clock.ts';
import type { RunEvent } from '../run-host.ts';

export interface EventThrottleOptions {
  readonly send: (event: RunEvent) => Promise<void>;
  readonly clock: Clock;
}

/** Events of one handler in any one second, at most. */
const mostPerSecond = 50;
/** Events that may wait for the server; beyond that they are treated as too many. */
const mostUnanswered = 1_000;
const windowMs = 1_000;

/**
 * Bounds what a handler says about itself. Of more progress than that only the newest is sent, a moment later; what else
 * is too much is dropped, and a `log` event says how much that was.
 */
export class EventThrottle {
  readonly #options: EventThrottleOptions;
  readonly #unanswered = new Set<Promise<void>>();
  /** When the last events were sent, oldest first. */
  readonly #times: number[] = [];
  #progress: RunEvent | undefined;
  #dropped = 0;
  #callOff: (() => void) | undefined;

  constructor(options: EventThrottleOptions) {
    this.#options = options;
  }

  add(event: RunEvent): void {
    if (this.#waitMs() === 0) {
      if (event.type === 'progress') this.#progress = undefined;
      this.#send(event);
      return;
    }
    if (event.type === 'progress') this.#progress = event;
    else this.#dropped += 1;
    this.#later();
  }

  /** Sends what is held back and resolves when everything has been answered. */
  async flush(): Promise<void> {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#sendHeldBack();
    await Promise.all(this.#unanswered);
  }

  #later(): void {
    this.#callOff ??= this.#options.clock.after(Math.max(1, this.#waitMs()), () => {
      this.#callOff = undefined;
      if (this.#waitMs() === 0) this.#sendHeldBack();
      else this.#later();
    });
  }

  // 0: one more may be sent now.
  #waitMs(): number {
    if (this.#unanswered.size >= mostUnanswered) return windowMs;
    const [oldest] = this.#times;
    if (oldest === undefined || this.#times.length < mostPerSecond) return 0;
    // A clock that was set back must not stop the events.
    const age = this.#options.clock.now() - oldest;
    return age < 0 || age >= windowMs ? 0 : windowMs - age;
  }

  #sendHeldBack(): void {
    if (this.#dropped > 0) {
      const message = `${this.#dropped} events were dropped: an execution may send ${mostPerSecond} a second.`;
      this.#send({ type: 'log', data: { message, dropped: this.#dropped } });
      this.#dropped = 0;
    }
    if (this.#progress !== undefined) this.#send(this.#progress);
    this.#progress = undefined;
  }

  #send(event: RunEvent): void {
    this.#times.push(this.#options.clock.now());
    if (this.#times.length > mostPerSecond) this.#times.shift();
    const answered = this.#options.send(event).finally(() => this.#unanswered.delete(answered));
    this.#unanswered.add(answered);
  }
}
