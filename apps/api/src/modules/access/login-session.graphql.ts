import { builder } from '../../graphql/builder.ts';
import { connectionOf, pageOf } from '../../graphql/connection.ts';
import { rawId } from '../../dispatch/ids.ts';
import { encodeId } from '../../graphql/ids.ts';
import { NodeRef } from '../../graphql/node.ts';
import { LoginSessionConnection, LoginSessionRef, PrincipalRef } from '../../graphql/refs.ts';
import { isCurrent } from './login-session-service.ts';

const ORDER = 'login_sessions';

const LoginMethod = builder.enumType('LoginMethod', {
  description: 'LINK: the link that the server printed.',
  values: ['LINK', 'TOKEN', 'PASSWORD', 'OIDC'] as const,
});

LoginSessionRef.implement({
  description: 'A browser that somebody is logged in with.',
  interfaces: [NodeRef],
  fields: (t) => ({
    id: t.id({ resolve: (row) => encodeId('se', row.id) }),
    principal: t.field({
      type: PrincipalRef,
      nullable: true,
      resolve: (row, _args, { loaders }) => loaders.principal.load(row.principalId),
    }),
    method: t.expose('method', { type: LoginMethod }),
    address: t.exposeString('address', { nullable: true, description: 'From where it was last used.' }),
    userAgent: t.exposeString('userAgent', { nullable: true }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    seenAt: t.expose('seenAt', { type: 'DateTime', description: 'Written at most once a minute.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'Where it is not used again.' }),
    current: t.boolean({
      description: 'It is the one that asks.',
      resolve: (row, _args, { viewer }) => isCurrent(row, viewer),
    }),
  }),
});

const LoginSessionFilterInput = builder.inputType('LoginSessionFilter', {
  fields: (t) => ({ principal: t.string({ description: 'Name of a principal.' }) }),
});
const RevokeLoginSessionInput = builder.inputType('RevokeLoginSessionInput', {
  fields: (t) => ({ id: t.id({ required: true }) }),
});
const RevokeLoginSessionsInput = builder.inputType('RevokeLoginSessionsInput', {
  fields: (t) => ({ principal: t.string({ required: true, description: 'Name of a principal.' }) }),
});

const RevokeLoginSessionPayload = builder.objectRef<{ id: string }>('RevokeLoginSessionPayload').implement({
  fields: (t) => ({ id: t.exposeID('id') }),
});
const RevokeLoginSessionsPayload = builder.objectRef<{ count: number }>('RevokeLoginSessionsPayload').implement({
  fields: (t) => ({ count: t.exposeInt('count') }),
});

builder.queryField('loginSessions', (t) =>
  t.field({
    authScopes: { signedIn: true },
    type: LoginSessionConnection,
    description: "Those that hold, newest first. Without admin:principals:read: one's own.",
    args: {
      first: t.arg.int(),
      after: t.arg.string(),
      last: t.arg.int(),
      before: t.arg.string(),
      filter: t.arg({ type: LoginSessionFilterInput }),
    },
    resolve: async (_root, { filter, ...args }, context) => {
      const { services, viewer } = context;
      const page = pageOf(args, ORDER, ['number', 'uuid'], context);
      const principal = filter?.principal ?? null;
      const { items, more } = await services.loginSessions.page(page, principal, viewer);
      return connectionOf(
        page,
        ORDER,
        items,
        more,
        (row) => [row.createdAt.getTime(), rawId(row.id)],
        () => services.loginSessions.count(principal, viewer),
      );
    },
  }),
);

builder.mutationFields((t) => ({
  revokeLoginSession: t.field({
    authScopes: { signedIn: true },
    type: RevokeLoginSessionPayload,
    description: 'At once and everywhere. Of others it takes admin:principals:write.',
    args: { input: t.arg({ type: RevokeLoginSessionInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => {
      await services.loginSessions.revoke(input.id, viewer, requestId);
      return { id: input.id };
    },
  }),
  revokeLoginSessions: t.field({
    authScopes: { signedIn: true },
    type: RevokeLoginSessionsPayload,
    description: 'All of one principal. Of others it takes admin:principals:write.',
    args: { input: t.arg({ type: RevokeLoginSessionsInput, required: true }) },
    resolve: async (_root, { input }, { services, viewer, requestId }) => ({
      count: await services.loginSessions.revokeAll(input.principal, viewer, requestId),
    }),
  }),
}));
