import { useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useLiveList } from '../hooks/use-live-list.ts';
import { execute } from './client.ts';
import { graphql } from './generated/gql.ts';
import type { RolesQuery } from './generated/graphql.ts';

const RolesDocument = graphql(`
  query Roles {
    roles {
      ...RoleFacts
    }
  }
`);

const RolesLiveDocument = graphql(`
  subscription RolesLive {
    roleHealth {
      kind
      at
      sequence
      removed
      complete
      roles {
        ...RoleFacts
      }
    }
  }
`);

graphql(`
  fragment RoleFacts on RoleHealth {
    role
    healthy
    healthyWorkers
    unhealthyWorkers
    staleWorkers
    offlineWorkers
    unavailableWorkers
    workers
    variants
    lastSeenAt
    since
  }
`);

export type RoleFacts = RolesQuery['roles'][number];

/**
 * All roles with their health; kept live where `live` is set (once, in the shell). When a role's health flips, what the
 * API derives from it (health and shares of deployments) is read again.
 */
export function useRoles(live = false) {
  const client = useQueryClient();
  const known = useRef(new Map<string, boolean>());
  return useLiveList(
    {
      key: ['roles'],
      load: async (signal) => (await execute(RolesDocument, {}, { signal })).roles,
      document: RolesLiveDocument,
      variables: {},
      change: ({ roleHealth }) => ({ ...roleHealth, items: roleHealth.roles }),
      idOf: (role) => role.role,
    },
    live,
    (change) => {
      let flipped = change.removed.length > 0;
      for (const role of change.items) {
        const before = known.current.get(role.role);
        if (before !== undefined && before !== role.healthy) flipped = true;
        known.current.set(role.role, role.healthy);
      }
      if (flipped) void client.invalidateQueries({ queryKey: ['deployments'] });
    },
  );
}
