import { graphql } from '../../api/generated/gql.ts';
import type { WorkflowQuery } from '../../api/generated/graphql.ts';

export type WorkflowDetail = NonNullable<WorkflowQuery['workflow']>;
export type WorkflowVersion = WorkflowDetail['versions']['nodes'][number];

export const WorkflowsDocument = graphql(`
  query Workflows($first: Int, $after: String, $last: Int, $before: String, $search: String) {
    workflows(first: $first, after: $after, last: $last, before: $before, search: $search) {
      totalCount
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
      nodes {
        id
        ref
        description
        createdAt
        latest {
          number
          routingText
          affinityText
          createdAt
          createdBy
        }
        variants {
          label
          deployment {
            slug
          }
        }
      }
    }
  }
`);

export const WorkflowDocument = graphql(`
  query Workflow($ref: String!) {
    workflow(ref: $ref) {
      id
      ref
      description
      createdAt
      latest {
        id
        number
      }
      versions(first: 100) {
        totalCount
        nodes {
          id
          number
          routingText
          affinityText
          requests {
            cpu
            memory
            memoryText
            disk
            gpu
            packages
          }
          runner
          maxAttempts
          timeoutSeconds
          createdAt
          createdBy
        }
      }
      variants {
        label
        weight
        versionId
        dead
        targetRoles
        version {
          number
        }
        deployment {
          slug
          health
        }
      }
    }
  }
`);
