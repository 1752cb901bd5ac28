import { graphql } from '../../api/generated/gql.ts';
import type {
  ExecutionDetailFragment,
  ExecutionEventFragment,
  ExecutionRowFragment,
  ExecutionStepFragment,
} from '../../api/generated/graphql.ts';

export type ExecutionRow = ExecutionRowFragment;
export type ExecutionDetail = ExecutionDetailFragment;
export type TimelineEvent = ExecutionEventFragment;
export type ExecutionStep = ExecutionStepFragment;

graphql(`
  fragment ExecutionRow on Execution {
    id
    state
    parked
    workflowRef
    deployment {
      slug
    }
    variantLabel
    workerName
    why
    attempt
    createdAt
    scheduledAt
    startedAt
    finishedAt
    latestDecision {
      id
    }
  }
`);

graphql(`
  fragment ExecutionDetail on Execution {
    ...ExecutionRow
    version {
      number
    }
    targetRoles
    sessionKey
    parkedReason
    parkedSince
    parkDeadline
    input
    output
    error {
      type
      message
      stack
      retryable
    }
    worker {
      name
    }
    requiredWorker
    preferredWorker
    priority
    maxAttempts
    submittedBy
    claimedAt
    updatedAt
    generation
    revision
    retryOf {
      id
    }
    parent {
      id
    }
    waitingFor {
      kind
      name
      until
      child
    }
    attempts {
      number
      generation
      worker
      outcome
      scheduledAt
      claimedAt
      endedAt
      error {
        type
        message
      }
      decision {
        id
      }
    }
    latestDecision {
      id
      outcome
      winner
      margin
      blinded
      degraded
      explanation
    }
  }
`);

graphql(`
  fragment ExecutionEvent on ExecutionEvent {
    id
    sequence
    type
    at
    worker
    data
  }
`);

graphql(`
  fragment ExecutionStep on ExecutionStep {
    position
    kind
    name
    done
    result
    error {
      type
      message
      stack
      retryable
    }
    at
    wakeAt
    child {
      id
    }
  }
`);

export const ExecutionsDocument = graphql(`
  query Executions($first: Int, $after: String, $last: Int, $before: String, $filter: ExecutionFilter) {
    executions(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
      totalCount
      totalCountExact
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
      nodes {
        ...ExecutionRow
      }
    }
  }
`);

export const ExecutionCountsDocument = graphql(`
  query ExecutionStateCounts($filter: ExecutionFilter) {
    executionCounts(filter: $filter) {
      state
      count
      parked
    }
  }
`);

export const ExecutionsLiveDocument = graphql(`
  subscription ExecutionsLive($filter: ExecutionFilter) {
    executionChanges(filter: $filter) {
      kind
      at
      sequence
      removed
      complete
      executions {
        ...ExecutionRow
      }
    }
  }
`);

export const ExecutionDocument = graphql(`
  query Execution($id: ID!) {
    execution(id: $id) {
      ...ExecutionDetail
      events(first: 200) {
        nodes {
          ...ExecutionEvent
        }
      }
      decisions(first: 50) {
        nodes {
          id
          at
          outcome
          reason
        }
      }
      steps(first: 1) {
        totalCount
      }
    }
  }
`);

export const ExecutionWaitDocument = graphql(`
  query ExecutionWait($id: ID!) {
    execution(id: $id) {
      id
      whyWaiting {
        outcome
        reason
        explanation
        eligibleCount
        rejectedCount
        candidates {
          worker
          role
          rejected
          rejectedBecause
          rejections {
            reason
            message
          }
        }
      }
    }
  }
`);

export const ExecutionLiveDocument = graphql(`
  subscription ExecutionLive($filter: ExecutionFilter) {
    executionChanges(filter: $filter) {
      kind
      at
      sequence
      removed
      executions {
        ...ExecutionDetail
      }
    }
  }
`);

export const ExecutionEventsDocument = graphql(`
  subscription ExecutionEvents($id: ID!) {
    executionEvents(id: $id) {
      ...ExecutionEvent
    }
  }
`);

export const CancelDocument = graphql(`
  mutation CancelExecution($input: ExecutionIdInput!) {
    cancelExecution(input: $input) {
      execution {
        ...ExecutionDetail
      }
    }
  }
`);

export const ResumeDocument = graphql(`
  mutation ResumeExecution($input: ResumeExecutionInput!) {
    resumeExecution(input: $input) {
      execution {
        id
      }
    }
  }
`);

export const ExecutionChildrenDocument = graphql(`
  query ExecutionChildren($id: ID!) {
    execution(id: $id) {
      id
      children(first: 50) {
        totalCount
        totalCountExact
        nodes {
          ...ExecutionRow
        }
      }
    }
  }
`);

export const ExecutionStepsDocument = graphql(`
  query ExecutionSteps($id: ID!, $after: String) {
    execution(id: $id) {
      id
      steps(first: 50, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          ...ExecutionStep
        }
      }
    }
  }
`);

export const ExecutionTicksDocument = graphql(`
  subscription ExecutionTicks($filter: ExecutionFilter) {
    executionChanges(filter: $filter) {
      kind
      sequence
    }
  }
`);

export const RetryDocument = graphql(`
  mutation RetryExecution($input: ExecutionIdInput!) {
    retryExecution(input: $input) {
      execution {
        id
      }
    }
  }
`);

export const RunWorkflowDocument = graphql(`
  mutation RunWorkflow($input: RunWorkflowInput!) {
    runWorkflow(input: $input) {
      execution {
        id
      }
    }
  }
`);

export const RunDeploymentDocument = graphql(`
  mutation RunDeployment($input: RunDeploymentInput!) {
    runDeployment(input: $input) {
      execution {
        id
      }
    }
  }
`);

export const TargetsDocument = graphql(`
  query RunTargets {
    deployments(first: 200) {
      nodes {
        slug
        health
      }
    }
    workflows(first: 200) {
      nodes {
        ref
      }
    }
  }
`);
