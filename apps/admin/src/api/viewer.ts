import { permits, permitsSome } from '@muster/core/permissions';
import { useQuery } from '@tanstack/react-query';
import type { Need } from '../ui/permitted.tsx';
import { execute } from './client.ts';
import { graphql } from './generated/gql.ts';

const ViewerDocument = graphql(`
  query Viewer {
    viewer {
      name
      kind
      roles
      permissions
      hasPassword
    }
  }
`);

/** Who is signed in. undefined until the API has said so. */
export function useViewer() {
  return useQuery({
    queryKey: ['viewer'],
    queryFn: ({ signal }) => execute(ViewerDocument, {}, { signal }),
    select: (data) => data.viewer,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
}

/**
 * What a verb takes, by the rule of the server: one of these permissions. What stands in braces is any name, for where none is known yet:
 * `deployment:{slug}:write`.
 */
export function needOf(granted: readonly string[], permissions: readonly string[]): Need {
  return {
    permission: permissions.join(' or '),
    allowed: permissions.some((permission) => (permission.includes('{') ? permitsSome : permits)(granted, permission)),
  };
}

/** May the viewer do this? Unknown viewers may: the server is the judge, and says so where the answer is no. */
export function usePermission(...permissions: string[]): Need {
  const viewer = useViewer();
  return needOf(viewer?.permissions ?? ['*'], permissions);
}

/** The permission for a verb on one workflow; `ref` is namespace/name. */
export function workflowPermission(ref: string, verb: 'read' | 'run'): string {
  return `workflow:${ref.replace('/', ':')}:${verb}`;
}
