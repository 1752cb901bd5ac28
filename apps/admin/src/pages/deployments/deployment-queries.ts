import { graphql } from '../../api/generated/gql.ts';
import type {
  DeploymentDetailFragment,
  DeploymentRowFragment,
  ResolveDeploymentQuery,
} from '../../api/generated/graphql.ts';

export type DeploymentRow = DeploymentRowFragment;
export type DeploymentDetail = DeploymentDetailFragment;
export type Resolved = ResolveDeploymentQuery['resolveDeployment'];

graphql(`
  fragment DeploymentRow on Deployment {
    id
    slug
    module
    health
    revision
    updatedAt
    updatedBy
    lastExecutionAt
    variants {
      label
      weight
      targetRoles
      dead
      share
      effectiveShare
      roles {
        role
        healthyWorkers
      }
    }
  }
`);

graphql(`
  fragment DeploymentDetail on Deployment {
    id
    slug
    module
    description
    health
    unavailable
    revision
    createdAt
    updatedAt
    updatedBy
    lastExecutionAt
    variants {
      label
      flowId
      versionId
      weight
      targetRoles
      labels {
        key
        value
      }
      version {
        id
        number
      }
      dead
      share
      effectiveShare
      observedShare(windowMinutes: 60)
      observedCount(windowMinutes: 60)
      roles {
        role
        healthyWorkers
        since
      }
    }
  }
`);

export const DeploymentsDocument = graphql(`
  query Deployments(
    $first: Int
    $after: String
    $last: Int
    $before: String
    $filter: DeploymentFilter
    $orderBy: DeploymentOrder!
    $descending: Boolean!
  ) {
    deployments(
      first: $first
      after: $after
      last: $last
      before: $before
      filter: $filter
      orderBy: $orderBy
      descending: $descending
    ) {
      totalCount
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
      nodes {
        ...DeploymentRow
      }
    }
  }
`);

export const DeploymentDocument = graphql(`
  query Deployment($slug: String!) {
    deployment(slug: $slug) {
      ...DeploymentDetail
    }
  }
`);

export const DeploymentHistoryDocument = graphql(`
  query DeploymentHistory($slug: String!, $after: String) {
    deployment(slug: $slug) {
      id
      revision
      history(first: 25, after: $after) {
        totalCount
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          revision
          variants
          comment
          author
          at
        }
      }
    }
  }
`);

export const FlowsDocument = graphql(`
  query DeployableWorkflows {
    workflows(first: 200) {
      nodes {
        ref
        latest {
          number
        }
        versions(first: 50) {
          nodes {
            id
            number
          }
        }
      }
    }
  }
`);

export const PreviewDeploymentDocument = graphql(`
  query PreviewDeployment($input: PreviewDeploymentInput!) {
    previewDeployment(input: $input) {
      movedShare
      unavailable
      warnings
      variants {
        label
        share
        effectiveShare
        dead
      }
    }
  }
`);

export const ResolveDeploymentDocument = graphql(`
  query ResolveDeployment($slug: String!, $sessionKey: String) {
    resolveDeployment(slug: $slug, sessionKey: $sessionKey) {
      sticky
      variant {
        label
        flowId
        targetRoles
      }
      version {
        number
      }
      skippedVariants {
        label
        reason
        deadRoles
      }
    }
  }
`);

export const CreateDeploymentDocument = graphql(`
  mutation CreateDeployment($input: CreateDeploymentInput!) {
    createDeployment(input: $input) {
      warnings
      deployment {
        ...DeploymentDetail
      }
    }
  }
`);

export const UpdateDeploymentDocument = graphql(`
  mutation UpdateDeployment($input: UpdateDeploymentInput!) {
    updateDeployment(input: $input) {
      warnings
      deployment {
        ...DeploymentDetail
      }
    }
  }
`);

export const RollbackDeploymentDocument = graphql(`
  mutation RollbackDeployment($input: RollbackDeploymentInput!) {
    rollbackDeployment(input: $input) {
      deployment {
        ...DeploymentDetail
      }
    }
  }
`);

export const DeleteDeploymentDocument = graphql(`
  mutation DeleteDeployment($input: DeleteDeploymentInput!) {
    deleteDeployment(input: $input) {
      slug
    }
  }
`);
