import { performance } from 'node:perf_hooks';

/** Probes once a second how late this process's event loop is; seconds, null before the first probe. */
export class LoopLag {
  #timer: ReturnType<typeof setInterval> | undefined;
  #seconds: number | null = null;

  get seconds(): number | null {
    return this.#seconds;
  }

  start(): void {
    let due = performance.now() + 1_000;
    this.#timer = setInterval(() => {
      const now = performance.now();
      this.#seconds = Math.max(0, now - due) / 1_000;
      due = now + 1_000;
    }, 1_000);
    this.#timer.unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
