import { rounded } from './rounded.ts';

/** What the built-in metrics are made of, beside what the runs of the worker tell; read once per heartbeat. */
export interface MetricsSource {
  readonly running: number;
  readonly capacity: number | null;
  /** Since the machine started, over all cores, in any unit. */
  readonly cpuTimes: { readonly busy: number; readonly total: number };
  readonly memoryAvailableBytes: number;
  /** null where the platform has none. */
  readonly loadAverage: number | null;
  /** Of the last probe; null before the first. */
  readonly loopLagSeconds: number | null;
  /** Of the last 128 probes; null before the first. */
  readonly loopLagP95Seconds: number | null;
  /** Modules of workflows that this process has loaded and runs handlers of; null where it runs none in process. */
  readonly warmModules: number | null;
}

const memoryStep = 16 * 1024 * 1024;
const smoothing = 0.3;

/**
 * The `flux.*` metrics of the process and its machine. A key is left out until there is data for it:
 * `flux.cpu_percent` needs two readings, `flux.slots_free` a capacity.
 */
export class BuiltinMetrics {
  #lastCpu: MetricsSource['cpuTimes'] | undefined;
  #cpuPercent: number | undefined;

  read(source: MetricsSource): Record<string, number> {
    const metrics: Record<string, number> = { 'flux.running_executions': source.running };
    if (source.capacity !== null) metrics['flux.slots_free'] = Math.max(0, source.capacity - source.running);
    const cpu = this.#smoothedCpu(source.cpuTimes);
    if (cpu !== undefined) metrics['flux.cpu_percent'] = rounded(cpu, 1);
    metrics['flux.memory_available_bytes'] = Math.floor(source.memoryAvailableBytes / memoryStep) * memoryStep;
    if (source.loadAverage !== null) metrics['flux.load_avg_1m'] = rounded(source.loadAverage, 2);
    if (source.loopLagSeconds !== null) metrics['flux.loop_lag_seconds'] = rounded(source.loopLagSeconds, 4);
    if (source.loopLagP95Seconds !== null) metrics['flux.loop_lag_p95_seconds'] = rounded(source.loopLagP95Seconds, 4);
    if (source.warmModules !== null) metrics['flux.warm_modules'] = source.warmModules;
    return metrics;
  }

  // Exponentially weighted, seeded with the first sample; two readings within one tick of the clock are no sample.
  #smoothedCpu(times: MetricsSource['cpuTimes']): number | undefined {
    const last = this.#lastCpu;
    if (last !== undefined && times.total > last.total) {
      const sample = Math.min(100, Math.max(0, (100 * (times.busy - last.busy)) / (times.total - last.total)));
      this.#cpuPercent =
        this.#cpuPercent === undefined ? sample : smoothing * sample + (1 - smoothing) * this.#cpuPercent;
    }
    if (last === undefined || times.total > last.total) this.#lastCpu = times;
    return this.#cpuPercent;
  }
}
