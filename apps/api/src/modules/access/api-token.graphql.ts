import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { CredentialStatus } from '../../graphql/credential-status.ts';
import { encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import { ApiTokenConnection, ApiTokenRef, PrincipalRef } from '../../graphql/refs.ts';
import { apiTokenStatus } from './api-token-status.ts';
import type { ApiTokenRow } from './api-token-store.ts';

const ORDER = 'api_tokens';
const SCOPES = 'Permissions that it is narrowed to; none: all that its principal has.';

ApiTokenRef.implement({
  description: 'Lets a program in as a principal. The secret itself is shown when it is made, and never again.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (row) => encodeId('tk', row.id) }),
    name: t.exposeString('name'),
    prefix: t.exposeString('prefix', { description: 'How the secret begins.' }),
    principal: t.field({
      type: PrincipalRef,
      nullable: true,
      description: 'null where it may not be read.',
      resolve: (row, _args, { loaders }) => loaders.principal.load(row.principalId),
    }),
    scopes: t.stringList({ description: SCOPES, resolve: (row) => [...row.scopes] }),
    status: t.field({
      type: CredentialStatus,
      resolve: (row, _args, { services }) => apiTokenStatus(row, services.now()),
    }),
    createdBy: t.exposeString('createdBy'),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Written at most once a minute.',
    }),
    revokedAt: t.expose('revokedAt', { type: 'DateTime', nullable: true }),
  }),
});

const ApiTokenFilterInput = builder.inputType('ApiTokenFilter', {
  fields: (t) => ({
    principal: t.string({ description: 'Name of a principal.' }),
    status: t.field({ type: CredentialStatus, description: 'USED is none of them.' }),
  }),
});
const CreateApiTokenInput = builder.inputType('CreateApiTokenInput', {
  fields: (t) => ({
    principal: t.string({ description: "Absent: one's own. Of others it takes admin:tokens:write." }),
    name: t.string({ required: true, description: 'What it is for.' }),
    scopes: t.stringList({ defaultValue: [], description: SCOPES }),
    expiresAt: t.field({ type: 'DateTime', description: 'Absent: until it is revoked.' }),
  }),
});
const RevokeApiTokenInput = builder.inputType('RevokeApiTokenInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});

const CreateApiTokenPayload = builder
  .objectRef<{ token: ApiTokenRow; secret: string }>('CreateApiTokenPayload')
  .implement({
    fields: (t) => ({
      token: t.expose('token', { type: ApiTokenRef }),
      secret: t.exposeString('secret', { description: 'Shown this once.' }),
    }),
  });
const RevokeApiTokenPayload = builder.objectRef<{ token: ApiTokenRow }>('RevokeApiTokenPayload').implement({
  fields: (t) => ({ token: t.expose('token', { type: ApiTokenRef }) }),
});

builder.queryField('apiTokens', (t) =>
  t.field({
    authScopes: { signedIn: true },
    type: ApiTokenConnection,
    description: "Newest first. Without admin:tokens:read: one's own.",
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: ApiTokenFilterInput }),
    },
    resolve: async (_root, { filter, ...args }, context) => {
      const { services, viewer } = context;
      const page = pageOf(args, ORDER, ['int'], context);
      const { principal = null, status = null } = filter ?? {};
      // A token is used as often as one likes: none has this status.
      if (status === 'USED') return connectionOf(page, ORDER, [], false, () => [0], NONE);
      const wanted = { principal, status };
      const { items, more } = await services.apiTokens.page(page, wanted, viewer);
      return connectionOf(
        page,
        ORDER,
        items,
        more,
        (row) => [row.id],
        () => services.apiTokens.count(wanted, viewer),
      );
    },
  }),
);

const NONE = (): Promise<{ count: number; exact: boolean }> => Promise.resolve({ count: 0, exact: true });

builder.mutationFields((t) => ({
  createApiToken: t.field({
    authScopes: { signedIn: true },
    type: CreateApiTokenPayload,
    description: 'Nobody makes one that may more than he.',
    args: { input: t.arg({ type: CreateApiTokenInput, required: true }) },
    resolve: (_root, { input }, { services, viewer, requestId }) =>
      services.apiTokens.create({ ...input, scopes: input.scopes ?? [] }, viewer, requestId),
  }),
  revokeApiToken: t.field({
    authScopes: { signedIn: true },
    type: RevokeApiTokenPayload,
    description: 'At once and everywhere; what was opened with it ends. Of others it takes admin:tokens:write.',
    args: { input: t.arg({ type: RevokeApiTokenInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      token: await services.apiTokens.revoke(input.id, viewer, requestId),
    }),
  }),
}));
