import { IconCpu } from '@tabler/icons-react';
import { metricText } from '../../format.ts';
import { status } from '../../status.ts';
import { Ago } from '../../ui/ago.tsx';
import { Panel, Scroll } from '../../ui/layout.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import type { MetricHistory } from './metric-history.ts';
import type { WorkerDetail } from './worker-queries.ts';

type Metric = WorkerDetail['metrics'][number];

/** The latest value of each metric, its age, and what this browser has seen of it since the page was opened. */
export function MetricsPanel({ metrics, history }: { metrics: readonly Metric[]; history: MetricHistory }) {
  const own = metrics.filter((metric) => !metric.builtin);
  const builtin = metrics.filter((metric) => metric.builtin);
  return (
    <Panel
      title="Metrics"
      count={metrics.length}
      flush
      aside={
        <span className="trust">
          <IconCpu size={14} aria-hidden />
          The worker says · live
        </span>
      }
    >
      {metrics.length === 0 ? (
        <p className="note">
          This worker sends no metrics. A policy that reads one counts it as missing, which scores 0.
        </p>
      ) : (
        <>
          <Scroll label="Metrics, table">
            <table className="tb">
              <thead>
                <tr>
                  <th scope="col">Key</th>
                  <th scope="col" className="r">
                    Now
                  </th>
                  <th scope="col">Seen here</th>
                  <th scope="col" className="r">
                    Min – max
                  </th>
                  <th scope="col" className="r">
                    Received
                  </th>
                </tr>
              </thead>
              {own.length > 0 && <tbody>{own.map((metric) => row(metric, history))}</tbody>}
              {builtin.length > 0 && (
                <tbody>
                  <tr className="group">
                    <th colSpan={5} scope="rowgroup">
                      Built-in
                    </th>
                  </tr>
                  {builtin.map((metric) => row(metric, history))}
                </tbody>
              )}
            </table>
          </Scroll>
          <p className="note">
            Only the latest values are stored; the lines show what this browser has received since the page was opened.
          </p>
        </>
      )}
    </Panel>
  );
}

function row(metric: Metric, history: MetricHistory) {
  const values = (history[metric.key] ?? []).map((sample) => sample.value);
  const seen = values.length > 0 ? values : [metric.value];
  return (
    <tr key={metric.key}>
      <th scope="row" className="mono">
        {metric.key}
      </th>
      <td className="r strong">{metricText(metric.key, metric.value)}</td>
      <td>
        <Sparkline values={seen} label={metric.key} tone={metric.stale ? 'stale' : 'ink'} />
      </td>
      <td className="r mute small">
        {metricText(metric.key, Math.min(...seen))} – {metricText(metric.key, Math.max(...seen))}
      </td>
      <td className="r">
        {metric.stale && <StatusBadge look={status.worker.STALE} />} <Ago at={metric.at} />
      </td>
    </tr>
  );
}
