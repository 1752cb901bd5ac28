import { checkMetrics, MAX_PROVIDER_METRICS, withoutReserved } from '@muster/core';
import type { Log } from '../log.ts';
import { importExport } from './import-export.ts';

/** A worker's own metrics: at most 32 finite numbers, keys up to 64 characters; those under `flux.` are dropped. */
export type MetricsProvider = () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;

/** Calls that have not come to an end are left alone, but no more than so many: then the provider is not called. */
const mostPending = 3;

export interface ProvidedMetricsOptions {
  /** The function, or where it is: `module:export`. */
  readonly provider: MetricsProvider | string;
  readonly intervalMs: number;
  /** What imports its module, as `module:export`; undefined: `import()`. */
  readonly moduleLoader?: string | undefined;
  readonly log: Log;
  /** The first values are there. */
  readonly onFirst: () => void;
}

/**
 * Calls a provider at its interval and keeps its last good values, without letting it hurt: when it throws, takes longer
 * than the interval (1 to 5 s), or gives something that is not metrics, the values before stay as a whole, and the log says
 * so once until it works again. Heartbeats never wait for it. One that cannot be loaded is switched off, with a warning.
 */
export class ProvidedMetrics {
  readonly #options: ProvidedMetricsOptions;
  readonly #timeoutMs: number;
  #call: MetricsProvider | undefined;
  #values: ReadonlyMap<string, number> | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #calling = false;
  #pending = 0;
  #stopped = false;
  #failing = false;

  constructor(options: ProvidedMetricsOptions) {
    this.#options = options;
    this.#timeoutMs = Math.min(5_000, Math.max(1_000, options.intervalMs));
  }

  /** The last good values; empty before the first. */
  get values(): ReadonlyMap<string, number> {
    return this.#values ?? new Map();
  }

  /** Calls it now and at every interval from now on. Resolves when the first call has ended; never throws. */
  async start(): Promise<void> {
    const { provider, intervalMs, moduleLoader, log } = this.#options;
    try {
      this.#call =
        typeof provider === 'string' ? ((await importExport(provider, moduleLoader)) as MetricsProvider) : provider;
    } catch (error) {
      log('warn', `The metrics provider is switched off: ${reason(error)}`);
      return;
    }
    if (this.#stopped) return;
    this.#timer = setInterval(() => void this.#refresh(), intervalMs);
    this.#timer.unref();
    await this.#refresh();
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#timer);
  }

  async #refresh(): Promise<void> {
    if (this.#calling || this.#pending >= mostPending) return;
    this.#calling = true;
    try {
      const checked = checkMetrics(await this.#called(), MAX_PROVIDER_METRICS);
      if (typeof checked === 'string') throw new Error(checked);
      const first = this.#values === undefined;
      this.#values = withoutReserved(checked);
      this.#failing = false;
      if (first) this.#options.onFirst();
    } catch (error) {
      if (!this.#failing)
        this.#options.log('warn', `The metrics provider failed, its last values stay: ${reason(error)}`);
      this.#failing = true;
    } finally {
      this.#calling = false;
    }
  }

  async #called(): Promise<unknown> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`no metrics within ${this.#timeoutMs / 1_000} s`)), this.#timeoutMs);
      timer.unref();
    });
    this.#pending += 1;
    const called = (async () => await this.#call?.())().finally(() => {
      this.#pending -= 1;
      clearTimeout(timer);
    });
    return await Promise.race([called, late]);
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
