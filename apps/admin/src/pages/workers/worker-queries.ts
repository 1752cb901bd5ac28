import { execute } from '../../api/client.ts';
import { graphql } from '../../api/generated/gql.ts';
import type {
  WorkerDetailFragment,
  WorkerFilter,
  WorkerRowFragment,
  WorkersQuery,
} from '../../api/generated/graphql.ts';

export type WorkerRow = WorkerRowFragment;
export type WorkerDetail = WorkerDetailFragment;

graphql(`
  fragment WorkerRow on Worker {
    id
    name
    role
    hostname
    version
    status
    availability
    eligible
    registered
    connected
    statusReasons
    labels {
      key
      value
    }
    capacity
    load
    utilization
    startedAt
    lastSeenAt
  }
`);

graphql(`
  fragment WorkerDetail on Worker {
    ...WorkerRow
    instanceId
    checks {
      name
      healthy
      message
    }
    metadata {
      key
      value
      updatedAt
      updatedBy
    }
    metrics {
      key
      value
      builtin
      at
      stale
    }
    resources {
      cpuTotal
      cpuAvailable
      memoryTotal
      memoryAvailable
      diskTotal
      diskFree
      gpus {
        name
        memoryTotal
        memoryAvailable
      }
    }
    runners
    workflows
    packages {
      name
      version
    }
    registeredAt
  }
`);

const WorkersDocument = graphql(`
  query Workers($filter: WorkerFilter, $after: String) {
    workers(first: 200, after: $after, filter: $filter) {
      totalCount
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        ...WorkerRow
      }
    }
  }
`);

export const WorkersLiveDocument = graphql(`
  subscription WorkersLive($filter: WorkerFilter) {
    workerEvents(filter: $filter) {
      kind
      at
      sequence
      removed
      complete
      workers {
        ...WorkerRow
      }
    }
  }
`);

export const WorkerDocument = graphql(`
  query Worker($name: String!) {
    worker(name: $name) {
      ...WorkerDetail
    }
  }
`);

export const WorkerLiveDocument = graphql(`
  subscription WorkerLive($filter: WorkerFilter) {
    workerEvents(filter: $filter) {
      kind
      at
      sequence
      removed
      workers {
        ...WorkerDetail
      }
    }
  }
`);

export const WorkerExecutionsDocument = graphql(`
  query WorkerExecutions($name: String!, $after: String) {
    worker(name: $name) {
      id
      executions(first: 25, after: $after) {
        totalCount
        totalCountExact
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          id
          state
          parked
          workflowRef
          variantLabel
          createdAt
          startedAt
          finishedAt
          deployment {
            slug
          }
        }
      }
    }
  }
`);

export const WorkerDecisionsDocument = graphql(`
  query WorkerDecisions($name: String!, $after: String) {
    worker(name: $name) {
      id
      decisions(first: 25, after: $after) {
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          id
          at
          outcome
          winner
          margin
          blinded
          explanation
          execution {
            id
          }
        }
      }
    }
  }
`);

export const SetAvailabilityDocument = graphql(`
  mutation SetWorkerAvailability($input: SetWorkerAvailabilityInput!) {
    setWorkerAvailability(input: $input) {
      worker {
        ...WorkerDetail
      }
    }
  }
`);

export const RemoveWorkerDocument = graphql(`
  mutation RemoveWorker($input: RemoveWorkerInput!) {
    removeWorker(input: $input) {
      name
    }
  }
`);

export const SetMetadataDocument = graphql(`
  mutation SetWorkerMetadata($input: SetWorkerMetadataInput!) {
    setWorkerMetadata(input: $input) {
      worker {
        ...WorkerDetail
      }
    }
  }
`);

export const UnsetMetadataDocument = graphql(`
  mutation UnsetWorkerMetadata($input: UnsetWorkerMetadataInput!) {
    unsetWorkerMetadata(input: $input) {
      worker {
        ...WorkerDetail
      }
    }
  }
`);

/** Pages of 200 until the fleet is read; 25 pages at most, which is more than one table should hold. */
export async function loadWorkers(filter: WorkerFilter, signal: AbortSignal): Promise<WorkerRow[]> {
  const rows: WorkerRow[] = [];
  let after: string | null = null;
  for (let page = 0; page < 25; page += 1) {
    const { workers }: WorkersQuery = await execute(WorkersDocument, { filter, after }, { signal });
    rows.push(...workers.nodes);
    if (!workers.pageInfo.hasNextPage) break;
    after = workers.pageInfo.endCursor ?? null;
  }
  return rows;
}
