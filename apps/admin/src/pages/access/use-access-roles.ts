import { useQuery } from '@tanstack/react-query';
import { type ApiError, execute } from '../../api/client.ts';
import type { AccessRolesQuery } from '../../api/generated/graphql.ts';
import { AccessRolesDocument } from './access-queries.ts';

/** All roles. Who may not read them gets the error; forms then take names as typed. */
export function useAccessRoles() {
  return useQuery<AccessRolesQuery, ApiError>({
    queryKey: ['access-roles'],
    queryFn: ({ signal }) => execute(AccessRolesDocument, {}, { signal }),
  });
}
