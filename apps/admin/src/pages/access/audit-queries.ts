import { graphql } from '../../api/generated/gql.ts';
import type { AuditEntriesQuery } from '../../api/generated/graphql.ts';

export const AuditEntriesDocument = graphql(`
  query AuditEntries($first: Int, $after: String, $last: Int, $before: String, $filter: AuditFilter) {
    auditEntries(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
      totalCount
      totalCountExact
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
      nodes {
        id
        at
        actor
        action
        target
        address
        requestId
        before
        after
        position
        sealed
      }
    }
  }
`);

export type AuditRow = AuditEntriesQuery['auditEntries']['nodes'][number];
