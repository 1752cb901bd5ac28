import { checkMetrics, MAX_PROVIDER_METRICS, withoutReserved } from '@muster/core';
import type { Log } from './log.ts';

/** A worker's own metrics: at most 32 finite numbers; keys under `flux.` are dropped. Read at each heartbeat. */
export type MetricsProvider = () => Readonly<Record<string, number>> | Promise<Readonly<Record<string, number>>>;

/**
 * Reads a provider without letting it hurt: when it throws, takes longer than `timeoutMs` or gives something that is not
 * metrics, the values before stay, and the log says so once until it works again.
 */
export class ProvidedMetrics {
  readonly #provider: MetricsProvider;
  readonly #log: Log;
  #last: ReadonlyMap<string, number> = new Map();
  #failing = false;

  constructor(provider: MetricsProvider, log: Log) {
    this.#provider = provider;
    this.#log = log;
  }

  async read(timeoutMs: number): Promise<ReadonlyMap<string, number>> {
    try {
      const checked = checkMetrics(await within(this.#provider, timeoutMs), MAX_PROVIDER_METRICS);
      if (typeof checked === 'string') throw new Error(checked);
      this.#last = withoutReserved(checked);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) {
        const why = error instanceof Error ? error.message : String(error);
        this.#log('warn', `The metrics provider failed, its last values stay: ${why}`);
      }
      this.#failing = true;
    }
    return this.#last;
  }
}

async function within(provider: MetricsProvider, timeoutMs: number): Promise<unknown> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no metrics within ${timeoutMs / 1_000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([(async () => await provider())(), late]);
  } finally {
    clearTimeout(timer);
  }
}
