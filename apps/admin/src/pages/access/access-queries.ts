import { graphql } from '../../api/generated/gql.ts';
import type {
  AccessRolesQuery,
  ApiTokensQuery,
  JoinTokensQuery,
  LoginSessionsQuery,
  PrincipalsQuery,
  WorkerCredentialsQuery,
} from '../../api/generated/graphql.ts';

export const PrincipalsDocument = graphql(`
  query Principals($first: Int, $after: String, $last: Int, $before: String, $filter: PrincipalFilter) {
    principals(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
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
        name
        kind
        roles
        disabled
        disabledAt
        hasPassword
        externalIdentity
        createdBy
        createdAt
        revision
      }
    }
  }
`);

export const PrincipalDocument = graphql(`
  query Principal($name: String!) {
    principal(name: $name) {
      id
      name
      kind
      roles
      disabled
      revision
    }
  }
`);

export const CreatePrincipalDocument = graphql(`
  mutation CreatePrincipal($input: CreatePrincipalInput!) {
    createPrincipal(input: $input) {
      principal {
        id
      }
    }
  }
`);

export const UpdatePrincipalDocument = graphql(`
  mutation UpdatePrincipal($input: UpdatePrincipalInput!) {
    updatePrincipal(input: $input) {
      principal {
        id
        revision
      }
    }
  }
`);

export const DeletePrincipalDocument = graphql(`
  mutation DeletePrincipal($input: DeletePrincipalInput!) {
    deletePrincipal(input: $input) {
      name
    }
  }
`);

export const SetPasswordDocument = graphql(`
  mutation SetPassword($input: SetPasswordInput!) {
    setPassword(input: $input) {
      principal {
        id
      }
    }
  }
`);

export const ChangeOwnPasswordDocument = graphql(`
  mutation ChangeOwnPassword($input: ChangeOwnPasswordInput!) {
    changeOwnPassword(input: $input) {
      principal {
        id
      }
    }
  }
`);

export const AccessRolesDocument = graphql(`
  query AccessRoles {
    accessRoles {
      name
      description
      permissions
      builtIn
      principalCount
      revision
      updatedAt
      updatedBy
    }
  }
`);

export const CreateAccessRoleDocument = graphql(`
  mutation CreateAccessRole($input: CreateAccessRoleInput!) {
    createAccessRole(input: $input) {
      role {
        name
      }
    }
  }
`);

export const UpdateAccessRoleDocument = graphql(`
  mutation UpdateAccessRole($input: UpdateAccessRoleInput!) {
    updateAccessRole(input: $input) {
      role {
        name
        revision
      }
    }
  }
`);

export const DeleteAccessRoleDocument = graphql(`
  mutation DeleteAccessRole($input: DeleteAccessRoleInput!) {
    deleteAccessRole(input: $input) {
      name
    }
  }
`);

export const ApiTokensDocument = graphql(`
  query ApiTokens($first: Int, $after: String, $last: Int, $before: String, $filter: ApiTokenFilter) {
    apiTokens(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
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
        name
        prefix
        principal {
          id
          name
        }
        scopes
        status
        createdBy
        createdAt
        expiresAt
        lastUsedAt
        revokedAt
      }
    }
  }
`);

export const CreateApiTokenDocument = graphql(`
  mutation CreateApiToken($input: CreateApiTokenInput!) {
    createApiToken(input: $input) {
      secret
    }
  }
`);

export const RevokeApiTokenDocument = graphql(`
  mutation RevokeApiToken($input: RevokeApiTokenInput!) {
    revokeApiToken(input: $input) {
      token {
        id
      }
    }
  }
`);

export const JoinTokensDocument = graphql(`
  query JoinTokens($first: Int, $after: String, $last: Int, $before: String, $filter: JoinTokenFilter) {
    joinTokens(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
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
        prefix
        description
        worker
        role
        labels {
          key
          value
        }
        services
        registers
        status
        createdBy
        createdAt
        expiresAt
        usedAt
        usedBy
        revokedAt
      }
    }
  }
`);

export const CreateJoinTokenDocument = graphql(`
  mutation CreateJoinToken($input: CreateJoinTokenInput!) {
    createJoinToken(input: $input) {
      secret
    }
  }
`);

export const RevokeJoinTokenDocument = graphql(`
  mutation RevokeJoinToken($input: RevokeJoinTokenInput!) {
    revokeJoinToken(input: $input) {
      joinToken {
        id
      }
    }
  }
`);

export const PurgeJoinTokensDocument = graphql(`
  mutation PurgeJoinTokens {
    purgeJoinTokens {
      count
    }
  }
`);

export const WorkerCredentialsDocument = graphql(`
  query WorkerCredentials($filter: WorkerCredentialFilter, $after: String) {
    workerCredentials(first: 50, after: $after, filter: $filter) {
      totalCount
      totalCountExact
      pageInfo {
        hasNextPage
        endCursor
      }
      nodes {
        id
        worker
        prefix
        role
        services
        registers
        status
        createdAt
        expiresAt
        lastUsedAt
        revokedAt
      }
    }
  }
`);

export const RevokeWorkerCredentialDocument = graphql(`
  mutation RevokeWorkerCredential($input: RevokeWorkerCredentialInput!) {
    revokeWorkerCredential(input: $input) {
      workerCredential {
        id
      }
    }
  }
`);

export const LoginSessionsDocument = graphql(`
  query LoginSessions($first: Int, $after: String, $last: Int, $before: String, $filter: LoginSessionFilter) {
    loginSessions(first: $first, after: $after, last: $last, before: $before, filter: $filter) {
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
        principal {
          id
          name
        }
        method
        address
        userAgent
        createdAt
        seenAt
        expiresAt
        current
      }
    }
  }
`);

export const RevokeLoginSessionDocument = graphql(`
  mutation RevokeLoginSession($input: RevokeLoginSessionInput!) {
    revokeLoginSession(input: $input) {
      id
    }
  }
`);

export const RevokeLoginSessionsDocument = graphql(`
  mutation RevokeLoginSessions($input: RevokeLoginSessionsInput!) {
    revokeLoginSessions(input: $input) {
      count
    }
  }
`);

export type PrincipalRow = PrincipalsQuery['principals']['nodes'][number];
export type RoleRow = AccessRolesQuery['accessRoles'][number];
export type TokenRow = ApiTokensQuery['apiTokens']['nodes'][number];
export type JoinTokenRow = JoinTokensQuery['joinTokens']['nodes'][number];
export type CredentialRow = WorkerCredentialsQuery['workerCredentials']['nodes'][number];
export type SessionRow = LoginSessionsQuery['loginSessions']['nodes'][number];
