import { graphql } from '../../api/generated/gql.ts';
import type { AttentionQuery, RecentDecisionFragment } from '../../api/generated/graphql.ts';

export type Attention = AttentionQuery;
export type RecentDecision = RecentDecisionFragment;

export const AttentionDocument = graphql(`
  query Attention($parkedBefore: DateTime!) {
    deployments(first: 20, filter: { health: [DEGRADED, UNAVAILABLE] }) {
      totalCount
      nodes {
        slug
        unavailable
        variants {
          label
          dead
          share
          targetRoles
          roles {
            role
            since
          }
        }
      }
    }
    workers(first: 20, filter: { statuses: [UNHEALTHY, STALE, OFFLINE] }) {
      totalCount
      nodes {
        name
        status
        statusReasons
        lastSeenAt
        load
      }
    }
    executions(first: 1, filter: { parked: true, parkedBefore: $parkedBefore }) {
      totalCount
      totalCountExact
    }
  }
`);

graphql(`
  fragment RecentDecision on DispatchDecision {
    id
    at
    outcome
    winner
    method
    degraded
    blinded
    margin
    tieBreak
    eligibleCount
    rejectedCount
    execution {
      id
      workflowRef
    }
    explanation
  }
`);

export const RecentDecisionsDocument = graphql(`
  query RecentDecisions {
    decisions(first: 10) {
      nodes {
        ...RecentDecision
      }
    }
  }
`);

export const DecisionsLiveDocument = graphql(`
  subscription DecisionsLive {
    dispatchDecisions {
      ...RecentDecision
    }
  }
`);

export const FleetHistoryDocument = graphql(`
  query FleetHistory {
    fleetHistory(minutes: 60) {
      at
      healthyWorkers
      pending
      parked
      running
      dispatchLatencyMs {
        p95
      }
    }
  }
`);

export const StartedDocument = graphql(`
  query Started {
    deployments(first: 1) {
      totalCount
    }
    executions(first: 1) {
      totalCount
      nodes {
        id
        latestDecision {
          id
        }
      }
    }
    workers(first: 5) {
      totalCount
      nodes {
        name
        role
      }
    }
  }
`);
