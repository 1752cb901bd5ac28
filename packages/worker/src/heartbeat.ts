import { performance } from 'node:perf_hooks';
import { ClientError, type LiveLink, WorkerHeartbeatDocument, type WorkerHeartbeatInput } from '@muster/client';
import type { Log } from './log.ts';

export interface HeartbeatOptions {
  readonly link: Pick<LiveLink, 'request' | 'connected'>;
  /** What to say now; checks and metrics are read here, for at most the time given. */
  readonly content: (timeoutMs: number) => Promise<WorkerHeartbeatInput>;
  readonly onLost: (claims: readonly { readonly id: string; readonly generation: number }[]) => void;
  /** So long no heartbeat was acknowledged that the server has given the work to others. Called once per silence. */
  readonly onSilence: () => void;
  readonly onRefused: (error: ClientError) => void;
  readonly log: Log;
  /** Milliseconds until `onSilence`; 45,000 where absent. */
  readonly silenceMs?: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/** The heartbeat: on a timer of its own, at the server's interval, one at a time, whatever handlers and reports do. */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  readonly #now: () => number;
  readonly #silenceMs: number;
  #intervalMs = 10_000;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #silenceTimer: ReturnType<typeof setTimeout> | undefined;
  #acknowledgedAt: number;
  #beating: Promise<void> | undefined;
  #stopped = true;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#silenceMs = options.silenceMs ?? 45_000;
    this.#acknowledgedAt = this.#now();
  }

  /** Starts or restarts the timer; what the registration says of the interval counts from now. */
  start(intervalSeconds: number): void {
    this.#stopped = false;
    this.#intervalMs = intervalSeconds * 1_000;
    this.#acknowledge();
    this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#silenceTimer);
  }

  /** One heartbeat now, after the one that is under way; resolves when it is answered or has failed. Never throws. */
  async beat(): Promise<void> {
    await this.#beating;
    this.#beating ??= this.#send().finally(() => {
      this.#beating = undefined;
    });
    await this.#beating;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      void this.beat();
      this.#schedule();
    }, this.#intervalMs);
  }

  async #send(): Promise<void> {
    const { link, content, onLost, onRefused, log } = this.#options;
    if (!link.connected || this.#stopped) return;
    try {
      const input = await content(Math.min(5_000, this.#intervalMs / 2));
      const sentAt = this.#now();
      const answer = await link.request(
        WorkerHeartbeatDocument,
        { input },
        { timeoutMs: Math.max(5_000, this.#intervalMs) },
      );
      const { lost, heartbeatSeconds, warnings } = answer.workerHeartbeat;
      this.#acknowledgedAt = Math.max(this.#acknowledgedAt, sentAt);
      this.#watch();
      for (const warning of warnings) log('warn', `The server warns: ${warning}`);
      // Lost is what was sent: an answer that is late says nothing of a later generation.
      if (lost.length > 0) onLost((input.claims ?? []).filter(({ id }) => lost.includes(id)));
      if (heartbeatSeconds * 1_000 !== this.#intervalMs) {
        this.#intervalMs = heartbeatSeconds * 1_000;
        this.#schedule();
      }
    } catch (error) {
      const known = error instanceof ClientError ? error : new ClientError('INTERNAL', String(error));
      if (known.code === 'UNAVAILABLE') log('debug', `A heartbeat was not answered: ${known.message}`);
      else onRefused(known);
    }
  }

  #acknowledge(): void {
    this.#acknowledgedAt = this.#now();
    this.#watch();
  }

  #watch(): void {
    clearTimeout(this.#silenceTimer);
    if (this.#stopped) return;
    const left = this.#acknowledgedAt + this.#silenceMs - this.#now();
    this.#silenceTimer = setTimeout(
      () => {
        if (this.#now() - this.#acknowledgedAt >= this.#silenceMs) this.#options.onSilence();
        else this.#watch();
      },
      Math.max(0, left),
    );
    this.#silenceTimer.unref();
  }
}
