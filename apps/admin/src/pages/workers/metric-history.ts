import type { WorkerDetail } from './worker-queries.ts';

export interface Sample {
  at: number;
  value: number;
}

export type MetricHistory = Readonly<Record<string, readonly Sample[]>>;

/** What is older than this is forgotten; the API keeps only the latest value. */
export const WINDOW_MS = 15 * 60_000;
/** More points than a sparkline has pixels are of no use. */
const MAX_SAMPLES = 180;

/** Adds what a heartbeat brought. A metric that was not sent anew adds no point. */
export function recordMetrics(history: MetricHistory, metrics: WorkerDetail['metrics'], now: number): MetricHistory {
  let next: Record<string, readonly Sample[]> | null = null;
  for (const metric of metrics) {
    const at = Date.parse(metric.at);
    const samples = history[metric.key] ?? [];
    if (samples.at(-1)?.at === at) continue;
    next ??= { ...history };
    next[metric.key] = [...samples.filter((sample) => sample.at > now - WINDOW_MS), { at, value: metric.value }].slice(
      -MAX_SAMPLES,
    );
  }
  return next ?? history;
}
