import { useQuery } from '@tanstack/react-query';
import { execute } from './client.ts';
import { graphql } from './generated/gql.ts';

const ViewerDocument = graphql(`
  query Viewer {
    viewer {
      name
      roles
      permissions
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

/** May the viewer do this? Unknown viewers may: the server is the judge, and says so where the answer is no. */
export function useMay(): (permission: string) => boolean {
  const viewer = useViewer();
  return (permission) => {
    if (!viewer) return true;
    const [noun = ''] = permission.split(':', 1);
    return ['*', permission, `${noun}:*`].some((grant) => viewer.permissions.includes(grant));
  };
}
