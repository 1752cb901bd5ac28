import { useQuery, useQueryClient } from '@tanstack/react-query';
import { execute } from './client.ts';
import { graphql } from './generated/gql.ts';
import { useSubscription } from './live.ts';
import { usePollWhenStale } from './polling.ts';

const DeploymentHealthDocument = graphql(`
  query DeploymentHealth {
    degraded: deployments(first: 1, filter: { health: [DEGRADED] }) {
      totalCount
    }
    unavailable: deployments(first: 1, filter: { health: [UNAVAILABLE] }) {
      totalCount
    }
  }
`);

const DeploymentTicksDocument = graphql(`
  subscription DeploymentTicks {
    deploymentChanges {
      kind
      sequence
    }
  }
`);

/** How many deployments need a look. Kept fresh by `useDeploymentTicks`. */
export function useDeploymentHealth(): { degraded: number; unavailable: number } {
  const { data } = useQuery({
    queryKey: ['deployments', 'health'],
    queryFn: ({ signal }) => execute(DeploymentHealthDocument, {}, { signal }),
    refetchInterval: usePollWhenStale(),
  });
  return { degraded: data?.degraded.totalCount ?? 0, unavailable: data?.unavailable.totalCount ?? 0 };
}

/** Reads everything about deployments again whenever one changes. Mounted once, in the shell. */
export function useDeploymentTicks(): void {
  const client = useQueryClient();
  useSubscription(
    DeploymentTicksDocument,
    {},
    {
      next: ({ deploymentChanges }) => {
        if (deploymentChanges.kind !== 'SNAPSHOT') void client.invalidateQueries({ queryKey: ['deployments'] });
      },
    },
  );
}
