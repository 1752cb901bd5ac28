import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiError } from '../../api/client.ts';
import type { FleetQuery } from '../../api/generated/graphql.ts';
import { count } from '../../format.ts';
import { Ago } from '../../ui/ago.tsx';
import { Panel } from '../../ui/layout.tsx';
import { ErrorView, SkeletonRows } from '../../ui/view-states.tsx';

/** Why executions are parked, most frequent first. */
export function ParkedReasons({ fleet }: { fleet: UseQueryResult<FleetQuery, ApiError> }) {
  const numbers = fleet.data?.fleetMetrics;
  const reasons = numbers?.parkedReasons ?? [];
  const most = Math.max(1, ...reasons.map((reason) => reason.count));
  return (
    <Panel title="Why executions are parked" count={numbers && count(numbers.parked)} flush>
      {fleet.isPending ? (
        <SkeletonRows label="why executions are parked" rows={3} />
      ) : !numbers ? (
        fleet.error && (
          <ErrorView what="The reasons could not be read" failure={fleet.error} onRetry={() => void fleet.refetch()} />
        )
      ) : reasons.length === 0 ? (
        <p className="note" style={{ border: 0 }}>
          {numbers.parked > 0 ? 'The reasons are being counted.' : 'Nothing is parked.'}
        </p>
      ) : (
        <ul className="wp">
          {reasons.map((reason) => (
            <li key={reason.reason}>
              <span>{reason.reason}</span>
              <span className="wb" aria-hidden>
                <u style={{ width: `${(reason.count / most) * 100}%` }} />
              </span>
              <b>{count(reason.count)}</b>
              <span className="mute">
                oldest <Ago at={reason.oldest} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
