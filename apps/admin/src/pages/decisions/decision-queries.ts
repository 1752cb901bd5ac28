import { graphql } from '../../api/generated/gql.ts';
import type { DecisionQuery } from '../../api/generated/graphql.ts';

export const DecisionDocument = graphql(`
  query Decision($id: ID!) {
    decision(id: $id) {
      id
      at
      outcome
      winner
      reason
      method
      degraded
      terms {
        text
        weight
        active
        withheld
        note
      }
      candidates {
        worker
        role
        rank
        total
        load
        capacity
        rejected
        rejectedBecause
        cells {
          state
          value
          valueAgeMs
          normalised
          weighted
        }
        rejections {
          reason
          message
          wanted
          had
        }
      }
      eligibleCount
      rejectedCount
      rejections {
        reason
        count
      }
      waitMs
      durationUs
      version {
        number
        workflowRef
      }
      attempt
      generation
      blinded
      margin
      tieBreak
      explanation
      execution {
        id
        workflowRef
      }
    }
  }
`);

export type Decision = NonNullable<DecisionQuery['decision']>;
export type Candidate = Decision['candidates'][number];
export type Term = Decision['terms'][number];
export type Cell = Candidate['cells'][number];
