import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ApiError, execute } from './client.ts';
import { graphql } from './generated/gql.ts';
import type { FleetQuery } from './generated/graphql.ts';
import { useSubscription } from './live.ts';
import { usePollWhenStale } from './polling.ts';
import { noticeServerTime } from './server-clock.ts';

const FleetDocument = graphql(`
  query Fleet {
    fleetMetrics {
      ...FleetNumbers
    }
  }
`);

const FleetLiveDocument = graphql(`
  subscription FleetLive {
    fleetMetrics(intervalMs: 2000) {
      ...FleetNumbers
    }
  }
`);

graphql(`
  fragment FleetNumbers on FleetMetrics {
    at
    workers
    healthyWorkers
    unhealthyWorkers
    staleWorkers
    offlineWorkers
    cordonedWorkers
    drainingWorkers
    roles
    deadRoles
    capacity
    load
    utilization
    pending
    parked
    running
    scheduled
    paused
    dispatchedPerSecond
    completedPerSecond
    failedPerSecond
    degradedDecisionsPerMinute
    dispatchLatencyMs {
      p50
      p95
      p99
    }
    decisionUs {
      p50
      p95
    }
    parkedReasons {
      reason
      count
      oldest
    }
  }
`);

export type FleetNumbers = FleetQuery['fleetMetrics'];

const KEY = ['fleet'];

/** The numbers of the fleet. Keeps them live where `live` is set (once, in the shell). */
export function useFleet(live = false) {
  const client = useQueryClient();
  const poll = usePollWhenStale();
  const query = useQuery<FleetQuery, ApiError>({
    queryKey: KEY,
    queryFn: ({ signal }) => execute(FleetDocument, {}, { signal }),
    refetchInterval: live && poll,
  });
  useSubscription(
    FleetLiveDocument,
    {},
    {
      next: (data) => {
        noticeServerTime(data.fleetMetrics.at);
        client.setQueryData<FleetQuery>(KEY, data);
      },
    },
    live,
  );
  return query;
}
