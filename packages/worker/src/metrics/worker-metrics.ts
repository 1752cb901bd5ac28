import type { HealthCheckInput } from '@muster/client';
import type { ResolvedOptions } from '../worker-options.ts';
import { BuiltinMetrics } from './builtin-metrics.ts';
import { LoopHealth } from './loop-health.ts';
import { LoopLag } from './loop-lag.ts';
import { availableMemory, cpuTimes, loadAverage } from './machine.ts';
import { ProvidedMetrics } from './metrics-provider.ts';
import { RunStatistics } from './run-statistics.ts';

type Options = Pick<
  ResolvedOptions,
  | 'capacity'
  | 'runners'
  | 'moduleLoader'
  | 'metricsProvider'
  | 'metricsIntervalMs'
  | 'builtinMetrics'
  | 'loopLagThreshold'
  | 'workflows'
  | 'log'
>;

/** Everything a worker measures for its heartbeats. */
export class WorkerMetrics {
  /** Told about every run. */
  readonly runs = new RunStatistics();
  readonly #options: Options;
  readonly #builtin = new BuiltinMetrics();
  readonly #provided: ProvidedMetrics | undefined;
  readonly #loopLag = new LoopLag();
  readonly #loopHealth: LoopHealth;

  /** `beat`: a heartbeat is due at once, because the next one says something else than the last. */
  constructor(options: Options, beat: () => void) {
    const { metricsProvider: provider, metricsIntervalMs: intervalMs, moduleLoader, loopLagThreshold, log } = options;
    this.#options = options;
    this.#provided =
      provider === undefined
        ? undefined
        : new ProvidedMetrics({ provider, intervalMs, moduleLoader, log, onFirst: beat });
    this.#loopHealth = new LoopHealth({ thresholdSeconds: loopLagThreshold, onChange: () => this.#loopChanged(beat) });
  }

  start(): void {
    this.#loopLag.start();
    this.#loopHealth.start();
    void this.#provided?.start();
  }

  stop(): void {
    this.#loopLag.stop();
    this.#loopHealth.stop();
    this.#provided?.stop();
  }

  /** The check that fails for some seconds after a handler has blocked the event loop. */
  loopCheck(): HealthCheckInput {
    const { healthy, blockedSeconds } = this.#loopHealth;
    const message = healthy
      ? null
      : `the event loop stood still for ${blockedSeconds.toFixed(1)} s: a handler blocks it`;
    return { name: 'event-loop', healthy, message };
  }

  /** What a heartbeat carries now. */
  snapshot(running: number): Record<string, number> {
    const { capacity, builtinMetrics, workflows } = this.#options;
    const provided = Object.fromEntries(this.#provided?.values ?? []);
    if (!builtinMetrics) return provided;
    const builtin = this.#builtin.read({
      running,
      capacity,
      cpuTimes: cpuTimes(),
      memoryAvailableBytes: availableMemory(),
      loadAverage: loadAverage(),
      loopLagSeconds: this.#loopLag.seconds,
      loopLagP95Seconds: this.#loopLag.p95Seconds,
      warmModules: this.#options.runners.includes('inprocess') ? modulesOf(workflows).size : null,
    });
    return { ...provided, ...builtin, ...this.runs.read() };
  }

  #loopChanged(beat: () => void): void {
    const { healthy, blockedSeconds } = this.#loopHealth;
    if (healthy) this.#options.log('info', 'The event loop runs again.');
    else
      this.#options.log(
        'warn',
        `The event loop stood still for ${blockedSeconds.toFixed(1)} s: a handler blocks it, the worker is unhealthy until it has run for 5 s. Give it the runner subprocess.`,
      );
    beat();
  }
}

/** Modules whose handlers run in this process; a workflow that does not say its module counts as one of its own. */
function modulesOf(workflows: Options['workflows']): ReadonlySet<string> {
  return new Set(
    workflows.filter(({ options }) => options.runner !== 'subprocess').map(({ ref, options }) => options.module ?? ref),
  );
}
