import { IconCircleXFilled, IconLock } from '@tabler/icons-react';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { type ApiError, execute } from '../../api/client.ts';
import type { FleetNumbers } from '../../api/fleet.ts';
import type { FleetQuery } from '../../api/generated/graphql.ts';
import { count, decisionTime, duration, metricValue, percent, plural } from '../../format.ts';
import { useServerNow } from '../../hooks/use-server-now.ts';
import { paths } from '../../paths.ts';
import { Anchor } from '../../ui/anchor.tsx';
import { Glyph } from '../../ui/icon.tsx';
import { Sparkline } from '../../ui/sparkline.tsx';
import { AfterAWhile } from '../../ui/view-states.tsx';
import { FleetHistoryDocument } from './overview-queries.ts';

interface Tile {
  name: string;
  href: string;
  value: string;
  unit: string;
  line: ReactNode;
  tone?: 'warn';
  history: readonly number[];
}

/** Four numbers, each a link to the list behind it. */
export function Tiles({ fleet }: { fleet: UseQueryResult<FleetQuery, ApiError> }) {
  const numbers = fleet.data?.fleetMetrics;
  const history = useQuery({
    queryKey: ['fleet-history'],
    queryFn: ({ signal }) => execute(FleetHistoryDocument, {}, { signal }),
    // One point a minute is all there is.
    refetchInterval: 60_000,
  }).data?.fleetHistory;
  if (!numbers) return <Waiting failure={fleet.error} onRetry={() => void fleet.refetch()} />;
  const over = (
    read: (point: NonNullable<typeof history>[number]) => number | null | undefined,
    now: number | null | undefined,
  ) => [...(history ?? []).map(read), now].filter((value) => value != null);
  const waiting = numbers.pending;
  const tiles: Tile[] = [
    {
      name: 'Workers',
      href: paths.workers(),
      value: count(numbers.healthyWorkers),
      unit: ` of ${count(numbers.workers)}`,
      line: <WorkersLine fleet={numbers} />,
      history: over((point) => point.healthyWorkers, numbers.healthyWorkers),
    },
    {
      name: 'Waiting',
      href: paths.executions({ state: 'PENDING' }),
      value: count(waiting),
      unit: '',
      line: <ParkedLine fleet={numbers} />,
      ...(numbers.parked > 0 && { tone: 'warn' as const }),
      history: over((point) => point.pending, numbers.pending),
    },
    {
      name: 'Running',
      href: paths.executions({ state: 'RUNNING' }),
      value: count(numbers.running),
      unit: numbers.capacity == null ? '' : ` of ${count(numbers.capacity)} slots`,
      line: `${numbers.utilization == null ? 'no limit' : `${percent(numbers.utilization)} in use`} · ${metricValue(Math.round(numbers.completedPerSecond * 100) / 100)}/s completed`,
      history: over((point) => point.running, numbers.running),
    },
    {
      name: 'Dispatch p95',
      href: paths.executions(),
      value: numbers.dispatchLatencyMs.p95 == null ? '–' : metricValue(Math.round(numbers.dispatchLatencyMs.p95)),
      unit: numbers.dispatchLatencyMs.p95 == null ? '' : ' ms',
      line: latencyLine(numbers),
      history: over((point) => point.dispatchLatencyMs.p95, numbers.dispatchLatencyMs.p95),
    },
  ];
  return (
    <div className="tiles">
      {tiles.map((tile) => (
        <Anchor className="tile" key={tile.name} href={tile.href}>
          <span className="k">{tile.name}</span>
          <span className="v">
            {tile.value}
            <small>{tile.unit}</small>
          </span>
          <span className="s">{tile.line}</span>
          <Sparkline
            values={tile.history}
            width={220}
            height={32}
            label={`${tile.name}, last hour`}
            tone={tile.tone ?? 'ink'}
          />
        </Anchor>
      ))}
    </div>
  );
}

function WorkersLine({ fleet }: { fleet: FleetNumbers }) {
  const parts = [
    { key: 'unhealthy', n: fleet.unhealthyWorkers, className: 'w' },
    { key: 'stale', n: fleet.staleWorkers, className: '' },
    { key: 'offline', n: fleet.offlineWorkers, className: 'b' },
    {
      key: fleet.deadRoles === 1 ? 'role without a healthy worker' : 'roles without a healthy worker',
      n: fleet.deadRoles,
      className: 'w',
    },
  ].filter((part) => part.n > 0);
  if (parts.length === 0 && fleet.deadRoles === 0) return `${plural(fleet.roles, 'role')}, all healthy`;
  return parts.map((part, index) => (
    <span key={part.key}>
      {index > 0 && ', '}
      <span className={part.className}>
        {part.n} {part.key}
      </span>
    </span>
  ));
}

function ParkedLine({ fleet }: { fleet: FleetNumbers }) {
  const now = useServerNow();
  if (fleet.parked === 0) return 'none parked';
  const oldest = fleet.parkedReasons.map((reason) => Date.parse(reason.oldest)).toSorted((a, b) => a - b)[0];
  return (
    <>
      <span className="w">{count(fleet.parked)} parked</span>
      {oldest !== undefined && ` · oldest ${duration(Math.max(0, now - oldest))}`}
    </>
  );
}

function latencyLine(fleet: FleetNumbers): string {
  const { p50, p99 } = fleet.dispatchLatencyMs;
  if (p50 == null || p99 == null) return 'nothing dispatched in the last minute';
  const own = fleet.decisionUs.p50 == null ? '' : ` · decision ${decisionTime(fleet.decisionUs.p50)}`;
  return `p50 ${count(Math.round(p50))} ms · p99 ${count(Math.round(p99))} ms${own}`;
}

function Waiting({ failure, onRetry }: { failure: ApiError | null; onRetry: () => void }) {
  return (
    <div className="tiles">
      {['Workers', 'Waiting', 'Running', 'Dispatch p95'].map((name) => (
        <div className="tile" key={name}>
          <span className="k">{name}</span>
          {failure?.code === 'FORBIDDEN' ? (
            <span className="st st-neutral" title={failure.message}>
              <Glyph icon={IconLock} />
              Not allowed
            </span>
          ) : failure ? (
            <>
              <span className="st st-bad">
                <Glyph icon={IconCircleXFilled} />
                Could not load
              </span>
              <span>
                <button type="button" className="rb" onClick={onRetry}>
                  Retry
                </button>
              </span>
            </>
          ) : (
            <AfterAWhile>
              <span className="sk" style={{ width: 88, height: 24, margin: '4px 0' }} />
              <span className="sk" style={{ width: '70%' }} />
              <span className="sk" style={{ height: 32, marginTop: 6 }} />
            </AfterAWhile>
          )}
        </div>
      ))}
    </div>
  );
}
